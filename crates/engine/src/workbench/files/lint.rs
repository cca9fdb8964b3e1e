//! Says what is wrong with a source file right after it was changed, as far as that takes no more than
//! reading it: Python by the sandbox's own interpreter, JSON here.

use std::time::Duration;

use agon_sandbox::{Exec, Exit, Sandbox, SandboxError};
use serde::de::IgnoredAny;

use super::apart::apart;

const DEADLINE: Duration = Duration::from_secs(10);

/// How much is kept of what is wrong.
const LONGEST: u64 = 1000;

/// Nothing of the working folder is loaded: what is called `ast.py` there is the agent's.
const COMPILE: &str = r#"
import sys, warnings
warnings.simplefilter("ignore")
try:
    compile(sys.stdin.buffer.read(), sys.argv[1], "exec", dont_inherit=True)
except SyntaxError as error:
    print("line %s: %s" % (error.lineno, error.msg))
except (ValueError, RecursionError, MemoryError) as error:
    print(error)
"#;

/// What is wrong with a file of this name and content, if anything is known.
pub(super) async fn lint(
    sandbox: &dyn Sandbox,
    path: &str,
    content: &str,
) -> Result<Option<String>, SandboxError> {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension.to_ascii_lowercase().as_str() {
        "py" => python(sandbox, path, content).await,
        "json" => {
            let content = content.to_owned();
            apart(content.len(), move || json(&content)).await
        }
        _ => Ok(None),
    }
}

async fn python(
    sandbox: &dyn Sandbox,
    path: &str,
    content: &str,
) -> Result<Option<String>, SandboxError> {
    let script = r#"command -v python3 >/dev/null || exit 0; exec python3 -I -c "$1" "$2""#;
    let mut exec = Exec::new(["sh", "-c", script, "sh", COMPILE, path], DEADLINE);
    exec.cwd = "/".to_owned();
    exec.stdin = content.as_bytes().to_vec();
    exec.keep = LONGEST;
    match sandbox.exec(&exec).await {
        Ok(output) if output.exit == Exit::Code(0) => {
            let said = String::from_utf8_lossy(&output.stdout.bytes);
            let said = said.trim();
            Ok((!said.is_empty()).then(|| said.to_owned()))
        }
        // An interpreter that does not work says nothing about the file.
        Ok(_) | Err(SandboxError::Denied(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn json(content: &str) -> Option<String> {
    let error = serde_json::from_str::<IgnoredAny>(content).err()?;
    Some(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_judged_by_its_form_alone() {
        assert_eq!(json("{\"a\": [1, 2]}"), None);
        let deep = ["[".repeat(500), "]".repeat(500)].concat();
        assert_eq!(json(&deep), None);
        let wrong = json("{\n\"a\": 1,\n}").unwrap();
        assert!(wrong.contains("line 3"), "{wrong}");
    }
}
