//! Runs against each other: the figures of a comparison as a page, with the beginning of its list of tasks.

use std::sync::Arc;

use agon_report::{clip, count, duration, maybe_percent, run_sign};
use askama::Template;
use serde::Serialize;

use crate::compare as comparing;
use crate::error::ViewerError;
use crate::library::Run;
use crate::pages::suites::suites;
use crate::pages::{Frame, embedded};
use crate::shape::{ComparedRun, Paired, Shown, TaskPage, TaskQuery, TaskSort};
use crate::visible::plain;

/// Tasks that a page begins with: more than a screen has room for.
const FIRST: u64 = 100;
/// Half the width of a drawn interval, and where its 0 is.
const HALF: f64 = 150.0;
const ZERO: f64 = 160.0;
/// Width of a bar of tasks.
const BAR: f64 = 320.0;
const NONE: &str = "–";

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparePage {
    frame: Frame,
    pairs: Vec<PairView>,
    runs: Vec<RunView>,
    common: String,
    caveats: Vec<String>,
    data: String,
}

struct PairView {
    words: String,
    /// The difference on a line with 0 in its middle, where there is one.
    drawn: Option<DrawnDifference>,
    parts: Vec<PartView>,
}

struct DrawnDifference {
    x: String,
    low: String,
    high: String,
    /// What both ends of the line stand for.
    least: String,
    most: String,
}

/// Tasks of a pair, as a part of a bar.
struct PartView {
    name: &'static str,
    /// Of the fill.
    class: &'static str,
    count: String,
    x: String,
    width: String,
}

struct RunView {
    sign: String,
    href: String,
    id: String,
    suites: String,
    agent: String,
    models: String,
    score: String,
    steps: String,
    seconds: String,
    money: String,
    graded: String,
    faulted: String,
}

/// Of the tasks only as many as are seen at first: the others are asked for when they are looked at.
#[derive(Serialize)]
struct CompareData<'a> {
    runs: &'a [ComparedRun],
    query: Asked<'a>,
    page: TaskPage,
}

/// What the page is of, as its address says it.
#[derive(Serialize)]
struct Asked<'a> {
    q: &'a str,
    show: Shown,
    against: usize,
    sort: String,
    desc: bool,
}

impl<'a> Asked<'a> {
    fn of(query: &'a TaskQuery) -> Self {
        Self {
            q: &query.q,
            show: query.show,
            against: query.against,
            sort: match query.sort {
                TaskSort::Difference => "difference".to_owned(),
                TaskSort::Task => "task".to_owned(),
                TaskSort::Level => "level".to_owned(),
                TaskSort::Run(place) => run_sign(place),
            },
            desc: query.desc,
        }
    }
}

/// The first run is what the others are compared with.
pub(crate) fn compare(
    frame: Frame,
    runs: &[Arc<Run>],
    query: &TaskQuery,
) -> Result<String, ViewerError> {
    let found = comparing::compare(runs)?;
    let reach = reach(&found.pairs);
    let frame = frame
        .titled(format!("{} runs compared", found.runs.len()))
        .at("compare")
        .under_runs();
    let page = ComparePage {
        pairs: found
            .pairs
            .iter()
            .map(|pair| pair_view(pair, reach))
            .collect(),
        runs: found
            .runs
            .iter()
            .map(|run| run_view(&frame, run, &found.runs[0]))
            .collect(),
        common: count(found.common),
        caveats: found.caveats.iter().map(|text| plain(text)).collect(),
        data: embedded(&CompareData {
            runs: &found.runs,
            query: Asked::of(query),
            page: comparing::page(&found, query, 0, FIRST),
        })?,
        frame,
    };
    Ok(page.render()?)
}

/// How much the drawn lines reach to either side: the same for all, so that they can be compared.
fn reach(pairs: &[Paired]) -> f64 {
    let most = pairs
        .iter()
        .flat_map(|pair| {
            let ends = pair.difference_ci.map(|ci| [ci.low, ci.high]);
            pair.difference
                .into_iter()
                .chain(ends.into_iter().flatten())
        })
        .map(f64::abs)
        .fold(0.0, f64::max);
    let steps = [0.1, 0.2, 0.5];
    steps.into_iter().find(|step| most <= *step).unwrap_or(1.0)
}

fn pair_view(pair: &Paired, reach: f64) -> PairView {
    let at = |share: f64| format!("{:.1}", ZERO + share / reach * HALF);
    let drawn = pair.difference.map(|difference| {
        let (low, high) = pair
            .difference_ci
            .map_or((difference, difference), |ci| (ci.low, ci.high));
        DrawnDifference {
            x: at(difference),
            low: at(low),
            high: at(high),
            least: format!("−{:.0}", reach * 100.0),
            most: format!("+{:.0}", reach * 100.0),
        }
    });
    let mut from = 0.0;
    let parts = [
        ("gained", "f-passed", pair.gained),
        ("lost", "f-failed", pair.lost),
        ("both", "f-accent", pair.both),
        ("neither", "f-missing", pair.neither),
    ];
    PairView {
        words: unbroken(&plain(&pair.words)),
        drawn,
        parts: parts
            .map(|(name, class, tasks)| {
                let width = tasks as f64 / pair.tasks.max(1) as f64 * BAR;
                let x = from;
                from += width;
                PartView {
                    name,
                    class,
                    count: count(tasks),
                    x: format!("{x:.1}"),
                    width: format!("{width:.1}"),
                }
            })
            .into(),
    }
}

/// Numbers stay with what they are of, and a minus is one.
fn unbroken(words: &str) -> String {
    words
        .replace(" p = ", " p\u{a0}=\u{a0}")
        .replace(" p < ", " p\u{a0}<\u{a0}")
        .replace("95 %", "95\u{a0}%")
        .replace(" -", " −")
}

fn run_view(frame: &Frame, run: &ComparedRun, first: &ComparedRun) -> RunView {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
    let against = |own: Option<f64>, other: Option<f64>| match (own, other) {
        (Some(own), Some(other)) if run.id != first.id && other > 0.0 => times(own / other),
        _ => String::new(),
    };
    let bound = if run.unpriced { "≥ " } else { "" };
    RunView {
        sign: run.sign.clone(),
        href: frame.run(&run.id),
        id: run.id.clone(),
        suites: clip(&suites(&run.suites), 80),
        agent: clip(&plain(&run.agent), 80),
        models: clip(&plain(&run.models.join(", ")), 80),
        score: maybe_percent(run.score),
        steps: or_none(
            run.steps
                .map(|steps| format!("{steps:.1}{}", against(run.steps, first.steps))),
        ),
        seconds: or_none(
            run.seconds
                .map(|own| duration(own) + &against(run.seconds, first.seconds)),
        ),
        money: or_none(
            run.money
                .map(|money| format!("{bound}${money:.4}{}", against(run.money, first.money))),
        ),
        graded: format!("{} of {}", count(run.graded), count(run.tasks)),
        faulted: count(run.faulted),
    }
}

/// ` (−12 %)`, ` (13.5 ×)`; nothing where both are nearly the same.
fn times(ratio: f64) -> String {
    let by = ((ratio - 1.0) * 100.0).round();
    match by {
        100.0.. => format!(" ({ratio:.1} ×)"),
        1.0.. => format!(" (+{by} %)"),
        ..=-1.0 => format!(" (−{} %)", by.abs()),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_and_less_are_told_as_people_say_it() {
        assert_eq!(times(1.004), "");
        assert_eq!(times(0.5), " (−50 %)");
        assert_eq!(times(1.25), " (+25 %)");
        assert_eq!(times(13.46), " (13.5 ×)");
    }

    #[test]
    fn drawn_lines_reach_as_far_as_the_farthest_interval() {
        let pair = |difference: f64| Paired {
            run: String::new(),
            tasks: 4,
            gained: 2,
            lost: 1,
            both: 1,
            neither: 0,
            p_value: None,
            difference: Some(difference),
            difference_ci: None,
            words: "p = 0.1".to_owned(),
        };
        assert_eq!(reach(&[pair(0.05), pair(-0.15)]), 0.2);
        assert_eq!(reach(&[pair(0.9)]), 1.0);
        assert_eq!(reach(&[]), 0.1);
        let view = pair_view(&pair(-0.1), 0.2);
        let drawn = view.drawn.unwrap();
        assert_eq!((drawn.x.as_str(), drawn.most.as_str()), ("85.0", "+20"));
        let widths: Vec<&str> = view.parts.iter().map(|part| part.width.as_str()).collect();
        assert_eq!(widths, ["160.0", "80.0", "80.0", "0.0"]);
    }
}
