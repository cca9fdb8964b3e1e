//! The container sandbox: Docker or Podman through their API.
//!
//! A container runs as root inside, or as the owner of a working folder of the host, without a
//! network, ports or most capabilities; the engine's own cgroups hold its memory and processes. Its
//! first process is a small loop of the image's `sh` that collects orphans and ends everybody else
//! when told to. Programs are execs of the engine. What the agent may have made of all that is killed, and
//! what it changed is laid over a fresh container for checks: as data, beside the image's own programs.
//! The image needs `sh`, `cat`, `head`, `mkdir`, `rm` and, for the shell session, `bash` and `stty`.

mod attach;
mod changes;
mod engine;
mod exec;
mod files;
mod folder;
mod freeze;
mod images;
mod layers;
mod leftovers;
mod network;
mod overlay;
mod pause;
mod processes;
mod program_paths;
mod provider;
mod recipe;
mod run_as;
mod sandbox;
mod spec;
mod take;

pub use images::{FoundImage, ImageName, Images};
pub use provider::ContainerProvider;
pub use recipe::{Made, Recipe};
