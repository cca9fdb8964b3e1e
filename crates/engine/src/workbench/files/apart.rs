//! Work on texts, which is done where it holds up nobody else if they are long.

use std::io;

use agon_sandbox::SandboxError;

/// Bytes that are worked through faster than a thread is found for them.
const SHORT: usize = 16 << 10;

pub(super) async fn apart<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SandboxError> {
    if bytes <= SHORT {
        return Ok(work());
    }
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(io::Error::other)
        .map_err(SandboxError::io("a text could not be worked through"))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[tokio::test]
    async fn long_texts_hold_up_nobody() {
        let here = thread::current().id();
        let done_by = async |bytes| apart(bytes, || thread::current().id()).await.unwrap();
        assert_eq!(done_by(SHORT).await, here);
        assert_ne!(done_by(SHORT + 1).await, here);
    }
}
