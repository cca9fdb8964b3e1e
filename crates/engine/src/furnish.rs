//! Makes a fresh sandbox the task's: its visible files, and its set-up. For the agent's turn as for
//! grading; knows of neither.

use std::time::Duration;

use agon_core::{Fault, FaultClass, Task};
use agon_sandbox::{Exec, ExecOutput, Exit, Sandbox};
use tokio::time::timeout;

use crate::trial::{fault_of, late};

/// Waits for what a set-up leaves working in its background; says itself how.
const SETUP: &str = include_str!("setup.sh");

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
    let text = command.as_str();
    let exec = Exec::new(["sh", "-c", SETUP, "sh", shell(text), text], setup);
    let output = timeout(setup + GRACE, sandbox.exec(&exec))
        .await
        .map_err(|_| late("setup_cmd", setup + GRACE))?
        .map_err(|error| fault_of(&error))?;
    if output.exit.success() {
        return Ok(());
    }
    let advice = match output.exit {
        Exit::TimedOut => {
            " (it ends when its shell has ended and what it left in the background, as in `a && b &`, \
             has come to its last command or closed its output; limits.setup gives it more time)"
        }
        _ => "",
    };
    let message = format_args!("setup_cmd: {}{advice}", said(&output));
    Err(Fault::new(FaultClass::Setup, message))
}

/// Whether a set-up starts something that stays in the background: `&` alone.
pub(crate) fn stays_behind(text: &str) -> bool {
    let others = ["&&", ">&", "<&", "&>"];
    let text = others
        .iter()
        .fold(text.to_owned(), |text, other| text.replace(other, ""));
    text.contains('&')
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
    Exec::new([shell(text), "-c", text], limit)
}

fn shell(text: &str) -> &'static str {
    let first = text.lines().next().unwrap_or_default();
    let bash = first.starts_with("#!")
        && first
            .split(|c: char| c == '/' || c.is_ascii_whitespace())
            .any(|word| word == "bash");
    if bash { "bash" } else { "sh" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_names_the_shell() {
        assert_eq!(shell("#!/bin/bash\necho"), "bash");
        assert_eq!(shell("#!/usr/bin/env bash\necho"), "bash");
        assert_eq!(shell("#!/bin/sh\n# not bash\n"), "sh");
        assert_eq!(shell("echo bash"), "sh");
        assert_eq!(script("true", GRACE).argv, ["sh", "-c", "true"]);
    }

    #[test]
    fn one_that_leaves_something_behind_is_known() {
        for left in [
            "xterm &",
            "setsid xterm >/dev/null 2>&1 & sleep 2",
            "a && b & c",
        ] {
            assert!(stays_behind(left), "{left}");
        }
        for none in ["", "a && b", "a 2>&1", "a &> /dev/null", "cat <&3"] {
            assert!(!stays_behind(none), "{none}");
        }
    }
}
