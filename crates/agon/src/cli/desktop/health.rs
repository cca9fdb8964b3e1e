//! Whether private desktops work here, for `agon doctor`: one is started and looked at.

use std::process::Stdio;
use std::time::{Duration, Instant};

use agon_desktop::{Desktop, DesktopConfig, DesktopError};
use tokio::process::Command;

/// For a program that only says its version.
const PATIENCE: Duration = Duration::from_secs(5);

pub(in crate::cli) async fn describe() -> Result<String, DesktopError> {
    let tried = tokio::task::spawn_blocking(|| -> Result<_, DesktopError> {
        let began = Instant::now();
        let desktop = Desktop::start(&DesktopConfig::default())?;
        let frame = desktop.screen().capture()?;
        Ok((frame.size(), began.elapsed()))
    });
    let tried = tried
        .await
        .map_err(|error| DesktopError::Start(error.to_string()))?;
    let (size, took) = tried?;
    let server = version("Xvfb", "-version", "X Server ").await;
    let manager = version("openbox", "--version", "Openbox ").await;
    Ok(format!(
        "Xvfb {server}, openbox {manager}, first frame of {size} after {} ms",
        took.as_millis()
    ))
}

/// The word after `before` in what a program says of its version.
async fn version(program: &str, option: &str, before: &str) -> String {
    let mut command = Command::new(program);
    command.arg(option).stdin(Stdio::null()).kill_on_drop(true);
    let said = match tokio::time::timeout(PATIENCE, command.output()).await {
        Ok(Ok(output)) => [output.stdout, output.stderr].concat(),
        _ => Vec::new(),
    };
    let said = String::from_utf8_lossy(&said);
    let version = said
        .split_once(before)
        .and_then(|(_, rest)| rest.split_whitespace().next());
    version.unwrap_or("of an unknown version").to_owned()
}
