//! The network of a container, as this program uses it: a port inside that is answered outside, and the way out of an
//! open network. A thread that does nothing else enters the network; the engine has to run on this machine for that.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::thread;

use rustix::process::{Pid, geteuid};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tokio::sync::oneshot;

use super::engine::{Address, Engine};
use super::sandbox::Container;
use crate::error::SandboxError;
use crate::init::routes::Routes;
use crate::local::{OpenNetwork, Uplink};

/// The network that this program itself is in.
const OUR_OWN: &str = "/proc/self/ns/net";

impl Engine {
    /// How this program opens the networks of containers by itself, so that no address of this machine answers in
    /// them. Only root can enter them, and only where the engine runs; elsewhere the engine's own network is all that
    /// there is.
    pub(super) fn uplink(&self) -> Option<Uplink> {
        let here = matches!(self.address, Address::Unix(_)) && geteuid().is_root();
        here.then(Uplink::find).and_then(Result::ok)
    }
}

impl Container {
    pub(super) async fn listen(&self, port: u16) -> Result<TcpListener, SandboxError> {
        if let Address::Tcp(host) = &self.engine.address {
            return Err(SandboxError::Denied(format!(
                "the container engine at {host} is reached over the network: a port inside of a \
                 container can only be answered where the engine runs"
            )));
        }
        self.in_network(move |_| TcpListener::bind((Ipv4Addr::LOCALHOST, port)))
            .await
            .map_err(SandboxError::io(format!(
                "could not open port {port} inside of the container (this takes root, and an \
                 engine whose processes can be seen here)"
            )))
    }

    /// Opens its network, which the engine has left closed.
    pub(super) async fn open_network(&self, uplink: &Uplink) -> Result<OpenNetwork, SandboxError> {
        let open = async {
            let (routes, pid) = self.in_network(|pid| Ok((Routes::open()?, pid))).await?;
            uplink.open_by_routes(pid, routes).await
        };
        open.await
            .map_err(SandboxError::io("could not open the container's network"))
    }

    /// Does something on a thread that has entered the container's network.
    async fn in_network<T: Send + 'static>(
        &self,
        work: impl FnOnce(Pid) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let first = self.first_process().await?;
        let (answer, answered) = oneshot::channel();
        thread::Builder::new()
            .name("agon-network".to_owned())
            .spawn(move || {
                // If the caller has gone, the result is dropped here.
                let _ = answer.send(enter(first).and_then(|()| work(first)));
            })?;
        answered.await.map_err(io::Error::other)?
    }
}

/// Moves this thread into the network of a process for good: the thread has to end with it.
fn enter(process: Pid) -> io::Result<()> {
    let network = File::open(format!("/proc/{}/ns/net", process.as_raw_nonzero()))?;
    if network.metadata()?.ino() == fs::metadata(OUR_OWN)?.ino() {
        return Err(io::Error::other("it has no network of its own"));
    }
    move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_network_is_not_entered() {
        let error = enter(rustix::process::getpid()).unwrap_err();
        assert!(error.to_string().contains("of its own"), "{error}");
    }
}
