//! Reading and changing files for the agent.

use agon_core::observation::ObservationKind;
use agon_core::{Limits, Observation};
use agon_sandbox::{Sandbox, SandboxError};

/// Largest file that `read` shows and `edit` changes.
const READABLE: u64 = 1 << 20;

pub(super) async fn read(
    sandbox: &dyn Sandbox,
    path: &str,
    limits: &Limits,
) -> Result<Observation, SandboxError> {
    let content = sandbox.read(path, READABLE).await?;
    let view = usize::try_from(limits.view.0).unwrap_or(usize::MAX);
    let shown = &content[..content.len().min(view)];
    let text = String::from_utf8_lossy(shown);
    let mut seen = Observation::new(ObservationKind::Content, text);
    seen.omitted = (content.len() - shown.len()) as u64;
    Ok(seen)
}

pub(super) async fn write(
    sandbox: &dyn Sandbox,
    path: &str,
    content: &str,
) -> Result<Observation, SandboxError> {
    sandbox.write(path, content.as_bytes()).await?;
    Ok(Observation::done())
}

pub(super) async fn edit(
    sandbox: &dyn Sandbox,
    path: &str,
    old: &str,
    new: &str,
) -> Result<Observation, SandboxError> {
    let content = sandbox.read(path, READABLE).await?;
    let denied = |why: String| Err(SandboxError::Denied(why));
    if content.len() as u64 >= READABLE {
        return denied(format!("{path} is too large to edit: use commands"));
    }
    let Ok(text) = String::from_utf8(content) else {
        return denied(format!("{path} is no text"));
    };
    match text.matches(old).take(2).count() {
        _ if old.is_empty() => denied("`old` is empty: say what to replace".to_owned()),
        0 => denied(format!("`old` does not occur in {path}")),
        1 => {
            sandbox
                .write(path, text.replacen(old, new, 1).as_bytes())
                .await?;
            Ok(Observation::done())
        }
        _ => denied(format!(
            "`old` occurs more than once in {path}: make it longer"
        )),
    }
}
