//! `agon desktop stop`: ends the owner of a desktop, and with it the desktop.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::args::StopArgs;
use super::choose;
use super::state::{Desktops, Listed, sweep};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::output;

/// What an owner may take to end its programs and its server.
const IN_ORDER: Duration = Duration::from_secs(10);

const BY_FORCE: Duration = Duration::from_secs(5);

pub(super) fn stop(args: &StopArgs) -> Result<Exit, Failure> {
    let living = Desktops::open()?.living()?;
    let wanted = if args.all {
        living
    } else {
        let named = args
            .ids
            .iter()
            .map(|id| choose::by_id(&living, id).cloned());
        named.collect::<Result<Vec<_>, _>>()?
    };
    for desktop in &wanted {
        end(desktop)?;
        if args.json {
            output::json(desktop)?;
        } else {
            output::say(&format!("stopped {}", desktop.id));
        }
    }
    if wanted.is_empty() && !args.json {
        output::say("no desktop runs");
    }
    Ok(Exit::Done)
}

fn end(desktop: &Listed) -> Result<(), Failure> {
    let Some(owner) = living_owner(desktop)? else {
        return Ok(());
    };
    ask(&owner, Signal::TERM)?;
    if ends(&owner, IN_ORDER)? {
        return Ok(());
    }
    ask(&owner, Signal::KILL)?;
    if !ends(&owner, BY_FORCE)? {
        return Err(Failure::new(format_args!(
            "the owner of {} does not end",
            desktop.id
        )));
    }
    // It had no time to do so itself.
    sweep()?;
    agon_sandbox::reaper::reap_dead_owners();
    Ok(())
}

/// A handle that stays the owner's, whoever gets its number later.
fn living_owner(desktop: &Listed) -> Result<Option<OwnedFd>, Failure> {
    let pid = desktop
        .process()
        .and_then(|pid| Pid::from_raw(pid.cast_signed()));
    let Some(pid) = pid else {
        return Ok(None);
    };
    match pidfd_open(pid, PidfdFlags::empty()) {
        // Only now is it sure that the handle is of the process that the mark names.
        Ok(owner) => Ok((!desktop.is_dead()).then_some(owner)),
        Err(rustix::io::Errno::SRCH) => Ok(None),
        Err(error) => Err(std::io::Error::from(error).into()),
    }
}

fn ask(owner: &OwnedFd, signal: Signal) -> Result<(), Failure> {
    match pidfd_send_signal(owner, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(std::io::Error::from(error).into()),
    }
}

fn ends(owner: &OwnedFd, within: Duration) -> Result<bool, Failure> {
    let timeout = Timespec::try_from(within).map_err(Failure::new)?;
    let mut fds = [PollFd::new(owner, PollFlags::IN)];
    let ready = rustix::io::retry_on_intr(|| poll(&mut fds, Some(&timeout)));
    Ok(ready.map_err(std::io::Error::from)? > 0)
}
