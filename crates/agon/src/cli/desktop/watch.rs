//! `agon desktop watch`: what happens on a desktop, one JSON object per line, as it happens.

use std::io::{self, ErrorKind, Write};
use std::time::{Duration, Instant};

use agon_desktop::ListenConfig;
use serde::Serialize;

use super::args::WatchArgs;
use super::choose;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

/// How soon a reader that went away is noticed while nothing happens.
const GLANCE: Duration = Duration::from_millis(500);

pub(super) fn watch(args: &WatchArgs) -> Result<Exit, Failure> {
    let all = !(args.keys || args.mouse || args.windows);
    let config = ListenConfig {
        keyboard: all || args.keys,
        mouse: all || args.mouse,
        windows: all || args.windows,
        ..ListenConfig::NOTHING
    };
    let desktop = choose::desktop(&args.choice)?;
    let listener = desktop.listen(&config)?;
    let end = args
        .seconds
        .and_then(|seconds| Instant::now().checked_add(seconds));
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(Exit::Done);
        }
        let wait = left.map_or(GLANCE, |left| left.min(GLANCE));
        let open = match listener.next(wait)? {
            Some(event) => print(&event)?,
            None => is_read()?,
        };
        if !open {
            return Ok(Exit::Done);
        }
    }
}

/// Says whether anybody reads what is printed.
fn print(event: &impl Serialize) -> Result<bool, Failure> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    match out.write_all(&line).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A pipe whose reader is gone says so without being written to.
fn is_read() -> Result<bool, Failure> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let out = io::stdout();
    let mut fds = [PollFd::new(&out, PollFlags::empty())];
    let now = Timespec::default();
    rustix::io::retry_on_intr(|| poll(&mut fds, Some(&now))).map_err(io::Error::from)?;
    Ok(!fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP))
}
