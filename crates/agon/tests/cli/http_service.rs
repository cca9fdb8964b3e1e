//! A plain HTTP server on this machine, for the services that tests play: one request per connection. It
//! does not know what is asked, nor by whom.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

pub(crate) struct Request {
    /// The first line and the headers as they came, with the empty line after them.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// None if the connection ends before the request does.
    fn read(reader: &mut impl BufRead) -> Option<Self> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let mut request = Self {
            head,
            body: Vec::new(),
        };
        let length = request.header("content-length")?.parse().ok()?;
        request.body.resize(length, 0);
        reader.read_exact(&mut request.body).ok()?;
        Some(request)
    }

    pub(crate) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }
}

pub(crate) enum Response {
    Answer {
        status: &'static str,
        kind: &'static str,
        /// Further headers.
        headers: Vec<(&'static str, String)>,
        body: String,
    },
    /// Never: the connection stays open until the other side has gone.
    Silence,
}

impl Response {
    pub(crate) fn new(status: &'static str, kind: &'static str, body: String) -> Self {
        Self::Answer {
            status,
            kind,
            headers: Vec::new(),
            body,
        }
    }

    pub(crate) fn json(status: &'static str, body: &serde_json::Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name, value.to_owned()));
        }
        self
    }
}

/// Where it answers from now on: `http://ADDRESS`.
pub(crate) fn start(answer: impl Fn(Request) -> Response + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || serve(stream, &*answer));
        }
    });
    url
}

fn serve(mut stream: TcpStream, answer: &dyn Fn(Request) -> Response) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let request = Request::read(&mut reader)?;
    match answer(request) {
        Response::Answer {
            status,
            kind,
            headers,
            body,
        } => {
            let length = body.len();
            let mut head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\
                 content-length: {length}\r\n"
            );
            for (name, value) in headers {
                head += &format!("{name}: {value}\r\n");
            }
            stream.write_all((head + "\r\n" + &body).as_bytes()).ok()
        }
        Response::Silence => reader.read_to_end(&mut Vec::new()).ok().map(|_| ()),
    }
}
