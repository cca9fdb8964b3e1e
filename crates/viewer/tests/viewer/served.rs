//! A real server on copies of run folders that past versions wrote, and a client that sends what it is told,
//! byte by byte.

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use agon_viewer::{Served, Viewer, ViewerOptions};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Nothing takes so long.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Server {
    pub(crate) root: TempDir,
    pub(crate) served: Served,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

impl Server {
    /// With the runs `plain`, `desktop` and `models`.
    pub(crate) fn start() -> Self {
        Self::start_at(IpAddr::V4(Ipv4Addr::LOCALHOST))
    }

    pub(crate) fn start_at(host: IpAddr) -> Self {
        let root = tempfile::tempdir().unwrap();
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/golden");
        for (from, to) in [
            ("format-1", "plain"),
            ("format-1-desktop", "desktop"),
            ("format-1-models", "models"),
        ] {
            copy(&golden.join(from), &root.path().join("runs").join(to));
        }
        let options = ViewerOptions {
            roots: vec![root.path().join("runs")],
            host,
            port: 0,
            cache: root.path().join("cache"),
        };
        let stop = CancellationToken::new();
        let (tell, told) = mpsc::channel();
        let thread = std::thread::spawn({
            let stop = stop.clone();
            move || {
                let runtime = tokio::runtime::Builder::new_multi_thread()
                    .worker_threads(2)
                    .enable_all()
                    .build()
                    .unwrap();
                runtime.block_on(async {
                    let viewer = Viewer::bind(options).await.unwrap();
                    tell.send(viewer.served()).unwrap();
                    viewer.serve(stop).await.unwrap();
                });
                runtime.shutdown_timeout(Duration::from_secs(5));
            }
        });
        let served = told.recv().unwrap();
        Self {
            root,
            served,
            stop,
            thread: Some(thread),
        }
    }

    pub(crate) fn run(&self, name: &str) -> PathBuf {
        self.root.path().join("runs").join(name)
    }

    /// Where it is reached from here.
    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.served.address.port()))
    }

    pub(crate) fn host(&self) -> String {
        self.address().to_string()
    }

    /// A line of a request with the token.
    pub(crate) fn bearer(&self) -> String {
        format!("Authorization: Bearer {}\r\n", self.served.token())
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// As it is. What can't be sent to the end because the server has answered already is not sent.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request).ok();
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer);
        assert!(read.is_ok() || !answer.is_empty(), "{read:?}");
        Answer::read(&answer)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.get_with(path, &[])
    }

    pub(crate) fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask("GET", path, headers, b"")
    }

    /// As a stranger who does not know the token.
    pub(crate) fn get_unknown(&self, path: &str) -> Answer {
        self.get_with(path, &[("Authorization", "Bearer unknown")])
    }

    /// With the host and the token of this server, unless others are given.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("host"))
        {
            request += &format!("Host: {}\r\n", self.host());
        }
        let knows = |(name, value): &(&str, &str)| {
            name.eq_ignore_ascii_case("authorization") || value.starts_with("agon_access_")
        };
        if !headers.iter().any(knows) {
            request += &self.bearer();
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            request += &format!("Content-Length: {}\r\n", body.len());
        }
        let mut request = format!("{request}\r\n").into_bytes();
        request.extend(body);
        self.send(&request)
    }

    /// What a page of this server would send.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let token = self.token();
        let origin = format!("http://{}", self.host());
        let headers = [
            ("Content-Type", "application/json"),
            ("X-Agon-Token", token.as_str()),
            ("Origin", origin.as_str()),
        ];
        self.ask("POST", path, &headers, body.to_string().as_bytes())
    }

    /// As it stands in a page.
    pub(crate) fn token(&self) -> String {
        let page = self.get("/").text();
        let (_, rest) = page
            .split_once("name=\"agon-token\" content=\"")
            .unwrap_or_else(|| panic!("no token in {page}"));
        rest.split_once('"').unwrap().0.to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

impl Answer {
    fn read(bytes: &[u8]) -> Self {
        let end = bytes
            .windows(4)
            .position(|window| window == b"\r\n\r\n")
            .unwrap_or_else(|| panic!("no answer: {}", String::from_utf8_lossy(bytes)));
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut answer = Self {
            status,
            head,
            body: bytes[end + 4..].to_vec(),
        };
        if answer.header("transfer-encoding") == Some("chunked") {
            answer.body = unchunked(&answer.body);
        }
        answer
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.text()))
    }

    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.text());
        self
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = bytes.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        whole.extend(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 4 + size..];
    }
    whole
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
