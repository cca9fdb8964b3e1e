//! The engine's address and the connection to it. Knows nothing of containers.

use std::env;
use std::path::{Path, PathBuf};

use bollard::errors::Error;
use bollard::{API_DEFAULT_VERSION, Docker};

use tokio_util::task::TaskTracker;

use crate::error::SandboxError;

/// Deadline of a single call that is not a stream.
pub(super) const CALL_SECONDS: u64 = 60;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    Unix(PathBuf),
    Tcp(String),
}

#[derive(Debug, Clone)]
pub(super) struct Engine {
    pub(super) docker: Docker,
    pub(super) address: Address,
    /// Removals of containers that nobody waits for.
    pub(super) removals: TaskTracker,
}

impl Engine {
    pub(super) async fn connect(address: Address) -> Result<Self, SandboxError> {
        let docker = match &address {
            Address::Unix(path) => Docker::connect_with_socket(
                &path.to_string_lossy(),
                CALL_SECONDS,
                API_DEFAULT_VERSION,
            ),
            Address::Tcp(host) => {
                Docker::connect_with_http(host, CALL_SECONDS, API_DEFAULT_VERSION)
            }
        };
        let negotiated = match docker {
            Ok(docker) => docker.negotiate_version().await,
            Err(error) => Err(error),
        };
        let docker = negotiated.map_err(|error| no_engine(&format!("{address} ({error})")))?;
        Ok(Self {
            docker,
            address,
            removals: TaskTracker::new(),
        })
    }
}

impl Address {
    /// `DOCKER_HOST`, or else the usual sockets of Docker and Podman.
    pub(super) fn find() -> Result<Self, SandboxError> {
        if let Ok(host) = env::var("DOCKER_HOST") {
            return Self::parse(&host);
        }
        let user = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        [
            Some(PathBuf::from("/var/run/docker.sock")),
            user.map(|folder| folder.join("podman/podman.sock")),
            Some(PathBuf::from("/run/podman/podman.sock")),
        ]
        .into_iter()
        .flatten()
        .find(|path| path.exists())
        .map(Self::Unix)
        .ok_or_else(|| no_engine("the usual sockets of Docker and Podman"))
    }

    fn parse(host: &str) -> Result<Self, SandboxError> {
        match host.split_once("://") {
            Some(("unix", path)) if Path::new(path).is_absolute() => Ok(Self::Unix(path.into())),
            Some(("tcp" | "http", address)) if !address.is_empty() => {
                Ok(Self::Tcp(address.trim_end_matches('/').to_owned()))
            }
            _ => Err(SandboxError::Missing(format!(
                "DOCKER_HOST is `{host}`; write unix:///path/to/docker.sock or tcp://host:port"
            ))),
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
            Self::Tcp(host) => write!(f, "tcp://{host}"),
        }
    }
}

fn no_engine(tried: &str) -> SandboxError {
    SandboxError::Missing(format!(
        "no container engine answers at {tried}: install one (`apt-get install docker.io`) and \
         start it, or set DOCKER_HOST"
    ))
}

/// The engine's answer to a request that it refused.
pub(super) fn refused(error: &Error) -> Option<(u16, &str)> {
    match error {
        Error::DockerResponseServerError {
            status_code,
            message,
        } => Some((*status_code, message)),
        _ => None,
    }
}

pub(super) fn failed(context: &str) -> impl FnOnce(Error) -> SandboxError {
    move |error| match error {
        Error::RequestTimeoutError => SandboxError::Timeout {
            what: "a call of the container engine",
            seconds: CALL_SECONDS as f64,
        },
        error => SandboxError::Io {
            context: context.to_owned(),
            source: std::io::Error::other(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let unix = Address::parse("unix:///run/x.sock").unwrap();
        assert_eq!(unix, Address::Unix("/run/x.sock".into()));
        let tcp = Address::parse("tcp://127.0.0.1:2375/").unwrap();
        assert_eq!(tcp, Address::Tcp("127.0.0.1:2375".to_owned()));
        for bad in ["", "unix://", "unix://x", "ssh://host", "tcp://"] {
            let error = Address::parse(bad).unwrap_err().to_string();
            assert!(error.contains("unix:///path"), "{error}");
        }
    }

    #[tokio::test]
    async fn without_an_engine_the_message_says_what_to_do() {
        let nowhere = Address::Unix("/nonexistent/docker.sock".into());
        let error = Engine::connect(nowhere).await.unwrap_err();
        assert!(matches!(error, SandboxError::Missing(_)));
        assert!(
            error.to_string().contains("apt-get install docker.io"),
            "{error}"
        );
    }
}
