//! The head of a report: the numbers of one run as label and text, the same in every format that
//! people read.

use crate::confidence::{NO_INTERVAL, NO_MEASURED_INTERVAL};
use crate::people::People;
use crate::prediction::{Predictions, Rate};
use crate::run_report::RunReport;
use crate::summary::{Standing, Summary};
use crate::text::{
    count, duration, maybe_percent, measured_range, percent, range, time_split, value,
};

pub(crate) struct Fact {
    pub(crate) label: &'static str,
    pub(crate) value: String,
}

pub(crate) fn facts(run: &RunReport<'_>) -> Vec<Fact> {
    let mut facts = standing(&run.summary);
    facts.extend(details(&run.summary));
    facts
}

/// `25.0 % (faulted and missing trials as 0; coverage 25.0 %, 1 of 4 trials graded)`: the score never stands
/// without its coverage.
fn headline(overall: &Standing) -> String {
    format!(
        "{} (faulted and missing trials as 0; coverage {}, {} of {} trials graded)",
        percent(overall.score_floor),
        percent(overall.coverage),
        count(overall.graded()),
        count(overall.trials)
    )
}

/// Score, coverage and trials: never one without the others.
fn standing(summary: &Summary) -> Vec<Fact> {
    let overall = &summary.overall;
    let mut facts = Vec::new();
    let mut fact = |label, value| facts.push(Fact { label, value });
    let method = match overall.score_ci {
        Some(interval) => format!(
            "95 % interval {}, {}",
            range(Some(interval)),
            interval.method.name()
        ),
        None => NO_INTERVAL.to_owned(),
    };
    fact("score", headline(overall));
    fact(
        "without faults",
        format!("{} ({method})", maybe_percent(overall.score)),
    );
    fact(
        "trials",
        format!(
            "{} passed, {} failed, {} faulted, {} missing",
            count(overall.passed),
            count(overall.failed),
            count(overall.faulted),
            count(overall.missing)
        ),
    );
    facts
}

/// Everything that stands beside the score.
pub(crate) fn details(summary: &Summary) -> Vec<Fact> {
    let marks = &summary.marks;
    let mut facts = Vec::new();
    let mut fact = |label, value| facts.push(Fact { label, value });
    fact(
        "pass rate",
        format!(
            "{} ({})",
            maybe_percent(summary.pass_rate),
            range(summary.pass_rate_ci)
        ),
    );
    fact(
        "weighted score",
        format!(
            "{}; without faults {} ({})",
            percent(summary.weighted.score_floor),
            maybe_percent(summary.weighted.score),
            range(summary.weighted.score_ci)
        ),
    );
    if let Some(measured) = &summary.measured {
        let spread = &measured.overall;
        let ci = match spread.iqm_ci {
            Some(interval) => format!(
                "95 % interval {}, {}",
                measured_range(Some(interval)),
                interval.method.name()
            ),
            None => NO_MEASURED_INTERVAL.to_owned(),
        };
        fact(
            "measured",
            format!(
                "interquartile mean {} ({ci}); min {}, median {}, max {} in {} trials",
                value(spread.iqm),
                value(spread.min),
                value(spread.median),
                value(spread.max),
                count(spread.trials)
            ),
        );
    }
    if let Some(predictions) = &summary.predictions {
        facts.extend(predicted(predictions));
    }
    let mut fact = |label, value| facts.push(Fact { label, value });
    // Every prediction is one step.
    let steps = summary.steps.as_ref();
    if let Some(steps) = steps.filter(|_| summary.predictions.is_none()) {
        fact(
            "steps",
            format!(
                "mean {:.1}, median {:.1}, max {}",
                steps.mean, steps.median, steps.max
            ),
        );
    }
    fact("time", time_split(&summary.seconds.split));
    if let (Some(mean), Some(median), Some(max)) = (
        summary.seconds.mean,
        summary.seconds.median,
        summary.seconds.max,
    ) {
        fact(
            "time per trial",
            format!(
                "mean {}, median {}, max {}",
                duration(mean),
                duration(median),
                duration(max)
            ),
        );
    }
    fact("tokens", summary.usage.tokens_text());
    fact("money", summary.usage.money_text());
    if let Some(judge) = &summary.judge {
        fact(
            "judge",
            format!("{}; {}", judge.tokens_text(), judge.money_text()),
        );
    }
    if let Some(people) = &summary.people {
        fact("people", reviewed(people));
    }
    fact(
        "attempts",
        format!(
            "{} recorded; {} never ended, {} retried, {} rerun, {} tainted, {} with signs of tampering",
            count(marks.attempts),
            count(marks.never_ended),
            count(marks.retried),
            count(marks.rerun),
            count(marks.tainted),
            count(marks.integrity)
        ),
    );
    facts
}

/// `3 reviewed by anna: 2 passed, 1 failed; against the checks in 1 of 3 (33.3 %, 6.1 to 79.2 %)`.
fn reviewed(people: &People) -> String {
    let who = match people.reviewers.as_slice() {
        [] => String::new(),
        names => format!(" by {}", names.join(", ")),
    };
    format!(
        "{} reviewed{who}: {} passed, {} failed; against the checks in {} of {} ({}, {})",
        count(people.reviewed),
        count(people.passed),
        count(people.failed),
        count(people.disagreed()),
        count(people.compared()),
        maybe_percent(people.disagreement),
        range(people.disagreement_ci)
    )
}

/// What there is to say about predictions beside their scores.
fn predicted(predictions: &Predictions) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut fact = |label, value| facts.push(Fact { label, value });
    let rate = |rate: &Rate| {
        format!(
            "{} ({}), {} of {}",
            maybe_percent(rate.share),
            range(rate.share_ci),
            count(rate.count),
            count(rate.of)
        )
    };
    fact("parsed", rate(&predictions.overall.parsed));
    fact(predictions.exact_name(), rate(&predictions.overall.exact));
    if let Some(distances) = &predictions.distances {
        fact(
            "distance",
            format!(
                "median {}, mean {}, max {} of the diagonal; median {}, mean {} pixels; {} points",
                far(distances.median),
                far(distances.mean),
                far(distances.max),
                pixels(distances.median_pixels),
                pixels(distances.mean_pixels),
                count(distances.points)
            ),
        );
    }
    facts
}

/// A model may name any point; the digits of one beyond all screens say nothing.
fn far(share: f64) -> String {
    if share > 100.0 {
        "over 10,000 %".to_owned()
    } else {
        percent(share)
    }
}

fn pixels(distance: f64) -> String {
    if distance > 1e6 {
        "over 1,000,000".to_owned()
    } else {
        value(distance)
    }
}
