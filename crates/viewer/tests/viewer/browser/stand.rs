//! A viewer and a browser in front of it.

use std::net::{IpAddr, Ipv4Addr};
use std::panic::Location;
use std::path::{Path, PathBuf};

use agon_testkit::{Browser, GeneratedRun};
use agon_viewer::{Served, Viewer, ViewerOptions};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) struct Stand {
    pub(crate) browser: Browser,
    pub(crate) url: String,
    /// The address with the token.
    pub(crate) login: String,
    folder: TempDir,
    stop: CancellationToken,
    server: JoinHandle<()>,
}

/// An empty folder for runs.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A run of which every trial was played.
pub(crate) fn played(root: &Path, name: &str, trials: u64, luck: u64) -> PathBuf {
    let path = root.join(name);
    agon_testkit::many_trials(&path, trials, name, luck).unwrap();
    path
}

/// A run that is being written for as long as it is held.
pub(crate) fn begun(root: &Path, name: &str, trials: u64) -> GeneratedRun {
    GeneratedRun::begin(&root.join(name), trials, name).unwrap()
}

async fn serving(folder: &Path, port: u16) -> (Served, CancellationToken, JoinHandle<()>) {
    let options = ViewerOptions {
        roots: vec![folder.to_owned()],
        host: IpAddr::V4(Ipv4Addr::LOCALHOST),
        port,
        cache: folder.join(".cache"),
    };
    let viewer = Viewer::bind(options).await.unwrap();
    let served = viewer.served();
    let stop = CancellationToken::new();
    let told = stop.clone();
    let server = tokio::spawn(async move { viewer.serve(told).await.unwrap() });
    (served, stop, server)
}

fn base(served: &Served) -> String {
    format!("http://{}", served.address)
}

impl Stand {
    /// A viewer on all runs below `folder`.
    pub(crate) async fn open(folder: TempDir) -> Self {
        let (served, stop, server) = serving(folder.path(), 0).await;
        let browser = Browser::start(1440, 900).await.unwrap();
        // The token moves into a cookie.
        browser.open(&served.url).await.unwrap();
        Self {
            browser,
            url: base(&served),
            login: served.url,
            folder,
            stop,
            server,
        }
    }

    /// The viewer ends, and pages are left alone.
    pub(crate) async fn lose(&mut self) {
        self.stop.cancel();
        (&mut self.server).await.unwrap();
    }

    /// It is there again, at the same address.
    pub(crate) async fn find_again(&mut self) {
        let port = self.url.rsplit(':').next().unwrap().parse().unwrap();
        let (served, stop, server) = serving(self.folder.path(), port).await;
        assert_eq!(base(&served), self.url);
        (self.stop, self.server) = (stop, server);
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Opens a page and waits until it can be worked with.
    pub(crate) async fn go(&self, path: &str) {
        self.browser
            .open(&format!("{}{path}", self.url))
            .await
            .unwrap();
        self.ready().await;
    }

    pub(crate) async fn ready(&self) {
        self.until("performance.getEntriesByName('agon-ready').length > 0")
            .await;
    }

    /// Fails at the line of the test that waits.
    #[track_caller]
    pub(crate) fn until(&self, expression: &str) -> impl Future<Output = serde_json::Value> {
        let line = Location::caller();
        async move {
            let held = self.browser.until(expression).await;
            held.unwrap_or_else(|trouble| panic!("{line}: {trouble}"))
        }
    }

    /// Nothing was complained about, and all ends in order.
    pub(crate) async fn close(self) {
        let complaints = self.browser.complaints().await.unwrap();
        assert!(complaints.is_empty(), "{complaints:#?}");
        self.browser.close().await.unwrap();
        self.stop.cancel();
        self.server.await.unwrap();
    }
}
