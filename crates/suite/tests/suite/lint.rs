//! What looks wrong with suites that load.

use agon_suite::lint;

use super::fixture::Folder;

fn findings(folder: &Folder) -> Vec<String> {
    lint(&folder.suite())
        .into_iter()
        .map(|finding| {
            format!(
                "{} {}: {}",
                finding.severity.name(),
                finding.task,
                finding.message
            )
        })
        .collect()
}

const GOOD: &str =
    "task: Answer.\nchecks: [{type: file, path: a}]\nsolution: [{action: run, command: touch a}]\n";

#[test]
fn a_good_task_has_no_findings() {
    assert!(findings(&Folder::of_task(GOOD)).is_empty());
}

#[test]
fn bad_tasks_are_named() {
    let cases = [
        (
            "task: x\nsolution: []\n",
            "error demo/one: there are no checks",
        ),
        (
            "task: ' '\nsolution: []\nchecks: [{type: file, path: a}]\n",
            "error demo/one: the instruction is empty",
        ),
        (
            "task: x\nchecks: [{type: file, path: a}]\n",
            "warning demo/one: there is no solution",
        ),
        (
            "task: x\nsolution: []\nchecks: [{type: final_screenshot, value: A.}]\n",
            "note demo/one: 1 of 1 checks are prose",
        ),
        (
            "task: x\nsolution: []\nchecks: [{type: returned_result, contains: ''}]\n",
            "error demo/one: the check `returned_result` can't fail",
        ),
        (
            "task: x\nsolution: []\nchecks: [{type: command_output, command: ls, matches: '.*'}]\n",
            "can't fail",
        ),
        (
            "task: x\nsolution: []\nchecks: [{type: file, path: a, exists: false}]\n",
            "warning demo/one: the checks only forbid",
        ),
        (
            "task: x\nsolution: []\nchecks: [{type: events, must_not: [{action: run}]}]\n",
            "only forbid",
        ),
        (
            "task: x\nsolution: [{action: click, x: 1, y: 1}]\nchecks: [{type: file, path: a}]\n",
            "error demo/one: the solution uses `click`",
        ),
        (
            "task: x\nlimits: {steps: 1}\nsolution: [{action: finish}, {action: finish}]\nchecks: [{type: file, path: a}]\n",
            "error demo/one: the solution takes 2 steps, the limit is 1",
        ),
        (
            "task: x\nenvironment: {network: open}\nsolution: []\nchecks: [{type: file, path: a}]\n",
            "note demo/one: the environment has an open network",
        ),
        (
            "task: x\nlimits: {step: 50, seconds: 10}\nsolution: []\nchecks: [{type: file, path: a}]\n",
            "warning demo/one: limits.step is longer",
        ),
        (
            "task: x\nlimits: {check: 0}\nsolution: []\nchecks: [{type: file, path: a}]\n",
            "error demo/one: limits.check is 0",
        ),
    ];
    for (yaml, expected) in cases {
        let found = findings(&Folder::of_task(yaml));
        assert!(
            found.iter().any(|line| line.contains(expected)),
            "{yaml}: {found:?}"
        );
    }
}

const PLAYED: &str = "task: x\nenvironment: {kind: desktop, apps: [game]}\nchecks: [{type: screen_text, number: {}}]\n";

#[test]
fn a_good_play_has_no_findings() {
    let folder = Folder::of_task(&format!(
        "{PLAYED}realtime: {{window: A, ends: [{{type: window, title: over}}]}}\nsolution: {{player: a}}\n"
    ));
    assert_eq!(findings(&folder), Vec::<String>::new());
}

#[test]
fn odd_plays_are_named() {
    let cases = [
        (
            "realtime: {}\n",
            "note demo/one: realtime has no `ends`: every play lasts until limits.seconds (120 s)",
        ),
        ("realtime: {}\n", "note demo/one: realtime has no `window`"),
        (
            "realtime: {ends: [{type: screen_text, contains: a}]}\n",
            "note demo/one: the end `screen_text` reads the whole screen every 0.5 s",
        ),
        (
            "realtime: {interval: 3}\nlimits: {seconds: 2}\n",
            "warning demo/one: realtime.interval is longer",
        ),
        (
            "realtime: {}\nsolution: [{action: finish}]\n",
            "warning demo/one: the solution is a list of actions",
        ),
    ];
    for (yaml, expected) in cases {
        let found = findings(&Folder::of_task(&format!("{PLAYED}{yaml}")));
        assert!(
            found.iter().any(|line| line.starts_with(expected)),
            "{yaml}: {found:?}"
        );
    }
}

#[test]
fn tests_of_the_screen_that_say_too_little() {
    let desktop = "task: x\nsolution: []\nenvironment: {kind: desktop, apps: [game]}\n";
    let cases = [
        (
            "{type: screen_text, matches: '.*'}",
            "error demo/one: the check `screen_text` can't fail",
        ),
        ("{type: screen_text, not_contains: a}", "only forbid"),
        ("{type: region_changed, changed: false}", "only forbid"),
        ("{type: window, title: a, exists: false}", "only forbid"),
        ("{type: process, app: game, alive: true}", "only forbid"),
        (
            "{type: screen_text, number: {within_play: true}}",
            "warning demo/one: `within_play` says nothing",
        ),
    ];
    for (check, expected) in cases {
        let found = findings(&Folder::of_task(&format!("{desktop}checks: [{check}]\n")));
        assert!(
            found.iter().any(|line| line.contains(expected)),
            "{check}: {found:?}"
        );
    }
}

#[test]
fn answers_that_the_agent_can_see_are_named() {
    let folder = Folder::new()
        .with("demo/one/task.yaml", GOOD)
        .with("demo/one/visible/data.txt", "secret")
        .with("demo/one/visible/empty", "")
        .with("demo/one/verify/empty", "")
        .with("demo/one/verify/expected.txt", "secret");
    assert_eq!(
        findings(&folder),
        ["error demo/one: visible/data.txt is the same file as verify/expected.txt"]
    );
}

#[test]
fn shared_answers_are_named_once() {
    let yaml = "task: x\nchecks: [{type: returned_result, equals: gymnast}]\nsolution: [{action: finish, result: gymnast}]\n";
    let folder = Folder::of_task(yaml)
        .with("demo/two.yaml", yaml)
        .with("demo/three.yaml", yaml)
        .with("demo/four.yaml", &yaml.replace("gymnast", "yes"))
        .with("demo/five.yaml", &yaml.replace("gymnast", "yes"));
    assert_eq!(
        findings(&folder),
        ["warning demo/one: has the same answer as demo/three and 1 more"]
    );
}

#[test]
fn hidden_fields_that_are_told_are_named() {
    let row = serde_json::json!({
        "instance_id": "a", "question": "Is it Hexagonal or round?", "answer": "Hexagonal",
        "patch": "-old\n+new line", "expected": ["short", 7, {"deep": "The Deep One"}],
    });
    let folder = Folder::new()
        .with("benchmark.toml", "[collect]\npatch = \"repo\"\n")
        .with("dataset.jsonl", &row.to_string())
        .with("instruction.md.j2", "{{ question }}")
        .with("solution.sh", "true")
        .with("verify/evaluate.sh", "true")
        .with("visible/repo/notes.txt", "short; apply -old\n+new line")
        .with("visible/repo/more.txt", "The Deep One");
    assert_eq!(
        findings(&folder),
        [
            "error suite/a: a patch is handed in, and no set-up makes the repository of it",
            "warning suite/a: the instruction tells the hidden field `answer`",
            "warning suite/a: visible/repo/more.txt tells the hidden field `expected`",
            "error suite/a: visible/repo/notes.txt tells the hidden field `patch`",
        ]
    );
    let folder = folder
        .with("initialize.sh", "cd repo && git init")
        .with("instruction.md.j2", "Which?")
        .with("visible/repo/more.txt", "")
        .with("visible/repo/notes.txt", "short");
    assert_eq!(findings(&folder), Vec::<String>::new());
}

#[test]
fn histories_of_repositories_are_errors() {
    let hash = "b".repeat(38);
    for path in [
        "repo/.git/HEAD".to_owned(),
        format!("bare/objects/aa/{hash}"),
        "bare/objects/pack/pack-1.pack".to_owned(),
    ] {
        let folder = Folder::new()
            .with("demo/one/task.yaml", GOOD)
            .with(&format!("demo/one/visible/{path}"), "x");
        let found = findings(&folder);
        let expected =
            format!("error demo/one: can't be played: visible/{path} is part of a git history");
        assert!(
            found.len() == 1 && found[0].starts_with(&expected),
            "{found:?}"
        );
    }
    let folder = Folder::new()
        .with("demo/one/task.yaml", GOOD)
        .with("demo/one/visible/repo/.gitignore", "x")
        .with("demo/one/visible/objects/aa/readme", "x");
    assert!(findings(&folder).is_empty());
}

#[test]
fn a_patch_needs_a_repository() {
    let task = format!("{GOOD}hand_in: {{patch: repo}}\n");
    let found = findings(&Folder::of_task(&task));
    assert_eq!(
        found,
        ["error demo/one: a patch is handed in, and nothing makes the repository"]
    );
    let made = format!("{task}setup_cmd: git init repo\n");
    assert!(findings(&Folder::of_task(&made)).is_empty());
    let brought = format!("{task}environment: {{kind: container, image: a, cwd: /testbed}}\n");
    assert!(findings(&Folder::of_task(&brought)).is_empty());
}
