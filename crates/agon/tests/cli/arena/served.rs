//! A process that serves, and a word or two with it over HTTP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(30);

/// The first of a few ports that are free and stay so until they are used: below those that the kernel hands
/// out, and others for every process.
pub(super) fn free_ports() -> u16 {
    const FIRST: u32 = 10_000;
    const BLOCKS: u32 = 1_250;
    const BLOCK: u32 = 16;
    let is_free = |port: u32| {
        let port = u16::try_from(port).unwrap();
        TcpListener::bind(("127.0.0.1", port)).is_ok()
    };
    let first = (0..BLOCKS)
        .map(|step| FIRST + (std::process::id() + step) % BLOCKS * BLOCK)
        .find(|first| (*first..first + BLOCK).all(is_free));
    u16::try_from(first.unwrap()).unwrap()
}

/// Ended when dropped.
pub(super) struct Served {
    pub(super) url: String,
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Served {
    /// Waits until it has said where it is.
    pub(super) fn start(command: Command) -> Self {
        let mut served = Self::silent(command, 0);
        let mut url = String::new();
        served.out.read_line(&mut url).unwrap();
        url.trim().clone_into(&mut served.url);
        served
    }

    /// One that does not say it.
    pub(super) fn silent(mut command: Command, port: u16) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let url = format!("http://127.0.0.1:{port}");
        Self { url, child, out }
    }

    pub(super) fn post(&self, path: &str) -> (u16, Value) {
        self.ask("POST", path).unwrap()
    }

    pub(super) fn wait_for(&self, path: &str, state: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let status = self.ask("GET", path);
            if status
                .as_ref()
                .is_ok_and(|(_, status)| status["state"] == state)
            {
                return;
            }
            assert!(Instant::now() < deadline, "{status:?}");
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }

    fn ask(&self, method: &str, path: &str) -> std::io::Result<(u16, Value)> {
        let address = self.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        Ok((status, serde_json::from_str(body).unwrap_or_default()))
    }

    /// As Ctrl-C does.
    pub(super) fn interrupt(self) -> Option<i32> {
        self.interrupt_and_read().0
    }

    pub(super) fn interrupt_and_read(mut self) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        let mut out = String::new();
        self.out.read_to_string(&mut out).unwrap();
        (self.child.wait().unwrap().code(), out)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
