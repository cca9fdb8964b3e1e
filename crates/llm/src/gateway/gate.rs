//! A gateway as its owner holds it: opened for one trial, closed with it. Knows nothing of what is said
//! through it.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use rand::TryRng;
use rand::rngs::SysRng;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::accept::serve;
use super::allowed::Allowed;
use super::desk::Desk;
use super::environment;
use crate::account::Account;
use crate::client::Model;

#[derive(Debug)]
pub struct GatewayOptions {
    /// The only ones that can be asked; the first is asked by whoever names none.
    pub models: Vec<Model>,
    /// Pays for every call, and keeps it for the record.
    pub account: Arc<Account>,
    pub at: At,
    /// Further calls at the same time are refused.
    pub most_in_flight: usize,
}

/// Where the agent finds its gateway.
#[derive(Debug)]
pub enum At {
    /// On a port that only programs without any network can call (see `Sandbox::listen`). Any key is
    /// taken, and nothing is passed on that would give them the provider's network.
    Sandbox(std::net::TcpListener),
    /// On a port of the host, for whoever has the token.
    Loopback,
}

/// An endpoint for an agent's own client. Dropping it closes it.
#[derive(Debug)]
pub struct Gateway {
    address: SocketAddr,
    model: String,
    key: String,
    closed: CancellationToken,
    tasks: TaskTracker,
}

impl Gateway {
    /// Must be called within a runtime.
    pub fn open(options: GatewayOptions) -> io::Result<Self> {
        let allowed = Allowed::new(options.models)
            .ok_or_else(|| io::Error::other("a gateway needs a model"))?;
        let (listener, token) = match options.at {
            At::Sandbox(listener) => (listener, None),
            At::Loopback => {
                let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
                (listener, Some(random_token()?))
            }
        };
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let gateway = Self {
            address: listener.local_addr()?,
            model: allowed.first().name.clone(),
            key: token
                .clone()
                .unwrap_or_else(|| environment::ANY_KEY.to_owned()),
            closed: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        let desk = Desk::new(
            allowed,
            options.account,
            token,
            options.most_in_flight,
            gateway.closed.clone(),
            gateway.tasks.clone(),
        );
        gateway.tasks.spawn(serve(
            listener,
            Arc::new(desk),
            gateway.closed.clone(),
            gateway.tasks.clone(),
        ));
        Ok(gateway)
    }

    /// What tells an agent's client where to ask, whichever it uses.
    pub fn environment(&self) -> BTreeMap<String, String> {
        environment::of(self.address, &self.model, &self.key)
    }

    /// Returns when nothing is answered any more, and nothing more is booked.
    pub async fn close(self) {
        self.closed.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

fn random_token() -> io::Result<String> {
    let mut bytes = [0; 24];
    SysRng
        .try_fill_bytes(&mut bytes)
        .map_err(io::Error::other)?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("agon-{digits}"))
}
