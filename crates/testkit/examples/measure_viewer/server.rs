//! `agon view` as a process: where it answers, how much memory and time it takes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::Found;

#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    pub(crate) url: String,
    /// With the token, which moves into a cookie of the browser.
    pub(crate) entry: String,
}

impl Server {
    /// `cache`: where its index is kept.
    pub(crate) fn start(agon: &Path, runs: &Path, cache: &Path) -> Found<Self> {
        let mut process = Command::new(agon)
            .arg("view")
            .arg(runs)
            .args(["--no-open", "--port", "0"])
            .env("XDG_CACHE_HOME", cache)
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().ok_or("it has no output")?;
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let entry = lines.by_ref().find_map(|line| {
            let address = line.split("http://").nth(1)?.split(' ').next()?;
            Some(format!("http://{address}"))
        });
        let entry = entry.ok_or("`agon view` did not say where it is")?;
        // Of a single run it is the address of its page.
        let host = entry.split('/').nth(2).ok_or("no host in its address")?;
        std::thread::spawn(move || lines.for_each(drop));
        let server = Self {
            process,
            url: format!("http://{host}"),
            entry,
        };
        Ok(server)
    }

    /// The most memory that it has had, in MB.
    pub(crate) fn most_memory(&self) -> Found<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        Ok(kib.ok_or("no VmHWM")? * 1024.0 / 1e6)
    }

    /// Processor time so far, in seconds.
    pub(crate) fn processor(&self) -> Found<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        let after = stat.rsplit_once(')').ok_or("odd stat")?.1;
        let ticks = after.split_whitespace().skip(11).take(2);
        let ticks: f64 = ticks.filter_map(|field| field.parse::<f64>().ok()).sum();
        Ok(ticks / rustix::param::clock_ticks_per_second() as f64)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
