//! A desktop in a container: a folder of the host in which the X server inside makes its socket. The
//! host connects to it directly; the container needs no network, port or guest agent.
//!
//! Everything in that folder is written by the container, so nothing there is followed or believed.

use std::fs::{self, Permissions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agon_sandbox::OwnedFolder;
use rustix::event::PollFlags;
use rustix::fs::inotify::{CreateFlags, ReadFlags, WatchFlags, add_watch, init};
use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::address::DisplayAddress;
use crate::authority::Cookie;
use crate::config::DesktopConfig;
use crate::container_script::{AUTHORITY, start_display};
use crate::desktop::Desktop;
use crate::error::DesktopError;
use crate::x11::ready;

/// How much is read of what the container says went wrong.
const TOLD: u64 = 2_000;

/// How often the socket is tried at least, should no news of the folder come.
const AT_LEAST: Duration = Duration::from_millis(200);

/// What a container must be given for a desktop to come up in it.
#[derive(Debug)]
pub struct ContainerDisplay {
    folder: OwnedFolder,
    cookie: Cookie,
    config: DesktopConfig,
}

impl ContainerDisplay {
    pub fn new(config: DesktopConfig) -> Result<Self, DesktopError> {
        let made = |error| DesktopError::io("can't make a folder for a desktop")(error);
        let folder = OwnedFolder::new().map_err(made)?;
        let sockets = folder.path().join("x");
        fs::create_dir(&sockets).map_err(made)?;
        // Only we may go in from outside: the container's root is no user of this machine's.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).map_err(made)?;
        Ok(Self {
            folder,
            cookie: Cookie::random(),
            config,
        })
    }

    /// To be bound on the container's `/tmp/.X11-unix`, writable.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().join("x")
    }

    /// To be run by the container's own shell when it starts.
    pub fn start(&self) -> String {
        start_display(&self.config, &self.cookie)
    }

    /// For the environment of every program in the container.
    pub fn environment() -> [(&'static str, &'static str); 2] {
        [("DISPLAY", ":0"), ("XAUTHORITY", AUTHORITY)]
    }

    /// Waits until the server inside and its window manager answer.
    pub fn connect(self) -> Result<Desktop, DesktopError> {
        let deadline = Instant::now() + self.config.start;
        let late = |what: &str| DesktopError::Timeout {
            what: what.to_owned(),
            within: self.config.start,
        };
        let address = DisplayAddress::Socket {
            path: self.folder().join("X0"),
            cookie: self.cookie.clone(),
        };
        let Some(desktop) = self.until_it_answers(&address, deadline)? else {
            return Err(late("starting the X server in the container"));
        };
        // The first picture is the slowest, for its memory is new: it is taken while the window manager
        // starts.
        desktop.screen().capture()?;
        if !desktop.wait_for_window_manager(deadline)? {
            return Err(late("starting the window manager in the container"));
        }
        Ok(desktop.in_container(self.folder))
    }

    fn until_it_answers(
        &self,
        address: &DisplayAddress,
        deadline: Instant,
    ) -> Result<Option<Desktop>, DesktopError> {
        let cannot = || DesktopError::io("can't watch the folder of a desktop");
        let news = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK);
        let news = news.map_err(|error| cannot()(error.into()))?;
        add_watch(
            &news,
            self.folder(),
            WatchFlags::CREATE | WatchFlags::MOVED_TO,
        )
        .map_err(|error| cannot()(error.into()))?;
        while Instant::now() < deadline {
            // The socket is there a moment before the server listens on it.
            if let Ok(desktop) = Desktop::connect(address) {
                return Ok(Some(desktop));
            }
            if let Some(told) = read_plain(&self.folder().join("agon-error")) {
                return Err(DesktopError::Start(told));
            }
            let patience = deadline.min(Instant::now() + AT_LEAST);
            ready(news.as_fd(), PollFlags::IN, patience).map_err(cannot())?;
            drain(&news);
        }
        Ok(None)
    }
}

/// Forgets what an inotify descriptor has to tell: the folder is looked at anyway.
fn drain(news: &impl AsFd) {
    let mut buffer = [std::mem::MaybeUninit::uninit(); 1024];
    let mut reader = rustix::fs::inotify::Reader::new(news, &mut buffer);
    while let Ok(event) = reader.next() {
        if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
            return;
        }
    }
}

/// Reads a plain file that the container wrote: no link, no device, and not all of a large one.
fn read_plain(path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = fs::File::from(openat(CWD, path, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut told = Vec::new();
    let read: io::Result<usize> = file.take(TOLD).read_to_end(&mut told);
    read.ok()?;
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let told = String::from_utf8_lossy(&told);
    Some(told.trim().chars().map(plain).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn display(start: Duration) -> ContainerDisplay {
        ContainerDisplay::new(DesktopConfig {
            start,
            ..DesktopConfig::default()
        })
        .unwrap()
    }

    #[test]
    fn what_the_container_says_went_wrong_is_told() {
        let display = display(Duration::from_secs(60));
        let file = display.folder().join("agon-error");
        fs::write(file, "no X server\u{1b}[31m: install xvfb\n").unwrap();
        let error = display.connect().unwrap_err().to_string();
        assert!(error.contains("no X server [31m: install xvfb"), "{error}");
    }

    #[test]
    fn links_in_the_folder_are_not_followed() {
        let display = display(Duration::from_millis(1));
        symlink("/etc/hostname", display.folder().join("agon-error")).unwrap();
        assert!(matches!(
            display.connect().unwrap_err(),
            DesktopError::Timeout { .. }
        ));
    }
}
