//! What a program of a check printed, as it is kept beside a verdict and as reasons show it.

use agon_core::CheckOutput;
use agon_sandbox::{Captured, ExecOutput};

use crate::reason::shown;

/// Bytes read of each stream: more than any check needs, less than would fill our memory.
pub(crate) const READ: u64 = 4 << 20;
/// Most bytes kept of each stream.
const KEPT: usize = 16 << 10;

/// Head and tail of both streams.
pub(crate) fn kept(output: &ExecOutput) -> CheckOutput {
    let (stdout, stdout_omitted) = ends(&output.stdout);
    let (stderr, stderr_omitted) = ends(&output.stderr);
    CheckOutput {
        exit: output.exit.to_string(),
        stdout,
        stderr,
        omitted: stdout_omitted + stderr_omitted,
    }
}

fn ends(captured: &Captured) -> (String, u64) {
    let bytes = &captured.bytes;
    if bytes.len() <= KEPT && captured.omitted == 0 {
        return (String::from_utf8_lossy(bytes).into_owned(), 0);
    }
    let half = KEPT.min(bytes.len()) / 2;
    let (head, tail) = (&bytes[..half], &bytes[bytes.len() - half..]);
    let omitted = captured.omitted + (bytes.len() - 2 * half) as u64;
    let text = format!(
        "{}\n[{omitted} bytes left out]\n{}",
        String::from_utf8_lossy(head),
        String::from_utf8_lossy(tail)
    );
    (text, omitted)
}

/// `, stdout "..."`, or nothing where a stream is empty.
pub(crate) fn quoted(name: &str, captured: &Captured) -> String {
    if captured.bytes.is_empty() {
        String::new()
    } else {
        format!(", {name} {}", shown(&captured.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_sandbox::Exit;
    use proptest::prelude::*;

    fn output(stdout: Captured) -> ExecOutput {
        ExecOutput {
            exit: Exit::Code(3),
            stdout,
            stderr: Captured {
                bytes: b"\xffoops\n".to_vec(),
                omitted: 0,
            },
            verdict: Vec::new(),
        }
    }

    #[test]
    fn both_streams_are_kept_as_they_were() {
        let stdout = Captured {
            bytes: vec![b'x'; KEPT],
            omitted: 0,
        };
        let kept = kept(&output(stdout));
        assert_eq!(kept.exit, "exit status 3");
        assert_eq!(kept.stdout, "x".repeat(KEPT));
        assert_eq!(kept.stderr, "\u{fffd}oops\n");
        assert_eq!(kept.omitted, 0);
    }

    #[test]
    fn of_a_flood_head_and_tail_are_kept() {
        let mut bytes = vec![b'.'; 1 << 20];
        bytes[0] = b'<';
        *bytes.last_mut().unwrap() = b'>';
        let kept = kept(&output(Captured { bytes, omitted: 7 }));
        assert_eq!(kept.omitted, (1 << 20) - KEPT as u64 + 7);
        assert!(kept.stdout.starts_with("<.") && kept.stdout.ends_with(".>"));
        assert!(kept.stdout.len() < KEPT + 100);
    }

    proptest! {
        #[test]
        fn every_byte_is_kept_or_counted(length in 0usize..40_000, omitted in 0u64..3) {
            let captured = Captured { bytes: vec![b'.'; length], omitted };
            let (text, left_out) = ends(&captured);
            let dots = text.matches('.').count() as u64;
            prop_assert_eq!(dots + left_out, length as u64 + omitted);
        }
    }
}
