//! A port inside of a container that is answered outside. The container's network is entered by a
//! thread that does nothing else; its engine has to run on this machine for that.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tokio::sync::oneshot;

use super::engine::{Address, failed};
use super::processes::{FIRST, FIRST_WITH_DISPLAY};
use super::sandbox::Container;
use crate::error::SandboxError;

/// The network that this program itself is in.
const OUR_OWN: &str = "/proc/self/ns/net";

impl Container {
    pub(super) async fn listen(&self, port: u16) -> Result<TcpListener, SandboxError> {
        if let Address::Tcp(host) = &self.engine.address {
            return Err(SandboxError::Denied(format!(
                "the container engine at {host} is reached over the network: a port inside of a \
                 container can only be answered where the engine runs"
            )));
        }
        let docker = &self.engine.docker;
        let found = docker.inspect_container(&self.name, None).await;
        let found = found.map_err(failed("could not look at the container"))?;
        let pid = found.state.and_then(|state| state.pid).unwrap_or_default();
        let (tell, listener) = oneshot::channel();
        thread::Builder::new()
            .name("agon-listen".to_owned())
            .spawn(move || {
                // Nobody waits any more: it is closed again.
                let _ = tell.send(listen_in(pid, port));
            })
            .map_err(SandboxError::io("no thread for the container's network"))?;
        listener
            .await
            .map_err(|_| SandboxError::Gone("its network could not be entered".to_owned()))?
            .map_err(SandboxError::io(format!(
                "could not open port {port} inside of the container (this takes root, and an \
                 engine whose processes can be seen here)"
            )))
    }
}

/// Leaves its thread in the other network for good: the thread has to end with it.
fn listen_in(pid: i64, port: u16) -> io::Result<TcpListener> {
    let other = |why: &str| io::Error::other(why.to_owned());
    // An engine elsewhere counts differently, and the number may be anybody's here.
    let line = fs::read(format!("/proc/{pid}/cmdline"))?;
    let mut words = line.split(|byte| *byte == 0);
    if !words.any(|word| {
        [FIRST, FIRST_WITH_DISPLAY]
            .map(str::as_bytes)
            .contains(&word)
    }) {
        return Err(other("its first process is not where the engine says"));
    }
    let network = File::open(format!("/proc/{pid}/ns/net"))?;
    if network.metadata()?.ino() == fs::metadata(OUR_OWN)?.ino() {
        return Err(other("it has no network of its own"));
    }
    move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_elses_network_is_entered() {
        let us = i64::from(std::process::id());
        let error = listen_in(us, 0).unwrap_err();
        assert!(error.to_string().contains("first process"), "{error}");
        assert!(listen_in(0, 0).is_err());
        assert!(listen_in(i64::MAX, 0).is_err());
    }
}
