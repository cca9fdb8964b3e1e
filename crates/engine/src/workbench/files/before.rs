//! What is in the sandbox where a file is about to be changed, and how it goes where there was none.

use std::time::Duration;

use agon_sandbox::{Exec, Sandbox, SandboxError};

use super::history::{self, Version};
use super::{Place, denied};

/// Largest file that can be changed in place.
const EDITABLE: usize = history::LARGEST;

/// For the removal of a file.
const SHORT: Duration = Duration::from_secs(20);

/// A file before a change.
pub(super) enum Before {
    Absent,
    Content(Vec<u8>),
    /// There is more than can be kept.
    Large,
    /// There is something that can't be read, or nobody can look; why.
    Closed(String),
}

impl Before {
    pub(super) fn existed(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    /// The text that a change is told by; nothing if it was none.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Absent => Some(""),
            Self::Content(content) => std::str::from_utf8(content).ok(),
            Self::Large | Self::Closed(_) => None,
        }
    }

    pub(super) fn version(self) -> Option<Version> {
        match self {
            Self::Absent => Some(Version::Absent),
            Self::Content(content) => Some(Version::Content(content)),
            Self::Large | Self::Closed(_) => None,
        }
    }
}

/// A file that can be changed in place.
pub(super) async fn editable(
    sandbox: &dyn Sandbox,
    place: &Place<'_>,
) -> Result<String, SandboxError> {
    let content = sandbox.read(&place.full, EDITABLE as u64 + 1).await?;
    if content.len() > EDITABLE {
        return denied(format!(
            "{} is too large to edit: use commands",
            place.named
        ));
    }
    match String::from_utf8(content) {
        Ok(text) => Ok(text),
        Err(_) => denied(format!("{} is no text", place.named)),
    }
}

/// What a file holds before it is changed.
pub(super) async fn before(sandbox: &dyn Sandbox, path: &str) -> Result<Before, SandboxError> {
    match sandbox.find(path, EDITABLE as u64 + 1).await {
        Ok(None) => Ok(Before::Absent),
        Ok(Some(content)) if content.len() > EDITABLE => Ok(Before::Large),
        Ok(Some(content)) => Ok(Before::Content(content)),
        Err(SandboxError::Denied(why)) => Ok(Before::Closed(why)),
        Err(error) => Err(error),
    }
}

pub(super) async fn remove(sandbox: &dyn Sandbox, path: &str) -> Result<(), SandboxError> {
    let mut exec = Exec::new(["rm", "-f", "--", path], SHORT);
    exec.cwd = "/".to_owned();
    exec.keep = 1000;
    let output = sandbox.exec(&exec).await?;
    if output.exit.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&output.stderr.bytes);
    denied(format!("cannot remove `{path}`: {}", why.trim()))
}
