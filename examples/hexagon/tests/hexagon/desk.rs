//! The game as a program on a private desktop; ended when dropped.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use agon_desktop::{Desktop, DesktopConfig, DisplayAddress};
use serde_json::Value;
use tempfile::TempDir;

/// Far beyond what anything here takes: who waits so long has failed.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
pub(super) const TITLE: &str = "Hexagon Run";

pub(super) struct Desk {
    pub(super) desktop: Desktop,
    child: Child,
    folder: TempDir,
}

impl Desk {
    /// Starts the game with more words, and waits for its window.
    pub(super) fn open(words: &[&str]) -> Self {
        let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let child = start(&desktop, folder.path(), words);
        let desk = Self {
            desktop,
            child,
            folder,
        };
        desk.desktop.windows().wait_for(TITLE, PATIENCE).unwrap();
        desk.desktop.windows().make_active(TITLE).unwrap();
        desk
    }

    fn scores(&self) -> PathBuf {
        self.folder.path().join("scores.jsonl")
    }

    /// The record of every game that is over.
    pub(super) fn records(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.scores()).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Looks again whenever the screen changed, until so many games are over.
    pub(super) fn wait_for_games(&self, count: usize) -> Vec<Value> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let records = self.records();
            if records.len() >= count {
                return records;
            }
            assert!(Instant::now() < deadline, "only {records:?}");
            let soon = Duration::from_millis(100);
            self.desktop.screen().changed(soon).unwrap();
        }
    }

    /// Waits for the end of the program.
    pub(super) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Programs know displays by number only, so it is shown the socket where it looks for one. They look
/// on the network first: it has none, or it would reach a display of the machine.
fn start(desktop: &Desktop, folder: &Path, words: &[&str]) -> Child {
    let DisplayAddress::Socket { path, cookie } = desktop.address() else {
        panic!("a private desktop has a socket");
    };
    let authority = folder.join("authority");
    std::fs::File::create(&authority)
        .unwrap()
        .write_all(&cookie.authority_file())
        .unwrap();
    let bind = |command: &mut Command, way: &str, from: &OsStr, to: &OsStr| {
        command.arg(way).arg(from).arg(to);
    };
    let mut command = Command::new("bwrap");
    command.args(["--dev-bind", "/", "/", "--die-with-parent", "--unshare-net"]);
    let sockets = path.parent().unwrap().as_os_str();
    bind(
        &mut command,
        "--bind",
        sockets,
        OsStr::new("/tmp/.X11-unix"),
    );
    command
        .args(["--", env!("CARGO_BIN_EXE_hexagon"), "--score-file"])
        .arg(folder.join("scores.jsonl"))
        .args(words)
        .env("DISPLAY", Desktop::PRIVATE_NAME)
        .env("XAUTHORITY", &authority)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}
