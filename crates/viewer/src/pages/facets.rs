//! What can be chosen in the list of trials, and how many trials each choice leaves.

use agon_report::{Group, Standing, Summary};
use serde::Serialize;

use super::overview::{NO_LEVEL, NO_LEVEL_ASKED};

/// How many trials there are of each outcome that a list can be narrowed down to.
pub(super) fn outcomes(overall: &Standing, running: u64) -> [(&'static str, u64); 5] {
    [
        ("passed", overall.passed),
        ("failed", overall.failed),
        ("faulted", overall.faulted),
        ("running", running),
        ("missing", overall.missing.saturating_sub(running)),
    ]
}

#[derive(Debug, Serialize)]
pub(super) struct Facets {
    level: Vec<Facet>,
    category: Vec<Facet>,
    fault: Vec<Facet>,
    outcome: Vec<Facet>,
}

#[derive(Debug, Serialize)]
struct Facet {
    name: String,
    trials: u64,
}

/// `running`: trials without a result that are being played; summaries count them as missing.
pub(super) fn facets(summary: &Summary, running: u64) -> Facets {
    let groups = |groups: &[Group]| -> Vec<Facet> {
        let facets = groups.iter().map(|group| Facet {
            name: match group.name.as_str() {
                NO_LEVEL => NO_LEVEL_ASKED.to_owned(),
                name => name.to_owned(),
            },
            trials: group.standing.trials,
        });
        facets.collect()
    };
    let overall = &summary.overall;
    let outcome = outcomes(overall, running);
    Facets {
        level: groups(&summary.levels),
        category: groups(&summary.categories),
        fault: summary
            .faults
            .iter()
            .map(|fault| Facet {
                name: fault.class.name().to_owned(),
                trials: fault.trials,
            })
            .collect(),
        outcome: outcome
            .map(|(name, trials)| Facet {
                name: name.to_owned(),
                trials,
            })
            .into(),
    }
}
