//! The Docker Engine API over its unix socket, by hand: enough HTTP to ask whether an engine
//! answers, to import an image and to measure what bare calls cost. Always HTTP/1.0, so that every
//! answer ends where the connection does.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::failure::{Failure, Trying};

/// The newest version of the API that Debian 12's engine speaks.
const VERSION: &str = "v1.41";
/// A silent engine is a broken one; importing an image is the longest silence there is.
const SILENCE: Duration = Duration::from_secs(120);
/// No answer that we ask for is longer.
const LONGEST_ANSWER: u64 = 16 << 20;

#[derive(Debug, Clone)]
pub(crate) struct DockerApi {
    socket: PathBuf,
}

#[derive(Debug)]
struct Answer {
    status: u16,
    body: Vec<u8>,
}

impl DockerApi {
    pub(crate) fn at(socket: impl Into<PathBuf>) -> Self {
        Self {
            socket: socket.into(),
        }
    }

    /// The value of `DOCKER_HOST` that leads to this engine.
    pub(crate) fn docker_host(&self) -> String {
        format!("unix://{}", self.socket.display())
    }

    pub(crate) fn answers(&self) -> bool {
        self.send("GET", "/_ping", "text/plain", 0, &mut std::io::empty())
            .is_ok_and(|answer| answer.status == 200)
    }

    /// The labels of an image, or `None` when there is no such image.
    pub(crate) fn image_labels(&self, image: &str) -> Result<Option<Value>, Failure> {
        let path = format!("/{VERSION}/images/{image}/json");
        let answer = self.send("GET", &path, "application/json", 0, &mut std::io::empty())?;
        if answer.status == 404 {
            return Ok(None);
        }
        Ok(Some(answer.json(&path)?["Config"]["Labels"].clone()))
    }

    /// Makes the image `name:tag` of a root file system; `changes` are lines of a Dockerfile.
    pub(crate) fn import(
        &self,
        rootfs: &Path,
        image: &str,
        changes: &[String],
    ) -> Result<(), Failure> {
        let reading = format!("read {}", rootfs.display());
        let mut file = std::fs::File::open(rootfs).trying(&reading)?;
        let length = file.metadata().trying(&reading)?.len();
        let (repo, tag) = image.split_once(':').unwrap_or((image, "latest"));
        let path = format!(
            "/{VERSION}/images/create?fromSrc=-&repo={repo}&tag={tag}&changes={}",
            escaped(&changes.join("\n"))
        );
        let answer = self.send("POST", &path, "application/x-tar", length, &mut file)?;
        // The status is sent before the work is done: an error later on is a line of the body.
        let report = String::from_utf8_lossy(&answer.body);
        if answer.status == 200 && !report.contains("\"error\"") {
            Ok(())
        } else {
            Err(Failure::new(format!("importing {image} failed: {report}")))
        }
    }

    /// A POST with a JSON body, or with none for `null`; the answer is JSON or nothing.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.send_json(path, body)?.json(path)
    }

    /// A POST whose answer is a stream of bytes, read to its end.
    pub(crate) fn post_stream(&self, path: &str, body: &Value) -> Result<Vec<u8>, Failure> {
        let answer = self.send_json(path, body)?;
        answer.refuse_errors(path)?;
        Ok(answer.body)
    }

    fn send_json(&self, path: &str, body: &Value) -> Result<Answer, Failure> {
        // A body that the engine does not read makes it reset the connection.
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        self.send(
            "POST",
            &format!("/{VERSION}{path}"),
            "application/json",
            body.len() as u64,
            &mut body.as_bytes(),
        )
    }

    pub(crate) fn get(&self, path: &str) -> Result<Value, Failure> {
        let path = format!("/{VERSION}{path}");
        self.send("GET", &path, "application/json", 0, &mut std::io::empty())?
            .json(&path)
    }

    pub(crate) fn delete(&self, path: &str) -> Result<(), Failure> {
        let path = format!("/{VERSION}{path}");
        self.send(
            "DELETE",
            &path,
            "application/json",
            0,
            &mut std::io::empty(),
        )?
        .refuse_errors(&path)
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        kind: &str,
        length: u64,
        body: &mut dyn Read,
    ) -> Result<Answer, Failure> {
        let asking = format!("ask the engine at {} for {path}", self.socket.display());
        let mut stream = UnixStream::connect(&self.socket).trying(&asking)?;
        stream.set_read_timeout(Some(SILENCE)).trying(&asking)?;
        stream.set_write_timeout(Some(SILENCE)).trying(&asking)?;
        let head = format!(
            "{method} {path} HTTP/1.0\r\nHost: docker\r\nContent-Type: {kind}\r\n\
             Content-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).trying(&asking)?;
        std::io::copy(body, &mut stream).trying(&asking)?;
        let mut answer = Vec::new();
        stream
            .take(LONGEST_ANSWER)
            .read_to_end(&mut answer)
            .trying(&asking)?;
        parse(&answer).ok_or_else(|| Failure::new(format!("cannot {asking}: no HTTP answer")))
    }
}

impl Answer {
    fn refuse_errors(&self, path: &str) -> Result<(), Failure> {
        if self.status < 400 {
            return Ok(());
        }
        let body = String::from_utf8_lossy(&self.body);
        Err(Failure::new(format!(
            "the engine answered {} to {path}: {}",
            self.status,
            body.trim()
        )))
    }

    fn json(&self, path: &str) -> Result<Value, Failure> {
        self.refuse_errors(path)?;
        if self.body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&self.body).trying(format!("read the engine's answer to {path}"))
    }
}

/// As a value in an address.
fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    text.bytes().map(escape).collect()
}

fn parse(answer: &[u8]) -> Option<Answer> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let mut words = head.lines().next()?.split(' ');
    words.next()?.strip_prefix("HTTP/1.")?;
    Some(Answer {
        status: words.next()?.parse().ok()?,
        body: answer[end + 4..].to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_status_and_a_body() {
        let answer = parse(b"HTTP/1.0 404 Not Found\r\nX: y\r\n\r\n{\"message\":\"no\"}").unwrap();
        assert_eq!(answer.status, 404);
        let error = answer.json("/images/x/json").unwrap_err().to_string();
        assert!(error.contains("404") && error.contains("no"), "{error}");
    }

    #[test]
    fn an_address_bears_any_text() {
        assert_eq!(
            escaped("LABEL a=\"b c\"\nENV é"),
            "LABEL%20a%3D%22b%20c%22%0AENV%20%C3%A9"
        );
    }

    #[test]
    fn what_is_not_http_is_no_answer() {
        for bad in [
            &b""[..],
            b"HTTP/1.0 200 OK\r\n",
            b"SSH-2.0\r\n\r\n",
            b"HTTP/1.1 x\r\n\r\n",
        ] {
            assert!(parse(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn nobody_answers_on_a_socket_that_is_not_there() {
        assert!(!DockerApi::at("/nonexistent/docker.sock").answers());
    }
}
