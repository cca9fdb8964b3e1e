//! Commands of checks in the record: each is run once, kept as it ended, and taken from there when the
//! trial is graded again.

use agon_core::{EventBody, Fault, RanCommand};
use agon_sandbox::{Captured, ExecOutput, Exit};

use crate::desk::Desk;
use crate::finding::bad_check;
use crate::place::Place;

/// Bytes of each stream that an event holds.
const KEPT: usize = 64 << 10;

/// What a command has printed already, if it has run.
pub(crate) fn find(desk: &Desk<'_>, command: &str) -> Result<Option<RanCommand>, Fault> {
    let same = |ran: &&RanCommand| ran.command == command;
    match desk.place {
        Place::Recorded(commands) => match commands.iter().find(same) {
            Some(ran) => Ok(Some(ran.clone())),
            None => Err(bad_check(format!(
                "the environment is gone, and the record does not show what `{command}` printed"
            ))),
        },
        _ => Ok(desk.told.ran(command)),
    }
}

/// A command that ran just now, for the record.
pub(crate) fn keep(desk: &Desk<'_>, command: &str, output: &ExecOutput) -> RanCommand {
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
    desk.told.tell(EventBody::Ran(ran.clone()));
    ran
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

/// As the command's own output, for tests that decide about it.
pub(crate) fn output(ran: &RanCommand) -> Result<ExecOutput, Fault> {
    if ran.omitted > 0 {
        return Err(bad_check(format!(
            "the record holds only a part of what `{}` printed",
            ran.command
        )));
    }
    let signal = || {
        let number = ran.exit.strip_prefix("killed by signal ")?;
        number.parse().ok().map(Exit::Signal)
    };
    let exit = match ran.status {
        Some(status) => Exit::Code(status),
        None => signal().unwrap_or(Exit::TimedOut),
    };
    let stream = |text: &str| Captured {
        bytes: text.as_bytes().to_vec(),
        omitted: 0,
    };
    Ok(ExecOutput {
        exit,
        stdout: stream(&ran.stdout),
        stderr: stream(&ran.stderr),
        verdict: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let ran = keep(&desk, "ls", output);
        assert_eq!(told.ran("ls"), Some(ran.clone()));
        assert_eq!(told.take(), [EventBody::Ran(ran.clone())]);
        ran
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
            assert_eq!(output(&kept(&before)).unwrap(), before);
        }
    }

    #[test]
    fn what_was_not_kept_whole_decides_nothing() {
        for stdout in [vec![b'x'; KEPT + 1], b"\xff\xfe".to_vec()] {
            let ran = kept(&printed(&stdout, Exit::Code(0)));
            assert!(ran.omitted > 0 && ran.stdout.len() < KEPT + 100);
            assert!(output(&ran).is_err());
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
        assert!(find(&desk, "pwd").unwrap_err().message.contains("pwd"));
    }
}
