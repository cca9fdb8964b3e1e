//! `cargo xtask demo`: from a fresh clone to four reports: of an agent that solves everything, of one
//! that does nothing, of a game that is played in real time, and of what a small model predicted. The
//! model's answers come from a tape, because what runs it takes minutes to build.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::console::{self, say, step};
use crate::debian::{self, BUBBLEWRAP, DESKTOP, PYTHON};
use crate::failure::{Failure, Trying};
use crate::{models, workspace};

const SUITE: &str = "suites/demo";
/// A game of a quarter of a minute; its reference solution looks at pixels and presses keys.
const GAME: &str = "suites/arena/hexagon/survive-10.yaml";

/// Recorded by `agon predict --model local/smollm2 --max-tokens 256 --record-tape FILE`.
const TAPE: &str = "examples/tapes/smollm2.tape";

pub(crate) fn run() -> Result<(), Failure> {
    debian::install(&[BUBBLEWRAP, PYTHON])?;
    debian::install(&DESKTOP)?;
    let agon = step("build Agon", workspace::demo_binary)?;
    models::install_ocr(&agon)?;
    let oracle = step("play the demo suite with `oracle`", || {
        play(&agon, SUITE, "oracle")
    })?;
    let noop = step("play the demo suite with `noop`", || {
        play(&agon, SUITE, "noop")
    })?;
    let game = step("play a game in real time", || play(&agon, GAME, "oracle"))?;
    let predicted = step("replay what a small model predicted", || predict(&agon))?;
    for played in [&oracle, &noop, &game, &predicted] {
        say("");
        console::succeed(
            Command::new(&agon)
                .arg("report")
                .arg(&played.folder)
                .current_dir(workspace::root()),
        )?;
    }
    say("\nThe run folders:");
    for played in [&oracle, &noop, &game, &predicted] {
        say(format!("  {}", played.folder.display()));
    }
    if oracle.passed != oracle.trials || noop.passed != 0 {
        return Err(Failure::new(format!(
            "the demo suite is wrong: of {} trials `oracle` passed {} (must be all) and `noop` {} \
             (must be none)",
            oracle.trials, oracle.passed, noop.passed
        )));
    }
    if game.passed != game.trials {
        return Err(Failure::new(
            "the game was lost: is the machine too busy for 60 frames per second?",
        ));
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

fn play(agon: &Path, suite: &str, agent: &str) -> Result<Played, Failure> {
    begin(agon, &["run", suite, "--agent", agent, "--json"])
}

fn predict(agon: &Path) -> Result<Played, Failure> {
    let words = "predict --model local/smollm2 --max-tokens 256 --json --tape";
    let words: Vec<&str> = words.split(' ').chain([TAPE]).collect();
    begin(agon, &words)
}

fn begin(agon: &Path, words: &[&str]) -> Result<Played, Failure> {
    let output = console::output(
        Command::new(agon)
            .args(words)
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
