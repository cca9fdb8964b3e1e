//! Where things are: the workspace, its build folder, the user's cache.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::console;
use crate::failure::{Failure, Trying};

/// The root of the workspace. Cargo tells the place at run time; the place of the build is only
/// used when the program was started by hand.
pub(crate) fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.parent().map(Path::to_path_buf).unwrap_or(manifest)
}

/// A cargo command in the root of the workspace.
pub(crate) fn cargo(words: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(words).current_dir(root());
    command
}

/// What `cargo metadata` says about the members of the workspace.
pub(crate) fn metadata() -> Result<Value, Failure> {
    let text = console::output(&mut cargo(&["metadata", "--format-version=1", "--no-deps"]))?;
    serde_json::from_str(&text).trying("read what `cargo metadata` says")
}

/// The game that real-time tasks are played with; `agon` finds programs beside itself.
const GAME: &str = "agon-hexagon";

/// Builds the release binary of Agon and the game, and says where it is.
pub(crate) fn release_binary() -> Result<PathBuf, Failure> {
    let words = ["build", "--release", "--package", "agon", "--package", GAME];
    binary(&words, "release/agon")
}

/// Builds the binary of Agon that tests use and says where it is.
pub(crate) fn test_binary() -> Result<PathBuf, Failure> {
    binary(
        &["build", "--package", "agon", "--package", GAME],
        "debug/agon",
    )
}

pub(crate) fn binary(words: &[&str], path: &str) -> Result<PathBuf, Failure> {
    console::succeed(&mut cargo(words))?;
    let metadata = metadata()?;
    let target = metadata["target_directory"]
        .as_str()
        .ok_or_else(|| Failure::new("`cargo metadata` names no target_directory"))?;
    Ok(Path::new(target).join(path))
}

/// Where Agon keeps what is expensive to make again.
pub(crate) fn cache() -> Result<PathBuf, Failure> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .map(|cache| cache.join("agon"))
        .ok_or_else(|| Failure::usage("set HOME or XDG_CACHE_HOME to an absolute path"))
}
