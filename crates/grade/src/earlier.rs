//! Commands of checks that have run already: each is run once in a grading, and what it printed is taken from
//! the record when the trial is graded again and its environment is gone.

use agon_core::{Fault, RanCommand};
use agon_sandbox::{Captured, ExecOutput, Exit};

use crate::desk::Desk;
use crate::finding::bad_check;
use crate::place::Place;

/// Bytes of each stream that an event holds.
const KEPT: usize = 64 << 10;

/// What a command has printed already, if it has run: for whoever reads it.
pub(crate) fn find(desk: &Desk<'_>, command: &str) -> Result<Option<RanCommand>, Fault> {
    match desk.place {
        Place::Recorded(commands) => recorded(commands, command).cloned().map(Some),
        _ => Ok(desk.told.ran(command)),
    }
}

/// The same for tests that decide about it: to the last byte, or a fault.
pub(crate) fn output(desk: &Desk<'_>, command: &str) -> Result<Option<Printed>, Fault> {
    match desk.place {
        Place::Recorded(commands) => read(recorded(commands, command)?).map(Some),
        _ => Ok(desk.told.output(command).map(Printed::Whole)),
    }
}

/// What is known of a command that has run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Printed {
    Whole(ExecOutput),
    /// Nobody tells how it ended, and which stream was which.
    Text(Captured),
}

fn recorded<'a>(commands: &'a [RanCommand], command: &str) -> Result<&'a RanCommand, Fault> {
    let found = commands.iter().find(|ran| ran.command == command);
    found.ok_or_else(|| {
        bad_check(format!(
            "the environment is gone, and the record does not show what `{command}` printed"
        ))
    })
}

/// A command that ran just now, for the record.
pub(crate) fn keep(desk: &Desk<'_>, command: &str, output: &ExecOutput) {
    let (stdout, out_lost) = text(&output.stdout);
    let (stderr, err_lost) = text(&output.stderr);
    let ran = RanCommand {
        command: command.to_owned(),
        status: match output.exit {
            Exit::Code(status) => Some(status),
            Exit::Signal(_) | Exit::TimedOut => None,
        },
        exit: output.exit.to_string(),
        stdout,
        stderr,
        omitted: out_lost + err_lost,
        tainted: desk.place.tainted(),
    };
    desk.told.keep(ran, output.clone());
}

/// A stream as text, and how many of its bytes are not in it.
fn text(captured: &Captured) -> (String, u64) {
    let bytes = &captured.bytes;
    if bytes.len() > KEPT || captured.omitted > 0 {
        let half = KEPT.min(bytes.len()) / 2;
        let lost = captured.omitted + (bytes.len() - 2 * half) as u64;
        let (head, tail) = (&bytes[..half], &bytes[bytes.len() - half..]);
        let text = format!(
            "{}\n[{lost} bytes left out]\n{}",
            String::from_utf8_lossy(head),
            String::from_utf8_lossy(tail)
        );
        return (text, lost);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), 0),
        Err(error) => {
            let strange = bytes.len() - error.valid_up_to();
            (String::from_utf8_lossy(bytes).into_owned(), strange as u64)
        }
    }
}

/// From the record, as the command's own output.
fn read(ran: &RanCommand) -> Result<Printed, Fault> {
    if ran.omitted > 0 {
        return Err(bad_check(format!(
            "the record holds only a part of what `{}` printed",
            ran.command
        )));
    }
    let stream = |bytes: Vec<u8>| Captured { bytes, omitted: 0 };
    let Some(exit) = exit(ran) else {
        let both = [ran.stdout.as_bytes(), ran.stderr.as_bytes()].concat();
        return Ok(Printed::Text(stream(both)));
    };
    Ok(Printed::Whole(ExecOutput {
        exit,
        stdout: stream(ran.stdout.clone().into_bytes()),
        stderr: stream(ran.stderr.clone().into_bytes()),
        verdict: Vec::new(),
    }))
}

/// How it ended, if anybody knows.
fn exit(ran: &RanCommand) -> Option<Exit> {
    let signal = || ran.exit.strip_prefix("killed by signal ")?.parse().ok();
    match ran.status {
        Some(status) => Some(Exit::Code(status)),
        None if ran.exit == Exit::TimedOut.to_string() => Some(Exit::TimedOut),
        None => signal().map(Exit::Signal),
    }
}

#[cfg(test)]
mod tests {
    use agon_core::EventBody;
    use agon_core::check::{Check, CheckKind, Stream, TextTest};

    use super::*;
    use crate::canned::{Canned, Remains, answers, check, grade_in, graded, task};
    use crate::desk::Told;

    fn printed(stdout: &[u8], exit: Exit) -> ExecOutput {
        ExecOutput {
            exit,
            stdout: Captured {
                bytes: stdout.to_vec(),
                omitted: 0,
            },
            stderr: Captured::default(),
            verdict: Vec::new(),
        }
    }

    fn kept(output: &ExecOutput) -> RanCommand {
        let told = Told::default();
        let desk = Desk {
            place: &Place::Nowhere,
            judge: None,
            told: &told,
        };
        keep(&desk, "ls", output);
        let whole = Printed::Whole(output.clone());
        assert_eq!(super::output(&desk, "ls").unwrap(), Some(whole));
        let ran = told.ran("ls").unwrap();
        assert_eq!(told.take(), [EventBody::Ran(ran.clone())]);
        ran
    }

    fn expects(tests: Vec<TextTest>, exit_status: Option<i32>) -> Check {
        let kind = CheckKind::CommandOutput {
            command: "cat a".into(),
            stream: Stream::Stdout,
            tests,
            exit_status,
        };
        check(kind, 1.0)
    }

    fn contains(text: &str) -> Check {
        expects(vec![TextTest::Contains(text.into())], None)
    }

    #[test]
    fn what_is_kept_decides_as_the_command_itself() {
        for exit in [
            Exit::Code(0),
            Exit::Code(3),
            Exit::Signal(9),
            Exit::TimedOut,
        ] {
            let before = printed("grüße\n".as_bytes(), exit);
            let ran = kept(&before);
            assert_eq!(read(&ran).unwrap(), Printed::Whole(before));
        }
    }

    #[test]
    fn what_was_not_kept_whole_decides_nothing_when_all_else_is_gone() {
        for stdout in [vec![b'x'; KEPT + 1], b"\xff\xfe".to_vec()] {
            let ran = kept(&printed(&stdout, Exit::Code(0)));
            assert!(ran.omitted > 0 && ran.stdout.len() < KEPT + 100);
            assert!(read(&ran).is_err());
        }
    }

    #[test]
    fn a_command_that_is_not_in_the_record_could_not_be_looked_at() {
        let ran = kept(&printed(b"a", Exit::Code(0)));
        let commands = [ran.clone()];
        let desk = Desk {
            place: &Place::Recorded(&commands),
            judge: None,
            told: &Told::default(),
        };
        assert_eq!(find(&desk, "ls").unwrap(), Some(ran));
        for missing in [find(&desk, "pwd").err(), output(&desk, "pwd").err()] {
            assert!(missing.unwrap().message.contains("pwd"));
        }
    }

    #[tokio::test]
    async fn checks_that_share_a_command_are_all_decided_whatever_it_prints() {
        for (stdout, exit) in [
            (b"nothing \xff".to_vec(), Exit::Code(0)),
            (vec![b'x'; KEPT + 1], Exit::Code(0)),
            (Vec::new(), Exit::TimedOut),
        ] {
            let provider = Canned::new(move |_| Ok(printed(&stdout, exit)));
            let ends = || expects(Vec::new(), Some(7));
            let parts = CheckKind::All {
                checks: vec![ends(), contains("good"), ends()],
                partial: true,
            };
            let verdict = grade_in(&provider, vec![check(parts, 1.0)]).await.unwrap();
            assert!(!verdict.passed, "{exit:?}");
            assert_eq!(verdict.checks[0].parts.len(), 3);
            let calls = provider.calls.lock().unwrap();
            let ran = calls.iter().filter(|call| *call == "exec").count();
            assert_eq!(ran, 1, "each command runs once");
        }
    }

    #[tokio::test]
    async fn a_text_decides_where_nobody_tells_how_its_command_ended() {
        let told = RanCommand {
            command: "cat a".into(),
            status: None,
            exit: "nobody tells how it ended".into(),
            stdout: String::new(),
            stderr: "good".into(),
            omitted: 0,
            tainted: true,
        };
        let commands = [told];
        let place = Place::Recorded(&commands);
        let remains = Remains::default();
        let grade = |checks| async { graded(&task(checks), &remains, &place).await };
        let verdict = grade(vec![contains("good")]).await.unwrap();
        assert!(verdict.passed && verdict.tainted());
        assert!(!grade(vec![contains("bad")]).await.unwrap().passed);
        let fault = grade(vec![expects(Vec::new(), Some(0))]).await.unwrap_err();
        assert!(fault.message.contains("nobody knows"), "{fault}");
    }

    #[tokio::test]
    async fn whatever_somebody_else_tells_is_tainted() {
        for (told, tainted) in [(true, true), (false, false)] {
            let remains = Remains {
                result: Some("a"),
                told,
                ..Remains::default()
            };
            let checks = vec![answers("a", 1.0)];
            let verdict = graded(&task(checks), &remains, &Place::Recorded(&[])).await;
            assert_eq!(verdict.unwrap().tainted(), tainted);
        }
    }
}
