//! What can be chosen in the list of trials, and how many trials each choice leaves.

use agon_report::{Group, Summary};
use serde::Serialize;

use super::overview::{NO_LEVEL, NO_LEVEL_ASKED};

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

pub(super) fn facets(summary: &Summary) -> Facets {
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
    let outcome = [
        ("passed", overall.passed),
        ("failed", overall.failed),
        ("faulted", overall.faulted),
        ("missing", overall.missing),
    ];
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
