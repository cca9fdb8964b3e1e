//! One `agon-local` at work: started, watched, ended. It ends by itself when we are gone, because its
//! standard input is closed then.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use agon_core::ModelFault;
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStdin, Command};

use crate::error::LlmError;

/// Weights of many gigabytes may have to be read from a slow disk.
const START: Duration = Duration::from_secs(300);
/// How long a process that crashes may take to end.
const CRASH: Duration = Duration::from_millis(500);
/// What it writes when it can be asked.
const READY: &[u8] = b"ready\n";
/// How much of its last words is told.
const TOLD: u64 = 1_500;
/// The path of a socket has about a hundred bytes.
const LONGEST_FOLDER: usize = 60;

#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    /// Its standard input: closed with us. Not left in `child`, which closes it when it is waited for.
    input: Option<ChildStdin>,
    /// Holds the socket and the log, and removes them at the end.
    folder: TempDir,
}

impl Server {
    /// Comes back when it can be asked.
    pub(super) async fn start(program: &Path, weights: &Path) -> Result<Self, LlmError> {
        let setup = |error: std::io::Error| {
            LlmError::new(ModelFault::Setup, format_args!("agon-local: {error}"))
        };
        let folder = private_folder().map_err(setup)?;
        let log = File::create(folder.path().join("log")).map_err(setup)?;
        let mut child = Command::new(program)
            .arg("--model")
            .arg(weights)
            .arg("--socket")
            .arg(folder.path().join("socket"))
            .env("GGML_NO_BACKTRACE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| {
                LlmError::new(
                    ModelFault::Setup,
                    format_args!("can't start {}: {error}", program.display()),
                )
            })?;
        let output = child.stdout.take();
        let input = child.stdin.take();
        let mut server = Self {
            child,
            input,
            folder,
        };
        let ready = async {
            let mut said = [0; READY.len()];
            let mut output = output?;
            output.read_exact(&mut said).await.ok()?;
            (said == READY).then_some(())
        };
        match tokio::time::timeout(START, ready).await {
            Ok(Some(())) => Ok(server),
            Ok(None) => Err(server.failure().await),
            Err(_) => Err(LlmError::new(
                ModelFault::Setup,
                format_args!(
                    "{} was not loaded within {} s",
                    weights.display(),
                    START.as_secs()
                ),
            )),
        }
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Whether it still runs.
    pub(super) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// How it ended and what it said at last; waits for its end.
    async fn failure(&mut self) -> LlmError {
        let ended = tokio::time::timeout(Duration::from_secs(5), self.child.wait()).await;
        let how = match ended {
            Ok(Ok(status)) => status.to_string(),
            _ => "it says nothing and does not end".to_owned(),
        };
        self.told(ModelFault::Setup, &how)
    }

    /// Why it is not there any more; `None` if it is, or if it went in peace. A socket may be closed a
    /// moment before its process has ended.
    pub(super) async fn crash(&mut self) -> Option<LlmError> {
        let ended = tokio::time::timeout(CRASH, self.child.wait()).await;
        let status = ended.ok()?.ok()?;
        (!status.success()).then(|| self.told(ModelFault::Overload, &status.to_string()))
    }

    fn told(&self, fault: ModelFault, how: &str) -> LlmError {
        let words = last_words(&self.folder.path().join("log")).unwrap_or_default();
        let words = words.trim();
        if words.is_empty() {
            LlmError::new(
                fault,
                format_args!("agon-local ended ({how}) without a word"),
            )
        } else {
            LlmError::new(fault, format_args!("agon-local ended ({how}): {words}"))
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It is killed as well, but should that fail it ends by itself.
        self.input = None;
    }
}

/// For us alone, and with a short path.
fn private_folder() -> std::io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder
        .prefix("agon-local-")
        .permissions(std::fs::Permissions::from_mode(0o700));
    let usual = std::env::temp_dir();
    if usual.as_os_str().len() > LONGEST_FOLDER || !usual.is_absolute() {
        builder.tempdir_in("/tmp")
    } else {
        builder.tempdir_in(usual)
    }
}

fn last_words(log: &Path) -> std::io::Result<String> {
    let mut file = File::open(log)?;
    let from = file.metadata()?.len().saturating_sub(TOLD);
    file.seek(SeekFrom::Start(from))?;
    let mut words = Vec::new();
    file.take(TOLD).read_to_end(&mut words)?;
    Ok(String::from_utf8_lossy(&words).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Server {
        /// Lets go of it and waits for its end.
        pub(in crate::local) async fn end(&mut self) {
            self.input = None;
            self.child.wait().await.unwrap();
        }
    }

    /// A program in its place.
    fn script(folder: &Path, text: &str) -> PathBuf {
        let path = folder.join("agon-local");
        // Through a shell of its own: a file that is being written can't be executed.
        let made = std::process::Command::new("sh")
            .args(["-c", "cat > \"$0\" && chmod 700 \"$0\""])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .and_then(|mut child| {
                use std::io::Write as _;
                let mut stdin = child.stdin.take().unwrap();
                stdin.write_all(format!("#!/bin/sh\n{text}\n").as_bytes())?;
                drop(stdin);
                child.wait()
            });
        assert!(made.unwrap().success());
        path
    }

    #[tokio::test]
    async fn last_words_of_a_program_that_fails_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let program = script(folder.path(), "echo 'unknown architecture' >&2; exit 3");
        let error = Server::start(&program, Path::new("x.gguf"))
            .await
            .unwrap_err();
        assert_eq!(error.fault, ModelFault::Setup);
        assert!(error.message().contains("unknown architecture"), "{error}");
        assert!(error.message().contains("exit status: 3"), "{error}");
    }

    #[tokio::test]
    async fn a_program_that_says_something_else_is_not_ready() {
        let folder = tempfile::tempdir().unwrap();
        let program = script(folder.path(), "echo hello, world; exec 1>&-; exit 0");
        let error = Server::start(&program, Path::new("x.gguf"))
            .await
            .unwrap_err();
        assert!(error.message().contains("without a word"), "{error}");
    }

    #[tokio::test]
    async fn it_sees_the_end_of_its_input_when_we_let_go() {
        let folder = tempfile::tempdir().unwrap();
        let program = script(folder.path(), "echo ready; cat; echo gone >&2; exit 7");
        let mut server = Server::start(&program, Path::new("x.gguf")).await.unwrap();
        assert!(server.is_alive());
        assert!(server.crash().await.is_none());
        drop(server.input.take());
        server.child.wait().await.unwrap();
        assert!(!server.is_alive());
        let error = server.crash().await.unwrap();
        assert_eq!(error.fault, ModelFault::Overload);
        assert!(error.message().contains("exit status: 7"), "{error}");
        assert!(error.message().contains("gone"), "{error}");
    }

    #[test]
    fn the_folder_is_for_us_alone() {
        let folder = private_folder().unwrap();
        let mode = std::fs::metadata(folder.path())
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
