//! What a reader must know before believing the numbers of a run.

use agon_report::{CaveatKind, Standing, Summary, count};

use crate::shape::RunCard;
use crate::visible::plain;

#[derive(Debug)]
pub(super) struct Caveat {
    /// `broken`, `grave`, `mild`: a class of base.css.
    pub(super) class: &'static str,
    pub(super) text: String,
}

/// What can't be read before what is in doubt before what is good to know. `running`: trials without a result
/// that are being played.
pub(super) fn caveats(card: &RunCard, summary: &Summary, running: u64) -> Vec<Caveat> {
    let problems = card.problems.iter().map(|problem| Caveat {
        class: "broken",
        text: plain(problem),
    });
    let mut said: Vec<Caveat> = problems.collect();
    for grave in [true, false] {
        let chosen = summary
            .caveats
            .iter()
            .filter(|caveat| caveat.kind.is_grave() == grave);
        said.extend(chosen.map(|caveat| Caveat {
            class: if grave { "grave" } else { "mild" },
            text: match caveat.kind {
                CaveatKind::Coverage if running > 0 => covered(&summary.overall, running),
                _ => plain(&caveat.text),
            },
        }));
    }
    said
}

/// As a report says it, which counts trials that are being played as missing; nothing else on the page does.
fn covered(overall: &Standing, running: u64) -> String {
    let trials = if overall.trials == 1 {
        "trial"
    } else {
        "trials"
    };
    format!(
        "Graded: only {} of {} {trials} ({} faulted, {} running, {} missing). The score speaks of those; the floor counts the rest as 0.",
        count(overall.graded()),
        count(overall.trials),
        count(overall.faulted),
        count(running),
        count(overall.missing.saturating_sub(running)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_that_are_played_are_not_missing() {
        let overall = Standing {
            trials: 8,
            passed: 3,
            failed: 2,
            faulted: 1,
            missing: 2,
            ..Standing::default()
        };
        let said = |running| covered(&overall, running);
        assert!(
            said(2).starts_with("Graded: only 5 of 8 trials (1 faulted, 2 running, 0 missing).")
        );
        assert!(said(1).contains("(1 faulted, 1 running, 1 missing)"));
    }
}
