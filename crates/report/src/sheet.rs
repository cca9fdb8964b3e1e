//! The tables of a report as rows of text, the same in every format that people read. Foreign texts
//! stay as they are here; each format makes them harmless in its own way.

use std::ops::ControlFlow;

use agon_store::{Manifest, StoreError};

use crate::asked::{judge, models};
use crate::comparison::sign;
use crate::measured::MeasuredSpread;
use crate::prediction_sheets::prediction_sheets;
use crate::run_report::RunReport;
use crate::summary::{Group, Standing, Summary};
use crate::text::{
    NONE, bounds, clip, count, duration, maybe_percent, measured_range, percent, value,
};
use crate::usage::{TaskUsage, UsageTotal};

/// The title of the table that other formats draw.
pub(crate) const MATRIX: &str = "Category by level";

/// The title of the table with what people wrote, which needs room.
pub(crate) const DISAGREEMENTS: &str = "People against checks";

/// How many trials that did not pass are listed where the list is not the point.
const LISTED: usize = 20;

/// How many tasks are listed with what they used.
const LISTED_USAGE: usize = 20;

/// How many trials are listed about which people and checks disagree.
const DISAGREED: usize = 50;

/// Characters of a name beside other columns.
const NAMED: usize = 40;

/// How many tasks are listed with what was measured in them.
const MEASURED: usize = 50;

pub(crate) struct Sheet {
    pub(crate) title: &'static str,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<String>>,
    /// Said below the table.
    pub(crate) note: Option<String>,
}

pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: ColumnKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Text,
    Number,
}

pub(crate) fn text(name: &str) -> Column {
    Column {
        name: name.to_owned(),
        kind: ColumnKind::Text,
    }
}

pub(crate) fn number(name: &str) -> Column {
    Column {
        name: name.to_owned(),
        kind: ColumnKind::Number,
    }
}

impl Sheet {
    pub(crate) fn new(title: &'static str, columns: Vec<Column>, rows: Vec<Vec<String>>) -> Self {
        Self {
            title,
            columns,
            rows,
            note: None,
        }
    }
}

/// Every table of one run that has something to say.
pub(crate) fn sheets(summary: &Summary) -> Vec<Sheet> {
    let first = match &summary.predictions {
        // Fixtures have no level, and their categories are the groups there.
        Some(predictions) => prediction_sheets(predictions, &summary.categories),
        None => vec![
            groups("By level", "level", &summary.levels),
            groups("By category", "category", &summary.categories),
            matrix(summary),
            measured(summary),
        ],
    };
    let rest = [
        disagreements(summary),
        repeats(summary),
        usage(summary),
        never_ended(summary),
        faults(summary),
        turn_ends(summary),
    ];
    first
        .into_iter()
        .chain(rest)
        .filter(|sheet| !sheet.rows.is_empty())
        .collect()
}

fn groups(title: &'static str, kind: &str, groups: &[Group]) -> Sheet {
    let columns = vec![
        text(kind),
        number("pass"),
        number("fail"),
        number("fault"),
        number("miss"),
        number("score"),
        number("coverage"),
        number("no faults"),
        number("95 % CI"),
    ];
    let rows = groups.iter().map(|group| {
        let standing = &group.standing;
        vec![
            group.name.clone(),
            count(standing.passed),
            count(standing.failed),
            count(standing.faulted),
            count(standing.missing),
            percent(standing.score_floor),
            percent(standing.coverage),
            maybe_percent(standing.score),
            bounds(standing.score_ci),
        ]
    });
    let mut sheet = Sheet::new(title, columns, rows.collect());
    let open = |group: &Group| group.standing.score.is_some() && group.standing.score_ci.is_none();
    if groups.iter().any(open) {
        sheet.note = Some("95 % CI: an interval needs two tasks with a graded trial.".to_owned());
    }
    sheet
}

/// Score with ungraded trials as 0, passed of graded, and a mark for trials that are not graded.
fn cell(standing: Option<&Standing>) -> String {
    let Some(standing) = standing else {
        return String::new();
    };
    let open = standing.trials - standing.graded();
    let score = format!("{:.0} %", standing.score_floor * 100.0);
    let counts = format!("{}/{}", standing.passed, standing.graded());
    if open > 0 {
        format!("{score} ({counts}, {open} open)")
    } else {
        format!("{score} ({counts})")
    }
}

fn matrix(summary: &Summary) -> Sheet {
    let levels = || summary.levels.iter().map(|level| level.name.as_str());
    let mut columns = vec![text("category")];
    columns.extend(levels().map(number));
    let rows = summary.matrix.iter().map(|row| {
        let cells = levels().map(|level| cell(row.at(level)));
        std::iter::once(row.category.clone()).chain(cells).collect()
    });
    Sheet::new(MATRIX, columns, rows.collect())
}

fn measured(summary: &Summary) -> Sheet {
    let columns = vec![
        text("task"),
        number("n"),
        number("IQM"),
        number("95 % CI"),
        number("min"),
        number("median"),
        number("max"),
    ];
    let row = |name: &str, spread: &MeasuredSpread| {
        vec![
            name.to_owned(),
            count(spread.trials),
            value(spread.iqm),
            measured_range(spread.iqm_ci),
            value(spread.min),
            value(spread.median),
            value(spread.max),
        ]
    };
    let mut rows = Vec::new();
    let mut note =
        "IQM: the mean of the middle half of the values; its interval is over the trials of each \
                    task, and needs ten trials beyond the first of each."
            .to_owned();
    if let Some(measured) = &summary.measured {
        let shown = measured.tasks.iter().take(MEASURED);
        rows.extend(shown.map(|task| row(&task.task, &task.spread)));
        if measured.tasks.len() > 1 {
            rows.push(row("all", &measured.overall));
        }
        if let Some(more @ 1..) = measured.tasks.len().checked_sub(MEASURED) {
            note += &format!(
                " And {} more tasks: --format json lists them.",
                count(more as u64)
            );
        }
    }
    let mut sheet = Sheet::new("Measured", columns, rows);
    sheet.note = Some(note);
    sheet
}

fn disagreements(summary: &Summary) -> Sheet {
    let columns = vec![
        text("trial"),
        text("checks"),
        text("person"),
        text("reviewer"),
        text("comment"),
    ];
    let people = summary.people.as_ref();
    let all = people.map_or(&[][..], |people| &people.disagreements);
    let rows = all.iter().take(DISAGREED).map(|one| {
        vec![
            format!("{}#{}", one.task, one.epoch),
            one.checks.name().to_owned(),
            one.person.name().to_owned(),
            one.reviewer.clone(),
            one.comment.clone(),
        ]
    });
    let mut sheet = Sheet::new(DISAGREEMENTS, columns, rows.collect());
    if let Some(more @ 1..) = all.len().checked_sub(DISAGREED) {
        let more = count(more as u64);
        sheet.note = Some(format!("And {more} more: --format json lists them."));
    }
    sheet
}

fn repeats(summary: &Summary) -> Sheet {
    let columns = vec![
        number("k"),
        number("tasks"),
        number("pass@k"),
        number("95 % CI"),
        number("pass^k"),
        number("95 % CI"),
    ];
    let rows = summary.repeats.iter().map(|repeat| {
        vec![
            repeat.k.to_string(),
            count(repeat.tasks),
            percent(repeat.pass_at),
            bounds(repeat.pass_at_ci),
            percent(repeat.pass_all),
            bounds(repeat.pass_all_ci),
        ]
    });
    let mut sheet = Sheet::new("Repeated attempts", columns, rows.collect());
    sheet.note = Some("pass@k: at least one of k attempts passes; pass^k: all k pass.".to_owned());
    sheet
}

/// What each task used, where there is more than one to compare.
fn usage(summary: &Summary) -> Sheet {
    let columns = vec![
        text("task"),
        number("calls"),
        number("input"),
        number("cached"),
        number("output"),
        number("reasoning"),
        number("money"),
    ];
    let known = |tokens: Option<u64>| tokens.map_or_else(|| "unknown".to_owned(), count);
    let row = |name: &str, usage: &UsageTotal| {
        vec![
            name.to_owned(),
            known(usage.calls),
            known(usage.input_tokens),
            known(usage.cached_tokens),
            known(usage.output_tokens),
            known(usage.reasoning_tokens),
            usage.money_text(),
        ]
    };
    // One call per prediction: the sum says it all.
    let tasks: &[TaskUsage] = match &summary.predictions {
        Some(_) => &[],
        None => &summary.task_usage,
    };
    let shown = tasks.iter().take(LISTED_USAGE);
    let mut rows: Vec<_> = shown.map(|task| row(&task.task, &task.usage)).collect();
    if tasks.len() > 1 {
        rows.push(row("all", &summary.usage));
    }
    let mut sheet = Sheet::new("Tokens and money", columns, rows);
    if let Some(more @ 1..) = tasks.len().checked_sub(LISTED_USAGE) {
        let more = count(more as u64);
        sheet.note = Some(format!("And {more} more tasks: --format json lists them."));
    }
    sheet
}

/// Trials with attempts that have no end.
fn never_ended(summary: &Summary) -> Sheet {
    let columns = vec![text("trial"), number("never ended"), text("attempts")];
    let all = &summary.never_ended;
    let rows = all.iter().take(LISTED).map(|trial| {
        let numbers: Vec<String> = trial.attempts.iter().map(u32::to_string).collect();
        vec![
            format!("{}#{}", trial.task, trial.epoch),
            count(trial.attempts.len() as u64),
            clip(&numbers.join(", "), NAMED),
        ]
    });
    let mut sheet = Sheet::new("Begun and never ended", columns, rows.collect());
    if let Some(more @ 1..) = all.len().checked_sub(LISTED) {
        let more = count(more as u64);
        sheet.note = Some(format!("And {more} more trials: --format json lists them."));
    }
    sheet
}

fn faults(summary: &Summary) -> Sheet {
    let columns = vec![text("class"), number("trials"), text("example")];
    let rows = summary.faults.iter().map(|fault| {
        vec![
            fault.class.name().to_owned(),
            count(fault.trials),
            fault.example.clone(),
        ]
    });
    Sheet::new("Faults", columns, rows.collect())
}

fn turn_ends(summary: &Summary) -> Sheet {
    let columns = vec![text("turn ended"), number("trials")];
    let rows = summary
        .turn_ends
        .iter()
        .map(|end| vec![end.end.name().to_owned(), count(end.trials)]);
    Sheet::new("How turns ended", columns, rows.collect())
}

/// The first trials that did not pass, in the order of the record.
pub(crate) fn unpassed(run: &RunReport<'_>) -> Result<Option<Sheet>, StoreError> {
    let overall = &run.summary.overall;
    let unpassed = overall.failed + overall.faulted;
    if unpassed == 0 {
        return Ok(None);
    }
    let mut rows = Vec::new();
    run.each_trial_while(|trial| {
        // What was never played is counted above; naming it all would hide what went wrong.
        if trial.passed() || trial.line.is_none() {
            return ControlFlow::Continue(());
        }
        if rows.len() == LISTED {
            return ControlFlow::Break(());
        }
        rows.push(vec![
            trial.name(run.manifest.epochs),
            trial.outcome().to_owned(),
            trial.score().map_or_else(|| NONE.to_owned(), percent),
            trial.marks().join(", "),
            clip(&trial.why(), 200),
        ]);
        ControlFlow::Continue(())
    })?;
    let left_out = unpassed.saturating_sub(rows.len() as u64);
    let columns = vec![
        text("trial"),
        text("outcome"),
        number("score"),
        text("marks"),
        text("why"),
    ];
    let mut sheet = Sheet::new("Not passed", columns, rows);
    if left_out > 0 {
        sheet.note = Some(format!(
            "and {} more: --format html, csv or junit lists them",
            count(left_out)
        ));
    }
    Ok(Some(sheet))
}

/// One row per run. Models and judges have columns where any run asked one.
pub(crate) fn comparison(runs: &[RunReport<'_>]) -> Sheet {
    let of = |what: fn(&Manifest) -> String| -> Option<Vec<String>> {
        let names: Vec<String> = runs.iter().map(|run| what(run.manifest)).collect();
        names.iter().any(|name| !name.is_empty()).then_some(names)
    };
    let (models, judges) = (of(models), of(judge));
    let mut columns = vec![text("run"), text("suite"), text("agent")];
    columns.extend(models.as_ref().map(|_| text("model")));
    columns.extend(judges.as_ref().map(|_| text("judge")));
    columns.extend([
        number("score"),
        number("coverage"),
        number("no faults"),
        number("95 % CI"),
        number("weighted"),
        number("faults"),
        number("time"),
        number("money"),
        number("!"),
    ]);
    let rows = runs.iter().enumerate().map(|(at, run)| {
        let overall = &run.summary.overall;
        let grave = run
            .summary
            .caveats
            .iter()
            .filter(|caveat| caveat.kind.is_grave());
        let named = [&models, &judges].into_iter().flatten();
        let named = named.filter_map(|names| names.get(at));
        let mut row = vec![
            format!("{} {}", sign(at), run.manifest.run),
            run.suites(),
            clip(&run.manifest.agent.spec, NAMED),
        ];
        row.extend(named.map(|name| clip(name, NAMED)));
        row.extend([
            percent(overall.score_floor),
            percent(overall.coverage),
            maybe_percent(overall.score),
            bounds(overall.score_ci),
            percent(run.summary.weighted.score_floor),
            count(overall.faulted),
            duration(overall.seconds.total()),
            run.summary.usage.money_text(),
            count(grave.count() as u64),
        ]);
        row
    });
    let mut sheet = Sheet::new("Comparison", columns, rows.collect());
    sheet.note = Some("!: warnings, listed with each run below.".to_owned());
    sheet
}
