//! Runs as a folder of files that any browser opens, from a disk or from any web server: the viewer's own
//! pages, with everything that they would ask a server for beside them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::bundle::bundle;
use super::folder::Folder;
use super::pictures::Pictures;
use super::trial;
use crate::assets;
use crate::compare;
use crate::error::ViewerError;
use crate::library::Run;
use crate::pages::{self, Frame};
use crate::serve::MOST_COMPARED;
use crate::shape::{ComparedTask, Comparison, RunCard, RunState, TaskQuery, TrialQuery};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exported {
    pub files: u64,
    pub bytes: u64,
}

/// Modules that pages begin with.
const ENTRIES: [&str; 5] = [
    "runs.js",
    "run.js",
    "trial.js",
    "compare.js",
    "sidebyside.js",
];
/// Scripts that stand alone.
const CLASSIC: &str = "theme.js";

/// Attempts of a run after which it is told how far it is.
const TOLD_EVERY: usize = 100;

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportProgress<'a> {
    pub run: &'a str,
    pub attempts: usize,
    /// Of these.
    pub of: usize,
}

/// Runs are compared in the order in which they are given. `into` must be new or empty, and in no run. `cache`:
/// where small pictures are kept. What it holds does not tell where the runs are.
pub fn export(
    runs: &[Arc<Run>],
    cache: &Path,
    into: &Path,
    mut told: impl FnMut(ExportProgress<'_>),
) -> Result<Exported, ViewerError> {
    let mut folder = Folder::begin(into)?;
    let runs: Vec<Arc<Run>> = runs.iter().map(|run| Arc::new(run.shared())).collect();
    scripts(&mut folder)?;
    let cards: Vec<RunCard> = runs.iter().map(|run| run.card()).collect();
    let readable: Vec<Arc<Run>> = runs
        .iter()
        .zip(&cards)
        .filter(|(_, card)| card.state != RunState::Broken)
        .map(|(run, _)| Arc::clone(run))
        .collect();
    let able = match readable.len() {
        2 => "compare",
        3..=MOST_COMPARED => "compare pairs",
        _ => "",
    };
    let frame = Frame::exported("").able_to(able);
    folder.page("index.html", &pages::runs::runs(frame, &cards)?)?;
    for (run, card) in runs.iter().zip(&cards) {
        write_run(&mut folder, run, card, cache, &mut told)?;
    }
    if !able.is_empty() {
        write_comparison(&mut folder, &readable, able)?;
    }
    folder.finish()
}

fn scripts(folder: &mut Folder) -> Result<(), ViewerError> {
    let text = |name: &str| {
        let asset = assets::ALL.iter().find(|asset| asset.name == name)?;
        String::from_utf8(asset.bytes.to_vec()).ok()
    };
    for asset in assets::ALL {
        if asset.name == CLASSIC || !asset.name.ends_with(".js") {
            folder.write(&format!("assets/{}", asset.name), asset.bytes)?;
        }
    }
    let replaced = HashMap::from([("source.js", "source_static.js")]);
    for entry in ENTRIES {
        let script = bundle(&text, &replaced, entry)?;
        folder.write(&format!("assets/{entry}"), script.as_bytes())?;
    }
    Ok(())
}

fn write_run(
    folder: &mut Folder,
    run: &Run,
    card: &RunCard,
    cache: &Path,
    told: &mut impl FnMut(ExportProgress<'_>),
) -> Result<(), ViewerError> {
    let id = run.id();
    let page = pages::run::run(Frame::exported("../../"), run, &TrialQuery::default())?;
    folder.page(&format!("runs/{id}/index.html"), &page)?;
    if card.state == RunState::Broken {
        return Ok(());
    }
    let rows = run.whole()?;
    folder.data(&format!("runs/{id}/trials"), &rows)?;
    let mut pictures = Pictures::of(run, cache);
    for (attempts, listed) in rows.iter().enumerate() {
        if attempts % TOLD_EVERY == 0 {
            let of = rows.len();
            told(ExportProgress {
                run: id,
                attempts,
                of,
            });
        }
        if listed.row.key.attempt > 0 {
            // runs/ID/trial/CATEGORY/TASK/EPOCH/ATTEMPT
            let frame = Frame::exported("../../../../../../../");
            trial::write(folder, frame, run, &listed.row.key, &mut pictures)?;
        }
    }
    Ok(())
}

/// What a page asks for part by part.
#[derive(Debug, Serialize)]
struct Tasks<'a> {
    tasks: &'a [ComparedTask],
    /// What a search looks through, of each.
    words: Vec<String>,
}

impl<'a> Tasks<'a> {
    fn of(found: &'a Comparison) -> Self {
        Self {
            tasks: &found.tasks,
            words: found.tasks.iter().map(compare::searchable).collect(),
        }
    }
}

fn write_compared(
    folder: &mut Folder,
    place: &str,
    frame: Frame,
    runs: &[Arc<Run>],
) -> Result<Arc<Comparison>, ViewerError> {
    let page = pages::compare::compare(frame, runs, &TaskQuery::default())?;
    folder.page(&format!("{place}/index.html"), &page)?;
    let found = compare::compare(runs)?;
    folder.data(&format!("{place}/tasks"), &Tasks::of(&found))?;
    Ok(found)
}

/// All of them, and where there are more than two, each two of them.
fn write_comparison(folder: &mut Folder, runs: &[Arc<Run>], able: &str) -> Result<(), ViewerError> {
    let found = write_compared(folder, "compare", Frame::exported("../"), runs)?;
    for (at, one) in runs.iter().enumerate().filter(|_| runs.len() > 2) {
        for other in runs.iter().skip(at + 1) {
            let place = format!("compare/pair/{}/{}", one.id(), other.id());
            let frame = Frame::exported("../../../../").able_to(able);
            let two = [Arc::clone(one), Arc::clone(other)];
            write_compared(folder, &place, frame, &two)?;
        }
    }
    for task in &found.tasks {
        // compare/task/CATEGORY/TASK: a category may be called like a file of ours.
        let frame = Frame::exported("../../../../").able_to(able);
        let page = pages::side_by_side::side_by_side(frame, runs, &task.task)?;
        folder.page(&format!("compare/task/{}/index.html", task.task), &page)?;
    }
    Ok(())
}
