//! The process that a sandbox with an open network is started by. It stands in that network, alone with the right to
//! change it: it takes routes away, starts the sandbox, which has no such right, and takes more routes away when it
//! is told to. It knows neither who leads packets out of the network nor which addresses are the host's.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::thread;

use rustix::net::{RecvFlags, SendFlags, Shutdown, shutdown};
use rustix::thread::clear_ambient_capability_set;

use super::routes::{Range, Routes};
use super::wire::{self, MOST};

/// The first argument by which a host executable is told to be this process; bubblewrap and its arguments
/// follow.
pub(crate) const ARGUMENT: &str = "__sandbox-network";

/// What the host hears of us first: with it the kernel tells our number.
pub(crate) const HELLO: &str = "hello";

/// Runs with the host's socket as standard input.
pub(super) fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The host keeps our standard error and shows it when we are gone.
            let _ = writeln!(io::stderr(), "the sandbox's network failed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    let socket = Arc::new(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?);
    // What we start does not inherit our right, and bubblewrap would refuse to work with it.
    clear_ambient_capability_set()?;
    let none = SendFlags::empty();
    wire::send(&socket, &wire::encode(&HELLO)?, &[], none)?;

    let routes = Routes::open()?;
    let mut buffer = vec![0; MOST];
    let Some(mut descriptors) = heed(&routes, &socket, &mut buffer)? else {
        return Ok(());
    };
    let missing = || io::Error::other("the init's socket is missing");
    let init = descriptors.pop().ok_or_else(missing)?;
    let mut words = std::env::args_os().skip(2);
    let program: OsString = words.next().unwrap_or_default();
    // From this thread, which lasts: the sandbox dies with the one that started it.
    let mut sandbox = Command::new(program).args(words).stdin(init).spawn()?;
    let other = Arc::clone(&socket);
    thread::Builder::new()
        .name("sandbox".to_owned())
        .spawn(move || {
            let _ = sandbox.wait();
            let _ = shutdown(&other, Shutdown::Both);
        })?;
    while heed(&routes, &socket, &mut buffer)?.is_some() {}
    Ok(())
}

/// Takes the routes of one packet away, and returns what came along; `None` when the host has hung up.
fn heed(routes: &Routes, socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<Option<Vec<OwnedFd>>> {
    let packet = wire::receive::<Vec<Range>>(socket, buffer, RecvFlags::empty())?;
    let Some(packet) = packet else {
        return Ok(None);
    };
    for range in packet.body {
        routes.close(range)?;
    }
    Ok(Some(packet.descriptors))
}
