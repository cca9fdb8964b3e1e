//! `agon suite`: suites as a whole.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agon_core::{Level, SystemClock, Task};
use clap::{Args, Subcommand};
use serde::Serialize;

use super::args::SelectionArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::load::Loaded;
use super::output;

#[derive(Debug, Subcommand)]
pub(super) enum SuiteCommand {
    /// Count tasks by category and level.
    Distribution(DistributionArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agon suite distribution suites/desktop
  agon suite distribution testcases --levels gold --json")]
pub(super) struct DistributionArgs {
    /// Suite folders, task folders or task files.
    #[arg(required = true, value_name = "SUITE")]
    suites: Vec<PathBuf>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub(super) fn suite(command: &SuiteCommand) -> Result<Exit, Failure> {
    let SuiteCommand::Distribution(args) = command;
    let loaded = Loaded::read(&args.suites, &args.selection, &SystemClock::default())?;
    let found = Distribution::of(&loaded.tasks);
    if args.json {
        output::json(&found)?;
    } else {
        output::data(&found.text())?;
    }
    Ok(Exit::Done)
}

/// Levels in order; `None`, which has no name of its own in the original, comes last.
const COLUMNS: [Option<Level>; 6] = [
    Some(Level::Paper),
    Some(Level::Wood),
    Some(Level::Bronze),
    Some(Level::Silver),
    Some(Level::Gold),
    None,
];

#[derive(Debug, Serialize)]
struct Distribution {
    categories: Vec<Row>,
    total: Counts,
    levels: Vec<LevelWeight>,
    /// What a run scores at most.
    weighted_maximum: f64,
}

#[derive(Debug, Serialize)]
struct Row {
    category: String,
    tasks: Counts,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Counts {
    paper: u64,
    wood: u64,
    bronze: u64,
    silver: u64,
    gold: u64,
    no_level: u64,
    total: u64,
}

#[derive(Debug, Serialize)]
struct LevelWeight {
    level: &'static str,
    /// Null where tasks of the level differ in it.
    weight: Option<f64>,
    tasks: u64,
    /// Of all its tasks together.
    sum: f64,
}

impl Counts {
    fn of(self, level: Option<Level>) -> u64 {
        match level {
            Some(Level::Paper) => self.paper,
            Some(Level::Wood) => self.wood,
            Some(Level::Bronze) => self.bronze,
            Some(Level::Silver) => self.silver,
            Some(Level::Gold) => self.gold,
            None => self.no_level,
        }
    }

    fn add(&mut self, level: Option<Level>) {
        self.total += 1;
        *match level {
            Some(Level::Paper) => &mut self.paper,
            Some(Level::Wood) => &mut self.wood,
            Some(Level::Bronze) => &mut self.bronze,
            Some(Level::Silver) => &mut self.silver,
            Some(Level::Gold) => &mut self.gold,
            None => &mut self.no_level,
        } += 1;
    }
}

impl Distribution {
    fn of(tasks: &[Task]) -> Self {
        let mut rows: BTreeMap<&str, Counts> = BTreeMap::new();
        let mut total = Counts::default();
        for task in tasks {
            rows.entry(task.id.category()).or_default().add(task.level);
            total.add(task.level);
        }
        let levels = COLUMNS.iter().filter(|level| total.of(**level) > 0);
        Self {
            categories: rows
                .into_iter()
                .map(|(category, tasks)| Row {
                    category: category.to_owned(),
                    tasks,
                })
                .collect(),
            total,
            levels: levels.map(|level| weight(tasks, *level)).collect(),
            weighted_maximum: tasks.iter().map(|task| task.weight).sum(),
        }
    }

    /// A table that is one in Markdown too, then what the levels weigh.
    fn text(&self) -> String {
        let shown: Vec<Option<Level>> = COLUMNS
            .into_iter()
            // Every test case has a level; only our own suites may leave it out.
            .filter(|level| level.is_some() || self.total.no_level > 0)
            .collect();
        let mut head = vec!["category".to_owned()];
        head.extend(shown.iter().map(|level| name(*level).to_owned()));
        head.push("total".to_owned());
        let row = |category: &str, counts: Counts| {
            let mut cells = vec![output::plain(category)];
            cells.extend(shown.iter().map(|level| counts.of(*level).to_string()));
            cells.push(counts.total.to_string());
            cells
        };
        let mut rows = vec![head];
        rows.extend(
            self.categories
                .iter()
                .map(|one| row(&one.category, one.tasks)),
        );
        rows.push(row("total", self.total));
        let mut text = table(&rows);
        let weights: Vec<String> = self.levels.iter().map(LevelWeight::text).collect();
        text += &format!("\nweights: {}\n", weights.join(", "));
        let sums: Vec<String> = self
            .levels
            .iter()
            .map(|level| level.sum.to_string())
            .collect();
        let maximum = self.weighted_maximum;
        text += &match sums.len() {
            0 | 1 => format!("weighted maximum: {maximum}\n"),
            _ => format!("weighted maximum: {} = {maximum}\n", sums.join(" + ")),
        };
        text
    }
}

impl LevelWeight {
    fn text(&self) -> String {
        match self.weight {
            Some(weight) => format!("{} {weight}", self.level),
            None => format!("{} by task", self.level),
        }
    }
}

fn name(level: Option<Level>) -> &'static str {
    level.map_or("no level", Level::name)
}

fn weight(tasks: &[Task], level: Option<Level>) -> LevelWeight {
    let weights: Vec<f64> = tasks
        .iter()
        .filter(|task| task.level == level)
        .map(|task| task.weight)
        .collect();
    let alike = weights
        .windows(2)
        .all(|pair| matches!(pair, [a, b] if a == b));
    LevelWeight {
        level: name(level),
        weight: weights.first().copied().filter(|_| alike),
        tasks: weights.len() as u64,
        sum: weights.iter().sum(),
    }
}

/// Names to the left, numbers to the right; the first row is the head.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for (place, row) in rows.iter().enumerate() {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            text += &match column {
                0 => format!("| {cell:<width$} "),
                _ => format!("| {cell:>width$} "),
            };
        }
        text += "|\n";
        if place == 0 {
            for (column, width) in widths.iter().enumerate() {
                text += &match column {
                    0 => format!("|{:-<1$}", "", width + 2),
                    _ => format!("|{:-<1$}:", "", width + 1),
                };
            }
            text += "|\n";
        }
    }
    text
}
