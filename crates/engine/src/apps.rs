//! The programs that a task starts on its desktop: what they say, and how they end. Both come over
//! channels that nobody in the sandbox can reach, and where the kernel knows how, nobody in the sandbox can reach
//! into them: an agent can end a program, but not make it look so.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_core::sight::AppView;
use agon_sandbox::{Exec, Exit, Piped, Sandbox, SandboxError};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot::Receiver;
use tokio::sync::oneshot::error::TryRecvError;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How much is kept of what a program says.
const KEPT: usize = 2_000;

/// How long after the end of a program its words may take to come.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What is said of a program that ended nobody knows how: with its sandbox, say.
const UNKNOWN: i32 = -1;

/// In the order of the task. Dropping them ends them.
#[derive(Debug, Default)]
pub(crate) struct Apps(Vec<App>);

#[derive(Debug)]
struct App {
    command: String,
    /// No program of the agent can look into it.
    apart: bool,
    course: Mutex<Course>,
    said: Arc<Mutex<Vec<u8>>>,
    listening: [JoinHandle<()>; 2],
}

#[derive(Debug)]
enum Course {
    /// The program is killed when this is dropped.
    Running(Receiver<Exit>),
    Ended(i32),
}

impl Apps {
    /// Starts one more. It has no input; `within` is for being started.
    pub(crate) async fn start(
        &mut self,
        sandbox: &dyn Sandbox,
        command: &str,
        within: Duration,
    ) -> Result<(), SandboxError> {
        let exec = Exec::shell(command, within);
        let (piped, apart) = sandbox.spawn_apart(&exec).await?;
        let app = App::new(command, piped).await;
        self.0.push(App { apart, ..app });
        Ok(())
    }

    /// All programs as they are now.
    pub(crate) fn states(&self) -> Vec<AppView> {
        let view = |app: &App| AppView {
            command: app.command.clone(),
            exit: app.exit(),
            apart: app.apart,
        };
        self.0.iter().map(view).collect()
    }

    /// The first program that has ended with an error, and its status.
    pub(crate) fn failed(&self) -> Option<(usize, i32)> {
        let exits = self.0.iter().map(App::exit).enumerate();
        let mut failures = exits.filter_map(|(number, exit)| Some((number, exit?)));
        failures.find(|(_, status)| *status != 0)
    }

    /// What a program has said.
    pub(crate) async fn words(&mut self, number: usize) -> String {
        match self.0.get_mut(number) {
            Some(app) => app.words().await,
            None => String::new(),
        }
    }
}

impl App {
    async fn new(command: &str, piped: Piped) -> Self {
        let Piped {
            mut stdin,
            stdout,
            stderr,
            exit,
        } = piped;
        // One that has ended already has no use for it.
        let _ = stdin.shutdown().await;
        let said = Arc::new(Mutex::new(Vec::new()));
        let listening = [stdout, stderr].map(|from| tokio::spawn(listen(from, Arc::clone(&said))));
        Self {
            command: command.to_owned(),
            apart: false,
            course: Mutex::new(Course::Running(exit)),
            said,
            listening,
        }
    }

    /// As a shell would tell it; `None` while it runs.
    fn exit(&self) -> Option<i32> {
        let mut course = lock(&self.course);
        let status = match &mut *course {
            Course::Ended(status) => return Some(*status),
            Course::Running(exit) => match exit.try_recv() {
                Ok(Exit::Code(code)) => code,
                Ok(Exit::Signal(signal)) => 128 + signal,
                Ok(Exit::TimedOut) | Err(TryRecvError::Closed) => UNKNOWN,
                Err(TryRecvError::Empty) => return None,
            },
        };
        *course = Course::Ended(status);
        Some(status)
    }

    async fn words(&mut self) -> String {
        if self.exit().is_some() {
            let ends = async {
                for stream in self.listening.iter_mut().filter(|one| !one.is_finished()) {
                    let _ = stream.await;
                }
            };
            // What it left behind may hold its streams for ever.
            let _ = timeout(LAST_WORDS, ends).await;
        }
        String::from_utf8_lossy(&lock(&self.said)).trim().to_owned()
    }
}

/// Reads to the end, so that a program that says much is not held up; keeps the beginning.
async fn listen(mut from: impl AsyncRead + Unpin, said: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = vec![0; 4 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let mut said = lock(&said);
        let room = KEPT.saturating_sub(said.len()).min(count);
        said.extend_from_slice(buffer.get(..room).unwrap_or_default());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tokio::io::{DuplexStream, duplex};
    use tokio::sync::oneshot::{Sender, channel};

    use super::*;

    struct Inside {
        stdout: DuplexStream,
        exit: Sender<Exit>,
    }

    async fn started() -> (Apps, Inside) {
        let (stdin, _) = duplex(64);
        let (stdout, their_stdout) = duplex(64);
        let (stderr, _) = duplex(64);
        let (their_exit, exit) = channel();
        let piped = Piped {
            stdin: Box::new(stdin),
            stdout: Box::new(stdout),
            stderr: Box::new(stderr),
            exit,
        };
        let inside = Inside {
            stdout: their_stdout,
            exit: their_exit,
        };
        (Apps(vec![App::new("game", piped).await]), inside)
    }

    #[tokio::test]
    async fn an_end_is_told_once_and_stays() {
        for (exit, status) in [
            (Exit::Code(0), 0),
            (Exit::Code(3), 3),
            (Exit::Signal(9), 137),
        ] {
            let (apps, inside) = started().await;
            assert_eq!(apps.states()[0].exit, None);
            inside.exit.send(exit).unwrap();
            assert_eq!(apps.states()[0].exit, Some(status));
            assert_eq!(apps.states()[0].exit, Some(status));
            assert_eq!(apps.failed(), (status != 0).then_some((0, status)));
        }
        let (apps, inside) = started().await;
        drop(inside);
        assert_eq!(apps.states()[0].exit, Some(UNKNOWN));
    }

    #[tokio::test]
    async fn one_that_says_much_is_heard_out_and_not_kept() {
        let (mut apps, mut inside) = started().await;
        for _ in 0..200 {
            inside.stdout.write_all(&[b'x'; 100]).await.unwrap();
        }
        drop(inside.stdout);
        inside.exit.send(Exit::Code(1)).unwrap();
        assert_eq!(apps.words(0).await, "x".repeat(KEPT));
    }

    #[tokio::test]
    async fn who_is_dropped_is_killed() {
        let (apps, mut inside) = started().await;
        drop(apps);
        inside.exit.closed().await;
    }
}
