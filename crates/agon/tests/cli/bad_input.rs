//! Bad input: one clear message that says what to do, and nothing is changed. What is wrong before the
//! first trial is status 2; what a trial runs into is a fault of that trial.

use std::fs;

use agon::core::FaultClass;
use agon::core::verdict::Outcome;

use crate::support::{Bench, Called};

const FILE: &str = "\
name: File
task: Make a file.
checks: [{ type: file, path: a }]
";

const TALK: &str = "\
name: Talk
task: Say done.
environment: { kind: none }
checks: [{ type: returned_result, equals: done }]
";

impl Called {
    /// Refused with a message that holds all of `phrases`.
    #[track_caller]
    fn refused(self, phrases: &[&str]) -> Self {
        let called = self.expect(2);
        let said = called.stderr();
        // Long lines are folded where a place in a file is drawn.
        let said = said.replace('│', " ");
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        for phrase in phrases {
            assert!(words.contains(phrase), "`{phrase}` is missing: {said}");
        }
        assert_eq!(called.stdout(), "", "words are no data");
        called
    }
}

/// One task that can't be read, and what is said about it.
#[track_caller]
fn bad_task(yaml: &str, phrases: &[&str]) {
    let bench = Bench::new();
    bench.suite(&[("a", yaml), ("fine", TALK)]);
    for args in [&["list", "suite"][..], &["lint", "suite"]] {
        bench.call(args).refused(phrases);
    }
    bench.run(&[]).refused(phrases);
    assert!(!bench.path("run").exists());
}

#[test]
fn broken_yaml_is_shown_at_its_place() {
    bad_task(
        "name: [x\ntask: y\n",
        &["suite/test/a.yaml:2:5", "no YAML", "1 error in suite suite"],
    );
}

#[test]
fn an_unknown_key_is_shown_with_the_nearest_one() {
    bad_task(
        &FILE.replace("checks", "chekcs"),
        &[
            "suite/test/a.yaml:3:1",
            "unknown key `chekcs`, did you mean `checks`?",
        ],
    );
}

#[test]
fn an_unknown_check_is_shown_with_the_nearest_one() {
    bad_task(
        &FILE.replace("type: file", "type: flie"),
        &["suite/test/a.yaml:3:18", "`flie`, did you mean `file`?"],
    );
}

#[test]
fn every_error_of_a_suite_is_told_at_once() {
    let bench = Bench::new();
    bench.suite(&[
        ("a", &FILE.replace("checks", "chekcs")),
        ("b", &FILE.replace("name:", "nam:")),
    ]);
    bench.call(&["list", "suite"]).refused(&[
        "suite/test/a.yaml:3:1",
        "suite/test/b.yaml:1:1",
        "2 errors in suite suite",
    ]);
}

#[test]
fn a_task_that_is_there_twice_is_refused() {
    let bench = Bench::new();
    bench.suite(&[("a", FILE)]);
    bench.write("suite/test/a/task.yaml", FILE);
    bench.run(&[]).refused(&[
        "suite/test/a.yaml",
        "`test/a` is here a second time",
        "also in suite/test/a/task.yaml: rename one",
    ]);
}

#[test]
fn a_suite_must_be_there_and_hold_tasks() {
    let bench = Bench::new();
    bench
        .run(&[])
        .refused(&["there is no suite at suite", "give a suite folder"]);
    fs::create_dir(bench.path("suite")).unwrap();
    bench
        .run(&[])
        .refused(&["there are no tasks here", "<category>/<id>.yaml"]);
    bench
        .call(&["run"])
        .refused(&["which suite? Give a folder"]);
}

#[test]
fn a_selection_of_nothing_says_what_there_is() {
    let bench = Bench::new();
    bench.suite(&[("a", TALK)]);
    for (option, phrases) in [
        (
            ["--filter", "categry(x)"],
            &["unknown predicate `categry`, did you mean `category`?"][..],
        ),
        (["--filter", "category(x"], &["never closed"]),
        (
            ["--category", "nope"],
            &["no category `nope`; the categories are: test"],
        ),
        (
            ["--level", "golden"],
            &["no level `golden`, did you mean `gold`?"],
        ),
        (["--level", "gold"], &["no task is selected", "`agon list`"]),
        (["--limit", "0"], &["no task is selected"]),
        (["--max-steps", "many"], &["`many` is no list of steps"]),
        (["--fail-under", "80"], &["use a number from 0 to 1"]),
    ] {
        bench.run(&option).refused(phrases);
    }
    assert!(!bench.path("run").exists());
}

#[test]
fn an_unknown_agent_is_shown_with_the_nearest_one() {
    let bench = Bench::new();
    bench.suite(&[("a", TALK)]);
    for (agent, phrases) in [
        (
            "orcle",
            &["`orcle`, did you mean `oracle`?", "cmd:PROGRAM"][..],
        ),
        ("replay:nothing", &["there is no run `nothing`"]),
        ("cmd:", &["name the program to run"]),
        (
            "cmd:no-such-program",
            &["`no-such-program` is not in", "cmd-host:"],
        ),
    ] {
        bench.run(&["--agent", agent]).refused(phrases);
        assert!(!bench.path("run").exists(), "{agent}");
    }
}

#[test]
fn an_out_that_can_not_be_the_run_folder_is_refused() {
    let bench = Bench::new();
    bench.suite(&[("a", TALK)]);
    bench.write("thesis/chapter.tex", "years of work");
    for (out, phrase) in [
        ("thesis", "holds other things and no run"),
        ("thesis/chapter.tex", "can't be a run folder"),
        ("thesis/chapter.tex/run", "can't be a run folder"),
        ("/proc/run", "can't be a run folder"),
    ] {
        let called = bench.call(&["run", "suite", "--out", out]);
        called.refused(&[out, phrase, "choose another --out"]);
    }
    let kept = fs::read_dir(bench.path("thesis")).unwrap().count();
    assert_eq!(kept, 1);
}

#[test]
fn going_on_with_nothing_is_refused() {
    let bench = Bench::new();
    bench.suite(&[("a", TALK)]);
    bench.write("notes/todo.txt", "");
    for name in ["nope", "latest", "notes"] {
        let phrases = [
            &*format!("there is no run `{name}`"),
            "a run folder, a name under runs/, or `latest`",
        ];
        bench.call(&["run", "--resume", name]).refused(&phrases);
        bench.call(&["report", name]).refused(&phrases);
    }
    bench
        .call(&["run", "suite", "--mode", "validate-only"])
        .refused(&["which run is to be graded again?", "--resume RUN"]);
    bench
        .run(&["--mode", "validate-only"])
        .refused(&["run is not there: there is nothing to grade again"]);
    assert!(!bench.path("run").exists());
}

#[test]
fn a_run_of_a_newer_agon_is_refused() {
    let bench = Bench::new();
    bench.suite(&[("a", TALK)]);
    bench.run(&[]).expect(0);
    let path = bench.path("run/run.json");
    let newer = fs::read_to_string(&path)
        .unwrap()
        .replace("\"format\": 1", "\"format\": 2");
    fs::write(&path, &newer).unwrap();
    let phrases = ["run.json has format 2, this agon reads up to 1: use a newer agon"];
    bench.run(&[]).refused(&phrases);
    bench.call(&["report", "run"]).refused(&phrases);
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
}

#[test]
fn without_bubblewrap_it_says_how_to_get_it() {
    let bench = Bench::new();
    bench.suite(&[("a", FILE)]);
    let nowhere = bench.path("nowhere");
    let mut command = bench.agon(&["run", "suite", "--out", "run"]);
    Called(command.env("PATH", &nowhere).output().unwrap())
        .refused(&["bubblewrap is not installed", "apt-get install bubblewrap"]);
    assert!(!bench.path("run").exists(), "nothing was begun");

    let mut command = bench.agon(&["doctor"]);
    let doctor = Called(command.env("PATH", &nowhere).output().unwrap()).expect(1);
    let said = doctor.stdout();
    let miss = said.lines().find(|line| line.contains("local sandbox"));
    let miss = miss.unwrap();
    assert!(
        miss.starts_with("MISS") && miss.contains("apt-get install bubblewrap"),
        "{said}"
    );

    bench.suite(&[("a", TALK)]);
    let mut command = bench.agon(&["run", "suite", "--out", "run"]);
    Called(command.env("PATH", &nowhere).output().unwrap()).expect(0);
}

fn in_image(image: &str) -> String {
    format!("{FILE}environment: {{ kind: container, image: '{image}' }}\n")
}

#[test]
fn without_an_engine_for_images_it_says_how_to_get_one() {
    let bench = Bench::new();
    bench.suite(&[("a", &in_image("debian:12"))]);
    let mut command = bench.agon(&["run", "suite", "--out", "run"]);
    command.env("DOCKER_HOST", "unix:///nonexistent");
    Called(command.output().unwrap()).refused(&[
        "no container engine answers at unix:///nonexistent",
        "apt-get install docker.io",
        "set DOCKER_HOST",
    ]);
    assert!(!bench.path("run").exists());
}

#[test]
fn a_container_image_that_is_not_there_is_named() {
    assert!(
        std::env::var_os("DOCKER_HOST").is_some(),
        "DOCKER_HOST is not set: run this through `cargo xtask test`, which starts an engine"
    );
    let bench = Bench::new();
    bench.suite(&[("a", &in_image("agon-no-such-image:1")), ("b", TALK)]);
    bench
        .run(&[])
        .refused(&["agon-no-such-image:1", "docker pull"]);
    assert!(!bench.path("run").exists());
}

#[test]
fn a_desktop_in_a_docker_image_that_is_not_there_is_refused() {
    let bench = Bench::new();
    let desktop = format!("{TALK}desktop_image: agon-no-such-desktop:1\n")
        .replace("environment: { kind: none }\n", "");
    bench.suite(&[("a", &desktop), ("b", TALK)]);
    bench
        .run(&[])
        .refused(&["agon-no-such-desktop:1", "docker pull"]);
    assert!(!bench.path("run").exists());
    bench.run(&["--filter", "not id(a)"]).expect(0);
}

#[test]
fn prose_is_a_fault_that_is_not_retried() {
    let bench = Bench::new();
    let prose = TALK.replace("equals: done", "value: It says that it is done.");
    bench.suite(&[("a", &prose), ("b", TALK)]);
    let called = bench.run(&["--retries", "5"]).expect(1);
    let json = called.json();
    assert_eq!(
        (&json["trials"], &json["failed"], &json["faulted"]),
        (&2.into(), &1.into(), &1.into())
    );
    assert_eq!(json["coverage"], 0.5);
    let said = called.stderr();
    assert!(said.contains("needs a judge"), "{said}");
    assert!(
        !said.contains("go on with"),
        "another try is no use: {said}"
    );
    let trials = bench.trials();
    let line = trials.iter().find(|line| line.task.id() == "a").unwrap();
    assert_eq!(
        (line.attempt, line.is_final, line.outcome),
        (1, true, Outcome::Faulted)
    );
    assert_eq!(line.fault.as_ref().unwrap().class, FaultClass::NeedsJudge);

    bench.run(&[]).expect(1);
    assert_eq!(bench.trials(), trials, "nor is it tried again by a resume");
}

#[test]
fn a_set_up_that_fails_is_tried_again_and_every_attempt_is_kept() {
    let bench = Bench::new();
    let bad = format!("{FILE}setup_cmd: echo no such disk >&2; exit 4\n");
    bench.suite(&[("a", &bad)]);
    let said = bench.run(&["--retries", "2"]).expect(1).stderr();
    assert_eq!(said.matches("trying again").count(), 2, "{said}");
    assert!(
        said.contains("1 trial faulted; go on with: agon run --resume run"),
        "{said}"
    );
    let attempts = |expected: &[(u32, bool, bool, bool)]| {
        let trials = bench.trials();
        let found: Vec<_> = trials
            .iter()
            .map(|line| (line.attempt, line.is_final, line.retried, line.rerun))
            .collect();
        assert_eq!(found, expected);
        for line in &trials {
            let fault = line.fault.as_ref().unwrap();
            assert_eq!(fault.class, FaultClass::Setup);
            assert!(
                fault.message.contains("exit status 4: no such disk"),
                "{fault}"
            );
            assert!(!bench.reader().events(line).unwrap().is_empty());
        }
    };
    attempts(&[
        (1, false, false, false),
        (2, false, true, false),
        (3, true, true, false),
    ]);
    // Going on gives it another chance, and the record grows.
    bench
        .call(&["run", "--resume", "run", "--retries", "0"])
        .expect(1);
    attempts(&[
        (1, false, false, false),
        (2, false, true, false),
        (3, false, true, false),
        (4, true, true, false),
    ]);
}

#[test]
fn a_name_steers_no_terminal() {
    let bench = Bench::new();
    let task = TALK.replacen("name: ", "name: \"a\\u202Eb\" #", 1);
    bench.suite(&[("a", &task)]);
    let shown = bench.call(&["list", "suite"]).expect(0).stdout();
    assert!(shown.contains("/ ab /"), "{shown}");
    let task = TALK.replacen("name: ", "name: \"a\\eb\" #", 1);
    bench.suite(&[("a", &task)]);
    bench
        .call(&["list", "suite"])
        .refused(&["without tabs, escapes"]);
}

/// The rule of `agon lint` is that of a run: what comes later in a history is the answer.
#[test]
fn a_task_with_a_git_history_is_not_played_and_the_others_are() {
    let bench = Bench::new();
    bench.suite(&[("fine", TALK)]);
    bench.write("suite/test/history/task.yaml", FILE);
    bench.write(
        "suite/test/history/visible/.git/HEAD",
        "ref: refs/heads/main\n",
    );
    let linted = bench.call(&["lint", "suite"]).expect(2);
    let said = linted.stdout() + &linted.stderr();
    assert!(said.contains("is part of a git history"), "{said}");
    bench.run(&["--agent", "noop", "--retries", "2"]).expect(1);
    let trials = bench.trials();
    assert_eq!(trials.len(), 2, "{trials:?}");
    for line in trials {
        if line.task.id() == "fine" {
            assert_eq!(line.outcome, Outcome::Failed, "{line:?}");
            continue;
        }
        let fault = line.fault.as_ref().unwrap();
        assert_eq!(fault.class, FaultClass::Setup, "{fault}");
        for words in ["visible/.git/HEAD", "let the set-up make the repository"] {
            assert!(fault.message.contains(words), "{fault}");
        }
        assert_eq!(line.steps, 0, "the agent had no turn");
    }
}
