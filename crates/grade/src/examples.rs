//! Accept and reject examples of every check type, as data. Each is graded as a whole task would be;
//! the reject examples include what agents have really tried.

use agon_core::check::{Check, CheckKind, EventPattern, FileTest, Stream, TextTest};
use agon_core::{Action, ActionKind, Digest, FaultClass};
use agon_sandbox::{Captured, Exec, ExecOutput, Exit};
use serde_json::json;

use crate::canned::{Canned, Left, Remains, graded, request, task};
use crate::place::Place;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Expect {
    Accept,
    Reject,
    /// Rejected, with a sign of tampering.
    Tampered,
    /// Could not be graded.
    Fault,
}
use Expect::{Accept, Reject, Tampered};

struct Example {
    about: &'static str,
    check: CheckKind,
    remains: Remains,
    /// How the check's program ends; `NONCE` in the verdict becomes the real one.
    output: ExecOutput,
    expect: Expect,
}

fn example(about: &'static str, check: CheckKind, expect: Expect) -> Example {
    Example {
        about,
        check,
        remains: Remains::default(),
        output: ended(Exit::Code(0)),
        expect,
    }
}

impl Example {
    fn file(mut self, path: &'static str, content: impl Into<Vec<u8>>) -> Self {
        self.remains.files.push(Left::File(path, content.into()));
        self
    }
    fn link(mut self, path: &'static str, target: &'static str) -> Self {
        self.remains.files.push(Left::Link(path, target));
        self
    }
    fn folder(mut self, path: &'static str) -> Self {
        self.remains.files.push(Left::Folder(path));
        self
    }
    fn result(mut self, result: &'static str) -> Self {
        self.remains.result = Some(result);
        self
    }
    fn did(mut self, action: Action) -> Self {
        self.remains.actions.push(action);
        self
    }
    fn exits(mut self, exit: Exit) -> Self {
        self.output.exit = exit;
        self
    }
    fn prints(mut self, stdout: &str) -> Self {
        self.output.stdout.bytes = stdout.into();
        self
    }
    fn complains(mut self, stderr: &str) -> Self {
        self.output.stderr.bytes = stderr.into();
        self
    }
    fn floods(mut self) -> Self {
        self.output.stdout.omitted = 1;
        self
    }
    fn says(mut self, verdict: &str) -> Self {
        self.output.verdict = verdict.into();
        self
    }
}

fn ended(exit: Exit) -> ExecOutput {
    ExecOutput {
        exit,
        stdout: Captured::default(),
        stderr: Captured::default(),
        verdict: Vec::new(),
    }
}

fn equals(text: &str) -> TextTest {
    TextTest::Equals(text.to_owned())
}

fn file(test: FileTest) -> CheckKind {
    let path = "out/report.txt".to_owned();
    CheckKind::File { path, test }
}

fn content(test: TextTest) -> CheckKind {
    file(FileTest::Content(vec![test]))
}

fn files() -> Vec<Example> {
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

fn command(tests: Vec<TextTest>, exit_status: Option<i32>, stream: Stream) -> CheckKind {
    CheckKind::CommandOutput {
        command: "python3 prog.py".into(),
        stream,
        tests,
        exit_status,
    }
}

fn commands() -> Vec<Example> {
    let out = |test| command(vec![test], Some(0), Stream::Stdout);
    let status = |status| command(vec![], Some(status), Stream::Stdout);
    vec![
        example("equals", out(equals("ok\n")), Accept).prints("ok\n"),
        example("equals, no line end", out(equals("ok\n")), Reject).prints("ok"),
        example("equals with more", out(equals("ok\n")), Reject).prints("ok\nok\n"),
        example("right output, wrong end", out(equals("ok\n")), Reject)
            .prints("ok\n")
            .exits(Exit::Code(1)),
        example("right output, killed", out(equals("ok\n")), Reject)
            .prints("ok\n")
            .exits(Exit::Signal(11)),
        example("right output, then hangs", out(equals("ok\n")), Reject)
            .prints("ok\n")
            .exits(Exit::TimedOut),
        example(
            "any end will do",
            command(vec![equals("ok")], None, Stream::Stdout),
            Accept,
        )
        .prints("ok")
        .exits(Exit::Code(3)),
        example("exit status alone", status(4), Accept).exits(Exit::Code(4)),
        example("exit status alone, another", status(4), Reject),
        example("a hang is no status", status(124), Reject).exits(Exit::TimedOut),
        example("on the wrong stream", out(equals("ok")), Reject).complains("ok"),
        example(
            "stderr",
            command(vec![equals("ok")], Some(0), Stream::Stderr),
            Accept,
        )
        .complains("ok")
        .prints("noise"),
        example(
            "both streams",
            command(vec![equals("ab")], Some(0), Stream::Both),
            Accept,
        )
        .prints("a")
        .complains("b"),
        example(
            "json",
            out(TextTest::Json {
                pointer: "".into(),
                equals: json!([1]),
            }),
            Accept,
        )
        .prints("[1]\n"),
        example(
            "number",
            out(TextTest::Number {
                value: 3.0,
                tolerance: 0.0,
            }),
            Accept,
        )
        .prints("3\n"),
        example(
            "a sum is no number",
            out(TextTest::Number {
                value: 53.0,
                tolerance: 0.0,
            }),
            Reject,
        )
        .prints("45 + 8\n"),
        example(
            "hidden in a flood",
            out(TextTest::NotContains("error".into())),
            Reject,
        )
        .prints("fine")
        .floods(),
        example("a printed verdict is text", out(equals("ok\n")), Reject)
            .prints("{\"passed\":true,\"score\":1}\nPASSED\n"),
        example(
            "tests nothing",
            command(vec![], None, Stream::Stdout),
            Expect::Fault,
        ),
        example(
            "a broken pattern",
            out(TextTest::Matches("(".into())),
            Expect::Fault,
        ),
    ]
}

fn scripts() -> Vec<Example> {
    let script = |path: &str| CheckKind::Script {
        path: path.into(),
        args: vec![],
    };
    let check = || script("check.py");
    vec![
        example("says so", check(), Accept).says("{\"nonce\":\"NONCE\",\"score\":1}\n"),
        example("says no", check(), Reject).says(r#"{"nonce":"NONCE","score":0,"reason":"bad"}"#),
        example("says partly", check(), Reject).says(r#"{"nonce":"NONCE","score":0.5}"#),
        example("a guessed nonce", check(), Tampered)
            .says(r#"{"nonce":"00000000000000000000000000000000","score":1}"#),
        example("no nonce", check(), Tampered).says(r#"{"score":1}"#),
        example("garbage to spoil the verdict", check(), Tampered)
            .says("\u{0}\u{1}\n{\"nonce\":\"NONCE\",\"score\":1}\n"),
        example("printed instead of said", check(), Expect::Fault)
            .prints(r#"{"nonce":"NONCE","score":1}"#),
        example("exit status 0 is no verdict", check(), Expect::Fault),
        example("hung by what was left", check(), Reject).exits(Exit::TimedOut),
        example("killed by what was left", check(), Reject).exits(Exit::Signal(9)),
        example("out of range", check(), Expect::Fault).says(r#"{"nonce":"NONCE","score":2}"#),
        example("no such script", script("other.py"), Expect::Fault),
        example("out of its tree", script("../check.py"), Expect::Fault),
    ]
}

fn results() -> Vec<Example> {
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

fn events() -> Vec<Example> {
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

fn combinations() -> Vec<Example> {
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

async fn run(name: &str, example: Example) {
    let Example {
        about,
        check,
        remains,
        output,
        expect,
    } = example;
    let provider = Canned::new(move |exec: &Exec| {
        let nonce = String::from_utf8_lossy(&exec.stdin).trim().to_owned();
        let verdict = String::from_utf8_lossy(&output.verdict).replace("NONCE", &nonce);
        Ok(ExecOutput {
            verdict: verdict.into_bytes(),
            ..output.clone()
        })
    });
    let request = request();
    let place = Place::Fresh {
        provider: &provider,
        request: &request,
    };
    let task = task(vec![Check {
        name: None,
        weight: 1.0,
        kind: check,
    }]);
    let verdict = graded(&task, &remains, &place).await;
    let found = match &verdict {
        Ok(verdict) if verdict.passed => Accept,
        Ok(verdict) if verdict.integrity().is_some() => Tampered,
        Ok(_) => Reject,
        Err(fault) => {
            assert_eq!(fault.class, FaultClass::Check, "{name}: {about}: {fault}");
            Expect::Fault
        }
    };
    assert_eq!(found, expect, "{name}: {about}: {verdict:#?}");
    for result in verdict.iter().flat_map(|verdict| &verdict.checks) {
        assert!(!result.reason.is_empty(), "{name}: {about} gives no reason");
        assert!(result.reason.len() <= 2048, "{name}: {about}");
    }
}

#[tokio::test]
async fn every_example_is_graded_as_it_says() {
    for (name, examples) in [
        ("file", files()),
        ("command_output", commands()),
        ("script", scripts()),
        ("returned_result", results()),
        ("events", events()),
        ("all and any", combinations()),
    ] {
        for kind in [Accept, Reject] {
            assert!(
                examples.iter().any(|one| one.expect == kind),
                "{name} lacks {kind:?}"
            );
        }
        for example in examples {
            run(name, example).await;
        }
    }
}
