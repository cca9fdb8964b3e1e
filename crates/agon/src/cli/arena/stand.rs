//! What one pair plays on: a private desktop with the programs that were asked for, or a display that
//! is there already.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use agon_agent::play::World;
use agon_desktop::{Desktop, DesktopConfig, DisplayAddress, Published, Size};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::task::{JoinSet, spawn_blocking};
use tokio_util::sync::CancellationToken;

use crate::cli::desktop::{Desktops, start_apps};
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
        let stand = Self {
            desktop,
            world: Arc::new(Programs { groups }),
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

    async fn wait_for(&self, window: String) -> Result<(), Failure> {
        let desktop = Arc::clone(&self.desktop);
        let shown = spawn_blocking(move || {
            desktop.windows().wait_for(&window, FIRST_WINDOW)?;
            // One that never comes to rest is no reason to wait for it.
            desktop.screen().stable(DRAWN, FIRST_PICTURE)
        });
        shown.await.map_err(Failure::new)??;
        Ok(())
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
        while self.apps.join_next().await.is_some() {}
    }
}

/// The programs of a desktop, which can stand still together. Each has a process group of its own.
#[derive(Debug)]
struct Programs {
    groups: Vec<Pid>,
}

impl Programs {
    fn signal(&self, signal: Signal) -> Result<(), String> {
        for group in &self.groups {
            match kill_process_group(*group, signal) {
                Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                Err(error) => return Err(io::Error::from(error).to_string()),
            }
        }
        Ok(())
    }
}

impl World for Programs {
    fn freeze(&self) -> Result<(), String> {
        self.signal(Signal::STOP)
    }

    fn resume(&self) -> Result<(), String> {
        self.signal(Signal::CONT)
    }
}
