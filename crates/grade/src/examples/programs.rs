//! Examples of checks that run a program: commands and scripts.

use agon_core::check::{CheckKind, Stream, TextTest};
use agon_sandbox::Exit;
use serde_json::json;

use super::Expect::{self, Accept, Reject, Tampered};
use super::{Example, equals, example};

fn command(tests: Vec<TextTest>, exit_status: Option<i32>, stream: Stream) -> CheckKind {
    CheckKind::CommandOutput {
        command: "python3 prog.py".into(),
        stream,
        tests,
        exit_status,
    }
}

pub(super) fn commands() -> Vec<Example> {
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

pub(super) fn scripts() -> Vec<Example> {
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
        example("printed instead of said", check(), Reject)
            .prints(r#"{"nonce":"NONCE","score":1}"#),
        example("exit status 0 is no verdict", check(), Reject),
        example("hung by what was left", check(), Reject).exits(Exit::TimedOut),
        example("killed by what was left", check(), Reject).exits(Exit::Signal(9)),
        example("broken by what was left", check(), Reject).exits(Exit::Code(1)),
        example("a byte to spoil the verdict", check(), Tampered)
            .says("x{\"nonce\":\"NONCE\",\"score\":1}\n"),
        example("said twice", check(), Tampered)
            .says("{\"nonce\":\"NONCE\",\"score\":1}\n{\"nonce\":\"NONCE\",\"score\":1}\n"),
        example("out of range", check(), Tampered).says(r#"{"nonce":"NONCE","score":2}"#),
        example("no such script", script("other.py"), Expect::Fault),
        example("out of its tree", script("../check.py"), Expect::Fault),
    ]
}
