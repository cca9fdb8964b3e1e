//! Where things are: the workspace, its build folder, the user's cache.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::console;
use crate::failure::{Failure, Trying};
use crate::local;

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
    // What the cargo that runs us says about our package: the build script of `ring` watches it, and would
    // run anew, with all crates above it, at every change between `cargo build` and `cargo xtask`.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
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

/// Builds the binary of Agon that the demo uses, and the game, in the profile that compiles fastest.
pub(crate) fn demo_binary() -> Result<PathBuf, Failure> {
    let words = "build --locked --profile demo --package agon --package";
    let words: Vec<&str> = words.split(' ').chain([GAME]).collect();
    binary(&words, "demo/agon")
}

/// Builds all that tests run and says where their binary of Agon is. Whatever cargo builds for a part of the
/// workspace has other features than for the whole: building the binary alone would build nearly all twice.
pub(crate) fn test_binary() -> Result<PathBuf, Failure> {
    let mut words = vec!["build"];
    words.extend(TESTED);
    binary(&words, "debug/agon")
}

/// What is built for tests. Of the examples only the one that a test runs; clippy checks the others and the
/// measuring programs.
pub(crate) const TESTED: [&str; 8] = [
    "--workspace",
    "--exclude",
    local::PACKAGE,
    "--lib",
    "--bins",
    "--tests",
    "--example",
    "workflow",
];

pub(crate) fn binary(words: &[&str], path: &str) -> Result<PathBuf, Failure> {
    console::succeed(&mut cargo(words))?;
    Ok(target()?.join(path))
}

/// The build folder.
pub(crate) fn target() -> Result<PathBuf, Failure> {
    let metadata = metadata()?;
    metadata["target_directory"]
        .as_str()
        .map(PathBuf::from)
        .ok_or_else(|| Failure::new("`cargo metadata` names no target_directory"))
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
