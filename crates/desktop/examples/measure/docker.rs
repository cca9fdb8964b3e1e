//! The bare API of a container engine: just enough HTTP to create, start and remove a container with
//! an X server in it. Always HTTP/1.0, so that every answer ends where the connection does.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agon_desktop::Size;
use rustix::event::{Timespec, poll};
use serde_json::{Value, json};
use x11rb::rust_connection::{DefaultStream, RustConnection};

use crate::figure::Failed;

const SILENCE: Duration = Duration::from_secs(60);
const BETWEEN_TRIES: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(crate) struct Docker {
    socket: PathBuf,
}

impl Docker {
    /// The engine of `DOCKER_HOST`.
    pub(crate) fn from_environment() -> Result<Self, Failed> {
        let host = std::env::var("DOCKER_HOST").map_err(|_| "DOCKER_HOST must be set")?;
        let socket = host
            .strip_prefix("unix://")
            .ok_or("DOCKER_HOST must name a socket")?;
        Ok(Self {
            socket: socket.into(),
        })
    }

    /// A container whose only process is an X server that makes its socket in `folder`; says its
    /// id. It may not answer yet.
    pub(crate) fn start_x_server(
        &self,
        image: &str,
        folder: &Path,
        size: Size,
    ) -> Result<String, Failed> {
        let screen = format!("{size}x24");
        let options = ":0 -noreset -nolisten tcp -ac -s 0 -extension GLX -screen 0";
        let command = std::iter::once("Xvfb")
            .chain(options.split(' '))
            .chain([screen.as_str()]);
        let created = self.send(
            "POST",
            "/containers/create",
            &json!({
                "Image": image,
                "Cmd": command.collect::<Vec<_>>(),
                "Labels": { "agon.bench": "bare" },
                "HostConfig": {
                    "NetworkMode": "none",
                    "Binds": [format!("{}:/tmp/.X11-unix", folder.display())],
                },
            }),
        )?;
        let id = created["Id"]
            .as_str()
            .ok_or("the engine names no container")?
            .to_owned();
        if let Err(error) = self.send("POST", &format!("/containers/{id}/start"), &Value::Null) {
            self.remove(&id)?;
            return Err(error);
        }
        Ok(id)
    }

    pub(crate) fn remove(&self, id: &str) -> Result<(), Failed> {
        self.send(
            "DELETE",
            &format!("/containers/{id}?force=true&v=true"),
            &Value::Null,
        )?;
        Ok(())
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value, Failed> {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let mut stream = UnixStream::connect(&self.socket)?;
        stream.set_read_timeout(Some(SILENCE))?;
        let length = body.len();
        let head = format!(
            "{method} /v1.41{path} HTTP/1.0\r\nHost: docker\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(head.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer
            .split_once("\r\n\r\n")
            .ok_or("the engine sent no HTTP")?;
        if !head
            .split(' ')
            .nth(1)
            .is_some_and(|status| status.starts_with('2'))
        {
            return Err(format!("{method} {path}: {answer}").into());
        }
        Ok(if body.is_empty() {
            Value::Null
        } else {
            serde_json::from_str(body)?
        })
    }
}

/// Waits until an X server without access control answers at this socket.
pub(crate) fn until_it_answers(socket: &Path) -> Result<(), Failed> {
    let deadline = Instant::now() + SILENCE;
    while Instant::now() < deadline {
        if answers(socket) {
            return Ok(());
        }
        poll(&mut [], Some(&Timespec::try_from(BETWEEN_TRIES)?))?;
    }
    Err("the X server in the bare container does not answer".into())
}

fn answers(socket: &Path) -> bool {
    UnixStream::connect(socket)
        .and_then(DefaultStream::from_unix_stream)
        .is_ok_and(|(stream, _)| RustConnection::connect_to_stream(stream, 0).is_ok())
}
