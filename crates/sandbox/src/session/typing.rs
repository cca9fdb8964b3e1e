//! What is typed on the shell's terminal: command lines, text for a running program, control keys.
//! A terminal takes at most 4096 bytes of a line, and gives control bytes a meaning of their own, so
//! a command travels as quoted text in short pieces.

use std::fmt::Write;

use crate::error::SandboxError;

/// Longest command; files are written by other means.
const LONGEST_COMMAND: usize = 1 << 20;
const PIECE: usize = 1000;

/// `eval NUMBER$'...'\⏎$'...'⏎`: one word, whatever the command holds. The first part of the word
/// expands to nothing and tells the shell the number of this line, which its next prompt repeats:
/// an assignment would do the same but change `$?`.
pub(super) fn command_line(number: u64, command: &str) -> Result<String, SandboxError> {
    if command.len() > LONGEST_COMMAND {
        return Err(SandboxError::Denied(format!(
            "the command is {} bytes long; at most {LONGEST_COMMAND} are possible, write a file \
             and run that instead",
            command.len()
        )));
    }
    if command.contains('\0') {
        return Err(SandboxError::Denied(
            "the command contains a NUL byte, which no shell can take".to_owned(),
        ));
    }
    let mut line = String::with_capacity(command.len() + 64);
    // Writing to a string does not fail.
    let _ = write!(line, "eval \"${{__agon:$((__agon_line={number}))}}\"$'");
    let mut piece_start = line.len();
    for byte in command.bytes() {
        match byte {
            // `!` would be history expansion for a shell that has it on.
            0..=0x1f | b'!' | b'\'' | b'\\' | 0x7f.. => {
                let _ = write!(line, "\\x{byte:02x}");
            }
            _ => line.push(char::from(byte)),
        }
        if line.len() - piece_start >= PIECE {
            line.push_str("'\\\n$'");
            piece_start = line.len();
        }
    }
    line.push_str("'\n");
    Ok(line)
}

/// The byte of a control key written `C-c`.
pub(super) fn control_key(key: &str) -> Result<u8, SandboxError> {
    match key.as_bytes() {
        [
            b'C',
            b'-',
            letter @ (b'a'..=b'z' | b'A'..=b'Z' | b'[' | b'\\' | b']' | b'^' | b'_'),
        ] => Ok(letter & 0x1f),
        _ => Err(SandboxError::Denied(format!(
            "`{key}` is not a control key; write C-c, C-d, C-z or another letter"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_keys() {
        assert_eq!(control_key("C-c").unwrap(), 3);
        assert_eq!(control_key("C-D").unwrap(), 4);
        assert_eq!(control_key("C-\\").unwrap(), 0x1c);
        for bad in ["", "C-", "c", "C-cc", "C-1", "M-x"] {
            assert!(control_key(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_no_shell_takes_is_refused() {
        assert!(command_line(1, "a\0b").is_err());
        assert!(command_line(1, &"x".repeat(LONGEST_COMMAND + 1)).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_line_fits_the_terminal_and_is_plain(command in "\\PC{0,40}|(?s).{0,3000}") {
            prop_assume!(!command.contains('\0'));
            let line = command_line(1, &command).unwrap();
            prop_assert!(line.bytes().all(|byte| byte == b'\n' || (0x20..0x7f).contains(&byte)));
            prop_assert!(line.lines().all(|line| line.len() < 1100));
            prop_assert!(!line.contains('!'));
        }

        #[test]
        fn bash_reads_the_same_command(command in "(?s).{0,40}|[é漢'\\\\!$`\"\n]{900,1500}") {
            prop_assume!(!command.contains('\0'));
            let line = command_line(1, &command).unwrap();
            let script = line.replacen("eval ", "printf %s ", 1);
            let read = Command::new("bash").args(["-c", &script]).output().unwrap();
            prop_assert_eq!(read.stdout, command.into_bytes());
        }
    }
}
