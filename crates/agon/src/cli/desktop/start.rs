//! `agon desktop start`: owns one private desktop until it is told to end.

use std::io;
use std::thread;

use agon_core::Clock;
use agon_core::clock::SystemClock;
use agon_desktop::{Desktop, DesktopConfig, DisplayAddress, Published};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::app;
use super::args::StartArgs;
use super::serve::Served;
use super::state::{Desktops, Listed};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::output;

pub(super) async fn start(args: &StartArgs) -> Result<Exit, Failure> {
    if args.owner_log.is_some() {
        // Neither the terminal's signals nor its end are for us.
        rustix::process::setsid().map_err(io::Error::from)?;
    }
    // Before there is anything to clean up.
    let mut ending = Ending::listen()?;
    let desktops = Desktops::open()?;
    let config = DesktopConfig {
        size: args.screen,
        gl: args.gl,
        ..DesktopConfig::default()
    };
    let desktop = tokio::task::spawn_blocking(move || Desktop::start(&config));
    let desktop = desktop.await.map_err(Failure::new)??;
    let server = watch_server(&desktop)?;
    let published = Published::new(&desktop, &desktops.own_file("authority"))?;
    let stop = CancellationToken::new();
    let (mut apps, _) = app::start(&args.apps, &published, &stop)?;
    // A connection of its own, so that a call that goes on does not keep the server alive.
    let served = Desktop::connect(desktop.address())?;
    let served = Served::start(desktops.own_file("calls"), served)?;
    let entry = desktops.add(Listed {
        id: String::new(),
        owner: desktops.mark(),
        display: published.display(),
        authority: published.authority().to_owned(),
        socket: match desktop.address() {
            DisplayAddress::Socket { path, .. } => path.clone(),
            DisplayAddress::Named(name) => name.into(),
        },
        calls: served.path().to_owned(),
        screen: desktop.size().to_string(),
        started: SystemClock::default().now().to_string(),
        apps: args.apps.clone(),
        log: args.owner_log.clone(),
    })?;
    announce(args, &entry.listed)?;

    let exit = tokio::select! {
        () = ending.heard() => Exit::Done,
        _ = server => {
            output::say("the X server has ended");
            Exit::Faults
        }
    };
    stop.cancel();
    while apps.join_next().await.is_some() {}
    drop((entry, served, published, desktop));
    Ok(exit)
}

/// Tells when the X server's jail ends.
fn watch_server(desktop: &Desktop) -> Result<oneshot::Receiver<()>, Failure> {
    let pid = desktop
        .process()
        .and_then(|pid| Pid::from_raw(pid.cast_signed()));
    let pid = pid.ok_or_else(|| Failure::new("the desktop has no process"))?;
    let process = pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from)?;
    let (ended, heard) = oneshot::channel();
    let wait = move || {
        let mut fds = [PollFd::new(&process, PollFlags::IN)];
        // Fails in no way that would not be an end as well.
        rustix::io::retry_on_intr(|| poll(&mut fds, None)).ok();
        ended.send(()).ok();
    };
    thread::Builder::new()
        .name("agon-server".to_owned())
        .spawn(wait)?;
    Ok(heard)
}

/// Says where the desktop is, and to the one who waits for it that it is ready.
fn announce(args: &StartArgs, listed: &Listed) -> Result<(), Failure> {
    if args.owner_log.is_some() {
        output::json(listed)?;
        // The reader is done with us; nothing may break when it is gone.
        let nowhere = std::fs::File::options().write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdout(&nowhere).map_err(io::Error::from)?;
        return Ok(());
    }
    tell(args, listed, "Ctrl-C ends it")
}

/// The ID for scripts, the rest for people; or all of it as JSON.
pub(super) fn tell(args: &StartArgs, listed: &Listed, how_to_end: &str) -> Result<(), Failure> {
    if args.json {
        output::json(listed)?;
        return Ok(());
    }
    let Listed {
        id,
        display,
        authority,
        screen,
        ..
    } = listed;
    output::data(id)?;
    output::say(&format!(
        "desktop {id} of {screen} is ready; {how_to_end}\nother programs reach it with DISPLAY={display} XAUTHORITY={}",
        authority.display()
    ));
    Ok(())
}

/// Whatever asks a process to end.
struct Ending {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Ending {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn heard(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
