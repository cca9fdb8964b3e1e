//! What a real program shows on a real screen.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agon_desktop::{Desktop, DesktopConfig, DisplayAddress};
use agon_vision::{Image, Line};
use tempfile::NamedTempFile;

use super::games::{reader, texts};

const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal on a private desktop; it ends with the test.
struct Terminal {
    child: Child,
    _authority: NamedTempFile,
}

impl Terminal {
    fn start(desktop: &Desktop, words: &[&str]) -> Self {
        let DisplayAddress::Socket { path, cookie } = desktop.address() else {
            panic!("a private desktop has a socket");
        };
        let mut authority = NamedTempFile::new().unwrap();
        authority.write_all(&cookie.authority_file()).unwrap();
        let child = Command::new("bwrap")
            .args(["--dev-bind", "/", "/", "--tmpfs", "/tmp"])
            .args(["--die-with-parent", "--unshare-net", "--bind"])
            .arg(path.parent().unwrap())
            .args(["/tmp/.X11-unix", "--ro-bind"])
            .arg(authority.path())
            .args(["/tmp/authority", "--", "xterm"])
            .args(words)
            .env("DISPLAY", Desktop::PRIVATE_NAME)
            .env("XAUTHORITY", "/tmp/authority")
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            child,
            _authority: authority,
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads the screen until all of that stands on it.
fn read_until(desktop: &Desktop, wanted: &[&str]) -> Vec<Line> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let frame = desktop.screen().capture().unwrap();
        let size = desktop.size();
        let image = Image::from_bgrx(size.width, size.height, frame.pixels()).unwrap();
        let lines = reader().read(&image).unwrap();
        let read = texts(&lines);
        if wanted.iter().all(|wanted| read.contains(wanted)) {
            return lines;
        }
        assert!(Instant::now() < deadline, "{wanted:?} in {read:?}");
        let _ = desktop
            .screen()
            .changed_from(&frame, Duration::from_secs(2));
    }
}

#[test]
fn a_terminal_is_read() {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let script = "printf 'Total: 1,250 points\\nThe quick brown fox\\n'; exec cat";
    let font = [
        "-fa",
        "DejaVu Sans Mono",
        "-fs",
        "12",
        "-bg",
        "black",
        "-fg",
        "white",
    ];
    let words: Vec<&str> = font.into_iter().chain(["-e", "sh", "-c", script]).collect();
    let _terminal = Terminal::start(&desktop, &words);
    let lines = read_until(&desktop, &["Total: 1,250 points", "The quick brown fox"]);
    let points = agon_vision::number::find(&lines, Some("total"), Default::default());
    assert_eq!(points.unwrap().value, 1250.0);
}
