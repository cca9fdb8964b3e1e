//! `agon desktop start --detach`: leaves a process that owns the desktop, and comes back when it is
//! ready or has failed.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};

use super::args::StartArgs;
use super::start;
use super::state::{Desktops, Listed};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

/// Longer than the owner's own deadline.
const READY: Duration = Duration::from_secs(60);

/// How much of what an owner says is read.
const MOST: u64 = 1 << 20;

pub(super) async fn detach(args: &StartArgs) -> Result<Exit, Failure> {
    let log = Desktops::open()?.own_file("log");
    let result = leave(args, &log).await;
    if result.is_err() {
        fs::remove_file(&log).ok();
    }
    let listed = result?;
    let how_to_end = format!("`agon desktop stop {}` ends it", listed.id);
    start::tell(args, &listed, &how_to_end)?;
    Ok(Exit::Done)
}

async fn leave(args: &StartArgs, log: &Path) -> Result<Listed, Failure> {
    let words = fs::File::create_new(log)?;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["desktop", "start", "--screen", &args.screen.to_string()])
        .args(args.gl.then_some("--gl"))
        .args(args.apps.iter().map(|app| format!("--app={app}")))
        .arg("--owner-log")
        .arg(log)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(words);
    let mut owner = command.spawn()?;
    match tokio::time::timeout(READY, first_line(&mut owner)).await {
        Ok(Ok(line)) if line.ends_with('\n') => Ok(serde_json::from_str(&line)?),
        Ok(Ok(_)) => {
            owner.wait().await?;
            Err(said(log))
        }
        Ok(Err(error)) => Err(error.into()),
        Err(_) => {
            owner.kill().await?;
            let patience = READY.as_secs();
            Err(Failure::new(format_args!(
                "the desktop was not ready within {patience} s"
            )))
        }
    }
}

/// Empty if the owner ended before it had anything to say.
async fn first_line(owner: &mut Child) -> std::io::Result<String> {
    let mut line = String::new();
    if let Some(stdout) = owner.stdout.take() {
        let mut stdout = BufReader::new(stdout.take(MOST));
        stdout.read_line(&mut line).await?;
    }
    Ok(line)
}

/// What the owner complained about, which is worded as ours would be.
fn said(log: &Path) -> Failure {
    let text = fs::read_to_string(log).unwrap_or_default();
    let text = text.trim();
    let text = text.strip_prefix("agon: ").unwrap_or(text);
    Failure::new(if text.is_empty() {
        "the desktop ended before it was ready"
    } else {
        text
    })
}
