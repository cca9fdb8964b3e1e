//! The rows of `cargo xtask bench intervals`: how often 95 % intervals hold the truth of simulated runs, and how
//! wide they are. `docs/statistics.md` says what is simulated.

use super::lab::Lab;
use super::{Better, Figure, Row};
use crate::failure::Failure;

/// No scene may be covered less often.
const LEAST: f64 = 0.935;

pub(super) const ROWS: &[Row] = &[
    Row::aiming("coverage_2", "least", Better::Higher, LEAST, |lab| {
        program(lab, "coverage_2")
    }),
    Row::aiming("coverage_3", "least", Better::Higher, LEAST, |lab| {
        program(lab, "coverage_3")
    }),
    Row::aiming("coverage_10", "least", Better::Higher, LEAST, |lab| {
        program(lab, "coverage_10")
    }),
    Row::aiming("coverage_from_2", "least", Better::Higher, LEAST, |lab| {
        program(lab, "coverage_from_2")
    }),
    Row::aiming(
        "mean_coverage_from_10",
        "mean",
        Better::Lower,
        0.97,
        |lab| program(lab, "mean_coverage_from_10"),
    ),
    // Of yes/no scores: against the exact binomial interval.
    Row::aiming("width_ratio_10", "x exact", Better::Lower, 1.0, |lab| {
        program(lab, "width_ratio_10")
    }),
];

fn program(lab: &mut Lab, row: &str) -> Result<Figure, Failure> {
    lab.intervals
        .find(("agon-stats", "simulate_intervals"), row, &[], None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_simulation_is_known_to_it() {
        let program = include_str!("../../../crates/stats/examples/simulate_intervals/main.rs");
        for row in ROWS {
            assert!(
                program.contains(&format!("\"{}\"", row.name)),
                "{}",
                row.name
            );
        }
    }
}
