//! The rows of `cargo xtask bench fuzz`: a short run of every fuzz target. Any finding fails the row. The
//! targets are built by the toolchain that builds everything else: what a fuzzer needs of it is
//! unlocked for that build alone.

use std::fs::File;

use super::lab::Lab;
use super::process::measure;
use super::{Better, Figure, Row};
use crate::console::{self, say, step};
use crate::failure::{Failure, Trying};
use crate::workspace;

pub(super) const ROWS: &[Row] = &[
    row("parse_action_per_s", |lab| fuzz(lab, "parse_action")),
    row("point_of_per_s", |lab| fuzz(lab, "point_of")),
];

/// How long each target runs.
const SECONDS: u32 = 30;
/// Tried with; any other may want other flags.
const CARGO_FUZZ: &str = "0.13.2";

const fn row(name: &'static str, measure: fn(&mut Lab) -> Result<Figure, Failure>) -> Row {
    Row {
        name,
        unit: "1/s",
        better: Better::Higher,
        target: None,
        measure,
    }
}

fn fuzz(lab: &mut Lab, target: &str) -> Result<Figure, Failure> {
    install()?;
    let fuzz = workspace::root().join("fuzz");
    // What is found goes to the first folder, and what is kept is only read.
    let found = lab.folder().join(format!("fuzz-{target}"));
    std::fs::create_dir_all(&found).trying(format!("make {}", found.display()))?;
    let log = found.with_extension("log");
    let stderr = File::create(&log).trying(format!("write {}", log.display()))?;
    let mut command = workspace::cargo(&["fuzz", "run", "--fuzz-dir"]);
    command
        .arg(&fuzz)
        .arg(target)
        .arg(&found)
        .arg(fuzz.join("corpus").join(target))
        .arg("--")
        .arg(format!("-max_total_time={SECONDS}"))
        .arg(format!("-dict={}", fuzz.join("answers.dict").display()))
        .args(["-max_len=4096", "-timeout=10", "-print_final_stats=1"])
        .env("RUSTC_BOOTSTRAP", "1")
        .stderr(stderr);
    let measured = measure(&mut command)?;
    let told = std::fs::read(&log).trying(format!("read {}", log.display()))?;
    let told = String::from_utf8_lossy(&told);
    if !measured.success {
        return Err(Failure::new(format!(
            "{target} found something, or did not build:\n{}",
            last_lines(&told, 40)
        )));
    }
    let executed = executed(&told).ok_or_else(|| {
        let end = last_lines(&told, 10);
        Failure::new(format!("the fuzzer does not say how much it did:\n{end}"))
    })?;
    say(format!("    {target}: {executed} inputs, nothing found"));
    Ok(Figure::alone(executed as f64 / f64::from(SECONDS)))
}

/// What the fuzzer says at its end.
fn executed(told: &str) -> Option<u64> {
    told.lines()
        .filter_map(|line| line.strip_prefix("stat::number_of_executed_units:"))
        .find_map(|count| count.trim().parse().ok())
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

fn install() -> Result<(), Failure> {
    if console::output(&mut workspace::cargo(&["fuzz", "--version"])).is_ok() {
        return Ok(());
    }
    step("install cargo-fuzz", || {
        let words = ["install", "cargo-fuzz", "--locked", "--version", CARGO_FUZZ];
        console::succeed(&mut workspace::cargo(&words))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found_among_what_the_fuzzer_says() {
        let told = "#5 DONE cov: 3\nstat::number_of_executed_units: 4711\nstat::peak_rss_mb: 40\n";
        assert_eq!(executed(told), Some(4711));
        assert_eq!(executed("stat::number_of_executed_units: many\n"), None);
        assert_eq!(last_lines("a\nb\nc", 2), "b\nc");
        assert_eq!(last_lines("a", 2), "a");
    }

    #[test]
    fn every_target_has_a_row_and_a_corpus() {
        let fuzz = workspace::root().join("fuzz");
        let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
        let targets: Vec<String> = manifest
            .lines()
            .filter_map(|line| line.strip_prefix("path = \"fuzz_targets/"))
            .map(|rest| rest.trim_end_matches(".rs\"").to_owned())
            .collect();
        let rows: Vec<String> = ROWS
            .iter()
            .map(|row| row.name.trim_end_matches("_per_s").to_owned())
            .collect();
        assert_eq!(targets, rows);
        for target in targets {
            assert!(fuzz.join("corpus").join(&target).is_dir(), "{target}");
        }
    }
}
