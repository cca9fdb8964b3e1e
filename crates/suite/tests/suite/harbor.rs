//! Task folders of Harbor.

use agon_core::check::CheckKind;
use agon_core::environment::Network;
use agon_core::{Action, ByteSize, EnvironmentKind, Seconds, Solution};
use agon_suite::lint;

use super::fixture::{Folder, checks, load};

const SETTINGS: &str = r#"
version = "1.0"

[metadata]
author_name = "A"
difficulty = "easy"
category = "file operations"
tags = ["trivial", "shell"]

[verifier]
timeout_sec = 120.0

[agent]
timeout_sec = 300.0

[environment]
build_timeout_sec = 900.0
cpus = 2
memory = "4G"
storage_mb = 1024
allow_internet = false
gpus = 0
env = { MODE = "test" }
"#;

fn task() -> Folder {
    Folder::new()
        .with("hello/task.toml", SETTINGS)
        .with("hello/instruction.md", "Write hello.\n")
        .with(
            "hello/environment/Dockerfile",
            "FROM debian:12\nWORKDIR /app\nCOPY data .\n",
        )
        .with("hello/environment/data", "1")
        .with(
            "hello/tests/test.sh",
            "echo 1 > /logs/verifier/reward.txt\n",
        )
        .with("hello/tests/expected.txt", "hello\n")
        .with(
            "hello/solution/solve.sh",
            "#!/bin/bash\nset -e\necho hello > hello.txt\n",
        )
}

#[test]
fn a_folder_of_tasks_is_a_suite() {
    let folder = task();
    let suite = folder.suite();
    let task = &suite.tasks[0];
    assert_eq!(task.id.to_string(), "file_operations/hello");
    assert_eq!(task.instruction.show(), "Write hello.\n");
    assert_eq!(task.tags, ["trivial", "shell", "easy"]);
    assert_eq!(task.limits.seconds, Seconds::whole(300));
    assert_eq!(task.limits.command, Seconds::whole(300));
    assert_eq!(task.limits.check, Seconds::whole(120));
    let environment = &task.environment;
    assert_eq!(environment.kind, EnvironmentKind::Container);
    assert_eq!(
        (environment.memory, environment.disk),
        (ByteSize::mib(4096), ByteSize::mib(1024))
    );
    assert_eq!(environment.cpus, Some(2.0));
    assert_eq!(environment.network, Network::None);
    assert_eq!(environment.cwd.as_deref(), Some("/app"));
    assert_eq!(environment.env["MODE"], "test");
    let [build] = suite.builds.try_into().unwrap();
    assert_eq!(environment.image.as_deref(), Some(build.tag.as_str()));
    assert!(build.tag.starts_with("agon-harbor/hello:"), "{}", build.tag);
    assert_eq!(build.limit, Seconds::whole(900));
    assert!(build.folder.join("Dockerfile").is_file());
    let script = "test.sh".to_owned();
    assert_eq!(checks(task)[0].kind, CheckKind::Reward { script });
    assert!(task.visible.show().is_empty());
    assert_eq!(task.verify.inspect(|tree| tree.entries().len()), 2);
    let solution = "(\n#!/bin/bash\nset -e\necho hello > hello.txt\n)";
    let solution = Solution::Actions(vec![Action::run(solution)]);
    assert_eq!(*task.solution.on_host(), Some(solution));
}

#[test]
fn one_folder_is_a_suite_too() {
    let folder = task();
    let whole = folder.suite();
    for path in ["hello", "hello/task.toml"] {
        let one = load(&folder.path().join(path)).unwrap();
        assert_eq!(one.name, "suite");
        assert_eq!(one.digest, whole.digest);
    }
}

#[test]
fn little_is_needed() {
    let suite = Folder::new()
        .with(
            "a/task.toml",
            "[environment]\ndocker_image = \"alpine:3\"\nworkdir = \"/src\"\n",
        )
        .with("a/instruction.md", "x")
        .with("a/tests/test.sh", "x")
        .suite();
    let task = &suite.tasks[0];
    assert_eq!(task.id.to_string(), "suite/a");
    assert_eq!(task.environment.image.as_deref(), Some("alpine:3"));
    assert_eq!(task.environment.cwd.as_deref(), Some("/src"));
    assert_eq!(task.environment.memory, ByteSize::mib(2048));
    // As Harbor has it.
    assert_eq!(task.environment.network, Network::Open);
    assert!(suite.builds.is_empty());
}

#[test]
fn the_image_follows_its_recipe() {
    let before = task().suite();
    let same = task().suite();
    let other = task().with("hello/environment/data", "2").suite();
    assert_eq!(before.builds[0].tag, same.builds[0].tag);
    assert_ne!(before.builds[0].tag, other.builds[0].tag);
    assert_ne!(before.tasks[0].played, other.tasks[0].played);
    let tests = task().with("hello/tests/expected.txt", "bye\n").suite();
    assert_eq!(before.tasks[0].played, tests.tasks[0].played);
    assert_ne!(before.tasks[0].digest, tests.tasks[0].digest);
}

#[test]
fn what_is_not_used_is_told() {
    let folder = task()
        .with("hello/solution/more.py", "x")
        .with("hello/task.toml", &format!("extra = 1\n{SETTINGS}"));
    let found: Vec<String> = lint(&folder.suite())
        .into_iter()
        .map(|finding| format!("{} {}", finding.severity.name(), finding.message))
        .collect();
    assert_eq!(
        found,
        [
            "warning task.toml:1: `extra` is not used",
            "warning task.toml:23: `environment.gpus` is not used",
            "warning solution/ has 1 more files than solve.sh: they are not there when it is played",
        ]
    );
}

#[test]
fn where_commands_start_should_be_known() {
    let warned = |folder: Folder| {
        let found = lint(&folder.suite());
        found.iter().any(|one| one.message.contains("/work"))
    };
    let recipe = |text: &str| task().with("hello/environment/Dockerfile", text);
    assert!(!warned(recipe("FROM a\nWORKDIR /app\n")));
    assert!(warned(recipe("FROM a\n")));
    let named = format!("{SETTINGS}workdir = \"/src\"\n");
    assert!(!warned(recipe("FROM a\n").with("hello/task.toml", &named)));
}

#[test]
fn what_can_not_be_played_is_refused() {
    let complaints = [
        task().with("hello/task.toml", "[agent]\ntimeout_sec = \"long\"\n"),
        task().with("hello/task.toml", "[[steps]]\nname = \"a\"\n"),
        task().with("hello/task.toml", "[agent\n"),
        task().with("hello/environment/docker-compose.yaml", "x"),
        task().with("second/task.toml", ""),
        Folder::new()
            .with("a/task.toml", "")
            .with("a/instruction.md", "x")
            .with("a/tests/test.sh", "x"),
        Folder::new()
            .with("a/task.toml", "[environment]\ndocker_image = \"a b\"\n")
            .with("a/instruction.md", "x")
            .with("a/tests/test.sh", "x"),
    ];
    let lines: String = complaints
        .iter()
        .flat_map(|folder| {
            let root = folder.path().display().to_string();
            let errors = folder.load().unwrap_err();
            let lines = errors.errors().iter().map(|error| error.line() + "\n");
            lines
                .map(|line| line.replace(&root, "suite"))
                .collect::<Vec<_>>()
        })
        .collect();
    insta::assert_snapshot!(lines);
}
