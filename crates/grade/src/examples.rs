//! Accept and reject examples of every check type, as data. Each is graded as a whole task would be;
//! the reject examples include what agents have really tried.

mod programs;
mod remains;

use agon_core::check::{Check, CheckKind, TextTest};
use agon_core::{Action, FaultClass};
use agon_sandbox::{Captured, Exec, ExecOutput, Exit};

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
        ("file", remains::files()),
        ("command_output", programs::commands()),
        ("script", programs::scripts()),
        ("returned_result", remains::results()),
        ("events", remains::events()),
        ("all and any", remains::combinations()),
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
