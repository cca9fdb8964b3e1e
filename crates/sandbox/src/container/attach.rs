//! The streams of an exec or of a container's first process: one connection to the engine, turned
//! into raw bytes both ways.
//!
//! Done by hand because the bytes of a terminal come unframed, and bollard's decoder takes output
//! that begins with 0, 1 or 2 for the header of a frame: a program could make it wait for, and
//! hold, four gigabytes.

use std::io;

use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use super::engine::{Address, Engine};
use crate::contract::{Reader, Writer};

const LONGEST_HEAD: usize = 16 << 10;
const FRAME_HEADER: usize = 8;
const READ_AT_ONCE: usize = 32 << 10;

pub(super) struct Attached {
    pub(super) reader: Reader,
    pub(super) writer: Writer,
}

#[derive(Deserialize)]
struct Message {
    message: String,
}

impl Engine {
    /// Starts an exec and takes over its streams.
    pub(super) async fn attach(&self, exec: &str, tty: bool) -> io::Result<Attached> {
        let body = format!(r#"{{"Detach":false,"Tty":{tty}}}"#);
        self.take_over(&format!("/exec/{exec}/start"), &body).await
    }

    /// The way to the first process of a container; what is written before it runs waits for it.
    /// Its input stays open when this is dropped.
    pub(super) async fn input_of(&self, container: &str) -> io::Result<Writer> {
        let path = format!("/containers/{container}/attach?stream=1&stdin=1");
        Ok(self.take_over(&path, "").await?.writer)
    }

    async fn take_over(&self, path: &str, body: &str) -> io::Result<Attached> {
        let version = self.docker.client_version();
        let request = format!(
            "POST /v{version}{path} HTTP/1.1\r\nHost: engine\r\nConnection: Upgrade\r\n\
             Upgrade: tcp\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        match &self.address {
            Address::Unix(path) => upgrade(UnixStream::connect(path).await?, &request).await,
            Address::Tcp(host) => upgrade(TcpStream::connect(host).await?, &request).await,
        }
    }
}

async fn upgrade<S>(mut stream: S, request: &str) -> io::Result<Attached>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    stream.write_all(request.as_bytes()).await?;
    let mut read = Vec::with_capacity(1024);
    let head = loop {
        if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        if read.len() > LONGEST_HEAD || stream.read_buf(&mut read).await? == 0 {
            return Err(io::Error::other("the engine's answer is not HTTP"));
        }
    };
    let mut body = read.split_off(head);
    if !matches!(status(&read), Some(101 | 200)) {
        let _ = (&mut stream)
            .take(LONGEST_HEAD as u64)
            .read_to_end(&mut body)
            .await;
        let reason = serde_json::from_slice::<Message>(&body).map_or_else(
            |_| String::from_utf8_lossy(&read).into_owned(),
            |answer| answer.message,
        );
        return Err(io::Error::other(reason));
    }
    let (reader, writer) = tokio::io::split(stream);
    Ok(Attached {
        reader: Box::new(io::Cursor::new(body).chain(reader)),
        writer: Box::new(writer),
    })
}

fn status(head: &[u8]) -> Option<u16> {
    let line = head.strip_prefix(b"HTTP/1.1 ")?;
    std::str::from_utf8(line.get(..3)?).ok()?.parse().ok()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Stdout,
    Stderr,
}

/// Takes apart the two streams that share a connection.
pub(super) struct Frames<R> {
    reader: R,
    stream: Stream,
    left: usize,
    buffer: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            stream: Stream::Stdout,
            left: 0,
            buffer: vec![0; READ_AT_ONCE],
        }
    }

    /// The next bytes, or nothing at the end of the connection. Frames are passed on in pieces:
    /// their length is never trusted with memory.
    pub(super) async fn next(&mut self) -> io::Result<Option<(Stream, &[u8])>> {
        while self.left == 0 {
            let mut header = [0; FRAME_HEADER];
            if self.reader.read(&mut header[..1]).await? == 0 {
                return Ok(None);
            }
            self.reader.read_exact(&mut header[1..]).await?;
            let [kind, 0, 0, 0, length @ ..] = header else {
                return Err(io::Error::other("the engine's stream is not framed"));
            };
            self.stream = match kind {
                1 => Stream::Stdout,
                2 => Stream::Stderr,
                _ => return Err(io::Error::other("the engine's stream is not framed")),
            };
            self.left = u32::from_be_bytes(length) as usize;
        }
        let most = self.left.min(self.buffer.len());
        let count = self.reader.read(&mut self.buffer[..most]).await?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= count;
        Ok(Some((self.stream, &self.buffer[..count])))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn framed(frames: &[(bool, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (stderr, payload) in frames {
            bytes.extend([if *stderr { 2 } else { 1 }, 0, 0, 0]);
            bytes.extend((payload.len() as u32).to_be_bytes());
            bytes.extend(payload);
        }
        bytes
    }

    async fn read(bytes: &[u8]) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let mut frames = Frames::new(bytes);
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        while let Some((stream, bytes)) = frames.next().await? {
            match stream {
                Stream::Stdout => stdout.extend_from_slice(bytes),
                Stream::Stderr => stderr.extend_from_slice(bytes),
            }
        }
        Ok((stdout, stderr))
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(future)
    }

    proptest! {
        #[test]
        fn both_streams_arrive_whole(
            frames in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..50)), 0..10)
        ) {
            let of = |wanted: bool| -> Vec<u8> {
                frames.iter().filter(|(stderr, _)| *stderr == wanted).flat_map(|(_, p)| p.clone()).collect()
            };
            let got = block_on(read(&framed(&frames))).unwrap();
            prop_assert_eq!(got, (of(false), of(true)));
        }

        #[test]
        fn garbage_is_an_error_not_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = block_on(read(&bytes));
        }
    }

    #[test]
    fn a_cut_stream_is_an_error() {
        let bytes = framed(&[(false, b"hello".to_vec())]);
        assert!(block_on(read(&bytes[..bytes.len() - 1])).is_err());
        assert!(block_on(read(&bytes[..3])).is_err());
        assert!(block_on(read(b"\x01\0\0\0\xff\xff\xff\xffx")).is_err());
    }

    #[test]
    fn a_refusal_carries_the_engines_reason() {
        let answer = async {
            let (ours, mut theirs) = tokio::io::duplex(1000);
            theirs
                .write_all(b"HTTP/1.1 409 Conflict\r\nContent-Length: 23\r\n\r\n{\"message\":\"not running\"}")
                .await
                .unwrap();
            theirs.shutdown().await.unwrap();
            upgrade(ours, "").await.err().unwrap().to_string()
        };
        assert_eq!(block_on(answer), "not running");
    }
}
