//! `cargo xtask demo`: from a fresh clone to two reports, one of an agent that solves everything
//! and one of an agent that does nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::console::{self, say, step};
use crate::debian::{self, BUBBLEWRAP, PYTHON};
use crate::failure::{Failure, Trying};
use crate::workspace;

const SUITE: &str = "suites/demo";

pub(crate) fn run() -> Result<(), Failure> {
    debian::install(&[BUBBLEWRAP, PYTHON])?;
    let agon = step("build Agon", workspace::release_binary)?;
    let oracle = step("play the demo suite with `oracle`", || {
        play(&agon, "oracle")
    })?;
    let noop = step("play the demo suite with `noop`", || play(&agon, "noop"))?;
    for played in [&oracle, &noop] {
        say("");
        console::succeed(
            Command::new(&agon)
                .arg("report")
                .arg(&played.folder)
                .current_dir(workspace::root()),
        )?;
    }
    say("\nThe run folders:");
    for played in [&oracle, &noop] {
        say(format!("  {}", played.folder.display()));
    }
    if oracle.passed != oracle.trials || noop.passed != 0 {
        return Err(Failure::new(format!(
            "the demo suite is wrong: of {} trials `oracle` passed {} (must be all) and `noop` {} \
             (must be none)",
            oracle.trials, oracle.passed, noop.passed
        )));
    }
    Ok(())
}

/// What a finished run says about itself.
#[derive(Debug, PartialEq, Eq)]
struct Played {
    folder: PathBuf,
    trials: u64,
    passed: u64,
}

fn play(agon: &Path, agent: &str) -> Result<Played, Failure> {
    let output = console::output(
        Command::new(agon)
            .args(["run", SUITE, "--agent", agent, "--json"])
            .current_dir(workspace::root()),
    )?;
    let played = Played::read(&output)?;
    let folder = workspace::root().join(&played.folder);
    Ok(Played { folder, ..played })
}

impl Played {
    /// From the standard output of `agon run --json`.
    fn read(output: &str) -> Result<Self, Failure> {
        let line = output.lines().next_back().unwrap_or_default();
        let summary: Value =
            serde_json::from_str(line).trying("read the last line of `agon run --json`")?;
        let count = |key: &str| summary[key].as_u64();
        match (summary["run"].as_str(), count("trials"), count("passed")) {
            (Some(run), Some(trials), Some(passed)) => Ok(Self {
                folder: PathBuf::from(run),
                trials,
                passed,
            }),
            _ => Err(Failure::new(format!(
                "the last line of `agon run --json` lacks run, trials or passed: {line}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_a_run_is_its_summary() {
        let output = "{\"note\":1}\n{\"run\":\"runs/x\",\"trials\":3,\"passed\":2}\n";
        assert_eq!(
            Played::read(output).unwrap(),
            Played {
                folder: PathBuf::from("runs/x"),
                trials: 3,
                passed: 2
            }
        );
    }

    #[test]
    fn a_run_without_summary_is_refused() {
        for bad in ["", "done", "{\"run\":\"runs/x\"}"] {
            assert!(Played::read(bad).is_err(), "{bad}");
        }
    }
}
