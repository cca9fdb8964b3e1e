//! Files that stay outside although the agent's program text names them: its user is told before it fails.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::looks;
use super::why::Why;

/// What is read of the program text.
const MOST_OF_A_FILE: u64 = 1 << 20;
const MOST_OF_ALL: u64 = 16 << 20;
/// Names that are looked for.
const MOST_NAMES: usize = 200;
/// Shorter ones are words.
const SHORTEST: usize = 4;
const MOST_TOLD: usize = 5;

pub(crate) fn needed(root: &Path, taken: &[PathBuf], left_out: &[(PathBuf, Why)]) -> Vec<String> {
    let missed = left_out.iter().filter(|(_, why)| why.can_be_missed());
    let mut names: Vec<(&str, &Path, Why)> = missed
        .filter_map(|(path, why)| Some((path.file_name()?.to_str()?, path.as_path(), *why)))
        .filter(|(name, _, _)| name.len() >= SHORTEST)
        .take(MOST_NAMES)
        .collect();
    let mut notes = Vec::new();
    let mut left = MOST_OF_ALL;
    for program in taken {
        let name = program.file_name().and_then(|name| name.to_str());
        if names.is_empty() || left == 0 || !name.is_some_and(looks::is_program_text) {
            continue;
        }
        let mut text = Vec::new();
        let file = File::open(root.join(program));
        let read = file.and_then(|file| file.take(MOST_OF_A_FILE.min(left)).read_to_end(&mut text));
        left -= read.map_or(0, |count| count as u64).min(left);
        names.retain(|(name, path, why)| {
            let found = quotes(&text, name);
            if found {
                let ask = match why.can_be_asked_for() {
                    true => format!(
                        "; if it belongs to the agent: --agent-files {}",
                        path.display()
                    ),
                    false => String::new(),
                };
                notes.push(format!(
                    "{} names {}, which the agent is not given: {why}{ask}",
                    program.display(),
                    path.display()
                ));
            }
            !found
        });
    }
    notes.truncate(MOST_TOLD);
    notes
}

/// Whether a text holds a name as texts name files: in quotes, or as a part of a path.
fn quotes(text: &[u8], name: &str) -> bool {
    let edge = |byte: Option<&u8>| byte.is_some_and(|byte| b"\"'`/".contains(byte));
    let name = name.as_bytes();
    let mut windows = text.windows(name.len()).enumerate();
    windows.any(|(at, window)| {
        window == name
            && edge(at.checked_sub(1).and_then(|before| text.get(before)))
            && edge(text.get(at + name.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_quotes_or_in_a_path_is_named() {
        for (text, named) in [
            ("open('prompt.txt')", true),
            ("open(\"data/prompt.txt\")", true),
            ("open(`./prompt.txt`)", true),
            ("# see prompt.txt", false),
            ("open('my_prompt.txt')", false),
            ("prompt.txt", false),
        ] {
            assert_eq!(quotes(text.as_bytes(), "prompt.txt"), named, "{text}");
        }
    }
}
