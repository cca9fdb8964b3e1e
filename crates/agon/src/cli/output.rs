//! The one place that prints: data to standard output, words for people to standard error. A closed
//! pipe ends the program quietly, as it does with other tools.

use std::io::{self, IsTerminal, Write};

use agon_report::{Look, Screen};
use serde::Serialize;

/// Data: what a script reads. A reader that has seen enough is no error.
pub(super) fn data(text: &str) -> io::Result<()> {
    let write = || -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()
    };
    match write() {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// One JSON object per line.
pub(super) fn json(value: &impl Serialize) -> io::Result<()> {
    data(&serde_json::to_string(value)?)
}

/// Words for people.
pub(super) fn say(text: &str) {
    let mut err = io::stderr().lock();
    writeln!(err, "{text}").ok();
}

/// A sign that somebody is waited for, on the line on which he types.
pub(super) fn ask(sign: &str) {
    let mut err = io::stderr().lock();
    write!(err, "{sign}").and_then(|()| err.flush()).ok();
}

/// What a table on the given stream may look like.
pub(super) fn screen(terminal: bool) -> Screen {
    if !terminal {
        return Screen::default();
    }
    let width = rustix::termios::tcgetwinsize(io::stdout()).map_or(100, |size| size.ws_col.max(60));
    let colourless = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Screen {
        width,
        look: if colourless {
            Look::Drawn
        } else {
            Look::Coloured
        },
    }
}

pub(super) fn to_terminal() -> bool {
    io::stdout().is_terminal()
}

/// `1 trial`, `2 trials`.
pub(super) fn count(number: u64, noun: &str) -> String {
    let many = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{many}")
}

/// Text of others on our terminal: one line, nothing that steers it or turns the writing round.
pub(super) use agon_report::plain;
