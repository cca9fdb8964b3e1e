//! Ctrl-C: the first stops in order, the second at once.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::exit::Exit;
use super::failure::Failure;
use super::output;

/// What becomes of a run that is stopped.
pub(super) const RESUMABLE: &str = "stopping: running trials are left for a resume";

/// A token that is cancelled by SIGINT, SIGTERM or SIGHUP; the first of them is answered by `words`.
pub(super) fn stop_on_signal(words: &'static str) -> Result<CancellationToken, Failure> {
    let stop = CancellationToken::new();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    tokio::spawn({
        let stop = stop.clone();
        async move {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                    _ = hang_up.recv() => {}
                }
                if stop.is_cancelled() {
                    leave_at_once();
                }
                output::say(&format!("{words} (again: stop at once)"));
                stop.cancel();
            }
        }
    });
    Ok(stop)
}

#[expect(
    clippy::disallowed_methods,
    reason = "asked for twice: sandboxes die with this process, containers are removed by the next"
)]
fn leave_at_once() {
    std::process::exit(i32::from(Exit::Interrupted as u8));
}
