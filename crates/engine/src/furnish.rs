//! Makes a fresh sandbox the task's: its visible files, and its set-up. For the agent's turn as for
//! grading; knows of neither.

use std::time::Duration;

use agon_core::{Fault, FaultClass, Task};
use agon_sandbox::{Exec, ExecOutput, Sandbox};
use tokio::time::timeout;

use crate::trial::late;

/// What a sandbox may take for its own part of a call.
const GRACE: Duration = Duration::from_secs(60);

/// Characters of a program's complaint.
const EXCERPT: usize = 500;

/// Brings the task's files and runs its set-up.
pub(crate) async fn furnish(sandbox: &dyn Sandbox, task: &Task) -> Result<(), Fault> {
    let setup = task.limits.setup.duration();
    timeout(setup, sandbox.copy_visible(&task.visible))
        .await
        .map_err(|_| late("placing the task's files", setup))?
        .map_err(|error| Fault::new(FaultClass::Setup, error))?;
    let Some(command) = &task.setup else {
        return Ok(());
    };
    let exec = script(command, setup);
    let output = timeout(setup + GRACE, sandbox.exec(&exec))
        .await
        .map_err(|_| late("setup_cmd", setup + GRACE))?
        .map_err(|error| Fault::new(FaultClass::Setup, error))?;
    if output.exit.success() {
        return Ok(());
    }
    let message = format_args!("setup_cmd: {}", said(&output));
    Err(Fault::new(FaultClass::Setup, message))
}

/// What a program said when it failed, short enough for a reason.
pub(crate) fn said(output: &ExecOutput) -> String {
    let text = String::from_utf8_lossy(&output.stderr.bytes);
    let text: String = text.trim().chars().take(EXCERPT).collect();
    if text.is_empty() {
        output.exit.to_string()
    } else {
        format!("{}: {text}", output.exit)
    }
}

/// A shell script of the task, by the shell that its first line names: `bash`, or else `sh`.
pub(crate) fn script(text: &str, limit: Duration) -> Exec {
    let first = text.lines().next().unwrap_or_default();
    let bash = first.starts_with("#!")
        && first
            .split(|c: char| c == '/' || c.is_ascii_whitespace())
            .any(|word| word == "bash");
    match bash {
        true => Exec::new(["bash", "-c", text], limit),
        false => Exec::shell(text, limit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_names_the_shell() {
        let shell = |text: &str| script(text, GRACE).argv[0].clone();
        assert_eq!(shell("#!/bin/bash\necho"), "bash");
        assert_eq!(shell("#!/usr/bin/env bash\necho"), "bash");
        assert_eq!(shell("#!/bin/sh\n# not bash\n"), "sh");
        assert_eq!(shell("echo bash"), "sh");
    }
}
