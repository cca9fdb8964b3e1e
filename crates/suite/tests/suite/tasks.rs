//! What the keys of a task mean.

use agon_core::environment::{EnvironmentKind, Grading, Network};
use agon_core::{
    Action, ActionKind, ByteSize, Level, Money, Seconds, SettleTime, Solution, TaskId, User,
};
use agon_suite::{LoadOptions, load_suite};

use super::fixture::{Folder, october, one, options};

#[test]
fn a_task_that_says_little_gets_defaults() {
    let task = one("task: Say hello.\n");
    assert_eq!(task.id, TaskId::new("demo", "one").unwrap());
    assert_eq!(task.name, "one");
    assert_eq!(
        (task.level, task.weight, task.limits.steps),
        (None, 1.0, 30)
    );
    assert_eq!(task.environment.kind, EnvironmentKind::Local);
    assert_eq!(task.environment.network, Network::None);
    assert_eq!(task.environment.memory, ByteSize::mib(1024));
    assert_eq!(task.setup, None);
    assert!(task.actions.contains(&ActionKind::Run));
    assert_eq!(*task.solution.on_host(), None);
}

#[test]
fn every_key_is_read() {
    let task = one(r#"
name: 2048
level: silver
task: Do it.
setup_cmd: mkdir data
environment:
  kind: desktop
  image: example/desktop:1
  network: true
  memory: 2GiB
  processes: 64
  disk: 10MB
  env: {PORT: 8080, FLAG: yes}
  screen: 1280x800
  apps: [xterm]
  gl: true
  settle: 1.5
  fresh_checks: true
  group: screen
limits: {steps: 7, seconds: 60, start: 1, setup: 2, check: 3.5, tokens: 1000, money: 0.25, view: 1KiB, output: 1MB}
tags: [a, 3]
weight: 2.5
actions: [click, finish]
user: {replies: [yes, 42]}
solution:
  - {action: click, x: 1, y: 2}
  - {action: finish, result: 42}
"#);
    assert_eq!(
        (task.name.as_str(), task.level),
        ("2048", Some(Level::Silver))
    );
    assert_eq!((task.weight, task.limits.steps), (2.5, 7));
    assert_eq!(task.setup.as_deref(), Some("mkdir data"));
    let environment = &task.environment;
    assert_eq!(environment.kind, EnvironmentKind::Desktop);
    assert_eq!(environment.network, Network::Open);
    assert_eq!(
        (environment.memory, environment.disk),
        (ByteSize::mib(2048), ByteSize(10_000_000))
    );
    assert_eq!(environment.env["PORT"], "8080");
    assert_eq!(environment.env["FLAG"], "yes");
    assert_eq!(environment.screen.as_deref(), Some("1280x800"));
    assert_eq!(environment.apps, ["xterm"]);
    assert!(environment.gl && environment.grading.is_fresh());
    assert_eq!(
        environment.settle,
        Seconds::new(1.5).map(SettleTime::at_most)
    );
    assert_eq!(environment.group.as_deref(), Some("screen"));
    assert_eq!(task.limits.money, Some(Money::from_micros(250_000)));
    assert_eq!(task.limits.check, Seconds::new(3.5).unwrap());
    assert_eq!(task.tags, ["a", "3"]);
    assert_eq!(task.actions, [ActionKind::Click, ActionKind::Finish]);
    let replies = ["yes", "42"].map(str::to_owned).to_vec();
    assert_eq!(*task.user.on_host(), User::Script(replies));
    let answer = Action::Finish {
        result: Some("42".to_owned()),
    };
    let Some(Solution::Actions(actions)) = task.solution.on_host() else {
        panic!("no list of actions")
    };
    assert_eq!(actions[1], answer);
}

#[test]
fn a_default_deadline_never_exceeds_the_one_around_it() {
    let limits = one("task: x\nlimits: {seconds: 20}\n").limits;
    assert_eq!(limits.step, Seconds::whole(20));
    assert_eq!(limits.command, Seconds::whole(20));
    assert_eq!(limits.quiet, Seconds::whole(20));
}

#[test]
fn defaults_for_desktops_hold_only_for_desktops() {
    let suite = Folder::of_task("task: x\nenvironment: {kind: local}\n")
        .with("demo/three.yaml", "task: x\ndesktop_image: a:1\n")
        .with(
            "demo/two.yaml",
            "task: x\nenvironment: {kind: desktop, settle: 0}\n",
        )
        .with(
            "suite.toml",
            "name = \"x\"\n[defaults.environment]\ngl = true\nsettle = 0.25\nfresh_checks = false\n",
        )
        .suite();
    let seen: Vec<_> = suite
        .tasks
        .iter()
        .map(|task| {
            let environment = &task.environment;
            let settle = environment.settle.and_then(|it| it.most).map(Seconds::get);
            (task.id.id(), environment.gl, settle, environment.grading)
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("one", false, None, Grading::Fresh),
            ("three", true, Some(0.25), Grading::Used),
            // Its checks run in a fresh sandbox whatever is said.
            ("two", true, Some(0.0), Grading::Fresh),
        ]
    );
}

#[test]
fn a_suite_gives_defaults_and_weights() {
    let suite = Folder::of_task("task: x\nlevel: gold\n")
        .with("demo/two.yaml", "task: x\nlimits: {seconds: 5}\nenvironment: {kind: none, env: {A: 2}}\n")
        .with(
            "suite.toml",
            "name = \"Mine\"\ndescription = \"All of it.\"\n[defaults.environment]\nkind = \"local\"\n\
             memory = \"64MiB\"\nenv = { A = \"1\", B = \"1\" }\n[defaults.limits]\nseconds = 9\nsteps = 4\n\
             [weights]\ngold = 3\n",
        )
        .suite();
    assert_eq!(
        (suite.name.as_str(), suite.description.as_str()),
        ("Mine", "All of it.")
    );
    let [one, two] = suite.tasks.as_slice() else {
        panic!("{:?}", suite.tasks)
    };
    assert_eq!((one.weight, one.limits.steps), (3.0, 4));
    assert_eq!(one.limits.seconds, Seconds::whole(9));
    assert_eq!(one.environment.memory, ByteSize::mib(64));
    assert_eq!(two.limits.seconds, Seconds::whole(5));
    assert_eq!(two.environment.kind, EnvironmentKind::None);
    assert_eq!(
        (
            two.environment.env["A"].as_str(),
            two.environment.env["B"].as_str()
        ),
        ("2", "1")
    );
}

#[test]
fn max_steps_beat_the_files() {
    let folder = Folder::new()
        .with(
            "a/paper.yaml",
            "task: x\nlevel: paper\nlimits: {steps: 99}\n",
        )
        .with("a/gold.yaml", "task: x\nlevel: gold\n")
        .with("a/free.yaml", "task: x\n");
    let clock = october();
    let options = LoadOptions {
        max_steps: Some("5,25,50".parse().unwrap()),
        ..options(&clock)
    };
    let suite = load_suite(&folder.path(), &options).unwrap();
    let steps: Vec<_> = suite
        .tasks
        .iter()
        .map(|task| (task.id.id(), task.limits.steps))
        .collect();
    assert_eq!(steps, [("paper", 5), ("gold", 50), ("free", 50)]);
}

#[test]
fn none_and_nothing_are_no_setup() {
    for setup in [
        "setup_cmd: None",
        "setup_cmd: ''",
        "setup_cmd:",
        "setup_cmd: \"None\"",
        "",
    ] {
        assert_eq!(one(&format!("task: x\n{setup}\n")).setup, None, "{setup}");
    }
}

#[test]
fn the_digest_follows_the_meaning_and_not_the_layout() {
    let digest = |yaml: &str| one(yaml).digest;
    let base = digest("task: x\nname: a\nchecks: [{type: file, path: a, equals: b}]\n");
    let other_layout = "# a comment\nchecks:\n  - equals: b\n    path: a\n    type: file\ntask: x\nname: another\n";
    assert_eq!(base, digest(other_layout));
    for changed in [
        "task: y\nchecks: [{type: file, path: a, equals: b}]\n",
        "task: x\nchecks: [{type: file, path: a, equals: c}]\n",
        "task: x\nchecks: [{type: file, path: a, equals: b}]\nlimits: {seconds: 1}\n",
        "task: x\nchecks: [{type: file, path: a, equals: b}]\nenvironment: {network: open}\n",
        "task: x\nchecks: [{type: file, path: a, equals: b}]\nsolution: []\n",
        "task: x\nchecks: [{type: file, path: a, equals: b}]\nsetup_cmd: ls\n",
    ] {
        assert_ne!(base, digest(changed), "{changed}");
    }
}

#[test]
fn the_digest_covers_the_trees() {
    let folder = |verify: &str| {
        Folder::new()
            .with("demo/one/task.yaml", "task: x\n")
            .with("demo/one/verify/a.sh", verify)
            .suite()
    };
    assert_eq!(folder("a").digest, folder("a").digest);
    assert_ne!(folder("a").digest, folder("b").digest);
}

#[test]
fn the_schema_names_every_key() {
    let schema = serde_json::to_value(agon_suite::task_schema()).unwrap();
    for key in [
        "task",
        "checks",
        "solution",
        "environment",
        "limits",
        "user",
        "realtime",
        "hand_in",
        "complete_cmd",
        "collect",
    ] {
        assert!(schema["properties"].get(key).is_some(), "{key}");
    }
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], serde_json::json!(["task"]));
    for key in ["screen", "apps", "programs", "gl", "settle", "cwd"] {
        let environment = &schema["$defs"]["EnvironmentFile"]["properties"];
        assert!(environment[key].is_object(), "{key}");
    }
    for key in ["kind", "replies", "say", "answer", "rules", "facts"] {
        assert!(
            schema["$defs"]["UserFile"]["properties"][key].is_object(),
            "{key}"
        );
    }
    for key in [
        "not_contains",
        "number",
        "region",
        "colour",
        "app",
        "pattern",
    ] {
        assert!(schema["$defs"]["CheckFile"]["properties"][key].is_object());
    }
    for key in ["window", "clock", "begin", "ends", "interval", "frames"] {
        assert!(schema["$defs"]["RealtimeFile"]["properties"][key].is_object());
    }
    assert!(
        serde_json::to_value(agon_suite::suite_schema()).unwrap()["properties"]["weights"]
            .is_object()
    );
}

#[test]
fn files_from_other_systems_read_the_same() {
    let plain = one("name: Ü\ntask: |\n  two\n  lines\n");
    let windows = one("name: Ü\r\ntask: |\r\n  two\r\n  lines\r\n");
    let marked = one("\u{feff}name: Ü\ntask: |\n  two\n  lines\n");
    assert_eq!(plain.instruction.show(), "two\nlines\n");
    assert_eq!(plain.digest, windows.digest);
    assert_eq!(plain.digest, marked.digest);
}
