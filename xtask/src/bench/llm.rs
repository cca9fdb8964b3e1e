//! The rows of `cargo xtask bench llm`: what a call of a language model costs Agon itself, against a
//! server on this machine that answers at once, and how fast fixtures are asked and scored. Python's
//! `openai` is measured beside it, in an environment that is made for that.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::lab::Lab;
use super::process::{Measured, measure, median};
use super::{Better, Figure, Row};
use crate::console::{self, say, step};
use crate::failure::{Failure, Trying};
use crate::workspace;

pub(super) const ROWS: &[Row] = &[
    row(
        "calls_per_s",
        "calls/s",
        Better::Higher,
        Some(3000.0),
        |lab| beside(lab, "calls_per_s"),
    ),
    row(
        "own_ms_per_image_call",
        "ms",
        Better::Lower,
        Some(0.5),
        |lab| beside(lab, "own_ms_per_image_call"),
    ),
    // Its reference is what was held after the first tenth.
    row("memory_100k_calls_mb", "MB", Better::Lower, None, |lab| {
        program(lab, "memory_100k_calls_mb", &[])
    }),
    row(
        "tape_calls_per_s",
        "calls/s",
        Better::Higher,
        Some(10_000.0),
        |lab| program(lab, "tape_calls_per_s", &[]),
    ),
    row("fixtures_10k_s", "s", Better::Lower, Some(4.0), fixtures),
];

const fn row(
    name: &'static str,
    unit: &'static str,
    better: Better,
    target: Option<f64>,
    measure: fn(&mut Lab) -> Result<Figure, Failure>,
) -> Row {
    Row {
        name,
        unit,
        better,
        target,
        measure,
    }
}

fn program(lab: &mut Lab, row: &str, words: &[&str]) -> Result<Figure, Failure> {
    lab.llm.find(("agon-llm", "measure_llm"), row, words, None)
}

/// With Python's client beside it, where it can be had.
fn beside(lab: &mut Lab, row: &str) -> Result<Figure, Failure> {
    let python = match python() {
        Ok(python) => Some(python.display().to_string()),
        Err(failure) => {
            say(format!(
                "    {row}: no figure of Python's openai: {failure}"
            ));
            None
        }
    };
    let words: Vec<&str> = python.as_deref().into_iter().collect();
    program(lab, row, &words)
}

/// The release that is measured beside Agon.
const OPENAI: &str = "openai==3.49.0";

/// An interpreter with the client, made once and kept.
fn python() -> Result<PathBuf, Failure> {
    let folder = workspace::root().join("target/bench/python-openai");
    let python = folder.join("bin/python3");
    // Written last: what was cut off is made again.
    let whole = folder.join(OPENAI);
    if whole.exists() {
        return Ok(python);
    }
    step("install Python's openai", || {
        let mut environment = Command::new("python3");
        environment.args(["-m", "venv", "--clear"]).arg(&folder);
        console::succeed(&mut environment)?;
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", OPENAI]);
        console::succeed(&mut install)?;
        std::fs::write(&whole, "").trying(format!("write {}", whole.display()))
    })?;
    Ok(python)
}

/// Of each of the three groups, and of the first alone.
const OF_EACH: u64 = 3334;
const OF_ONE: u64 = 10_000;
const ROUNDS: u32 = 3;

/// From the start of the process to its end, the run folder and the report in the terminal included.
fn fixtures(lab: &mut Lab) -> Result<Figure, Failure> {
    let mut all = Vec::new();
    let mut one = Vec::new();
    let mut memory = 0_f64;
    for round in 0..ROUNDS {
        let measured = predict(lab, &format!("all-{round}"), None, OF_EACH, 3 * OF_EACH)?;
        memory = memory.max(measured.peak_mb);
        all.push(measured.seconds);
        let alone = predict(
            lab,
            &format!("one-{round}"),
            Some("single_mouse"),
            OF_ONE,
            OF_ONE,
        )?;
        one.push(alone.seconds);
    }
    let spread = format!("{all:.2?}");
    let middle = |times| median(times).ok_or_else(|| Failure::new("nothing was measured"));
    say(format!(
        "    fixtures_10k_s: {} fixtures of three groups in {spread} s, at most {memory:.0} MB; \
         {OF_ONE} of single_mouse in {:.2} s",
        3 * OF_EACH,
        middle(one)?
    ));
    Ok(Figure::alone(middle(all)?))
}

fn predict(
    lab: &Lab,
    name: &str,
    group: Option<&str>,
    variants: u64,
    fixtures: u64,
) -> Result<Measured, Failure> {
    let mut command = Command::new(lab.agon()?);
    command
        .args(["predict", "--model", "mock/expected", "--json"])
        .args(["--variants", &variants.to_string()])
        .arg("--out")
        .arg(lab.folder().join(format!("predict-{name}")));
    if let Some(group) = group {
        command.args(["--fixtures", group]);
    }
    let measured = measure(&mut command)?;
    let line = measured.stdout.lines().next_back().unwrap_or_default();
    let told: Value = serde_json::from_str(line).unwrap_or_default();
    let right = told["trials"] == fixtures && told["passed"] == fixtures;
    if measured.success && right {
        Ok(measured)
    } else {
        Err(Failure::new(format!(
            "{fixtures} fixtures should have been answered rightly: {line}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_program_is_known_to_it() {
        let program = include_str!("../../../crates/llm/examples/measure_llm/main.rs");
        for row in ROWS.iter().filter(|row| row.name != "fixtures_10k_s") {
            assert!(
                program.contains(&format!("\"{}\"", row.name)),
                "{}",
                row.name
            );
        }
    }
}
