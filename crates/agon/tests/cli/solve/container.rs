//! `agon solve --runtime docker`: the same in a container, on the engine that DOCKER_HOST names and the
//! image that `cargo xtask test` makes.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{greeter, named, session, sessions, trajectory};
use crate::container::{containers, engine};
use crate::killed::ground::Ground;
use crate::scripted::{finish, run};
use crate::support::{Bench, Called};

/// As users of the original write it.
const CONFIG: &str = "\
[core]
runtime = \"docker\"

[sandbox]
base_container_image = \"agon-test:latest\"
";

/// A bench whose sessions are containers.
fn contained() -> Bench {
    engine();
    let bench = Bench::new();
    bench.write("config.toml", CONFIG);
    fs::create_dir(bench.path("project")).unwrap();
    bench
}

/// A name that no other test's containers have.
fn name(of: &str) -> String {
    format!("{of}-{}", std::process::id())
}

fn call(name: &str, input: &Value) -> Value {
    json!({ "tool_calls": [{ "name": name, "input": input }] })
}

fn cell(code: &str) -> Value {
    call("execute_ipython_cell", &json!({ "code": code }))
}

#[test]
fn in_a_container_the_folder_is_really_changed_and_stays_its_owners() {
    let bench = contained();
    let project = bench.path("project");
    bench.write("project/notes.txt", "mine\n");
    // Only root can give it away; anybody else owns it already.
    for path in [project.clone(), project.join("notes.txt")] {
        chown(path, Some(12_345), Some(12_346)).ok();
    }
    let edit = json!({ "command": "create", "path": "/workspace/edited.txt", "file_text": "so\n" });
    // Nothing else of the host is there.
    let outside = env!("CARGO_MANIFEST_DIR");
    let look = format!(
        "pwd > where.txt; cat /workspace/notes.txt; ls /sys/class/net; [ -e '{outside}' ] && echo outside"
    );
    let model = bench.turns(
        "works",
        &[
            run(&look),
            run("mkdir made && echo hello > /workspace/made/greeting.txt"),
            cell("x = 6 * 7"),
            cell("open('answer.txt', 'w').write(str(x)); x"),
            call("str_replace_editor", &edit),
            finish("It is written."),
        ],
    );
    let name = name("works");
    let args = ["solve", "-t", "Work.", "-l", &model, "-d", "project", "-n"];
    let called = bench.call(&[&args[..], &[&name]].concat()).expect(0);
    assert_eq!(called.stdout(), "It is written.\n");

    let inside = fs::read_to_string(project.join("where.txt")).unwrap();
    assert!(
        ["/work\n", "/workspace\n"].contains(&inside.as_str()),
        "{inside}"
    );
    let owner = |path: &Path| {
        let about = fs::metadata(path).unwrap();
        (about.uid(), about.gid())
    };
    for (file, content) in [
        ("notes.txt", "mine\n"),
        ("made/greeting.txt", "hello\n"),
        ("answer.txt", "42"),
        ("edited.txt", "so\n"),
    ] {
        let path = project.join(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), content, "{file}");
        assert_eq!(owner(&path), owner(&project), "{file}");
    }
    assert_eq!(owner(&project.join("made")), owner(&project));
    assert_eq!(fs::read_dir(&project).unwrap().count(), 5);

    let events = trajectory(&bench);
    let acted = [
        "system",
        "message",
        "run",
        "run",
        "run_ipython",
        "run_ipython",
        "edit",
        "finish",
    ];
    assert_eq!(named(&events, "action"), acted);
    let said = |what: &str| {
        let seen = events.iter().filter(|event| event["observation"] == what);
        Vec::from_iter(seen.map(|event| event["content"].as_str().unwrap()))
    };
    assert_eq!(said("run")[0].trim_end(), "mine\nlo", "no network");
    assert!(said("run_ipython")[1].starts_with("42"), "{events:?}");
    assert_eq!(containers(&format!("solve-{name}")), "");
}

#[test]
fn in_a_container_every_end_has_its_status() {
    let bench = contained();
    // The one beside us is not asked where another is named.
    bench.write("config.toml", "[core]\nruntime = \"local\"\n");
    let limited = CONFIG.replace("[core]\n", "[core]\nmax_iterations = 7\n");
    bench.write("other.toml", &limited);
    let down = json!({ "fault": "authentication", "why": "no such key" });
    let refuses = "\
import json, sys
for line in sys.stdin:
    if json.loads(line)['type'] == 'observation':
        print(json.dumps({'action': 'reject', 'reason': 'not with me'}), flush=True)
";
    bench.write("agent/no.py", refuses);
    let turns = |name: &str, answers: &[Value]| bench.turns(name, answers);
    // Another command each time: nothing repeats itself.
    let busy: Vec<Value> = (0..20).map(|turn| run(&format!("echo {turn}"))).collect();
    let cases = [
        (
            0,
            ["-l".to_owned(), turns("done", &[finish("Done.")])],
            "finished",
        ),
        (1, ["-l".to_owned(), turns("down", &[down])], "error"),
        (
            4,
            ["-c", "cmd:python3 agent/no.py"].map(str::to_owned),
            "rejected",
        ),
        (5, ["-l".to_owned(), turns("busy", &busy)], "error"),
        (
            6,
            ["-l".to_owned(), turns("loop", &[run("false")])],
            "error",
        ),
    ];
    for (status, more, state) in cases {
        let name = name(&format!("status-{status}"));
        let mut args = vec![
            "solve",
            "-t",
            "x",
            "-d",
            "project",
            "--config-file",
            "other.toml",
            "--json",
            "-n",
            &name,
        ];
        args.extend(more.iter().map(String::as_str));
        let json = bench.call(&args).expect(status).json();
        assert_eq!(json["agent_state"], state, "{json}");
        if status == 5 {
            assert_eq!(json["iterations"], 7);
        }
        let folder = bench.path(&format!("runs/solve-{name}"));
        assert!(folder.join("trajectory.json").is_file(), "{status}");
        assert_eq!(containers(&format!("solve-{name}")), "", "{status}");
    }
}

#[test]
fn in_a_container_keys_and_records_are_out_of_reach_in_the_folder_around_them() {
    let bench = contained();
    let env = bench.write(".env", "OPENAI_API_KEY=sk-1\n");
    let looks = "\
cat config.toml .env > keys.txt; ls -A runs > runs.txt; rm -rf runs
echo 'api_key = 1' > config.toml; echo forged > runs/forged; true";
    let model = bench.turns("look", &[run(looks), finish("Done.")]);
    // What is asked for by its name is hidden by it; it is the usual one as well.
    for more in [&["-n", "first"][..], &["--config-file", "config.toml"]] {
        let args = ["solve", "-t", "Look around.", "-l", &model];
        bench.call(&[&args[..], more].concat()).expect(0);
        for file in ["keys.txt", "runs.txt"] {
            let seen = fs::read_to_string(bench.path(file)).unwrap();
            assert_eq!(seen, "", "{file}");
        }
    }
    let config = fs::read_to_string(bench.path("config.toml")).unwrap();
    assert_eq!(config, CONFIG);
    assert_eq!(fs::read_to_string(env).unwrap(), "OPENAI_API_KEY=sk-1\n");
    assert!(bench.path("runs/solve-first/trajectory.json").is_file());
    assert!(!bench.path("runs/forged").exists());
}

#[test]
fn without_an_engine_or_image_for_a_container_it_is_said_what_to_do() {
    let bench = contained();
    let model = greeter_beside(&bench);
    let missing = CONFIG.replace("agon-test:latest", "agon-no-such-image:9");
    bench.write("missing.toml", &missing);
    let nobody = format!("unix://{}", bench.path("no.sock").display());
    let own = engine();
    for (config, host, phrases) in [
        (
            "missing.toml",
            own.as_str(),
            [
                "no image `agon-no-such-image:9`",
                "docker pull agon-no-such-image:9",
            ],
        ),
        (
            "config.toml",
            &nobody,
            ["no container engine answers at", "set DOCKER_HOST"],
        ),
        (
            "config.toml",
            "nonsense",
            ["DOCKER_HOST is `nonsense`", "write unix://"],
        ),
    ] {
        let args = [
            "solve",
            "-t",
            "x",
            "-d",
            "project",
            "-l",
            &model,
            "--config-file",
            config,
        ];
        let mut command = bench.agon(&args);
        let called = command.env("DOCKER_HOST", host).output().unwrap();
        let called = Called(called).expect(2);
        for phrase in phrases {
            assert!(called.stderr().contains(phrase), "{}", called.stderr());
        }
        assert!(sessions(&bench).is_empty(), "nothing is left of it");
    }
    let local = ["solve", "-t", "x", "-d", "project", "-l", &model];
    let mut command = bench.agon(&[&local[..], &["--runtime", "local"]].concat());
    let called = command.env("DOCKER_HOST", &nobody).output().unwrap();
    Called(called).expect(0);
    assert!(bench.path("project/greeting.txt").is_file());
}

/// A model that greets, where the folder `project` is there already.
fn greeter_beside(bench: &Bench) -> String {
    fs::remove_dir(bench.path("project")).unwrap();
    greeter(bench)
}

/// A session in whose container a program sleeps.
struct Sleeper {
    name: String,
    args: Vec<String>,
}

impl Sleeper {
    fn new(bench: &Bench, ground: &Ground<'_>) -> Self {
        // The program's name says whose it is, wherever it may be found later.
        let sleep = format!("exec -a {} sleep 600", ground.mark);
        let turns = [run("echo begun > begun.txt"), run(&format!("({sleep})"))];
        let model = bench.turns("sleep", &turns);
        let name = name("asleep");
        let args = ["solve", "-t", "x", "-d", "project", "-l", &model, "-n"];
        let args = args.iter().map(|word| (*word).to_owned());
        Self {
            args: args.chain([name.clone()]).collect(),
            name: format!("solve-{name}"),
        }
    }

    fn args(&self) -> Vec<&str> {
        self.args.iter().map(String::as_str).collect()
    }
}

#[test]
fn a_container_goes_with_the_session_that_is_interrupted() {
    let bench = contained();
    let mut ground = Ground::new(&bench);
    let sleeper = Sleeper::new(&bench, &ground);
    let mut solving = ground.begin(&sleeper.args());
    solving.hear("sleep 600");
    assert_ne!(containers(&sleeper.name), "");
    solving.signal(Signal::INT);
    let (status, said) = solving.end();
    assert_eq!(status.code(), Some(130), "{}", said.join("\n"));
    assert_eq!(containers(&sleeper.name), "");
    ground.check_clean();
    assert_eq!(
        named(&trajectory(&bench), "action"),
        ["system", "message", "run", "run"]
    );
    assert!(bench.path("project/begun.txt").is_file());
}

#[test]
fn a_container_of_a_killed_session_goes_with_the_next_start() {
    let bench = contained();
    let mut ground = Ground::new(&bench);
    let sleeper = Sleeper::new(&bench, &ground);
    let mut solving = ground.begin(&sleeper.args());
    solving.hear("sleep 600");
    assert_ne!(containers(&sleeper.name), "");
    solving.signal(Signal::KILL);
    solving.end();
    let model = bench.turns("end", &[finish("Done.")]);
    let next = ["solve", "-t", "x", "-d", "project", "-l", &model];
    bench.call(&next).expect(0);
    assert_eq!(containers(&sleeper.name), "");
}

#[test]
fn a_container_that_is_gone_is_a_fault() {
    let bench = contained();
    let mut ground = Ground::new(&bench);
    let sleeper = Sleeper::new(&bench, &ground);
    let mut solving = ground.begin(&sleeper.args());
    solving.hear("sleep 600");
    let container = containers(&sleeper.name);
    let removed = Command::new("docker")
        .args(["--host", &engine(), "rm", "--force", &container])
        .output()
        .unwrap();
    assert!(removed.status.success(), "{removed:?}");
    let (status, said) = solving.end();
    assert_eq!(status.code(), Some(1), "{}", said.join("\n"));
    let last = said.last().unwrap();
    assert!(last.contains("the sandbox is gone"), "{last}");
    assert!(session(&bench).join("trajectory.json").is_file());
    ground.check_clean();
}
