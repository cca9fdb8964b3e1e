//! What one pair plays on: a private desktop with the programs that were asked for.

use std::sync::Arc;
use std::time::Duration;

use agon_agent::play::World;
use agon_desktop::{Desktop, DesktopConfig, DisplayAddress, Published, Size};
use rustix::process::Signal;
use tokio::task::{JoinSet, spawn_blocking};
use tokio_util::sync::CancellationToken;

use crate::cli::desktop::{Desktops, Groups, start_apps};
use crate::cli::failure::Failure;

/// What programs may take to show a window.
const FIRST_WINDOW: Duration = Duration::from_secs(20);

/// Nothing drawn for this long: the first picture is complete.
const DRAWN: Duration = Duration::from_millis(50);
const FIRST_PICTURE: Duration = Duration::from_secs(2);

/// Ends with its programs when dropped.
#[derive(Debug)]
pub(super) struct Stand {
    desktop: Arc<Desktop>,
    world: Arc<Programs>,
    stop: CancellationToken,
    apps: JoinSet<()>,
    _published: Published,
    _desktops: Desktops,
}

impl Stand {
    pub(super) async fn start(size: Size, apps: &[String], window: &str) -> Result<Self, Failure> {
        let config = DesktopConfig {
            size,
            ..DesktopConfig::default()
        };
        let desktop = spawn_blocking(move || Desktop::start(&config));
        let desktop = Arc::new(desktop.await.map_err(Failure::new)??);
        let desktops = Desktops::open()?;
        let published = Published::new(
            &desktop,
            &desktops.own_file(&format!(
                "{}.authority",
                desktop.process().unwrap_or_default()
            )),
        )?;
        let stop = CancellationToken::new();
        let (apps_running, groups) = start_apps(apps, &published, &stop)?;
        let mut stand = Self {
            desktop,
            world: Arc::new(Programs(groups)),
            stop,
            apps: apps_running,
            _published: published,
            _desktops: desktops,
        };
        if !apps.is_empty() {
            stand.wait_for(window.to_owned()).await?;
        }
        Ok(stand)
    }

    async fn wait_for(&mut self, window: String) -> Result<(), Failure> {
        let desktop = Arc::clone(&self.desktop);
        let shown = spawn_blocking(move || {
            desktop.windows().wait_for(&window, FIRST_WINDOW)?;
            // One that never comes to rest is no reason to wait for it.
            desktop.screen().stable(DRAWN, FIRST_PICTURE)
        });
        tokio::select! {
            shown = shown => {
                shown.map_err(Failure::new)??;
                Ok(())
            }
            () = all_ended(&mut self.apps) => {
                // Who waits for the window need not do so any longer.
                self.desktop.end();
                Err(Failure::new("all its programs have ended without a window to play in"))
            }
        }
    }

    pub(super) fn address(&self) -> DisplayAddress {
        self.desktop.address().clone()
    }

    pub(super) fn world(&self) -> Arc<dyn World> {
        Arc::clone(&self.world) as Arc<dyn World>
    }

    /// Ends the programs, then the desktop.
    pub(super) async fn end(mut self) {
        self.stop.cancel();
        all_ended(&mut self.apps).await;
    }
}

async fn all_ended(apps: &mut JoinSet<()>) {
    while apps.join_next().await.is_some() {}
}

/// The programs of a desktop, which can stand still together: each with its process group, so that one
/// that makes a session of its own goes on.
#[derive(Debug)]
struct Programs(Groups);

impl World for Programs {
    fn freeze(&self) -> Result<(), String> {
        self.0
            .signal(Signal::STOP)
            .map_err(|error| error.to_string())
    }

    fn resume(&self) -> Result<(), String> {
        self.0
            .signal(Signal::CONT)
            .map_err(|error| error.to_string())
    }
}
