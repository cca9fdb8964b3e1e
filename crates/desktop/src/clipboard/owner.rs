//! A thread that owns the clipboard: it starts when the text is ours to give, and ends when somebody
//! else takes over or when it is dropped.

use std::os::fd::AsFd;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, PropMode, Property, Timestamp, Window,
};
use x11rb::wrapper::ConnectionExt as _;

use super::serve::Server;
use crate::error::DesktopError;
use crate::x11::{Scissors, XConnection, ready};

/// What the server may take to tell the time.
const PATIENCE: Duration = Duration::from_secs(2);

/// Readers that are in the middle of a long text get the rest of it when another owner takes over.
const REST: Duration = Duration::from_secs(2);

/// As good as for ever; what ends the wait is an event, or the end of the connection.
const LONG: Duration = Duration::from_secs(3600);

#[derive(Debug)]
pub(super) struct Owner {
    scissors: Scissors,
    thread: Option<JoinHandle<()>>,
}

impl Owner {
    /// The clipboard is ours when this returns.
    pub(super) fn start(x: XConnection, text: &str) -> Result<Self, DesktopError> {
        let window = x.unseen_window()?;
        let since = time(&x, window)?;
        let clipboard = x.atoms().CLIPBOARD;
        x.x().set_selection_owner(window, clipboard, since)?;
        if x.x().get_selection_owner(clipboard)?.reply()?.owner != window {
            return Err(DesktopError::Unsupported(
                "another program took the clipboard at the same moment: try again".to_owned(),
            ));
        }
        let scissors = x.scissors();
        let mut server = Server::new(text, window, since);
        let thread = thread::Builder::new()
            .name("clipboard".to_owned())
            // Its end is the end of the connection, or that somebody else took over: nobody to tell.
            .spawn(move || drop(serve(&x, &mut server)))
            .map_err(DesktopError::io("can't start a thread for the clipboard"))?;
        Ok(Self {
            scissors,
            thread: Some(thread),
        })
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.scissors.cut();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The server's time: owners say since when they are.
fn time(x: &XConnection, window: Window) -> Result<Timestamp, DesktopError> {
    let deadline = Instant::now() + PATIENCE;
    let property = x.atoms().AGON_TRANSFER;
    x.x()
        .change_property8(PropMode::APPEND, window, property, AtomEnum::STRING, &[])?;
    x.flush()?;
    while Instant::now() < deadline {
        match x.x().poll_for_event()? {
            Some(Event::PropertyNotify(change)) if change.state == Property::NEW_VALUE => {
                return Ok(change.time);
            }
            Some(_) => {}
            None => {
                ready(x.x().stream().as_fd(), PollFlags::IN, deadline)
                    .map_err(DesktopError::io("can't wait for the X server"))?;
            }
        }
    }
    Err(DesktopError::Timeout {
        what: "asking the X server for its time".to_owned(),
        within: PATIENCE,
    })
}

fn serve(x: &XConnection, server: &mut Server) -> Result<(), DesktopError> {
    let mut end = None;
    loop {
        while let Some(event) = x.x().poll_for_event()? {
            if matches!(event, Event::SelectionClear(_)) {
                end = Some(Instant::now() + REST);
            }
            server.handle(x, &event)?;
        }
        x.flush()?;
        let until = end.unwrap_or_else(|| Instant::now() + LONG);
        let over = end.is_some() && (server.is_idle() || Instant::now() >= until);
        if over {
            return Ok(());
        }
        ready(x.x().stream().as_fd(), PollFlags::IN, until)
            .map_err(DesktopError::io("can't wait for the X server"))?;
    }
}
