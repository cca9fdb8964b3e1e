//! The ChromeDriver process, and the browsers that it started: all of them end with it.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

#[derive(Debug)]
pub(crate) struct Driver {
    process: Child,
    port: u16,
    /// The browser's folder: names its processes, too.
    profile: TempDir,
}

impl Driver {
    pub(crate) fn start() -> io::Result<Self> {
        let mut process = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| {
                io::Error::other(format!(
                    "chromedriver can't be started ({error}); install Debian's chromium-driver"
                ))
            })?;
        let port = process.stdout.take().and_then(announced);
        let driver = Self {
            process,
            port: port.unwrap_or(0),
            profile: tempfile::Builder::new().prefix("agon-browser-").tempdir()?,
        };
        match port {
            Some(_) => Ok(driver),
            None => Err(io::Error::other("chromedriver did not say its port")),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn profile(&self) -> String {
        self.profile.path().to_string_lossy().into_owned()
    }
}

/// Reads on after the port is known: a full pipe would stop the driver.
fn announced(output: impl io::Read + Send + 'static) -> Option<u16> {
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    let port = lines.by_ref().find_map(|line| {
        let port = line.split("successfully on port ").nth(1)?;
        port.trim_end_matches('.').parse().ok()
    });
    std::thread::spawn(move || lines.for_each(drop));
    port
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
        // The driver leaves its browsers alone when it is killed.
        let profile = self.profile();
        let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let ours = folders.filter_map(|entry| {
            let pid: i32 = entry.file_name().to_string_lossy().parse().ok()?;
            let command = std::fs::read(entry.path().join("cmdline")).ok()?;
            let named = String::from_utf8_lossy(&command).contains(&profile);
            named.then_some(pid)
        });
        for pid in ours.filter_map(Pid::from_raw) {
            kill_process(pid, Signal::KILL).ok();
        }
    }
}
