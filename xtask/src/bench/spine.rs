//! The rows of `cargo xtask bench spine`: what the harness itself costs, with the durable run folder
//! on. Agon is driven from outside, as a user would. The fixed references are those of Inspect AI
//! 0.3.285 on a 2-core machine; the others are measured beside Agon in the same row.

use std::process::Stdio;
use std::time::Instant;

use super::lab::Lab;
use super::process::median;
use super::{Better, Figure, Row, bare, suites};
use crate::debian::{self, BUBBLEWRAP};
use crate::failure::{Failure, Trying};
use crate::{rootfs, test};

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "turns_per_s",
        unit: "turns/s",
        better: Better::Higher,
        target: Some(10_000.0),
        measure: turns_per_s,
    },
    Row {
        name: "trials_10k_s",
        unit: "s",
        better: Better::Lower,
        target: Some(4.0),
        measure: trials_10k_s,
    },
    Row {
        name: "rss_1k_mb",
        unit: "MB",
        better: Better::Lower,
        target: Some(150.0),
        measure: rss_1k_mb,
    },
    Row {
        name: "rss_100k_mb",
        unit: "MB",
        better: Better::Lower,
        target: Some(150.0),
        measure: rss_100k_mb,
    },
    Row {
        name: "local_trials_per_s",
        unit: "trials/s",
        better: Better::Higher,
        target: Some(60.0),
        measure: local_trials_per_s,
    },
    Row {
        name: "container_overhead_ratio",
        unit: "x bare",
        better: Better::Lower,
        target: Some(1.25),
        measure: container_overhead_ratio,
    },
    Row {
        name: "version_ms",
        unit: "ms",
        better: Better::Lower,
        target: Some(10.0),
        measure: version_ms,
    },
    Row {
        name: "resume_100k_ms",
        unit: "ms",
        better: Better::Lower,
        target: Some(1000.0),
        measure: resume_100k_ms,
    },
];

/// 500 conversations of 20 turns. Reference: 200 samples with 20 tool turns.
fn turns_per_s(lab: &mut Lab) -> Result<Figure, Failure> {
    let (tasks, epochs) = (100, 5);
    let suite = suites::talk(lab.folder(), tasks)?;
    let run = lab.plan("talk", suite, tasks, epochs);
    let measured = lab.run(&run)?;
    let turns = run.trials * u64::from(suites::TURNS);
    Ok(Figure::against(turns as f64 / measured.seconds, 83.0))
}

/// Reference: 10,000 one-turn samples.
fn trials_10k_s(lab: &mut Lab) -> Result<Figure, Failure> {
    let suite = suites::answer(lab.folder(), 100)?;
    let measured = lab.run(&lab.plan("10k", suite, 100, 100))?;
    Ok(Figure::against(measured.seconds, 180.0))
}

/// Reference: 1,000 one-turn samples.
fn rss_1k_mb(lab: &mut Lab) -> Result<Figure, Failure> {
    let suite = suites::answer(lab.folder(), 100)?;
    let measured = lab.run(&lab.plan("1k", suite, 100, 10))?;
    Ok(Figure::against(measured.peak_mb, 307.0))
}

/// Reference: 10,000 one-turn samples, a tenth of ours; more were not measured.
fn rss_100k_mb(lab: &mut Lab) -> Result<Figure, Failure> {
    let (_, peak_mb) = lab.large_run()?;
    Ok(Figure::against(peak_mb, 470.0))
}

/// A trial starts two sandboxes: one for the agent, a fresh one for the check. Reference: pairs of
/// bare bubblewrap starts, half of them before and half of them after.
fn local_trials_per_s(lab: &mut Lab) -> Result<Figure, Failure> {
    let (tasks, epochs, workers) = (100, 3, 4);
    debian::install(&[BUBBLEWRAP])?;
    let suite = suites::local(lab.folder(), tasks)?;
    let mut run = lab.plan("local", suite, tasks, epochs);
    run.workers = Some(workers);
    let before = bare::bwrap_seconds(tasks * epochs, workers)?;
    let measured = lab.run(&run)?;
    let after = bare::bwrap_seconds(tasks * epochs, workers)?;
    let trials = run.trials as f64;
    Ok(Figure::against(
        trials / measured.seconds,
        trials / (before + after),
    ))
}

/// One trial after the other against create, start, two execs and remove by the bare API, half of
/// them before and half of them after.
fn container_overhead_ratio(lab: &mut Lab) -> Result<Figure, Failure> {
    let tasks = 20;
    test::install_packages()?;
    let engine = test::engine_with_image()?;
    let image = format!("{}:latest", rootfs::IMAGE);
    let suite = suites::container(lab.folder(), tasks, &image)?;
    let mut run = lab.plan("container", suite, tasks, 1);
    run.workers = Some(1);
    run.docker_host = Some(engine.api().docker_host());
    let before = bare::container_seconds(engine.api(), &image, tasks / 2)?;
    let measured = lab.run(&run)?;
    let after = bare::container_seconds(engine.api(), &image, tasks / 2)?;
    Ok(Figure::against(measured.seconds / (before + after), 1.0))
}

/// The median of 50 starts. Reference: the start of `inspect --version`.
fn version_ms(lab: &mut Lab) -> Result<Figure, Failure> {
    let mut milliseconds = Vec::new();
    let mut command = lab.start_version()?;
    for _ in 0..50 {
        let started = Instant::now();
        let status = command
            .stdout(Stdio::null())
            .status()
            .trying("run `agon --version`")?;
        milliseconds.push(started.elapsed().as_secs_f64() * 1e3);
        if !status.success() {
            return Err(Failure::new(format!("`agon --version` failed: {status}")));
        }
    }
    let median = median(milliseconds).ok_or_else(|| Failure::new("nothing was measured"))?;
    Ok(Figure::against(median, 2100.0))
}

/// The same command once more: everything is there, nothing is left to run.
fn resume_100k_ms(lab: &mut Lab) -> Result<Figure, Failure> {
    let (run, _) = lab.large_run()?;
    let measured = lab.run(&run)?;
    Ok(Figure::alone(measured.seconds * 1e3))
}
