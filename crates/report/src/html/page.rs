//! What the HTML template shows. Foreign texts lose their control characters here and are escaped by
//! the template.

use askama::Template;

use super::chart::{BarChart, HeatMap, ScoreChart, TimeChart};
use super::predictions::{self, PredictionsView};
use crate::asked::asked;
use crate::caveat::Caveat;
use crate::comparison::{Comparison, paired, paired_sheets};
use crate::confidence::NO_INTERVAL;
use crate::error::ReportError;
use crate::facts::{Fact, details};
use crate::prediction_sheets::DISTANCES;
use crate::run_report::{RunReport, Trial};
use crate::sheet::{ColumnKind, DISAGREEMENTS, MATRIX, Sheet, comparison, sheets};
use crate::text::{NONE, clip, count, duration, maybe_percent, percent, plain, range};

/// A run with more trials lists only those that did not pass, and no more than this.
const LISTED: usize = 5_000;
/// As many columns fit into half of the page.
const NARROW: usize = 6;

#[derive(Template)]
#[template(path = "page.html")]
struct Page {
    title: String,
    comparison: Option<ComparisonView>,
    runs: Vec<RunView>,
}

/// The runs side by side, and paired by task.
struct ComparisonView {
    runs: SheetView,
    words: Vec<String>,
    caveats: Vec<String>,
    sheets: Vec<SheetView>,
}

struct RunView {
    /// Tells the controls of several runs on one page apart.
    number: usize,
    suites: String,
    agent: String,
    run: String,
    stamp: String,
    /// Which models.
    asked: Option<String>,
    caveats: Vec<CaveatView>,
    cards: Vec<Card>,
    outcomes: Vec<OutcomeShare>,
    facts: Vec<Fact>,
    /// By level, by category and by both; predictions have no levels.
    levels: Option<LevelCharts>,
    categories: ScoreChart,
    times: TimeChart,
    steps: Option<BarChart>,
    predictions: Option<PredictionsView>,
    /// Tables small enough to stand among the charts, and the others.
    narrow: Vec<SheetView>,
    wide: Vec<SheetView>,
    trials: Vec<TrialView>,
    trials_note: Option<String>,
}

struct LevelCharts {
    scores: ScoreChart,
    heat: HeatMap,
}

struct CaveatView {
    class: &'static str,
    texts: Vec<String>,
}

struct Card {
    label: &'static str,
    value: String,
    note: String,
}

struct OutcomeShare {
    name: &'static str,
    count: String,
    /// Of the planned trials, in percent.
    share: String,
}

struct SheetView {
    title: &'static str,
    heads: Vec<CellView>,
    rows: Vec<Vec<CellView>>,
    note: Option<String>,
}

struct CellView {
    class: &'static str,
    text: String,
}

struct TrialView {
    name: String,
    title: String,
    level: String,
    outcome: &'static str,
    score: String,
    steps: String,
    time: String,
    marks: String,
    why: String,
}

pub(crate) fn render(runs: &[RunReport<'_>]) -> Result<String, ReportError> {
    let views: Result<Vec<RunView>, ReportError> = runs.iter().enumerate().map(run_view).collect();
    let page = Page {
        title: match runs {
            [run] => plain(&format!("{} by {}", run.suites(), run.manifest.agent.spec)),
            _ => format!("{} runs", runs.len()),
        },
        comparison: paired(runs)?.map(|found| comparison_view(runs, &found)),
        runs: views?,
    };
    let mut html = page.render()?;
    html.push('\n');
    Ok(html)
}

fn comparison_view(runs: &[RunReport<'_>], found: &Comparison) -> ComparisonView {
    let sheets = paired_sheets(found).into_iter().map(sheet_view);
    ComparisonView {
        runs: sheet_view(comparison(runs)),
        words: found.pairs.iter().map(|pair| plain(&pair.words)).collect(),
        caveats: found.caveats.iter().map(|text| plain(text)).collect(),
        sheets: sheets.collect(),
    }
}

fn run_view((number, run): (usize, &RunReport<'_>)) -> Result<RunView, ReportError> {
    let (manifest, summary) = (run.manifest, &run.summary);
    let (trials, trials_note) = trial_views(run)?;
    // Every prediction is one step.
    let steps = summary.steps.as_ref();
    let steps = steps.filter(|_| summary.predictions.is_none());
    let stamp = format!(
        "{}, epochs {}, seed {}, agon {}, {}",
        manifest.created, manifest.epochs, manifest.seed, manifest.agon, manifest.host.os
    );
    let tables = sheets(summary)
        .into_iter()
        .filter(|sheet| ![MATRIX, DISTANCES].contains(&sheet.title));
    let (narrow, wide) = tables
        .map(sheet_view)
        .partition(|sheet| sheet.heads.len() <= NARROW && sheet.title != DISAGREEMENTS);
    Ok(RunView {
        number,
        suites: plain(&run.suites()),
        agent: plain(&manifest.agent.spec),
        run: plain(&manifest.run),
        stamp: plain(&stamp),
        asked: asked(manifest).map(|asked| plain(&asked)),
        caveats: caveat_views(&summary.caveats),
        cards: cards(run),
        outcomes: outcomes(run),
        facts: details(summary)
            .into_iter()
            .map(|fact| Fact {
                value: plain(&fact.value),
                ..fact
            })
            .collect(),
        levels: summary.predictions.is_none().then(|| LevelCharts {
            scores: ScoreChart::of(&summary.levels),
            heat: HeatMap::of(summary),
        }),
        categories: ScoreChart::of(&summary.categories),
        times: TimeChart::of(summary),
        steps: steps.map(BarChart::of_steps),
        predictions: match &summary.predictions {
            Some(found) => Some(predictions::view(run, found)?),
            None => None,
        },
        narrow,
        wide,
        trials,
        trials_note,
    })
}

/// Grave ones together and before the others.
fn caveat_views(caveats: &[Caveat]) -> Vec<CaveatView> {
    let texts = |grave: bool| -> Vec<String> {
        let chosen = caveats
            .iter()
            .filter(|caveat| caveat.kind.is_grave() == grave);
        chosen.map(|caveat| plain(&caveat.text)).collect()
    };
    let views = [("grave", texts(true)), ("mild", texts(false))];
    views
        .into_iter()
        .filter(|(_, texts)| !texts.is_empty())
        .map(|(class, texts)| CaveatView { class, texts })
        .collect()
}

fn cards(run: &RunReport<'_>) -> Vec<Card> {
    let (summary, overall) = (&run.summary, &run.summary.overall);
    let score_note = match overall.score_ci {
        Some(ci) => format!("{} ({})", range(Some(ci)), ci.method.name()),
        None => NO_INTERVAL.to_owned(),
    };
    vec![
        Card {
            label: "Score",
            value: percent(overall.score_floor),
            note: format!(
                "coverage {}, {} of {} trials graded",
                percent(overall.coverage),
                count(overall.graded()),
                count(overall.trials)
            ),
        },
        Card {
            label: "Without faults",
            value: maybe_percent(overall.score),
            note: score_note,
        },
        Card {
            label: "Weighted",
            value: percent(summary.weighted.score_floor),
            note: format!("without faults {}", maybe_percent(summary.weighted.score)),
        },
    ]
}

fn outcomes(run: &RunReport<'_>) -> Vec<OutcomeShare> {
    let overall = &run.summary.overall;
    let named = [
        ("passed", overall.passed),
        ("failed", overall.failed),
        ("faulted", overall.faulted),
        ("missing", overall.missing),
    ];
    let planned = overall.trials.max(1) as f64;
    named
        .map(|(name, trials)| OutcomeShare {
            name,
            count: count(trials),
            share: format!("{:.2}", trials as f64 / planned * 100.0),
        })
        .into()
}

fn sheet_view(sheet: Sheet) -> SheetView {
    let classes: Vec<&'static str> = sheet
        .columns
        .iter()
        .map(|column| match column.kind {
            ColumnKind::Text => "text",
            ColumnKind::Number => "number",
        })
        .collect();
    let cells = |texts: Vec<String>| -> Vec<CellView> {
        let classed = classes.iter().zip(texts);
        classed
            .map(|(class, text)| CellView {
                class,
                text: plain(&text),
            })
            .collect()
    };
    SheetView {
        title: sheet.title,
        heads: cells(
            sheet
                .columns
                .into_iter()
                .map(|column| column.name)
                .collect(),
        ),
        rows: sheet.rows.into_iter().map(cells).collect(),
        note: sheet.note,
    }
}

fn trial_views(run: &RunReport<'_>) -> Result<(Vec<TrialView>, Option<String>), ReportError> {
    let all = run.summary.overall.trials <= LISTED as u64;
    let mut rows = Vec::new();
    let mut left_out = 0u64;
    run.each_trial(|trial| {
        if rows.len() < LISTED && (all || !trial.passed()) {
            rows.push((
                trial.task.task.clone(),
                trial.epoch,
                trial_view(run, &trial),
            ));
        } else {
            left_out += 1;
        }
    })?;
    rows.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    let note = (left_out > 0).then(|| {
        format!(
            "{} of {} trials are listed: only those that did not pass, and at most {}. The CSV report holds all.",
            count(rows.len() as u64),
            count(run.summary.overall.trials),
            count(LISTED as u64)
        )
    });
    Ok((rows.into_iter().map(|(_, _, view)| view).collect(), note))
}

fn trial_view(run: &RunReport<'_>, trial: &Trial<'_>) -> TrialView {
    let line = trial.line.as_ref();
    let known = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
    TrialView {
        name: trial.name(run.manifest.epochs),
        title: clip(&plain(&trial.task.name), 200),
        level: known(trial.task.level.map(|level| level.to_string())),
        outcome: trial.outcome(),
        score: maybe_percent(trial.score()),
        steps: known(line.map(|line| line.steps.to_string())),
        time: known(line.map(|line| duration(line.seconds.total()))),
        marks: trial.marks().join(", "),
        why: clip(&plain(&trial.why()), 1_000),
    }
}
