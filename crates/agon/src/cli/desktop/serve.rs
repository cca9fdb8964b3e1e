//! The socket of an owner, on which others call functions by name: what is pressed or copied so stays
//! pressed or copied from one call to the next. One JSON object per line, both ways. The socket lies
//! in a folder of the user alone.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_desktop::Desktop;
use agon_desktop::registry::CALLABLES;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;

/// Longest line that is taken: more than the longest text for the clipboard.
pub(super) const LONGEST: u64 = 64 << 20;

/// Connections at a time; others wait.
const MOST: usize = 64;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    pub(super) call: String,
    #[serde(default)]
    pub(super) args: Value,
}

/// One of both.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Answer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    #[serde(default)]
    pub(super) result: Value,
}

/// Removed when dropped.
#[derive(Debug)]
pub(super) struct Served {
    path: PathBuf,
    task: tokio::task::JoinHandle<()>,
}

impl Served {
    /// Serves on a new socket, on a connection to the desktop of its own.
    pub(super) fn start(path: PathBuf, desktop: Desktop) -> io::Result<Self> {
        let listener = UnixListener::bind(&path)?;
        let task = tokio::spawn(accept(listener, Arc::new(desktop)));
        Ok(Self { path, task })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
        std::fs::remove_file(&self.path).ok();
    }
}

async fn accept(listener: UnixListener, desktop: Arc<Desktop>) {
    let room = Arc::new(Semaphore::new(MOST));
    let mut connections = tokio::task::JoinSet::new();
    while let Ok(place) = Arc::clone(&room).acquire_owned().await {
        // Out of descriptors, say: those who wait are not forgotten by the kernel.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            continue;
        };
        let desktop = Arc::clone(&desktop);
        connections.spawn(async move {
            // One that breaks off is none of the others' business.
            converse(stream, desktop).await.ok();
            drop(place);
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn converse(stream: UnixStream, desktop: Arc<Desktop>) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    loop {
        let mut line = Vec::new();
        (&mut read)
            .take(LONGEST)
            .read_until(b'\n', &mut line)
            .await?;
        if !line.ends_with(b"\n") {
            return Ok(());
        }
        let desktop = Arc::clone(&desktop);
        let answer = tokio::task::spawn_blocking(move || answer(&desktop, &line)).await;
        let mut answer = serde_json::to_vec(&answer.map_err(io::Error::other)?)?;
        answer.push(b'\n');
        write.write_all(&answer).await?;
    }
}

fn answer(desktop: &Arc<Desktop>, line: &[u8]) -> Answer {
    let called = serde_json::from_slice::<Request>(line)
        .map_err(|error| format!(r#"expected {{"call": NAME, "args": [...]}}: {error}"#))
        .and_then(|Request { call, args }| {
            let called = CALLABLES.call_on(desktop, &call, args);
            called.map_err(|error| error.to_string())
        });
    match called {
        Ok(result) => Answer {
            result,
            error: None,
        },
        Err(error) => Answer {
            error: Some(error),
            result: Value::Null,
        },
    }
}
