//! One shell process on its terminal: how it is started, marked and read. Knows nothing of
//! commands and their time-outs.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

use super::SessionOptions;
use super::marker::{Mark, Piece, Scanner};
use crate::capture::Capture;
use crate::contract::{DROP_LINE, Exec, Moment, Sandbox, Terminal};
use crate::error::SandboxError;

/// How long a shell may be silent before it is asked whether its sandbox is still there.
const LOOK: Duration = Duration::from_secs(5);

pub(super) struct Shell {
    terminal: Terminal,
    scanner: Scanner,
    buffer: Vec<u8>,
    /// As seen inside of the sandbox.
    pub(super) pid: u32,
    /// When the last prompt came: who is younger belongs to the command that runs.
    pub(super) since: Moment,
    /// Number of the last command line; a prompt of any other is not the one to wait for.
    pub(super) line: u64,
    /// What the terminal has not taken yet.
    pub(super) typing: VecDeque<u8>,
    /// Something was typed that the command may have left unread.
    pub(super) typed: bool,
}

impl Shell {
    /// A shell at its first prompt, and its working folder.
    pub(super) async fn start(
        sandbox: &dyn Sandbox,
        options: &SessionOptions,
    ) -> Result<(Self, String), SandboxError> {
        let nonce = format!("{:032x}", rand::random::<u128>());
        let mut exec = Exec::new(
            ["bash", "--noprofile", "--norc", "--noediting", "-i"],
            options.start,
        );
        exec.cwd.clone_from(&options.cwd);
        exec.env.insert("TERM".to_owned(), "dumb".to_owned());
        exec.env.extend(options.env.clone());
        let mut shell = Self {
            terminal: sandbox.terminal(&exec).await?,
            scanner: Scanner::new(&nonce),
            buffer: vec![0; 32 << 10],
            pid: 0,
            since: Moment::default(),
            line: 0,
            typing: setup_line(&nonce).into_bytes().into(),
            typed: false,
        };
        let first = {
            let deadline = Instant::now() + options.start;
            let mut prompt = pin!(shell.first_prompt());
            loop {
                let look = deadline.min(Instant::now() + LOOK);
                match timeout_at(look, prompt.as_mut()).await {
                    Ok(first) => break Some(first),
                    Err(_) if look == deadline => break None,
                    // Where the sandbox has ended, a terminal may stay open and silent.
                    Err(_) => sandbox.remains().await?,
                }
            }
        };
        match first {
            Some(Ok(cwd)) => Ok((shell, cwd)),
            Some(Err(error)) => {
                // Where nothing can be started any more, it is not for lack of bash.
                sandbox.remains().await?;
                Err(error)
            }
            None => Err(SandboxError::Timeout {
                what: "starting the shell",
                seconds: options.start.as_secs_f64(),
            }),
        }
    }

    /// Sets the shell up and drops whatever the terminal shows until the prompt is there.
    async fn first_prompt(&mut self) -> Result<String, SandboxError> {
        let mut shown = Capture::new(2000);
        loop {
            let Some(count) = self.turn().await else {
                let shown = shown.finish().bytes;
                return Err(SandboxError::Missing(format!(
                    "the shell of the sandbox did not start; it must have bash: {}",
                    String::from_utf8_lossy(&shown).trim()
                )));
            };
            let mut first = None;
            let (mut pid, mut since) = (self.pid, self.since);
            self.scan(count, |piece| match piece {
                Piece::Output(bytes) => shown.push(bytes),
                Piece::Mark(Mark::Shell(said)) => pid = said,
                Piece::Mark(Mark::Prompt {
                    since: came, cwd, ..
                }) => {
                    since = came;
                    first = Some(cwd);
                }
                Piece::Mark(Mark::Exit(_)) => {}
            });
            (self.pid, self.since) = (pid, since);
            if let Some(cwd) = first {
                return Ok(cwd);
            }
        }
    }

    /// Takes apart what the last turn read.
    pub(super) fn scan(&mut self, count: usize, piece: impl FnMut(Piece<'_>)) {
        self.scanner.feed(&self.buffer[..count], piece);
    }

    /// Types what is left to be typed while waiting for output: a terminal whose output nobody takes
    /// may take no input either. Says how much of the buffer was filled, or nothing when the
    /// terminal is closed, which a hang-up reports as an error. Can be cancelled and called again.
    pub(super) async fn turn(&mut self) -> Option<usize> {
        let Self {
            terminal,
            buffer,
            typing,
            ..
        } = self;
        loop {
            tokio::select! {
                biased;
                count = terminal.writer.write(typing.as_slices().0), if !typing.is_empty() => {
                    let count = count.ok().filter(|&count| count > 0)?;
                    typing.drain(..count);
                }
                count = terminal.reader.read(buffer) => {
                    return count.ok().filter(|&count| count > 0);
                }
            }
        }
    }
}

/// The first line typed. Each prompt shows nothing but its mark, which goes to the terminal itself:
/// the shell's own output may be redirected. `%`, ESC and BEL are escaped in the path.
///
/// On [`DROP_LINE`] the shell drops the rest of its command line by interrupting itself, which C-c
/// cannot make it do while it waits for somebody. At the prompt it must not: it would read on with
/// what is left of the line before. The empty subshell makes it notice who has died, and `jobs`
/// tell of them now instead of in the output of the next command.
fn setup_line(nonce: &str) -> String {
    [
        "__agon= __agon_line=0 __agon_shown=; set +o history; set +H; unset HISTFILE; ",
        "__agon_prompt() { local status=$? path=${PWD//%/%25} tick=0 pid=0; __agon_shown=$__agon_line; ",
        "path=${path//$'\\a'/%07}; path=${path//$'\\e'/%1b}; PS1= PS2=; ",
        "IFS=' ' builtin read -r tick _ </proc/uptime; ",
        "IFS=' ' builtin read -r _ _ _ _ pid </proc/loadavg; ",
        "builtin printf '\\033]7770;NONCE;prompt;%s;%s;%s;%s;%s\\a' ",
        "\"$__agon_line\" \"$status\" \"${tick/./}\" \"$pid\" \"$path\" >/dev/tty; }; ",
        "PROMPT_COMMAND='{ __agon_prompt; } 2>/dev/null'; ",
        "trap '{ builtin printf \"\\033]7770;NONCE;exit;%s\\a\" \"$?\" >/dev/tty; } 2>/dev/null' EXIT; ",
        "trap '{ [[ $__agon_line = \"$__agon_shown\" ]] || ",
        "{ (:); builtin jobs -n >/dev/tty; builtin trap - INT; builtin kill -INT $$; }; } ",
        "2>/dev/null' DROP_LINE; ",
        "builtin printf '\\033]7770;NONCE;shell;%s\\a' \"$$\" >/dev/tty\n",
    ]
    .concat()
    .replace("NONCE", nonce)
    .replace("DROP_LINE", DROP_LINE)
}
