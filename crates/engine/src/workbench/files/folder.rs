//! What is in a folder, two levels deep. Asked of the sandbox's own shell, without any other program.

use std::time::Duration;

use agon_core::Observation;
use agon_core::observation::ObservationKind;
use agon_sandbox::{Exec, Exit, Sandbox, SandboxError};

const DEADLINE: Duration = Duration::from_secs(30);

/// The exit status for what is no folder.
const NO_FOLDER: i32 = 3;

const LIST: &str = r#"
[ -d "$1" ] || exit 3
root=${1%/}
show() {
  if [ -d "$1" ]; then printf '%s/\n' "$1"; elif [ -e "$1" ] || [ -L "$1" ]; then printf '%s\n' "$1"; fi
}
for first in "$root"/*; do
  show "$first"
  if [ -d "$first" ] && [ ! -L "$first" ]; then
    for second in "$first"/*; do show "$second"; done
  fi
done
"#;

/// The entries without the hidden ones, or nothing if it is no folder.
pub(super) async fn list(
    sandbox: &dyn Sandbox,
    path: &str,
    most: usize,
) -> Result<Option<Observation>, SandboxError> {
    let mut exec = Exec::new(["sh", "-c", LIST, "sh", path], DEADLINE);
    exec.cwd = "/".to_owned();
    // Of more than this the first half is kept, which is what is shown.
    exec.keep = (most as u64).saturating_mul(2);
    let output = sandbox.exec(&exec).await?;
    if output.exit == Exit::Code(NO_FOLDER) {
        return Ok(None);
    }
    if !output.exit.success() {
        return Err(SandboxError::Denied(format!(
            "cannot list `{path}`: {}",
            output.exit
        )));
    }
    let all = &output.stdout.bytes;
    let mut kept = &all[..all.len().min(most)];
    if kept.len() < all.len() {
        let end = kept.iter().rposition(|&byte| byte == b'\n');
        kept = &kept[..end.map_or(0, |end| end + 1)];
    }
    let listed = String::from_utf8_lossy(kept);
    let listed = if listed.is_empty() {
        "(nothing)\n"
    } else {
        &listed
    };
    let text = format!("{path}, two levels deep, without hidden entries:\n{listed}");
    let mut seen = Observation::new(ObservationKind::Content, text);
    seen.omitted = (all.len() - kept.len()) as u64 + output.stdout.omitted;
    if seen.omitted > 0 {
        seen.text += "[more entries were left out]\n";
    }
    Ok(Some(seen))
}
