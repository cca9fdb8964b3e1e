//! The end of a stream, read in the background: what a program complained about before it died.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_sandbox::contract::Reader;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

const KEEP: usize = 64 << 10;

pub(crate) struct Tail {
    kept: Arc<Mutex<Kept>>,
    pump: AbortOnDropHandle<()>,
}

#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    omitted: u64,
}

impl Kept {
    fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        // Cut rarely, so that a flood costs one move per `KEEP` bytes.
        if self.bytes.len() > 2 * KEEP {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        let over = self.bytes.len().saturating_sub(KEEP);
        self.bytes.drain(..over);
        self.omitted += over as u64;
    }
}

impl Tail {
    /// Reads the stream until it ends or the tail is dropped, so that its writer never blocks.
    pub(crate) fn of(mut stream: Reader) -> Self {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let into = Arc::clone(&kept);
        let pump = tokio::spawn(async move {
            let mut chunk = vec![0; 8 << 10];
            while let Ok(count @ 1..) = stream.read(&mut chunk).await {
                lock(&into).push(&chunk[..count]);
            }
        });
        Self {
            kept,
            pump: AbortOnDropHandle::new(pump),
        }
    }

    /// Waits for the stream's end, which a forgotten child may put off.
    pub(crate) async fn finish(&mut self, deadline: Duration) {
        let _ = timeout(deadline, &mut self.pump).await;
    }

    /// What was read last; `None` if there was nothing.
    pub(crate) fn text(&self) -> Option<String> {
        let mut kept = lock(&self.kept);
        kept.shorten();
        if kept.bytes.is_empty() {
            return None;
        }
        let text = String::from_utf8_lossy(&kept.bytes);
        Some(match kept.omitted {
            0 => text.into_owned(),
            omitted => format!("[{omitted} bytes left out]\n{text}"),
        })
    }

    /// The last lines, for one message.
    pub(crate) fn last_lines(&self) -> Option<String> {
        const LINES: usize = 5;
        const BYTES: usize = 600;
        let text = self.text()?;
        let text = text.trim_end();
        let from = text.ceil_char_boundary(text.len().saturating_sub(BYTES));
        let mut lines: Vec<&str> = text[from..].lines().rev().take(LINES).collect();
        lines.reverse();
        Some(lines.join("\n"))
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tail")
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    async fn tail_of(text: String) -> Tail {
        let mut tail = Tail::of(Box::new(Cursor::new(text.into_bytes())));
        tail.finish(Duration::from_secs(10)).await;
        tail
    }

    #[tokio::test]
    async fn only_the_end_of_a_flood_is_kept() {
        let tail = tail_of(format!("{}end\n", "x".repeat(10 * KEEP))).await;
        let text = tail.text().unwrap();
        assert!(text.starts_with(&format!("[{} bytes left out]", 9 * KEEP + 4)));
        assert!(text.ends_with("xend\n"));
        assert!(text.len() < KEEP + 100);
        assert!(tail.last_lines().unwrap().len() <= 600);
    }

    #[tokio::test]
    async fn the_last_lines_of_little_are_all_of_it() {
        assert_eq!(tail_of(String::new()).await.text(), None);
        let tail = tail_of("1\n2\n3\n4\n5\n6\n".to_owned()).await;
        assert_eq!(tail.last_lines().unwrap(), "2\n3\n4\n5\n6");
    }
}
