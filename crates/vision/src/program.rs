//! Another program, run to its end: what it is given, what it writes, both bounded, with a deadline.
//! It is killed when its time is over.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Bytes of output that are kept.
const MOST_OUTPUT: u64 = 16 << 20;
/// How much of what it complained about is told.
const TOLD: usize = 600;

#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error("can't start {program}: {source}")]
    Start {
        program: String,
        source: std::io::Error,
    },
    #[error("{program} did not end within {} s", after.as_secs())]
    TooSlow { program: String, after: Duration },
    #[error("{program} failed: {said}")]
    Failed { program: String, said: String },
}

/// What it wrote to standard output.
pub(crate) fn run(
    command: &mut Command,
    input: Vec<u8>,
    within: Duration,
) -> Result<Vec<u8>, ProgramError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|source| ProgramError::Start {
            program: program.clone(),
            source,
        })?;
    let ended = talk(&mut child, input, Instant::now() + within);
    if ended.is_none() {
        // It may have ended meanwhile.
        let _ = child.kill();
    }
    let status = child.wait();
    let Some([output, said]) = ended else {
        return Err(ProgramError::TooSlow {
            program,
            after: within,
        });
    };
    if status.is_ok_and(|status| status.success()) {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&said);
    let said = said.trim();
    let from = said
        .char_indices()
        .map(|(at, _)| at)
        .find(|at| said.len() - at <= TOLD)
        .unwrap_or_default();
    Err(ProgramError::Failed {
        program,
        said: said[from..].to_owned(),
    })
}

/// Standard output and standard error, once both are closed; `None` when the time is over.
fn talk(child: &mut Child, input: Vec<u8>, deadline: Instant) -> Option<[Vec<u8>; 2]> {
    let (tell, heard) = mpsc::channel();
    if let Some(mut stdin) = child.stdin.take() {
        // One that doesn't read to the end is no error by itself.
        std::thread::spawn(move || stdin.write_all(&input));
    }
    let outputs: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|pipe| Box::new(pipe) as _),
        child.stderr.take().map(|pipe| Box::new(pipe) as _),
    ];
    for (which, pipe) in outputs.into_iter().enumerate() {
        let (tell, mut pipe) = (tell.clone(), pipe?);
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.by_ref().take(MOST_OUTPUT).read_to_end(&mut bytes);
            // The rest must be read as well, or it would never end.
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
            let _ = tell.send((which, bytes));
        });
    }
    let mut texts = [Vec::new(), Vec::new()];
    for _ in 0..2 {
        let left = deadline.saturating_duration_since(Instant::now());
        let (which, bytes) = heard.recv_timeout(left).ok()?;
        texts[which] = bytes;
    }
    Some(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_is_given_comes_back() {
        let given = vec![7; 1 << 20];
        assert_eq!(run(&mut shell("cat"), given.clone(), SOON).unwrap(), given);
    }

    #[test]
    fn a_failure_tells_what_was_said() {
        let error = run(&mut shell("echo no luck >&2; exit 3"), Vec::new(), SOON).unwrap_err();
        assert_eq!(error.to_string(), "sh failed: no luck");
    }

    #[test]
    fn a_flood_is_cut_and_ends() {
        let output = run(&mut shell("head -c 20000000 /dev/zero"), Vec::new(), SOON).unwrap();
        assert_eq!(output.len() as u64, MOST_OUTPUT);
    }

    #[test]
    fn one_that_does_not_end_is_killed() {
        let slow = run(
            &mut shell("exec sleep 1000"),
            Vec::new(),
            Duration::from_millis(100),
        );
        assert!(matches!(slow, Err(ProgramError::TooSlow { .. })));
    }

    #[test]
    fn one_that_is_not_there_is_named() {
        let error = run(&mut Command::new("no-such-program"), Vec::new(), SOON).unwrap_err();
        assert!(error.to_string().contains("no-such-program"), "{error}");
    }
}
