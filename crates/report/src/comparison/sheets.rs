//! A comparison as tables of text, the same in every format that people read.

use agon_store::StoreError;

use super::contender::Contender;
use super::shape::{ComparedCell, ComparedRun, Comparison};
use super::words::{p_text, points};
use crate::run_report::RunReport;
use crate::sheet::{Sheet, number, text};
use crate::text::{NONE, count, duration, maybe_percent};

pub(crate) use super::words::sign;

/// How many tasks are listed that tell the runs apart.
const LISTED: usize = 20;

/// The runs paired by task; nothing where there is only one.
pub(crate) fn paired(runs: &[RunReport<'_>]) -> Result<Option<Comparison>, StoreError> {
    if runs.len() < 2 {
        return Ok(None);
    }
    let contenders: Result<Vec<Contender<'_>>, StoreError> =
        runs.iter().map(Contender::of).collect();
    Ok(Some(Comparison::of(&contenders?)))
}

pub(crate) fn paired_sheets(found: &Comparison) -> Vec<Sheet> {
    if found.pairs.iter().all(|pair| pair.tasks == 0) {
        return Vec::new();
    }
    let mut sheets = vec![against(found), means(found)];
    sheets.extend(apart(found));
    sheets
}

fn against(found: &Comparison) -> Sheet {
    let first = found.runs.first().map_or("", |run| run.sign.as_str());
    let columns = vec![
        text("run"),
        number("tasks"),
        number("gained"),
        number("lost"),
        number("both"),
        number("neither"),
        number("difference"),
        number("95 % CI"),
        number("p"),
    ];
    let others = found.runs.iter().skip(1).zip(&found.pairs);
    let rows = others.map(|(run, pair)| {
        vec![
            format!("{} against {first}", run.sign),
            count(pair.tasks),
            count(pair.gained),
            count(pair.lost),
            count(pair.both),
            count(pair.neither),
            pair.difference.map_or_else(|| NONE.to_owned(), points),
            pair.difference_ci.map_or_else(
                || NONE.to_owned(),
                |ci| format!("{} to {}", points(ci.low), points(ci.high)),
            ),
            pair.p_value.map_or_else(
                || NONE.to_owned(),
                |p| {
                    p_text(p)
                        .trim_start_matches("p ")
                        .trim_start_matches("= ")
                        .to_owned()
                },
            ),
        ]
    });
    let mut sheet = Sheet::new("Paired by task", columns, rows.collect());
    sheet.note = Some(
        "Tasks that both have graded. Difference: points of the mean score; its interval is over tasks. \
         p: McNemar's exact test of gained against lost."
            .to_owned(),
    );
    sheet
}

fn means(found: &Comparison) -> Sheet {
    let columns = vec![
        text("run"),
        number("score"),
        number("steps"),
        number("time"),
        number("money"),
    ];
    let rows = found.runs.iter().map(|run| {
        vec![
            run.sign.clone(),
            maybe_percent(run.score),
            run.steps
                .map_or_else(|| NONE.to_owned(), |steps| format!("{steps:.1}")),
            run.seconds.map_or_else(|| NONE.to_owned(), duration),
            money(run),
        ]
    });
    let mut sheet = Sheet::new("Mean of a trial, common tasks", columns, rows.collect());
    sheet.note = Some(format!(
        "Over tasks that every run has graded ({}); each counts once.",
        count(found.common)
    ));
    sheet
}

fn money(run: &ComparedRun) -> String {
    match (run.money, run.unpriced) {
        (None, _) => "unknown".to_owned(),
        (Some(money), true) => format!(">= ${money:.4}"),
        (Some(money), false) => format!("${money:.4}"),
    }
}

/// The tasks that some run solves and some does not.
fn apart(found: &Comparison) -> Option<Sheet> {
    let mut columns = vec![text("task"), text("level")];
    columns.extend(found.runs.iter().map(|run| number(&run.sign)));
    let differ = |cells: &[Option<ComparedCell>]| {
        let solved: Vec<bool> = cells
            .iter()
            .flatten()
            .filter_map(ComparedCell::solved)
            .collect();
        solved.contains(&true) && solved.contains(&false)
    };
    let all: Vec<_> = found
        .tasks
        .iter()
        .filter(|task| differ(&task.cells))
        .collect();
    let rows: Vec<Vec<String>> = all
        .iter()
        .take(LISTED)
        .map(|task| {
            let mut row = vec![
                task.task.clone(),
                task.level.clone().unwrap_or_else(|| NONE.to_owned()),
            ];
            row.extend(task.cells.iter().map(|cell| made(cell.as_ref())));
            row
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let mut sheet = Sheet::new("Tasks that tell them apart", columns, rows);
    if let Some(more @ 1..) = all.len().checked_sub(LISTED) {
        let more = count(more as u64);
        sheet.note = Some(format!("And {more} more tasks: --format json lists them."));
    }
    Some(sheet)
}

/// `100 % (1/1)`, `faulted`.
fn made(cell: Option<&ComparedCell>) -> String {
    match cell {
        None => "not planned".to_owned(),
        Some(ComparedCell {
            score: Some(score),
            passed,
            graded,
            ..
        }) => format!("{:.0} % ({passed}/{graded})", score * 100.0),
        Some(ComparedCell { faulted: 1.., .. }) => "faulted".to_owned(),
        Some(_) => "missing".to_owned(),
    }
}
