//! A server that runs in the background, on threads of its own, until it is stopped or dropped. Knows
//! nothing of what is served.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use agon_agent::play::World;
use agon_core::WorldClock;
use agon_desktop::{DisplayAddress, Key};
use axum::Router;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::constants::NETWORK;
use crate::error::ArenaError;
use crate::wire::{Token, accept};

/// One may wait for a slow disk while the other answers.
const WORKERS: usize = 2;

/// The end of a [`Service`] that has not returned by then is waited for no longer.
const ENDING: Duration = Duration::from_secs(4);

/// What still runs when a server ends is waited for this long.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How a server is reached, and what is played or judged.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Anything but loopback needs a token.
    pub host: String,
    /// 0: any that is free.
    pub port: u16,
    /// Asked of whoever calls, and shown to whoever is called.
    pub token: Option<Token>,
    /// `None`: the display of `$DISPLAY`.
    pub desktop: Option<DisplayAddress>,
    pub clock: WorldClock,
    /// What stands still with [`WorldClock::Paused`].
    pub world: Option<Arc<dyn World>>,
    /// Stops what is played, whoever presses it.
    pub panic_key: Option<Key>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            host: NETWORK::DEFAULT_HOST.to_owned(),
            port: 0,
            token: None,
            desktop: None,
            clock: WorldClock::default(),
            world: None,
            panic_key: Some(Key::F10),
        }
    }
}

impl ServerOptions {
    pub fn at(host: &str, port: u16) -> Self {
        Self {
            host: host.to_owned(),
            port,
            ..Self::default()
        }
    }

    /// The desktop that is meant.
    pub fn display(&self) -> Result<DisplayAddress, ArenaError> {
        match &self.desktop {
            Some(address) => Ok(address.clone()),
            None => Ok(DisplayAddress::from_environment()?),
        }
    }

    fn listen(&self) -> Result<TcpListener, ArenaError> {
        let failed = |source| ArenaError::Listen {
            address: format!("{}:{}", self.host, self.port),
            source,
        };
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        let addresses = (host, self.port).to_socket_addrs().map_err(failed)?;
        let addresses: Vec<_> = addresses.collect();
        let narrow = addresses.iter().all(|address| address.ip().is_loopback());
        if !narrow && self.token.is_none() {
            return Err(ArenaError::Open {
                host: self.host.clone(),
            });
        }
        let listener = TcpListener::bind(&addresses[..]).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(listener)
    }
}

/// What a server does.
pub(crate) struct Service {
    pub(crate) router: Router,
    /// Ends what is played or judged, before the server does.
    ///
    /// It may block for about three seconds; after four nobody waits for it. Nobody is let in any
    /// more by then, but all that was spawned on the runtime goes on meanwhile, also answers and calls
    /// to others. So it may wait for what runs there, on the runtime that the service was made with:
    /// `runtime.block_on(timeout(Duration::from_secs(3), ..))`.
    pub(crate) end: Box<dyn FnOnce() + Send>,
}

/// A running server. Dropped, it is stopped.
#[derive(Debug)]
pub struct Server {
    url: String,
    address: SocketAddr,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts what `make` makes; it is given the runtime on which handlers run.
    pub(crate) fn start(
        options: &ServerOptions,
        make: impl FnOnce(&Handle) -> Result<Service, ArenaError>,
    ) -> Result<Self, ArenaError> {
        let listener = options.listen()?;
        let address = listener.local_addr().map_err(ArenaError::Runtime)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .thread_name("arena")
            .enable_all()
            .build()
            .map_err(ArenaError::Runtime)?;
        let listener = adopt(runtime.handle(), listener)?;
        let service = make(runtime.handle())?;
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let thread = std::thread::Builder::new()
            .name("arena-server".to_owned())
            .spawn(move || run(runtime, listener, service, &stopped))
            .map_err(ArenaError::Runtime)?;
        Ok(Self {
            url: format!("http://{}", reachable(address)),
            address,
            stop,
            thread: Some(thread),
        })
    }

    /// Where it is reached from this machine.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it: what is played stops, connections are closed.
    pub fn stop(self) {
        drop(self);
    }

    /// Serves until the process is interrupted (Ctrl-C) or asked to end.
    pub fn serve_until_interrupted(self) -> Result<(), ArenaError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(ArenaError::Runtime)?;
        runtime.block_on(interrupted()).map_err(ArenaError::Runtime)
    }
}

async fn interrupted() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut end = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = end.recv() => Ok(()),
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic in there has been shown already.
            let _ = thread.join();
        }
    }
}

/// From now on the runtime takes who comes.
fn adopt(runtime: &Handle, listener: TcpListener) -> Result<tokio::net::TcpListener, ArenaError> {
    let _within = runtime.enter();
    tokio::net::TcpListener::from_std(listener).map_err(ArenaError::Runtime)
}

fn run(
    runtime: Runtime,
    listener: tokio::net::TcpListener,
    service: Service,
    stop: &CancellationToken,
) {
    let Service { router, end } = service;
    let connections = runtime.block_on(accept::serve(listener, router, stop.clone()));
    // First the keys, then the answers.
    let ended = runtime.spawn_blocking(end);
    runtime.block_on(async {
        // A panic in there has been shown already.
        let _ = timeout(ENDING, ended).await;
        accept::last_answers(connections).await;
    });
    runtime.shutdown_timeout(LAST_WORDS);
}

/// A server that listens everywhere is reached here.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        ip if ip.is_unspecified() => {
            SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port())
        }
        _ => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wider_bind_needs_a_token() {
        for host in ["0.0.0.0", "::"] {
            let mut options = ServerOptions::at(host, 0);
            assert!(matches!(options.listen(), Err(ArenaError::Open { .. })));
            options.token = Some(Token::new("secret").unwrap());
            options.listen().unwrap();
        }
        for host in ["127.0.0.1", "localhost", "[::1]"] {
            ServerOptions::at(host, 0).listen().unwrap();
        }
    }

    #[test]
    fn a_port_that_is_taken_is_an_error_that_names_it() {
        let first = ServerOptions::at("127.0.0.1", 0).listen().unwrap();
        let port = first.local_addr().unwrap().port();
        let error = ServerOptions::at("127.0.0.1", port).listen().unwrap_err();
        assert!(error.to_string().contains(&port.to_string()));
    }

    #[test]
    fn what_runs_goes_on_while_the_end_waits_for_it() {
        let (tell, told) = std::sync::mpsc::channel();
        let server = Server::start(&ServerOptions::default(), |runtime| {
            let runtime = runtime.clone();
            let end = Box::new(move || {
                let (done, scored) = tokio::sync::oneshot::channel();
                runtime.spawn(async move {
                    tokio::time::sleep(Duration::from_millis(700)).await;
                    let _ = done.send(());
                });
                let waited = async { timeout(Duration::from_secs(60), scored).await };
                let _ = tell.send(runtime.block_on(waited).is_ok());
            });
            let router = Router::new();
            Ok(Service { router, end })
        });
        server.unwrap().stop();
        assert_eq!(told.try_recv(), Ok(true));
    }

    #[test]
    fn an_end_that_never_returns_holds_nobody_up() {
        let (open, door) = std::sync::mpsc::channel::<()>();
        let server = Server::start(&ServerOptions::default(), |_| {
            let end = Box::new(move || {
                let _ = door.recv();
            });
            let router = Router::new();
            Ok(Service { router, end })
        });
        server.unwrap().stop();
        drop(open);
    }

    #[test]
    fn a_listener_that_the_runtime_cannot_take_is_an_error() {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let nonblocking = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK;
        let file = rustix::fs::open("/etc/passwd", nonblocking, rustix::fs::Mode::empty());
        let error = adopt(runtime.handle(), TcpListener::from(file.unwrap())).unwrap_err();
        assert!(matches!(error, ArenaError::Runtime(_)), "{error}");
    }

    #[test]
    fn a_server_that_listens_everywhere_is_reached_by_loopback() {
        let everywhere = "0.0.0.0:8000".parse().unwrap();
        assert_eq!(reachable(everywhere).to_string(), "127.0.0.1:8000");
        assert_eq!(
            reachable("[::1]:80".parse().unwrap()).to_string(),
            "[::1]:80"
        );
    }
}
