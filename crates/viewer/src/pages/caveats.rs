//! What a reader must know before believing the numbers of a run.

use agon_report::Summary;

use crate::shape::RunCard;
use crate::visible::plain;

#[derive(Debug)]
pub(super) struct Caveat {
    /// `broken`, `grave`, `mild`: a class of base.css.
    pub(super) class: &'static str,
    pub(super) text: String,
}

/// What can't be read before what is in doubt before what is good to know.
pub(super) fn caveats(card: &RunCard, summary: &Summary) -> Vec<Caveat> {
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
            text: plain(&caveat.text),
        }));
    }
    said
}
