//! Listens, and answers until it is told to stop.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::app::{App, For};
use super::guard::Guard;
use super::secret::Secret;
use super::{connections, routes};
use crate::error::ViewerError;
use crate::library::{Library, Run};

#[derive(Debug, Clone)]
pub struct ViewerOptions {
    /// Runs, or folders with runs below them.
    pub roots: Vec<PathBuf>,
    /// With a loopback address the token stays the same from start to start.
    pub host: IpAddr,
    /// 0: any free one.
    pub port: u16,
    /// Indexes and thumbnails.
    pub cache: PathBuf,
}

/// Listening, not answering yet.
#[derive(Debug)]
pub struct Viewer {
    listener: TcpListener,
    served: Served,
    app: Arc<App>,
    guard: Arc<Guard>,
}

/// Where it can be reached.
#[derive(Debug, Clone)]
pub struct Served {
    pub address: SocketAddr,
    /// With the token.
    pub url: String,
    /// Other machines can reach it.
    pub wide: bool,
    token: String,
}

impl Served {
    /// The address of a page, with the token.
    pub fn page(&self, path: &str) -> String {
        let Self { address, token, .. } = self;
        format!("http://{}{path}?token={token}", reachable(*address))
    }

    /// What every request must show: `Authorization: Bearer TOKEN`.
    pub fn token(&self) -> &str {
        &self.token
    }
}

/// As `agon review` names him.
fn user() -> String {
    let named = ["AGON_REVIEWER", "USER"].map(|name| std::env::var(name).unwrap_or_default());
    let known = named.into_iter().find(|name| !name.is_empty());
    known.unwrap_or_default()
}

impl Viewer {
    pub async fn bind(options: ViewerOptions) -> Result<Self, ViewerError> {
        let wanted = SocketAddr::new(options.host, options.port);
        let failed = || ViewerError::io("can't listen at", wanted.to_string());
        let listener = TcpListener::bind(wanted).await.map_err(failed())?;
        let address = listener.local_addr().map_err(failed())?;
        let wide = !address.ip().is_loopback();
        let access = match wide {
            true => Secret::random()?,
            false => Secret::kept(&options.cache)?,
        };
        let library = Library::new(options.roots, options.cache)?;
        let mut app = App::new(library, CancellationToken::new())?;
        if !wide {
            app.user = user();
        }
        let app = Arc::new(app);
        let mut served = Served {
            address,
            url: String::new(),
            wide,
            token: access.reveal().to_owned(),
        };
        served.url = served.page("/");
        Ok(Self {
            listener,
            served,
            guard: Arc::new(Guard::new(address, app.token.clone(), access)),
            app,
        })
    }

    pub fn served(&self) -> Served {
        self.served.clone()
    }

    /// The runs that are shown, newest first, each with why it can't be read where that is so.
    pub async fn runs(&self) -> Result<Vec<(Arc<Run>, Option<String>)>, ViewerError> {
        let look = |app: &App| {
            let runs = app.library.runs()?;
            Ok(runs
                .into_iter()
                .map(|run| (Arc::clone(&run), run.trouble()))
                .collect())
        };
        self.app.work(For::Runs, look).await
    }

    /// Answers until `stop`.
    pub async fn serve(self, stop: CancellationToken) -> Result<(), ViewerError> {
        let router = routes::router(Arc::clone(&self.app), self.guard);
        let ending = self.app.stop.clone();
        let end = async {
            stop.cancelled().await;
            // Pages that listen would never stop by themselves.
            ending.cancel();
        };
        tokio::join!(
            connections::serve(
                self.listener,
                router,
                connections::LIMITS,
                self.app.stop.clone()
            ),
            end
        );
        Ok(())
    }
}

/// A server that listens everywhere is reached here.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
