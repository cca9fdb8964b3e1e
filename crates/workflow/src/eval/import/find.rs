//! Finds result files below a folder and makes a run of each.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_core::clock::FixedClock;
use agon_core::{Clock, EventBody};
use agon_store::{Recorder, RunFolder, RunWriter};
use jiff::Timestamp;

use super::super::error::EvalFileError;
use super::super::lines::for_each_line;
use super::super::metadata::EvalMetadata;
use super::places::{Place, epochs, places};
use super::row::{Head, Row};
use super::stamps::{Stamps, began};

/// `<root>/<dataset>/<agent>/<model>/output.jsonl`, and a little more.
const DEEPEST: usize = 8;
const OUTPUT: &str = "output.jsonl";

/// One run that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    pub run: PathBuf,
    pub from: PathBuf,
    pub rows: usize,
    /// Rows that hold no result.
    pub ungraded: usize,
    /// What could not be taken over, in words.
    pub warnings: Vec<String>,
}

/// What became of each file.
pub type Imports = Vec<Result<Imported, EvalFileError>>;

/// Makes a run below `runs` of every `output.jsonl` at or below `from`; or of `from` itself, if it is one.
/// One that can't be taken over does not keep the others from it.
pub fn import(from: &Path, runs: &Path) -> Result<Imports, EvalFileError> {
    let mut files = Vec::new();
    find(from, DEEPEST, &mut files)?;
    files.sort();
    Ok(files.iter().map(|file| import_file(file, runs)).collect())
}

fn find(at: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), EvalFileError> {
    let failed = || EvalFileError::io("can't read", at);
    // Links are not followed: they could lead round in circles.
    let metadata = fs::symlink_metadata(at).map_err(failed())?;
    if metadata.is_file() {
        files.push(at.to_owned());
        return Ok(());
    }
    let output = at.join(OUTPUT);
    if output.is_file() {
        files.push(output);
        return Ok(());
    }
    if depth == 0 || !metadata.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(at).map_err(failed())? {
        let path = entry.map_err(failed())?.path();
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
        if is_folder {
            find(&path, depth - 1, files)?;
        }
    }
    Ok(())
}

fn import_file(file: &Path, runs: &Path) -> Result<Imported, EvalFileError> {
    let mut heads = Vec::new();
    let mut warnings = Vec::new();
    let torn = for_each_row(file, |row| {
        match row {
            Ok(row) => heads.push(row.head),
            Err(why) => warnings.push(why),
        }
        Ok(())
    })?;
    if let Some(line) = torn {
        warnings.push(format!("line {line} is left out: its end is missing"));
    }
    if let (true, Some(why)) = (heads.is_empty(), warnings.first()) {
        return Err(EvalFileError::NoRow {
            path: file.to_owned(),
            why: why.clone(),
        });
    }
    let said = metadata(file, &heads, &mut warnings);
    let metadata = said.clone().unwrap_or_default();
    let places = places(&heads);
    let (fewest, most) = epochs(&heads, &places);
    if fewest < most {
        warnings.push(format!(
            "some instances have {most} rows and others only {fewest}: what is missing counts as not played"
        ));
    }
    let stamps = Stamps::of(file, &metadata, &heads, most);
    let began = began(&metadata, &heads);
    let folder = RunFolder::fresh(runs, began, &stamps.suite, &metadata.agent_class)?;
    let lock = folder.lock()?;
    let mut imported = Imported {
        run: folder.path().to_owned(),
        from: file.to_owned(),
        rows: heads.len(),
        ungraded: 0,
        warnings,
    };
    let taken = take_over(&mut imported, &stamps, &places, &folder, began).and_then(|()| {
        // The manifest has no place for all of it.
        let own = folder.path().join("metadata.json");
        said.map_or(Ok(()), |said| said.write(&own))
    });
    drop(lock);
    if let Err(error) = taken {
        // Half a run looks like a whole one.
        fs::remove_dir_all(folder.path()).ok();
        return Err(error);
    }
    Ok(imported)
}

/// What stands beside the rows, else what one of them says. Files of other versions may say it differently:
/// that is no reason to lose the rows.
fn metadata(file: &Path, heads: &[Head], warnings: &mut Vec<String>) -> Option<EvalMetadata> {
    let beside = file.with_file_name("metadata.json");
    if beside.exists() {
        match EvalMetadata::read_leniently(&beside) {
            Ok((metadata, unread)) => {
                if !unread.is_empty() {
                    let keys = unread.join(", ");
                    warnings.push(format!("{}: left out: {keys}", beside.display()));
                }
                return Some(metadata);
            }
            Err(error) => warnings.push(error.to_string()),
        }
    }
    heads.iter().find_map(|head| head.metadata.clone())
}

fn take_over(
    imported: &mut Imported,
    stamps: &Stamps<'_>,
    places: &[Place],
    folder: &RunFolder,
    began: Timestamp,
) -> Result<(), EvalFileError> {
    folder.write_manifest(&stamps.manifest(&folder.name(), began))?;
    let writer = RunWriter::open(folder)?;
    let file = imported.from.clone();
    let failed = || EvalFileError::io("can't write", folder.path());
    let mut left = places.iter();
    // Read again, so that a file of many gigabytes does not have to fit into memory.
    for_each_row(&file, |row| {
        // It was told of when the file was read for the first time.
        let Ok(row) = row else { return Ok(()) };
        let id = &row.head.id;
        let (Some(task), Some(place)) = (stamps.task(id), left.next()) else {
            return Err(changed(&file, places.len() - left.len()));
        };
        let kept = row.keep(&writer).map_err(failed())?;
        for note in kept.iter().filter_map(note) {
            imported.warnings.push(format!("{id}: {note}"));
        }
        let told = row.tell(began, kept);
        imported.ungraded += usize::from(told.result.is_err());
        imported.warnings.extend(row.warnings.clone());
        let clock: Arc<dyn Clock> = Arc::new(FixedClock(told.ended));
        let mut recorder = Recorder::of_the_past(&writer, clock, task, place.epoch, place.attempt);
        for event in &told.events {
            recorder.copy(event).map_err(failed())?;
        }
        let events = recorder
            .finish(told.result.as_ref().ok())
            .map_err(failed())?;
        let line = told.line(task, *place, events, stamps.key(id));
        writer.append_trial(&line).map_err(failed())
    })?;
    writer.flush().map_err(failed())
}

/// Every row, or why a line is none. Returns the number of a last line that is torn.
fn for_each_row(
    file: &Path,
    mut each: impl FnMut(Result<Row, String>) -> Result<(), EvalFileError>,
) -> Result<Option<usize>, EvalFileError> {
    for_each_line(file, |line, text| {
        let value = serde_json::from_slice(text).map_err(|error| error.to_string());
        let row = value.and_then(|value| Row::read(value, line));
        each(row.map_err(|why| format!("line {line} is left out: {why}")))
    })
}

fn note(body: &EventBody) -> Option<&str> {
    match body {
        EventBody::Note(note) => Some(note),
        _ => None,
    }
}

fn changed(file: &Path, row: usize) -> EvalFileError {
    EvalFileError::Broken {
        path: file.to_owned(),
        line: row,
        why: "the file was changed while it was read: import it again".to_owned(),
    }
}
