//! What the keys of a check mean.

use agon_core::ActionKind;
use agon_core::check::{Check, CheckKind, EventPattern, FileTest, ProseSubject, Stream, TextTest};
use serde_json::json;

use super::fixture::{Folder, checks, one};

fn check(yaml: &str) -> CheckKind {
    let task = one(&format!("task: x\nchecks:\n  - {yaml}\n"));
    checks(&task).remove(0).kind
}

fn text(text: &str) -> String {
    text.to_owned()
}

#[test]
fn files() {
    let file = |test| CheckKind::File {
        path: text("a"),
        test,
    };
    assert_eq!(check("{type: file, path: a}"), file(FileTest::Exists(true)));
    assert_eq!(
        check("{type: file, path: a, exists: false}"),
        file(FileTest::Exists(false))
    );
    assert_eq!(
        check("{type: file, path: a, equals: 42, contains: '4', not_contains: x}"),
        file(FileTest::Content(vec![
            TextTest::Equals(text("42")),
            TextTest::Contains(text("4")),
            TextTest::NotContains(text("x")),
        ]))
    );
    let digest = agon_core::Digest::of(b"x");
    assert_eq!(
        check(&format!("{{type: file, path: a, sha256: {digest}}}")),
        file(FileTest::Sha256(digest))
    );
}

#[test]
fn json_is_a_value_or_a_pointer_to_one() {
    let json_of = |yaml: &str| match check(yaml) {
        CheckKind::File {
            test: FileTest::Content(tests),
            ..
        } => tests[0].clone(),
        other => panic!("{other:?}"),
    };
    let test = |pointer: &str, equals| TextTest::Json {
        pointer: text(pointer),
        equals,
    };
    assert_eq!(
        json_of("{type: file, path: a, json: {pointer: /a/0, equals: 1.10}}"),
        test("/a/0", json!("1.10"))
    );
    assert_eq!(
        json_of("{type: file, path: a, json: {a: [1, 2.5, null, yes]}}"),
        test("", json!({"a": [1, 2.5, null, "yes"]}))
    );
    assert_eq!(
        json_of("{type: file, path: a, json: null}"),
        test("", json!(null))
    );
    assert_eq!(
        json_of("{type: file, path: a, json: {equals: 3}}"),
        test("", json!(3))
    );
}

#[test]
fn commands() {
    assert_eq!(
        check("{type: command_output, command: ls, matches: '^a', exit_status: 1, stream: both}"),
        CheckKind::CommandOutput {
            command: text("ls"),
            stream: Stream::Both,
            tests: vec![TextTest::Matches(text("^a"))],
            exit_status: Some(1),
        }
    );
    let prose = CheckKind::Prose {
        subject: ProseSubject::CommandOutput {
            command: text("ls"),
        },
        value: text("It lists a."),
    };
    assert_eq!(
        check("{type: command_output, command: ls, value: It lists a.}"),
        prose
    );
}

#[test]
fn what_we_can_decide_beats_prose() {
    let kind = check("{type: command_output, command: ls, value: It lists a., equals: a}");
    assert!(matches!(kind, CheckKind::CommandOutput { .. }), "{kind:?}");
    let kind = check("{type: returned_result, value: It is 4., number: 4, tolerance: 0.5}");
    let tests = vec![TextTest::Number {
        value: 4.0,
        tolerance: 0.5,
    }];
    assert_eq!(kind, CheckKind::ReturnedResult { tests });
}

#[test]
fn prose() {
    for (name, subject) in [
        ("returned_result", ProseSubject::ReturnedResult),
        ("final_screenshot", ProseSubject::FinalScreenshot),
        ("'expected_flow  '", ProseSubject::ExpectedFlow),
    ] {
        let value = text("Something.");
        assert_eq!(
            check(&format!("{{type: {name}, value: Something.}}")),
            CheckKind::Prose { subject, value }
        );
    }
}

#[test]
fn events() {
    let kind =
        check("{type: events, must: [{action: run, matches: 'git'}], must_not: [{action: write}]}");
    let pattern = |action, matches: Option<&str>| EventPattern {
        action: Some(action),
        matches: matches.map(text),
    };
    assert_eq!(
        kind,
        CheckKind::Events {
            must: vec![pattern(ActionKind::Run, Some("git"))],
            must_not: vec![pattern(ActionKind::Write, None)],
        }
    );
}

#[test]
fn parts_and_partial_credit() {
    let task = one(
        "task: x\npartial: true\nchecks:\n  - {type: file, path: a, weight: 3, name: first}\n  \
         - {type: any, checks: [{type: file, path: b}, {type: all, partial: true, checks: [{type: file, path: c}]}]}\n",
    );
    let [whole] = checks(&task).try_into().unwrap();
    let CheckKind::All {
        checks: parts,
        partial: true,
    } = &whole.kind
    else {
        panic!("{whole:?}")
    };
    assert_eq!(
        (parts[0].weight, parts[0].name.as_deref()),
        (3.0, Some("first"))
    );
    let CheckKind::Any { checks: parts } = &parts[1].kind else {
        panic!("{parts:?}")
    };
    assert!(matches!(
        &parts[1].kind,
        CheckKind::All { partial: true, .. }
    ));
    assert_eq!(
        parts.iter().map(Check::label).collect::<Vec<_>>(),
        ["file b", "all"]
    );
}

#[test]
fn scripts_lie_in_verify() {
    let yaml = "task: x\nchecks:\n  - {type: script, script: check.py, args: [1, b]}\n";
    let suite = Folder::new()
        .with("demo/one/task.yaml", yaml)
        .with("demo/one/verify/check.py", "print()")
        .suite();
    assert_eq!(
        checks(&suite.tasks[0])[0].kind,
        CheckKind::Script {
            path: text("check.py"),
            args: vec![text("1"), text("b")],
        }
    );
}

#[test]
fn months_are_expanded_in_values_and_commands_only() {
    let task = one(
        "task: In [%MONTH+0%].\nname: '[%MONTH+0%]'\nsetup_cmd: echo [%MONTH+0%]\nchecks:\n  \
         - {type: any, checks: [{type: command_output, command: 'cal [%MONTH+2%]', contains: '[%MONTH+2%]'}]}\n",
    );
    assert_eq!(task.instruction.show(), "In October.");
    assert_eq!(task.name, "[%MONTH+0%]");
    assert_eq!(task.setup.as_deref(), Some("echo [%MONTH+0%]"));
    let CheckKind::Any { checks: parts } = checks(&task).remove(0).kind else {
        panic!("no any")
    };
    let CheckKind::CommandOutput { command, tests, .. } = &parts[0].kind else {
        panic!("{parts:?}")
    };
    assert_eq!(command, "cal December");
    assert_eq!(*tests, [TextTest::Contains(text("[%MONTH+2%]"))]);
}
