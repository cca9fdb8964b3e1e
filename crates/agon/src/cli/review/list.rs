//! Trials and what was said about them, a line each.

use agon_core::verdict::Outcome;
use agon_core::{Level, TaskId};
use agon_report::plain;
use agon_store::{Review, ReviewVerdict, Reviews, played_in};
use serde::Serialize;

use super::docket::{Case, disagreed};
use super::page::clip;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::output;

/// Characters of a comment that are shown; `--json` has all of it.
const COMMENT: usize = 1_000;

/// One trial, as a script sees it.
#[derive(Debug, Serialize)]
struct Row<'a> {
    task: &'a TaskId,
    epoch: u32,
    /// The one that was played.
    attempt: u32,
    name: &'a str,
    level: Option<Level>,
    /// Whether it is the attempt that counts.
    #[serde(rename = "final")]
    is_final: bool,
    checks: Outcome,
    score: f64,
    human: Option<Outcome>,
    outcome: Outcome,
    disagreed: bool,
    /// Everything that was ever said, in order.
    reviews: &'a [Review],
}

pub(super) fn show(cases: &[Case], reviews: &Reviews, json: bool) -> Result<Exit, Failure> {
    for case in cases {
        let line = &case.line;
        if json {
            let standing = reviews.verdict(line);
            output::json(&Row {
                task: &line.task,
                epoch: line.epoch,
                attempt: played_in(line),
                name: &case.name,
                level: case.level,
                is_final: line.is_final,
                checks: line.outcome,
                score: line.score,
                human: standing.and_then(|review| review.verdict.outcome()),
                outcome: reviews.outcome(line),
                disagreed: disagreed(line, reviews),
                reviews: reviews.history(line),
            })?;
        } else {
            output::data(&text(case, reviews))?;
        }
    }
    if !json {
        output::say(&total(cases, reviews));
    }
    Ok(Exit::Done)
}

fn text(case: &Case, reviews: &Reviews) -> String {
    let earlier = if case.line.is_final {
        String::new()
    } else {
        format!(" (attempt {}, played again)", played_in(&case.line))
    };
    let people = match reviews.verdict(&case.line) {
        Some(review) => said(review),
        None => "not reviewed".to_owned(),
    };
    let mark = if disagreed(&case.line, reviews) {
        '!'
    } else {
        ' '
    };
    let outcome = case.line.outcome.name();
    format!(
        "{mark} {}{earlier}: {outcome} by its checks; {people}",
        case.label()
    )
}

/// `passed, says anna: the title is right`.
pub(super) fn said(review: &Review) -> String {
    let who = match review.reviewer.as_str() {
        "" => "a person".to_owned(),
        name => plain(name),
    };
    let verdict = match review.verdict {
        ReviewVerdict::Pass => "passed",
        ReviewVerdict::Fail => "failed",
        ReviewVerdict::Clear => "taken back",
    };
    match review.comment.as_str() {
        "" => format!("{verdict}, says {who}"),
        comment => format!("{verdict}, says {who}: {}", clip(&plain(comment), COMMENT)),
    }
}

/// How far the reviewing has got, over the trials that count.
pub(super) fn total(cases: &[Case], reviews: &Reviews) -> String {
    let counted = || cases.iter().filter(|case| case.line.is_final);
    let reviewed = |case: &&Case| reviews.verdict(&case.line).is_some();
    let against = |case: &&Case| disagreed(&case.line, reviews);
    format!(
        "{} of {} reviewed, {} against the checks",
        counted().filter(reviewed).count(),
        output::count(counted().count() as u64, "trial"),
        counted().filter(against).count()
    )
}
