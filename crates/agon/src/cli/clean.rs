//! `agon clean`: removes what dead owners left, and only that. Every run does the same at its start.

use serde::Serialize;

use super::args::JsonArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::{desktop, output};

#[derive(Debug, Default, Serialize)]
pub(super) struct Cleaned {
    /// Folders, control groups and processes of local sandboxes.
    pub(super) local: Vec<String>,
    /// Desktops, and what they published.
    pub(super) desktops: Vec<String>,
    pub(super) containers: usize,
    /// What could not be removed, and why.
    pub(super) left: Vec<String>,
}

impl Cleaned {
    fn is_empty(&self) -> bool {
        self.local.is_empty()
            && self.desktops.is_empty()
            && self.containers == 0
            && self.left.is_empty()
    }
}

pub(super) async fn clean(args: &JsonArgs) -> Result<Exit, Failure> {
    let cleaned = sweep().await?;
    if args.json {
        output::json(&cleaned)?;
    } else if cleaned.is_empty() {
        output::say("nothing to clean");
    } else {
        for thing in cleaned.desktops.iter().chain(&cleaned.local) {
            output::say(&format!("removed {thing}"));
        }
        let containers = output::count(cleaned.containers as u64, "container");
        output::say(&format!("removed {containers}"));
        for thing in &cleaned.left {
            output::say(&format!("could not remove {thing}"));
        }
    }
    Ok(Exit::Done)
}

pub(super) async fn sweep() -> Result<Cleaned, Failure> {
    // Without a place for desktops there are none.
    let desktops = desktop::sweep().unwrap_or_default();
    let reaped = agon_sandbox::reaper::reap_dead_owners();
    let places = reaped.folders.iter().chain(&reaped.cgroups);
    let processes = reaped.processes.iter().map(|pid| format!("process {pid}"));
    let local = places
        .map(|path| path.display().to_string())
        .chain(processes)
        .collect();
    // Without an engine there are no containers.
    let containers = match agon_sandbox::container::ContainerProvider::connect().await {
        Ok(engine) => engine.remove_dead_owners().await?,
        Err(_) => 0,
    };
    Ok(Cleaned {
        local,
        desktops,
        containers,
        left: reaped.left,
    })
}
