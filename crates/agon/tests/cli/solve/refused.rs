//! What can't be begun: status 2, a message that says what to do, and nothing is left of it.

use std::fs;

use super::{greeter, sessions};
use crate::support::Bench;

#[track_caller]
fn refused(bench: &Bench, args: &[&str], phrases: &[&str]) -> String {
    let all = [&["solve"], args].concat();
    let called = bench.call(&all).expect(2);
    let said = called.stderr();
    for phrase in phrases {
        assert!(
            said.contains(phrase),
            "{args:?}: `{phrase}` is missing: {said}"
        );
    }
    assert_eq!(called.stdout(), "");
    assert_eq!(
        sessions(bench),
        Vec::<std::path::PathBuf>::new(),
        "{args:?}"
    );
    said
}

#[test]
fn what_makes_no_sense_is_refused() {
    let bench = Bench::new();
    let model = greeter(&bench);
    let on = |more: &[&'static str]| {
        let mut args = vec!["-t", "x", "-l", "mock/turns:greet", "-d", "project"];
        args.extend(more);
        args
    };
    assert_eq!(model, "mock/turns:greet");
    refused(
        &bench,
        &["-l", &model],
        &["-t TEXT, -f FILE or on standard input"],
    );
    refused(&bench, &["-t", " ", "-l", &model], &["-t TEXT"]);
    refused(&bench, &["-f", "no.md", "-l", &model], &["no.md"]);
    refused(
        &bench,
        &on(&["--runtime", "kubernetes"]),
        &["`kubernetes`", "docker or local"],
    );
    refused(
        &bench,
        &on(&["-c", "Planner"]),
        &["`Planner`", "CodeActAgent"],
    );
    for steps in ["0", "-1", "few", "4294967296"] {
        let told =
            format!("'{steps}' for '--max-iterations <N>': it must be a whole number from 1 to");
        refused(&bench, &on(&["-i", steps]), &[&told, "can do nothing"]);
    }
    for money in ["-1", "-0.5", "much"] {
        let told = format!("'{money}' for '--max-budget-per-task <USD>': it must be an amount");
        refused(&bench, &on(&["-b", money]), &[&told, "0 for no limit"]);
    }
    refused(&bench, &on(&["-n", "a/b"]), &["`a/b`"]);
    refused(
        &bench,
        &on(&["--replay-trajectory", "no.json"]),
        &["cannot be used with"],
    );
    refused(
        &bench,
        &[
            "-l",
            &model,
            "-d",
            "project",
            "--replay-trajectory",
            "no.json",
        ],
        &["no.json"],
    );
    refused(&bench, &["-t", "x", "-d", "project"], &["--model NAME"]);
    refused(
        &bench,
        &["-t", "x", "-l", "eval_gpt4"],
        &["`eval_gpt4`", "config.toml"],
    );
    fs::write(bench.path("long.md"), vec![b'x'; (1 << 20) + 1]).unwrap();
    refused(
        &bench,
        &["-f", "long.md", "-l", &model],
        &["longer than 1 MiB"],
    );
}

/// Nobody is told of a session that never was.
#[test]
fn an_agent_that_there_is_not_has_no_session() {
    let bench = Bench::new();
    let model = greeter(&bench);
    let args = ["solve", "-t", "x", "-l", &model, "-c", "Planner"];
    let said = bench.call(&args).expect(2).stderr();
    assert!(!said.contains("session folder"), "{said}");
    assert!(sessions(&bench).is_empty());
}

#[test]
fn whole_homes_and_disks_are_no_working_folders() {
    let bench = Bench::new();
    let model = greeter(&bench);
    let home = bench.path("project");
    let base = ["-t", "x", "-l", &model, "-d"];
    refused(
        &bench,
        &[&base[..], &["/"]].concat(),
        &["a whole home or disk", "-d DIR"],
    );
    refused(&bench, &[&base[..], &["nowhere"]].concat(), &["nowhere"]);
    refused(&bench, &[&base[..], &["greet"]].concat(), &["is no folder"]);
    for folder in ["project", "project/../project"] {
        let all = [&["solve"], &base[..], &[folder]].concat();
        let output = bench.agon(&all).env("HOME", &home).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("a whole home or disk"), "{said}");
    }
    assert!(!home.join("greeting.txt").exists());
}

/// The agent could read and change them, its own too.
#[test]
fn records_of_sessions_are_no_working_folder() {
    let bench = Bench::new();
    let model = greeter(&bench);
    let base = ["solve", "-t", "x", "-l", &model, "-n", "first", "-d"];
    bench.call(&[&base[..], &["project"]].concat()).expect(0);
    let kept = bench.path("runs/solve-first/session.jsonl");
    let record = fs::read(&kept).unwrap();
    for folder in ["runs", "runs/solve-first", "project/../runs"] {
        let called = bench.call(&[&base[..], &[folder]].concat()).expect(2);
        assert!(
            called.stderr().contains("records of all sessions"),
            "{folder}: {}",
            called.stderr()
        );
    }
    assert_eq!(fs::read(&kept).unwrap(), record);
    fs::remove_dir_all(bench.path("project")).unwrap();
    let called = bench
        .call(&["solve", "-t", "x", "-l", &model, "-n", "first"])
        .expect(2);
    assert!(
        called.stderr().contains("Name another with -d DIR"),
        "{}",
        called.stderr()
    );
}

#[test]
fn a_configuration_is_read_strictly() {
    let bench = Bench::new();
    greeter(&bench);
    let model = "[llm]\nmodel = 'mock/turns:greet'\n";
    let bad = [
        (
            "[sandbox]\ntimout = 3\n",
            "unknown key `timout`",
            "`timeout`",
        ),
        ("[core]\nruntime = 'k8s'\n", "`k8s`", "docker or local"),
        ("[core]\nmax_iterations = -1\n", "max_iterations", ""),
        ("core = 3\n", "`core` must be a table", "[core]"),
        ("[agent]\nenable_cmd = 7\n", "enable_cmd", "[agent]"),
        ("[condenser]\ntype = 'none'\n", "[condenser]", "`type`"),
    ];
    for (text, wrong, help) in bad {
        // A key of no section stands before them all.
        let text = match text.starts_with('[') {
            true => format!("{model}{text}"),
            false => format!("{text}{model}"),
        };
        bench.write("config.toml", &text);
        for more in [&[][..], &["-l", "llm"]] {
            let args = [&["-t", "x", "-d", "project"], more].concat();
            let said = refused(&bench, &args, &[wrong, help]);
            assert_eq!(said.matches(wrong).count(), 1, "told once: {said}");
        }
    }
    bench.write(
        "config.toml",
        &format!("{model}[core]\nmax_iterations = 1\nworkspace_base = 'project'\n"),
    );
    bench.call(&["solve", "-t", "x"]).expect(5);
    assert!(bench.path("project/greeting.txt").is_file());
    // Sections of other programs are none of our business; a slip is told all the same.
    bench.write("config.toml", &format!("{model}[sandbx]\ntimeout = 3\n"));
    let called = bench.call(&["solve", "-t", "x", "-d", "project"]).expect(0);
    let told = "section [sandbx] is not known, did you mean `sandbox`?";
    assert!(called.stderr().contains(told), "{}", called.stderr());
}

/// What stands in the folder of a session and is none is left as it is.
#[test]
fn a_trajectory_that_is_not_the_sessions_is_not_written_over() {
    let bench = Bench::new();
    let model = greeter(&bench);
    let args = [
        "solve", "-t", "x", "-l", &model, "-d", "project", "-n", "mine",
    ];
    let kept = bench.path("runs/solve-mine/trajectory.json");
    let foreign = r#"[{"id": 0, "timestamp": "2026-01-01T00:00:00", "source": "user",
        "action": "message", "args": {"content": "Greet."}}]"#;
    let left = |text: &str, phrase: &str| {
        bench.write("runs/solve-mine/trajectory.json", text);
        let called = bench.call(&args).expect(2);
        let said = called.stderr();
        assert!(said.contains(phrase), "{said}");
        assert!(said.contains("trajectory.json"), "{said}");
        assert!(said.contains("choose another name"), "{said}");
        assert_eq!(fs::read_to_string(&kept).unwrap(), text);
    };
    left(foreign, "--replay-trajectory");
    left("[{", "--replay-trajectory");
    assert_eq!(fs::read_dir(kept.parent().unwrap()).unwrap().count(), 1);
    fs::remove_file(&kept).unwrap();
    bench.call(&args).expect(0);
    let own = fs::read_to_string(&kept).unwrap();
    left(foreign, "not of the session that was recorded here");
    left("[{", "it is broken");
    left("{}", "it is broken");
    bench.write("runs/solve-mine/trajectory.json", &own);
    let again = [
        "solve",
        "-l",
        &model,
        "-d",
        "project",
        "-n",
        "mine",
        "--replay-trajectory",
        "runs/solve-mine/trajectory.json",
    ];
    let called = bench.call(&again).expect(2);
    let said = called.stderr();
    assert!(said.contains("played again in a new session"), "{said}");
    assert_eq!(fs::read_to_string(&kept).unwrap(), own);
    let record = bench.path("runs/solve-mine/session.jsonl");
    let whole = fs::read_to_string(&record).unwrap();
    fs::write(&record, whole.replace("\"seq\":3,", "\"seq\":three,")).unwrap();
    let called = bench.call(&args).expect(2);
    let said = called.stderr();
    assert!(
        said.contains("session.jsonl") && said.contains("line 5"),
        "{said}"
    );
    fs::write(&record, whole).unwrap();
    bench.call(&args).expect(0);
}

#[test]
fn money_that_nobody_can_count_is_no_limit() {
    let bench = Bench::new();
    greeter(&bench);
    bench.write(
        "config.toml",
        "[llm]\nmodel = 'openai/of-our-own'\nbase_url = 'http://127.0.0.1:9/v1'\napi_key = 'none'\n",
    );
    let args = ["-t", "x", "-d", "project", "-b", "1"];
    refused(
        &bench,
        &args,
        &["-b would stop nothing", "--prices", "input_cost_per_token"],
    );
}
