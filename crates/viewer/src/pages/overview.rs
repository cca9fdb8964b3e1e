//! What a run adds up to, as it is drawn on its page: cards, outcomes, the matrix of categories by levels and
//! charts. Fetched again while the run goes on. Whatever is clicked here narrows down the list of trials.

use askama::Template;

use agon_core::TimeSplit;
use agon_report::{Group, Standing, Summary, count, percent};
use agon_store::Manifest;

use super::cards::{Card, cards};
use super::caveats::{Caveat, caveats};
use super::charts::{Bars, Columns, Flow, Named};
use super::costs::{Costs, costs};
use super::embedded;
use super::facets::{self, facets};
use crate::error::ViewerError;
use crate::overview::Overview;
use crate::shape::RunCard;
use crate::visible::plain;

/// How summaries call tasks without a level, and how queries do.
pub(super) const NO_LEVEL: &str = "no level";
pub(super) const NO_LEVEL_ASKED: &str = "none";

/// Letters that a cell of the matrix has room for beside or below its score.
const SHORT: usize = 14;

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPart {
    revision: u64,
    /// Those of the list of trials that hold something.
    columns: String,
    caveats: Vec<Caveat>,
    cards: Vec<Card>,
    outcomes: Vec<Outcome>,
    matrix: Matrix,
    scores: Bars,
    /// What the scores are by.
    scores_by: &'static str,
    flow: Option<Flow>,
    times: Option<Bars>,
    /// Attempts that did not come to count took time too, which is part of that.
    earlier: bool,
    steps: Option<Columns>,
    costs: Option<Costs>,
    ends: Vec<Share>,
    faults: Vec<Share>,
    /// What can be chosen in the list of trials.
    facets: String,
}

struct Outcome {
    name: &'static str,
    count: String,
    /// In thousandths of the bar.
    x: u64,
    width: u64,
}

struct Matrix {
    heads: Vec<Head>,
    rows: Vec<MatrixLine>,
}

struct Head {
    name: String,
    filter: String,
}

struct MatrixLine {
    name: String,
    filter: String,
    cells: Vec<Option<MatrixCell>>,
}

struct MatrixCell {
    filter: String,
    /// From 0 to 10: how strong its colour is.
    heat: u32,
    value: String,
    /// Empty where there is no room for it.
    graded: String,
    hint: String,
}

struct Share {
    name: String,
    trials: String,
    /// Nothing where it can't be asked for.
    filter: Option<String>,
    example: String,
}

pub(crate) fn draw(
    card: &RunCard,
    manifest: &Manifest,
    overview: &Overview,
) -> Result<String, ViewerError> {
    let summary = &overview.summary;
    let levels = named(&summary.levels, |group| by_level(&group.name));
    let categories = named(&summary.categories, |group| {
        format!("category={}", encoded(&group.name))
    });
    let by_levels = levels.len() > 1 || levels.iter().any(|level| level.name != NO_LEVEL);
    let (scores_by, groups) = if by_levels {
        ("level", &levels)
    } else {
        ("category", &categories)
    };
    let part = OverviewPart {
        revision: overview.revision,
        columns: columns(summary),
        caveats: caveats(card, summary, overview.running),
        cards: cards(summary),
        outcomes: outcomes(&summary.overall, overview.running),
        matrix: matrix(summary),
        scores: Bars::scores(groups),
        scores_by,
        flow: Flow::of(&overview.timeline, summary.overall.trials),
        times: times(summary, groups),
        earlier: summary.marks.retried + summary.marks.rerun > 0,
        steps: summary
            .steps
            .as_ref()
            .filter(|_| summary.predictions.is_none())
            .map(Columns::steps),
        costs: costs(manifest, summary, by_levels),
        ends: ends(summary),
        faults: faults(summary),
        facets: embedded(&facets(summary, overview.running))?,
    };
    Ok(part.render()?)
}

/// Columns of the list of trials that not every run has something for.
fn columns(summary: &Summary) -> String {
    let usage = &summary.usage;
    let tokens = usage.input_tokens.unwrap_or(0) > 0 || usage.output_tokens.unwrap_or(0) > 0;
    let cost = usage.money.is_some() || usage.unpriced + usage.unpriced_calls > 0;
    let all = [
        ("measured", summary.measured.is_some()),
        ("tokens", tokens),
        ("cost", cost),
    ];
    let held = all.into_iter().filter(|(_, held)| *held);
    held.map(|(name, _)| name).collect::<Vec<_>>().join(" ")
}

fn named(groups: &[Group], filter: impl Fn(&Group) -> String) -> Vec<Named<&Group>> {
    let named = groups.iter().map(|group| Named {
        name: plain(&group.name),
        filter: Some(filter(group)),
        value: group,
    });
    named.collect()
}

pub(super) fn by_level(name: &str) -> String {
    let asked = if name == NO_LEVEL {
        NO_LEVEL_ASKED
    } else {
        name
    };
    format!("level={}", encoded(asked))
}

/// A value in a query string.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

fn outcomes(overall: &Standing, running: u64) -> Vec<Outcome> {
    let named = facets::outcomes(overall, running);
    // Of a run that does not go on nothing is said about it.
    let named = named
        .into_iter()
        .filter(|(name, trials)| *name != "running" || *trials > 0);
    let planned = overall.trials.max(1);
    let mut before = 0;
    let parts = named.map(|(name, trials)| {
        let x = before * 1000 / planned;
        before += trials;
        Outcome {
            name,
            count: count(trials),
            x,
            width: before * 1000 / planned - x,
        }
    });
    parts.collect()
}

fn matrix(summary: &Summary) -> Matrix {
    let heads = summary.levels.iter().map(|level| Head {
        name: level.name.clone(),
        filter: by_level(&level.name),
    });
    let cells = || summary.matrix.iter().flat_map(|row| &row.cells);
    let roomy = cells().all(|cell| graded_of(&cell.standing).len() <= SHORT);
    let rows = summary.matrix.iter().map(|row| {
        let category = format!("category={}", encoded(&row.category));
        let cells = summary.levels.iter().map(|level| {
            let standing = row.at(&level.name)?;
            let open = standing.faulted + standing.missing;
            Some(MatrixCell {
                filter: format!("{category}&{}", by_level(&level.name)),
                heat: (standing.score_floor * 10.0).round() as u32,
                value: format!("{:.0} %", standing.score_floor * 100.0),
                graded: if roomy {
                    graded_of(standing)
                } else {
                    String::new()
                },
                hint: format!(
                    "{}, {}: score {}, {} of {} graded trials passed, {open} not graded",
                    plain(&row.category),
                    level.name,
                    percent(standing.score_floor),
                    standing.passed,
                    standing.graded(),
                ),
            })
        });
        MatrixLine {
            name: plain(&row.category),
            cells: cells.collect(),
            filter: category,
        }
    });
    Matrix {
        heads: heads.collect(),
        rows: rows.collect(),
    }
}

/// Passed of graded, and how many are not graded: as a report says it.
fn graded_of(standing: &Standing) -> String {
    let counts = format!("{}/{}", standing.passed, standing.graded());
    match standing.trials - standing.graded() {
        0 => format!("({counts})"),
        open => format!("({counts}, {open} open)"),
    }
}

/// Mean seconds: of all trials, and by group where there are several.
fn times(summary: &Summary, groups: &[Named<&Group>]) -> Option<Bars> {
    let mean = |standing: &Standing| -> Option<TimeSplit> {
        let trials = standing.graded() + standing.faulted;
        (trials > 0).then(|| TimeSplit {
            agent: standing.seconds.agent / trials as f64,
            environment: standing.seconds.environment / trials as f64,
            harness: standing.seconds.harness / trials as f64,
        })
    };
    let mut splits = vec![Named {
        name: "all".to_owned(),
        filter: None,
        value: mean(&summary.overall)?,
    }];
    if groups.len() > 1 {
        splits.extend(groups.iter().filter_map(|group| {
            Some(Named {
                name: group.name.clone(),
                filter: group.filter.clone(),
                value: mean(&group.value.standing)?,
            })
        }));
    }
    Some(Bars::seconds(&splits))
}

fn ends(summary: &Summary) -> Vec<Share> {
    let ends = summary.turn_ends.iter().map(|end| Share {
        name: end.end.name().replace('_', " "),
        trials: count(end.trials),
        filter: None,
        example: String::new(),
    });
    ends.collect()
}

fn faults(summary: &Summary) -> Vec<Share> {
    let faults = summary.faults.iter().map(|fault| Share {
        name: fault.class.name().replace('_', " "),
        trials: count(fault.trials),
        filter: Some(format!("fault={}", fault.class.name())),
        example: plain(&fault.example),
    });
    faults.collect()
}

#[cfg(test)]
mod tests {
    use agon_store::TrialLine;
    use serde_json::{Value, json};

    use super::*;
    use crate::shape::{RunState, Timeline};

    fn digest(of: &str) -> String {
        agon_core::Digest::of(of.as_bytes()).to_string()
    }

    fn task(name: &str, level: Option<&str>) -> Value {
        json!({
            "task": name, "name": "<b>a name</b>", "level": level, "weight": 1.0, "steps": 10, "seconds": 60.0,
            "environment": "local", "key": digest(name), "played": digest(name),
        })
    }

    fn manifest(tasks: &[Value]) -> Manifest {
        let text = json!({
            "format": 1, "run": "r", "created": "2026-01-02T03:04:05Z", "agon": "0.1.0",
            "suites": [{"name": "s", "path": "s", "digest": digest("s")}],
            "agent": {"spec": "oracle"}, "seed": 1, "epochs": 1, "dates_from": "2026-01-02T03:04:05Z",
            "plan": digest("plan"), "checkers": "1", "tasks": tasks,
            "host": {"os": "o", "kernel": "k", "cpus": 1, "memory_mib": 1},
        });
        serde_json::from_value(text).unwrap()
    }

    fn line(task: &str, outcome: &str, fault: Option<&str>) -> TrialLine {
        let fault = fault.map(|message| json!({"class": "model", "message": message}));
        let text = json!({
            "task": task, "epoch": 1, "attempt": 1, "final": true, "outcome": outcome,
            "score": if outcome == "passed" { 1.0 } else { 0.0 }, "fault": fault, "end": "finished",
            "steps": 3, "seconds": {"agent": 1.0, "environment": 0.5, "harness": 0.25},
            "usage": {"input_tokens": 900, "output_tokens": 100, "calls": 1, "money": 1_234_500_000u64},
            "key": digest(task), "at": "2026-01-02T03:04:06Z",
            "events": {"file": "trials/segments/000001.jsonl", "at": 0, "bytes": 0},
        });
        serde_json::from_value(text).unwrap()
    }

    fn drawn(tasks: &[Value], lines: Vec<TrialLine>) -> String {
        let manifest = manifest(tasks);
        let overview = Overview {
            summary: Summary::collect(&manifest, lines),
            timeline: Timeline {
                t: vec![1.0, 2.0],
                passed: vec![0, 1],
                failed: vec![1, 1],
                faulted: vec![0, 0],
            },
            running: 0,
            revision: 7,
        };
        let card = RunCard {
            id: "r".to_owned(),
            path: "r".to_owned(),
            state: RunState::Stopped,
            suites: Vec::new(),
            agent: "oracle".to_owned(),
            models: Vec::new(),
            judge: None,
            created: None,
            last: None,
            planned: 1,
            passed: 0,
            failed: 0,
            faulted: 0,
            missing: 1,
            score: None,
            score_ci: None,
            score_floor: 0.0,
            coverage: 0.0,
            money: None,
            unpriced: false,
            seconds: 0.0,
            reviewed: 0,
            problems: vec!["a <torn> line".to_owned()],
        };
        draw(&card, &manifest, &overview).unwrap()
    }

    #[test]
    fn cells_and_bars_say_what_they_narrow_the_list_down_to() {
        let html = drawn(
            &[
                task("größe/one", Some("paper")),
                task("files/two", None),
                task("files/three", Some("gold")),
            ],
            vec![
                line("größe/one", "passed", None),
                line("files/two", "failed", None),
                line(
                    "files/three",
                    "faulted",
                    Some("</script><script>alert(1)</script> \u{202e}x"),
                ),
            ],
        );
        assert!(html.contains("data-filter=\"category=gr%C3%B6%C3%9Fe&#38;level=paper\""));
        assert!(html.contains("level=none"), "a task without a level");
        assert!(html.contains("data-filter=\"fault=model\""));
        assert!(html.contains("$3,703.50"), "what all attempts cost");
        assert!(html.contains("class=\"broken\">a &#60;torn&#62; line"));
        assert!(html.contains("data-revision=\"7\" data-columns=\"tokens cost\""));
        assert!(!html.contains("<script>alert"));
        assert!(!html.contains('\u{202e}'));
        assert!(
            !html.contains(" style="),
            "no attribute that the policy forbids"
        );
        assert!(!html.contains("NaN") && !html.contains("inf"));
    }

    /// As the list of trials has it, in which a trial that is played is not missing.
    #[test]
    fn trials_that_are_played_are_not_missing() {
        let manifest = manifest(&[task("files/one", None), task("files/two", None)]);
        let overall = Summary::collect(&manifest, Vec::new()).overall;
        let named = |running| {
            let parts = outcomes(&overall, running).into_iter();
            let parts = parts.map(|part| (part.name, part.count, part.width));
            parts.filter(|(.., width)| *width > 0).collect::<Vec<_>>()
        };
        let part = |name, count: &str, width| (name, count.to_owned(), width);
        assert_eq!(named(0), [part("missing", "2", 1000)]);
        assert_eq!(
            named(1),
            [part("running", "1", 500), part("missing", "1", 500)]
        );
    }

    /// As `agon report` has it: a score counts what is not graded as 0, and the counts beside it say how much that is.
    #[test]
    fn counts_of_a_cell_agree_with_its_score() {
        let tasks = ["files/one", "files/two", "files/three", "text/four"];
        let outcomes = [
            ("passed", None),
            ("failed", None),
            ("faulted", Some("gone")),
        ];
        let lines = tasks.iter().zip(outcomes);
        let html = drawn(
            &tasks.map(|name| task(name, Some("gold"))),
            lines
                .map(|(task, (outcome, fault))| line(task, outcome, fault))
                .collect(),
        );
        assert!(html.contains("<b>33 %</b> <span>(1/2, 1 open)</span>"));
        assert!(html.contains("1 of 2 graded trials passed, 1 not graded"));
        assert!(html.contains("<b>0 %</b> <span>(0/0, 1 open)</span>"));
        let html = drawn(
            &[task("files/one", None)],
            vec![line("files/one", "passed", None)],
        );
        assert!(html.contains("<b>100 %</b> <span>(1/1)</span>"));
    }

    #[test]
    fn a_run_without_results_is_drawn() {
        let html = drawn(&[task("files/two", None)], Vec::new());
        assert!(html.contains("1 missing"));
        assert!(html.contains("Score by category"));
        assert!(!html.contains("NaN"));
    }
}
