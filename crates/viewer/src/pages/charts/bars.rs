//! Rows with a bar each: scores with their intervals, seconds by who spent them, money.

use agon_core::TimeSplit;
use agon_report::{Group, clip, count, duration, maybe_percent, percent, range};

use super::{Px, Tick, WIDTH};
use crate::visible::plain;

const LABEL_LETTERS: usize = 11;
const BAR_X: f64 = 84.0;
const BAR: f64 = 146.0;
const ROW: f64 = 22.0;
const TOP: f64 = 4.0;
/// Rows of a chart: nobody compares more bars than that, and the list of trials has them all.
const MOST_ROWS: usize = 20;

#[derive(Debug)]
pub(crate) struct Bars {
    pub(crate) height: Px,
    /// Where the axis stands; below it the ticks.
    pub(crate) base: Px,
    pub(crate) ticks: Vec<Tick>,
    pub(crate) rows: Vec<Row>,
    /// What is left out, if anything is: `and 980 more`.
    pub(crate) more: Option<String>,
    pub(crate) words: String,
}

#[derive(Debug)]
pub(crate) struct Row {
    /// What the list of trials is narrowed down to when the row is clicked.
    pub(crate) filter: Option<String>,
    pub(crate) label: String,
    pub(crate) hint: String,
    pub(crate) y: Px,
    pub(crate) middle: Px,
    pub(crate) parts: Vec<Part>,
    pub(crate) whisker: Option<(Px, Px)>,
    pub(crate) value: String,
}

#[derive(Debug)]
pub(crate) struct Part {
    /// `f-agent`: a class of base.css.
    pub(crate) class: &'static str,
    pub(crate) x: Px,
    pub(crate) width: Px,
}

/// What a row is about, and what the list of trials is narrowed down to for it.
#[derive(Debug)]
pub(crate) struct Named<T> {
    pub(crate) name: String,
    pub(crate) filter: Option<String>,
    pub(crate) value: T,
}

impl Bars {
    /// Solid up to the floor, pale up to the score, a line for the interval.
    pub(crate) fn scores(groups: &[Named<&Group>]) -> Self {
        let at = |share: f64| Px(BAR_X + BAR * share.clamp(0.0, 1.0));
        let rows = groups.iter().map(|named| {
            let standing = &named.value.standing;
            let width = |share: f64| Px(BAR * share.clamp(0.0, 1.0));
            let part = |class, share| Part {
                class,
                x: Px(BAR_X),
                width: width(share),
            };
            let hint = format!(
                "{}: score {}, coverage {}; without faults {}, 95 % interval {}; {} passed, {} failed, {} faulted, {} missing",
                named.name,
                percent(standing.score_floor),
                percent(standing.coverage),
                maybe_percent(standing.score),
                range(standing.score_ci),
                standing.passed,
                standing.failed,
                standing.faulted,
                standing.missing,
            );
            let value = percent(standing.score_floor);
            Row {
                whisker: standing.score_ci.map(|ci| (at(ci.low), at(ci.high))),
                ..row(
                    named,
                    hint,
                    vec![
                        part("f-pale", standing.score.unwrap_or(0.0)),
                        part("f-accent", standing.score_floor),
                    ],
                    value,
                )
            }
        });
        let ticks = [0.0, 0.5, 1.0].map(|share| Tick {
            at: at(share),
            label: format!("{:.0} %", share * 100.0),
        });
        Self::of("Scores", rows.collect(), ticks.into())
    }

    /// Mean seconds of a trial.
    pub(crate) fn seconds(splits: &[Named<TimeSplit>]) -> Self {
        let longest = splits.iter().map(|named| named.value.total());
        let longest = longest.fold(0.0, f64::max);
        let scale = if longest > 0.0 { BAR / longest } else { 0.0 };
        let rows = splits.iter().map(|named| {
            let split = named.value;
            let mut x = BAR_X;
            let parts = [
                ("f-agent", split.agent),
                ("f-environment", split.environment),
                ("f-harness", split.harness),
            ]
            .map(|(class, seconds)| {
                let width = seconds.max(0.0) * scale;
                let part = Part {
                    class,
                    x: Px(x),
                    width: Px(width),
                };
                x += width;
                part
            });
            let hint = format!(
                "{}: {} per trial: agent {}, environment {}, harness {}",
                named.name,
                duration(split.total()),
                duration(split.agent),
                duration(split.environment),
                duration(split.harness),
            );
            row(named, hint, parts.into(), duration(split.total()))
        });
        Self::of("Mean time of a trial", rows.collect(), Vec::new())
    }

    /// Amounts that have a text of their own.
    pub(crate) fn amounts(title: &str, amounts: &[Named<(f64, String)>]) -> Self {
        let most = amounts
            .iter()
            .map(|named| named.value.0)
            .fold(0.0, f64::max);
        let scale = if most > 0.0 { BAR / most } else { 0.0 };
        let rows = amounts.iter().map(|named| {
            let (amount, text) = &named.value;
            let part = Part {
                class: "f-accent",
                x: Px(BAR_X),
                width: Px(amount.max(0.0) * scale),
            };
            let hint = format!("{}: {text}", named.name);
            row(named, hint, vec![part], text.clone())
        });
        Self::of(title, rows.collect(), Vec::new())
    }

    fn of(title: &str, mut rows: Vec<Row>, ticks: Vec<Tick>) -> Self {
        let left_out = rows.len().saturating_sub(MOST_ROWS) as u64;
        rows.truncate(MOST_ROWS);
        let more = (left_out > 0).then(|| format!("and {} more", count(left_out)));
        for (at, row) in rows.iter_mut().enumerate() {
            row.y = Px(TOP + at as f64 * ROW);
            row.middle = Px(TOP + at as f64 * ROW + ROW / 2.0);
        }
        let base = TOP + rows.len() as f64 * ROW + 2.0;
        let below = if more.is_some() { ROW } else { 0.0 };
        let hints = rows.iter().map(|row| row.hint.as_str());
        let hints: Vec<&str> = hints.chain(more.as_deref()).collect();
        Self {
            height: Px(below + if ticks.is_empty() { base } else { base + 16.0 }),
            base: Px(base),
            words: format!("{title}. {}.", hints.join(". ")),
            more,
            ticks,
            rows,
        }
    }

    pub(crate) fn width(&self) -> Px {
        Px(WIDTH)
    }
}

fn row<T>(named: &Named<T>, hint: String, parts: Vec<Part>, value: String) -> Row {
    Row {
        filter: named.filter.clone(),
        label: clip(&plain(&named.name), LABEL_LETTERS),
        hint: plain(&hint),
        y: Px(0.0),
        middle: Px(0.0),
        parts,
        whisker: None,
        value,
    }
}
