//! `agon clean`: removes what dead owners left, and only that. Every run does the same at its start.

use serde::Serialize;

use super::args::JsonArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::output;

#[derive(Debug, Default, Serialize)]
pub(super) struct Cleaned {
    /// Folders, control groups and processes of local sandboxes.
    pub(super) local: Vec<String>,
    pub(super) containers: usize,
}

pub(super) async fn clean(args: &JsonArgs) -> Result<Exit, Failure> {
    let cleaned = sweep().await?;
    if args.json {
        output::json(&cleaned)?;
    } else if cleaned.local.is_empty() && cleaned.containers == 0 {
        output::say("nothing to clean");
    } else {
        for thing in &cleaned.local {
            output::say(&format!("removed {thing}"));
        }
        output::say(&format!("removed {} containers", cleaned.containers));
    }
    Ok(Exit::Done)
}

pub(super) async fn sweep() -> Result<Cleaned, Failure> {
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
    Ok(Cleaned { local, containers })
}
