//! A Chromium process of our own, for a test that runs without a shared one. Knows nothing of pages.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::trouble::{Trouble, trouble};

const PROGRAM: &str = "/usr/bin/chromium";
const FLAGS: &str = include_str!("chromium.flags");
/// What Chromium says on standard error before the address of its debugger.
const ANNOUNCED: &str = "DevTools listening on ";
const STARTED_WITHIN: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Chromium {
    process: Child,
    address: String,
    /// The browser's folder: names its processes, too.
    profile: TempDir,
}

impl Chromium {
    pub(crate) async fn start() -> Result<Self, Trouble> {
        let profile = tempfile::Builder::new().prefix("agon-browser-").tempdir();
        let profile = profile.map_err(trouble)?;
        let flags = FLAGS
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut process = Command::new(PROGRAM)
            .args(flags)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| {
                Trouble(format!(
                    "{PROGRAM} can't be started ({error}); install Debian's chromium"
                ))
            })?;
        let output = process.stderr.take();
        let mut chromium = Self {
            process,
            address: String::new(),
            profile,
        };
        let (tell, told) = oneshot::channel();
        std::thread::spawn(move || {
            if let Some(output) = output {
                announce(BufReader::new(output), tell);
            }
        });
        let told = tokio::time::timeout(STARTED_WITHIN, told).await;
        chromium.address = match told {
            Ok(Ok(Ok(address))) => address,
            Ok(Ok(Err(said))) => return Err(Trouble(format!("{PROGRAM} ended at once: {said}"))),
            _ => return Err(Trouble(format!("{PROGRAM} did not say its address"))),
        };
        Ok(chromium)
    }

    /// Of its debugger: `ws://127.0.0.1:PORT/devtools/browser/ID`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

/// Tells the address, or the last words. Reads on after it: a full pipe would stop the browser.
fn announce(output: impl BufRead, tell: oneshot::Sender<Result<String, String>>) {
    let mut lines = output.lines().map_while(Result::ok);
    let mut said = VecDeque::new();
    let address = lines.by_ref().find_map(|line| {
        let address = line.strip_prefix(ANNOUNCED).map(str::to_owned);
        said.push_back(line);
        if said.len() > 10 {
            said.pop_front();
        }
        address
    });
    let said = Vec::from(said).join("\n");
    tell.send(address.ok_or(said)).ok();
    lines.for_each(drop);
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
        // Its other processes end by themselves, but not before their folder is removed.
        let profile = self.profile.path().to_string_lossy().into_owned();
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
