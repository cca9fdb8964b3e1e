//! One X server with a window manager, started, ready and ended. Ready means that both answer.

use std::fs::{self, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_sandbox::OwnedFolder;
use agon_sandbox::local::spawn_lasting;
use rustix::event::PollFlags;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::jail::{self, NUMBER};
use super::state::ServerState;
use crate::address::DisplayAddress;
use crate::authority::Cookie;
use crate::config::DesktopConfig;
use crate::error::DesktopError;
use crate::x11::ready;

const OPENBOX: &str = include_str!("openbox.xml");

/// How much of what it complains about is told.
const TOLD: u64 = 2_000;

/// What a desktop may take to end by itself.
const ENDING: Duration = Duration::from_secs(2);

/// Ended when dropped, and when we die.
#[derive(Debug)]
pub(crate) struct PrivateServer {
    child: Mutex<Child>,
    /// Of that.
    pid: u32,
    /// Everything inside ends when this is closed.
    words: Mutex<Option<ChildStdin>>,
    folder: OwnedFolder,
    cookie: Cookie,
}

impl PrivateServer {
    /// The server answers when this returns; the window manager is not asked for yet.
    pub(crate) fn start(config: &DesktopConfig) -> Result<Self, DesktopError> {
        let deadline = Instant::now() + config.start;
        let made = DesktopError::io("can't make a folder for a desktop");
        let (folder, cookie) = furnish().map_err(made)?;
        let complaints = folder.path().join("log");
        let log = fs::File::create_new(&complaints);
        let log = log.map_err(DesktopError::io("can't make a log for a desktop"))?;
        let mut command = jail::command(folder.path(), config)?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log);
        let mut child =
            spawn_lasting(command).map_err(DesktopError::io("can't start bubblewrap"))?;
        let (words, said) = (child.stdin.take(), child.stdout.take());
        let server = Self {
            pid: child.id(),
            child: Mutex::new(child),
            words: Mutex::new(words),
            folder,
            cookie,
        };
        let Some(mut said) = said else {
            return Err(DesktopError::Start("it has no pipes".to_owned()));
        };
        match number(&mut said, deadline) {
            Ok(Some(())) => Ok(server),
            Ok(None) => Err(DesktopError::Start(server.complaints())),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(DesktopError::Timeout {
                what: "starting the X server".to_owned(),
                within: config.start,
            }),
            Err(error) => Err(DesktopError::Start(error.to_string())),
        }
    }

    fn words(&self) -> MutexGuard<'_, Option<ChildStdin>> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends everything inside; comes back before it has.
    pub(crate) fn end(&self) {
        drop(self.words().take());
    }

    pub(crate) fn start_window_manager(&self) -> Result<(), DesktopError> {
        let written = self.words().as_mut().map(|words| words.write_all(b"go\n"));
        match written {
            Some(Ok(())) => Ok(()),
            _ => Err(DesktopError::Start(self.complaints())),
        }
    }

    pub(crate) fn address(&self) -> DisplayAddress {
        DisplayAddress::Socket {
            path: self.socket(),
            cookie: self.cookie.clone(),
        }
    }

    /// The folder that holds the socket: what a sandbox is shown as `/tmp/.X11-unix`.
    pub(crate) fn socket_folder(&self) -> PathBuf {
        self.folder.path().join("x")
    }

    fn socket(&self) -> PathBuf {
        self.socket_folder().join(format!("X{NUMBER}"))
    }

    /// What the server and its window manager said on standard error.
    pub(crate) fn complaints(&self) -> String {
        let mut told = Vec::new();
        let log = fs::File::open(self.folder.path().join("log"));
        let read = log.and_then(|log| log.take(TOLD).read_to_end(&mut told));
        let told = String::from_utf8_lossy(&told).trim().to_owned();
        match read {
            Ok(_) if !told.is_empty() => told,
            _ => "it ended without a word".to_owned(),
        }
    }

    /// The process of the jail, for those who measure or disturb it.
    pub(crate) fn process(&self) -> u32 {
        self.pid
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the jail ends within the time that it may take for it.
    fn ends(&self) -> bool {
        let ended = Pid::from_raw(self.pid.cast_signed())
            .ok_or(io::ErrorKind::NotFound.into())
            .and_then(|pid| Ok(pidfd_open(pid, PidfdFlags::empty())?))
            .and_then(|pid| ready(pid.as_fd(), PollFlags::IN, Instant::now() + ENDING));
        matches!(ended, Ok(true))
    }

    /// Of a server that does not answer. Blocks for a moment: what died is being buried.
    pub(crate) fn state(&self) -> ServerState {
        self.ends();
        match self.child().try_wait() {
            Ok(Some(status)) => ServerState::of_end(status),
            _ => ServerState::of_processes(self.pid),
        }
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        // Ends the first process inside, and with it all others: bubblewrap comes back when the last
        // of them is gone.
        self.end();
        let ended = self.child().try_wait().is_ok_and(|status| status.is_some()) || self.ends();
        let mut child = self.child();
        if !ended {
            let _ = child.kill();
        }
        let _ = child.wait();
    }
}

/// The folder with all that the jail is shown.
fn furnish() -> io::Result<(OwnedFolder, Cookie)> {
    let folder = OwnedFolder::new()?;
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("x"))?;
    fs::set_permissions(at("x"), Permissions::from_mode(0o755))?;
    let cookie = Cookie::random();
    Cookie::write(&cookie.authority_file(), &at("authority"), 0o400)?;
    fs::write(at("openbox.xml"), OPENBOX)?;
    fs::set_permissions(at("openbox.xml"), Permissions::from_mode(0o444))?;
    if let Some(user) = jail::user() {
        for name in ["x", "authority"] {
            chown(at(name), Some(user), Some(user))?;
        }
    }
    Ok((folder, cookie))
}

/// Waits for the line with the display's number, which is always the same; `None` when the server ended
/// before.
fn number(said: &mut ChildStdout, deadline: Instant) -> io::Result<Option<()>> {
    let mut line = [0; 16];
    let mut len = 0;
    while !line[..len].contains(&b'\n') {
        if !ready(said.as_fd(), PollFlags::IN, deadline)? {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match said.read(&mut line[len..])? {
            0 => return Ok(None),
            read => len += read,
        }
    }
    if line[..len] == *format!("{NUMBER}\n").as_bytes() {
        Ok(Some(()))
    } else {
        Err(io::Error::other("it has another number than was asked for"))
    }
}
