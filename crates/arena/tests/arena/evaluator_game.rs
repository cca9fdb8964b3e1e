//! Games of a terminal, for evaluators that look at real windows.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use agon_desktop::{Desktop, DisplayAddress};
use tempfile::NamedTempFile;

use super::evaluator_support::PATIENCE;

/// Waits for a key, goes on for a while, and shows a score.
const GAME: &str = r#"
clear; printf '\n  ANY GAME\n'
for score in 00:31 95:26; do
  read -rsn1
  clear; printf '\n  GO ON\n'
  read -rsn1 -t 1
  clear; printf '\n  LAST %s\n\n  PRESS SPACE TO RETRY\n' "$score"
done
read -rsn1
"#;

/// Ended when dropped.
pub(super) struct Game {
    pub(super) child: Child,
    _authority: NamedTempFile,
}

impl Game {
    pub(super) fn start(desktop: &Desktop) -> Self {
        Self::playing(desktop, GAME)
    }

    /// What a script of the shell shows.
    pub(super) fn playing(desktop: &Desktop, script: &str) -> Self {
        let DisplayAddress::Socket { path, cookie } = desktop.address() else {
            panic!("a private desktop has a socket");
        };
        let mut authority = NamedTempFile::new().unwrap();
        authority.write_all(&cookie.authority_file()).unwrap();
        let child = Command::new("bwrap")
            .args([
                "--dev-bind",
                "/",
                "/",
                "--tmpfs",
                "/tmp",
                "--die-with-parent",
            ])
            .arg("--unshare-net")
            .arg("--bind")
            .arg(path.parent().unwrap())
            .arg("/tmp/.X11-unix")
            .arg("--ro-bind")
            .arg(authority.path())
            .arg("/tmp/authority")
            .args(["--", "xterm", "-T", "Any Game", "-geometry", "32x7"])
            .args([
                "-fa",
                "DejaVu Sans Mono",
                "-fs",
                "20",
                "-e",
                "bash",
                "-c",
                script,
            ])
            .env("DISPLAY", Desktop::PRIVATE_NAME)
            .env("XAUTHORITY", "/tmp/authority")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        desktop.windows().wait_for("Any Game", PATIENCE).unwrap();
        Self {
            child,
            _authority: authority,
        }
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
