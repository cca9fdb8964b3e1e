//! Examples of checks that are decided on the host: files, answers, actions, and combinations.

use agon_core::check::{Check, CheckKind, EventPattern, FileTest, TextTest};
use agon_core::{Action, ActionKind, Digest};
use serde_json::json;

use super::Expect::{self, Accept, Reject};
use super::{Example, equals, example};

fn file(test: FileTest) -> CheckKind {
    let path = "out/report.txt".to_owned();
    CheckKind::File { path, test }
}

fn content(test: TextTest) -> CheckKind {
    file(FileTest::Content(vec![test]))
}

pub(super) fn files() -> Vec<Example> {
    const AT: &str = "out/report.txt";
    let contains = || content(TextTest::Contains("total".into()));
    let is_json = || {
        content(TextTest::Json {
            pointer: "/items/0".into(),
            equals: json!({"id": 1}),
        })
    };
    vec![
        example("exists", file(FileTest::Exists(true)), Accept).file(AT, "x"),
        example("a folder exists", file(FileTest::Exists(true)), Accept).folder(AT),
        example("is not there", file(FileTest::Exists(true)), Reject),
        example("must not be there", file(FileTest::Exists(false)), Accept),
        example(
            "must not be there but is",
            file(FileTest::Exists(false)),
            Reject,
        )
        .file(AT, ""),
        example("a link is no file", file(FileTest::Exists(true)), Reject).link(AT, "/etc/passwd"),
        example("a link is something", file(FileTest::Exists(false)), Reject).link(AT, "nowhere"),
        example(
            "moved, and a link in its place",
            file(FileTest::Exists(false)),
            Reject,
        )
        .file("other/report.txt", "x")
        .link("out", "other"),
        example("equals", content(equals("a\n")), Accept).file(AT, "a\n"),
        example("equals is byte for byte", content(equals("a\n")), Reject).file(AT, "a"),
        example("equals, other text", content(equals("a\n")), Reject).file(AT, "b\n"),
        example("the last entry counts", content(equals("new")), Accept)
            .file(AT, "old")
            .file(AT, "new"),
        example("a link to the answer", content(equals("a\n")), Reject)
            .file("answer", "a\n")
            .link(AT, "../answer"),
        example("a link on the way", content(equals("a\n")), Reject)
            .file("answers/report.txt", "a\n")
            .link("out", "answers"),
        example("a folder has no content", content(equals("")), Reject).folder(AT),
        example("contains", contains(), Accept).file(AT, "the total is 3"),
        example("contains, but not", contains(), Reject).file(AT, "the sum is 3"),
        example("contains in other bytes", contains(), Accept).file(AT, b"\xfftotal".to_vec()),
        example("too large to look at", contains(), Reject).file(AT, vec![b't'; (16 << 20) + 1]),
        example(
            "matches",
            content(TextTest::Matches("^[0-9]+$".into())),
            Accept,
        )
        .file(AT, "12"),
        example(
            "matches, but not",
            content(TextTest::Matches("^[0-9]+$".into())),
            Reject,
        )
        .file(AT, "12a"),
        example(
            "the end is the end",
            content(TextTest::Matches("^[0-9]+$".into())),
            Reject,
        )
        .file(AT, "12\nrm"),
        example("sha256", file(FileTest::Sha256(Digest::of(b"abc"))), Accept).file(AT, "abc"),
        example(
            "sha256 of a large file",
            file(FileTest::Sha256(Digest::of(&[7; 17 << 20]))),
            Accept,
        )
        .file(AT, vec![7; 17 << 20]),
        example(
            "sha256, other content",
            file(FileTest::Sha256(Digest::of(b"abc"))),
            Reject,
        )
        .file(AT, "abd"),
        example(
            "sha256 of nothing",
            file(FileTest::Sha256(Digest::of(b""))),
            Reject,
        ),
        example("json", is_json(), Accept).file(AT, r#"{"items":[{"id":1.0}]}"#),
        example("json, other value", is_json(), Reject).file(AT, r#"{"items":[{"id":"1"}]}"#),
        example("json, more than asked", is_json(), Reject)
            .file(AT, r#"{"items":[{"id":1,"x":2}]}"#),
        example("json that is none", is_json(), Reject)
            .file(AT, r#"{"items":[{"id":1}]} trailing"#),
        example("json too deep", is_json(), Reject).file(AT, "[".repeat(100_000)),
        example(
            "number",
            content(TextTest::Number {
                value: 2.5,
                tolerance: 0.1,
            }),
            Accept,
        )
        .file(AT, "2.45\n"),
        example(
            "tests nothing",
            file(FileTest::Content(vec![])),
            Expect::Fault,
        )
        .file(AT, "x"),
        example(
            "outside of the working folder",
            CheckKind::File {
                path: "/etc/passwd".into(),
                test: FileTest::Exists(true),
            },
            Expect::Fault,
        ),
    ]
}

pub(super) fn results() -> Vec<Example> {
    let result = |test| CheckKind::ReturnedResult { tests: vec![test] };
    let number = || {
        result(TextTest::Number {
            value: 53.0,
            tolerance: 0.5,
        })
    };
    let color = || result(TextTest::OneOf(vec!["red".into(), "green".into()]));
    vec![
        example("equals", result(equals("Paris")), Accept).result(" Paris\n"),
        example(
            "equals, a line end expected",
            result(equals("Paris\n")),
            Accept,
        )
        .result("Paris"),
        example("equals, other case", result(equals("Paris")), Reject).result("paris"),
        example("all answers at once", result(equals("Paris")), Reject).result("Paris London Rome"),
        example("no answer", result(equals("")), Reject),
        example(
            "no answer contains nothing bad",
            result(TextTest::NotContains("x".into())),
            Reject,
        ),
        example("one of", color(), Accept).result("green"),
        example("two of", color(), Reject).result("red, green"),
        example("number", number(), Accept).result("53.4"),
        example("number too far", number(), Reject).result("53.6"),
        example("a sum (45 + 8)", number(), Reject).result("45 + 8"),
        example("a list of numbers", number(), Reject).result("52 53 54"),
        example("not a number", number(), Reject).result("NaN"),
        example("endless", number(), Reject).result("inf"),
        example(
            "matches",
            result(TextTest::Matches("^A-[0-9]{3}$".into())),
            Accept,
        )
        .result("A-123\n"),
        example(
            "matches, but not",
            result(TextTest::Matches("^A-[0-9]{3}$".into())),
            Reject,
        )
        .result("A-123 or A-124"),
        example(
            "contains",
            result(TextTest::Contains("blue".into())),
            Accept,
        )
        .result("It is blue."),
        example(
            "contains, but not",
            result(TextTest::Contains("blue".into())),
            Reject,
        )
        .result("red"),
        example(
            "json",
            result(TextTest::Json {
                pointer: "/n".into(),
                equals: json!(1),
            }),
            Accept,
        )
        .result(r#"{"n": 1}"#),
        example("no choices", result(TextTest::OneOf(vec![])), Expect::Fault).result("x"),
    ]
}

pub(super) fn events() -> Vec<Example> {
    let pattern = |action, matches: &str| EventPattern {
        action: Some(action),
        matches: Some(matches.to_owned()),
    };
    let greps = || CheckKind::Events {
        must: vec![pattern(ActionKind::Run, "grep")],
        must_not: vec![pattern(ActionKind::Run, r"\brm\b")],
    };
    let asks = || CheckKind::Events {
        must: vec![EventPattern {
            action: Some(ActionKind::Message),
            matches: None,
        }],
        must_not: vec![],
    };
    let message = |text: &str| Action::Message { text: text.into() };
    vec![
        example("did it", greps(), Accept).did(Action::run("grep x log")),
        example("never did it", greps(), Reject).did(Action::run("cat log")),
        example("did nothing at all", greps(), Reject),
        example("said it instead", greps(), Reject).did(message("grep")),
        example("did what it must not", greps(), Reject)
            .did(Action::run("grep x log"))
            .did(Action::run("rm log")),
        example("a kind alone", asks(), Accept).did(message("Which one?")),
        example("another kind", asks(), Reject).did(Action::run("ls")),
        example(
            "looks for nothing",
            CheckKind::Events {
                must: vec![],
                must_not: vec![],
            },
            Expect::Fault,
        ),
    ]
}

pub(super) fn combinations() -> Vec<Example> {
    let part = |answer: &str| Check {
        name: None,
        weight: 1.0,
        kind: CheckKind::ReturnedResult {
            tests: vec![TextTest::Contains(answer.into())],
        },
    };
    let parts = || vec![part("a"), part("b")];
    let all = |partial| CheckKind::All {
        checks: parts(),
        partial,
    };
    let any = || CheckKind::Any { checks: parts() };
    vec![
        example("all", all(false), Accept).result("ab"),
        example("not all", all(false), Reject).result("a"),
        example("all with partial credit", all(true), Accept).result("ab"),
        example("partial credit is no pass", all(true), Reject).result("b"),
        example(
            "all of nothing",
            CheckKind::All {
                checks: vec![],
                partial: false,
            },
            Expect::Fault,
        ),
        example("any", any(), Accept).result("b"),
        example("not any", any(), Reject).result("c"),
        example(
            "any of nothing",
            CheckKind::Any { checks: vec![] },
            Expect::Fault,
        ),
    ]
}
