//! A program of ours that runs in the agent's sandbox and is asked over pipes: one message there, one
//! message back. The agent may have taken it over: what it says is bounded here, and its meaning is
//! nothing that anybody relies on. Knows nothing of what the messages say.

use std::time::Duration;

use agon_core::Limits;
use agon_sandbox::{Exec, Piped, Sandbox, SandboxError, WORK};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout};

use super::bench::GRACE;

/// The longest message: some pictures and an output that was cut.
const LARGEST: usize = 16 << 20;

/// How many parts a message can have.
const MOST_FIELDS: usize = 64;

/// How much is read of what it says on its end.
const LAST_WORDS: u64 = 2_000;

/// How long its last words may take.
const FAREWELL: Duration = Duration::from_millis(500);

/// The parts of a message.
pub(super) type Fields = Vec<Vec<u8>>;

/// A program that is started when it is first needed, and again when it was lost.
#[derive(Debug)]
pub(super) struct Inside {
    /// Its text, in Python.
    program: &'static str,
    limits: Limits,
    cwd: Option<String>,
    running: Option<Running>,
}

/// What became of a question.
#[derive(Debug)]
pub(super) enum Told {
    Answer(Fields),
    /// It does not run in this sandbox; why.
    NotThere(String),
    /// It is gone, with all that it knew; why.
    Gone(String),
}

impl Inside {
    pub(super) fn new(program: &'static str, limits: Limits, cwd: Option<String>) -> Self {
        Self {
            program,
            limits,
            cwd,
            running: None,
        }
    }

    /// Asks it, starting it if need be. It has so long to answer, but not much longer than the
    /// deadline.
    pub(super) async fn ask(
        &mut self,
        sandbox: &dyn Sandbox,
        fields: &[&[u8]],
        within: Duration,
        deadline: Instant,
    ) -> Result<Told, SandboxError> {
        let last = deadline + GRACE;
        let left = || last.saturating_duration_since(Instant::now());
        // Taken: whoever leaves in the middle leaves nobody here with an answer on its lips.
        let mut running = match self.running.take() {
            Some(running) => running,
            None => {
                let exec = self.exec();
                match Running::start(sandbox, &exec, exec.timeout.min(left())).await {
                    Ok(Ok(running)) => running,
                    Ok(Err(lost)) => {
                        sandbox.remains().await?;
                        return Ok(Told::NotThere(lost.to_string()));
                    }
                    Err(SandboxError::Denied(why)) => return Ok(Told::NotThere(why)),
                    Err(error) => return Err(error),
                }
            }
        };
        match running.ask(fields, within.min(left())).await {
            Ok(fields) => {
                self.running = Some(running);
                Ok(Told::Answer(fields))
            }
            Err(lost) => {
                sandbox.remains().await?;
                Ok(Told::Gone(lost.to_string()))
            }
        }
    }

    /// It is told how much the agent gets to see.
    fn exec(&self) -> Exec {
        let view = self.limits.view.0.to_string();
        let words = ["python3", "-c", self.program, &view];
        let mut exec = Exec::new(words, self.limits.start.duration());
        exec.cwd = self.cwd.clone().unwrap_or_else(|| WORK.to_owned());
        exec
    }
}

/// A running one. Dropping it kills it with all that it started.
#[derive(Debug)]
struct Running(Piped);

/// Why it can be asked no more.
#[derive(Debug, thiserror::Error)]
enum Lost {
    #[error("it did not answer in time")]
    Late,
    #[error("{0}")]
    Ended(String),
}

impl Running {
    /// Starts it, and awaits the message that says it is ready.
    async fn start(
        sandbox: &dyn Sandbox,
        exec: &Exec,
        within: Duration,
    ) -> Result<Result<Self, Lost>, SandboxError> {
        let started = async {
            let mut program = Self(sandbox.spawn(exec).await?);
            Ok(program.hear().await.map(|_| program))
        };
        timeout(within, started)
            .await
            .unwrap_or(Ok(Err(Lost::Late)))
    }

    /// Asks it once. After an error, and if this is left before its end, it must not be asked again:
    /// the next answer would belong to an earlier question.
    async fn ask(&mut self, fields: &[&[u8]], within: Duration) -> Result<Fields, Lost> {
        let asked = async {
            if self.0.stdin.write_all(&framed(fields)).await.is_err()
                || self.0.stdin.flush().await.is_err()
            {
                return Err(self.obituary().await);
            }
            self.hear().await
        };
        timeout(within, asked).await.unwrap_or(Err(Lost::Late))
    }

    async fn hear(&mut self) -> Result<Fields, Lost> {
        let Ok(length) = self.0.stdout.read_u32().await else {
            return Err(self.obituary().await);
        };
        let length = length as usize;
        if length > LARGEST {
            return Err(Lost::Ended("it says too much".to_owned()));
        }
        // Grows with what comes, not with what was announced.
        let mut body = Vec::new();
        let mut stream = (&mut self.0.stdout).take(length as u64);
        if stream.read_to_end(&mut body).await.is_err() || body.len() < length {
            return Err(self.obituary().await);
        }
        fields(&body).ok_or_else(|| Lost::Ended("it does not speak as it should".to_owned()))
    }

    async fn obituary(&mut self) -> Lost {
        let mut said = Vec::new();
        let mut stream = (&mut self.0.stderr).take(LAST_WORDS);
        timeout(FAREWELL, stream.read_to_end(&mut said)).await.ok();
        let said = String::from_utf8_lossy(&said);
        match said.trim() {
            "" => Lost::Ended("it has ended".to_owned()),
            said => Lost::Ended(format!("it has ended: {said}")),
        }
    }
}

fn framed(fields: &[&[u8]]) -> Vec<u8> {
    let mut body = Vec::new();
    for field in fields {
        body.extend(length(field));
        body.extend_from_slice(field);
    }
    let mut message = length(&body).to_vec();
    message.append(&mut body);
    message
}

/// Actions are far shorter than what would not fit.
fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes()
}

fn fields(mut body: &[u8]) -> Option<Fields> {
    let mut fields = Vec::new();
    while !body.is_empty() {
        let (length, rest) = body.split_first_chunk::<4>()?;
        let (field, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        fields.push(field.to_vec());
        body = rest;
        if fields.len() > MOST_FIELDS {
            return None;
        }
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fields_arrive_as_they_were_sent(
            sent in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..MOST_FIELDS)
        ) {
            let parts: Vec<&[u8]> = sent.iter().map(Vec::as_slice).collect();
            let message = framed(&parts);
            let (head, body) = message.split_first_chunk::<4>().unwrap();
            prop_assert_eq!(u32::from_be_bytes(*head) as usize, body.len());
            prop_assert_eq!(fields(body), Some(sent));
        }

        #[test]
        fn no_bytes_make_the_reader_panic(body in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = fields(&body);
        }
    }

    /// One that says this and ends.
    fn saying(words: &[u8], last: &[u8]) -> Running {
        Running(Piped {
            stdin: Box::new(tokio::io::sink()),
            stdout: Box::new(std::io::Cursor::new(words.to_vec())),
            stderr: Box::new(std::io::Cursor::new(last.to_vec())),
            exit: tokio::sync::oneshot::channel().1,
        })
    }

    async fn answer(words: &[u8]) -> Result<Fields, String> {
        let asked = [b"?".as_slice()];
        let answer = saying(words, b"ouch\n").ask(&asked, FAREWELL).await;
        answer.map_err(|lost| lost.to_string())
    }

    #[tokio::test]
    async fn whatever_it_says_is_an_answer_or_its_end() {
        let whole = framed(&[b"a", b""]);
        assert_eq!(answer(&whole).await.unwrap(), [b"a".to_vec(), Vec::new()]);
        for torn in 0..whole.len() {
            assert_eq!(
                answer(&whole[..torn]).await.unwrap_err(),
                "it has ended: ouch"
            );
        }
        assert_eq!(answer(&[0xff; 100]).await.unwrap_err(), "it says too much");
        let lies = [&[0, 0, 0, 8], [0xff; 8].as_slice()].concat();
        assert_eq!(
            answer(&lies).await.unwrap_err(),
            "it does not speak as it should"
        );
    }

    #[tokio::test]
    async fn silence_has_an_end() {
        let (ours, _theirs) = tokio::io::duplex(8);
        let mut silent = saying(b"", b"");
        silent.0.stdout = Box::new(ours);
        let lost = silent.ask(&[], Duration::from_millis(1)).await.unwrap_err();
        assert!(matches!(lost, Lost::Late));
    }

    #[test]
    fn too_many_fields_are_no_message() {
        assert_eq!(
            fields(&[0; 4 * MOST_FIELDS]).map(|all| all.len()),
            Some(MOST_FIELDS)
        );
        assert_eq!(fields(&[0; 4 * (MOST_FIELDS + 1)]), None);
    }
}
