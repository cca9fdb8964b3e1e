//! The rows of `cargo xtask bench viewer`: how soon pages can be worked with, in a real browser, on
//! generated runs; what the index takes in; how soon a live run shows what it writes, and what that costs.

use super::lab::Lab;
use super::{Better, Figure, Row};
use crate::debian::{self, CODING};
use crate::failure::Failure;

pub(super) const ROWS: &[Row] = &[
    row("open_10k_trials_ms", "ms", Better::Lower, 500.0, |lab| {
        measure(lab, "open_10k_trials_ms")
    }),
    row("filter_10k_ms", "ms", Better::Lower, 100.0, |lab| {
        measure(lab, "filter_10k_ms")
    }),
    row("server_mb", "MB", Better::Lower, 200.0, |lab| {
        measure(lab, "server_mb")
    }),
    row(
        "index_trials_per_s",
        "trials/s",
        Better::Higher,
        20_000.0,
        |lab| measure(lab, "index_trials_per_s"),
    ),
    row("open_5k_step_trial_ms", "ms", Better::Lower, 500.0, |lab| {
        measure(lab, "open_5k_step_trial_ms")
    }),
    row("next_step_ms", "ms", Better::Lower, 50.0, |lab| {
        measure(lab, "next_step_ms")
    }),
    row("live_event_ms", "ms", Better::Lower, 300.0, |lab| {
        measure(lab, "live_event_ms")
    }),
    row("live_core_share", "of a core", Better::Lower, 0.02, |lab| {
        measure(lab, "live_core_share")
    }),
];

const fn row(
    name: &'static str,
    unit: &'static str,
    better: Better,
    target: f64,
    measure: fn(&mut Lab) -> Result<Figure, Failure>,
) -> Row {
    Row::aiming(name, unit, better, target, measure)
}

fn measure(lab: &mut Lab, row: &str) -> Result<Figure, Failure> {
    debian::install(&CODING)?;
    let agon = lab.agon()?.display().to_string();
    let folder = lab.folder().display().to_string();
    let program = ("agon-testkit", "measure_viewer");
    lab.viewer.find(program, row, &[&agon, &folder], None)
}
