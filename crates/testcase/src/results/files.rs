//! Result files of a whole run: written at once, one by one as trials end, or brought up to date.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use agon_core::TaskId;
use agon_store::{Reviews, RunReader, TrialLine};
use jiff::Timestamp;

use super::book::Book;
use super::error::ResultsError;
use super::schema::TestCaseRun;

/// How files are called that are still being written.
const UNFINISHED: &str = ".unfinished-";
/// The original has one result for a case.
const EPOCH: u32 = 1;
/// What run folders and those who write beside them call their own.
const TAKEN: [&str; 10] = [
    "blobs",
    "latest",
    "logs",
    "metadata.json",
    "output.jsonl",
    "reviews.jsonl",
    "run.json",
    "run.lock",
    "trials",
    "trials.jsonl",
];

/// What became of the trials of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Exported {
    pub written: Vec<PathBuf>,
    /// Faults: there is no file for them.
    pub faulted: usize,
    /// Trials of further epochs.
    pub other_epochs: usize,
}

/// Writes the file of every trial of a run to `out`.
pub fn export(reader: &RunReader, book: &Book, out: &Path) -> Result<Exported, ResultsError> {
    each(reader, |line, reviews, exported| {
        match book.result(reader, reviews, line)? {
            Some(run) => exported.written.push(write(&line.task, &run, out, None)?),
            None => exported.faulted += 1,
        }
        Ok(())
    })
}

/// Writes those files to `out` that are missing there, or are not what was written last of what they tell:
/// those have its time, and whatever somebody else does to them has another.
pub fn refresh(reader: &RunReader, book: &Book, out: &Path) -> Result<Exported, ResultsError> {
    tidy(out)?;
    let reviewed = modified(&reader.folder().reviews_file());
    each(reader, |line, reviews, exported| {
        let newest = reviewed.map_or(line.at, |at| at.max(line.at));
        if modified(&path(&line.task, out)) == Some(newest) {
            return Ok(());
        }
        match book.result(reader, reviews, line)? {
            Some(run) => {
                let written = write(&line.task, &run, out, Some(newest))?;
                exported.written.push(written);
            }
            None => exported.faulted += 1,
        }
        Ok(())
    })
}

/// Writes the file of one trial, unless the original would have none.
pub fn write_one(
    reader: &RunReader,
    book: &Book,
    line: &TrialLine,
    out: &Path,
) -> Result<(), ResultsError> {
    if !line.is_final || line.epoch != EPOCH {
        return Ok(());
    }
    let reviewed = modified(&reader.folder().reviews_file());
    let newest = reviewed.map_or(line.at, |at| at.max(line.at));
    let reviews = Reviews::read(reader.folder())?;
    if let Some(run) = book.result(reader, &reviews, line)? {
        write(&line.task, &run, out, Some(newest))?;
    }
    Ok(())
}

/// Whether the files of such tasks can stand in their run folder.
pub fn fit<'a>(tasks: impl IntoIterator<Item = &'a TaskId>) -> Result<(), ResultsError> {
    let taken = |task: &&TaskId| TAKEN.contains(&task.category());
    match tasks.into_iter().find(taken) {
        Some(task) => Err(ResultsError::Category(task.category().to_owned())),
        None => Ok(()),
    }
}

fn each(
    reader: &RunReader,
    mut each: impl FnMut(&TrialLine, &Reviews, &mut Exported) -> Result<(), ResultsError>,
) -> Result<Exported, ResultsError> {
    let reviews = Reviews::read(reader.folder())?;
    let mut lines = reader.trials()?;
    lines.retain(|line| line.is_final);
    let mut exported = Exported::default();
    for line in &lines {
        if line.epoch == EPOCH {
            each(line, &reviews, &mut exported)?;
        } else {
            exported.other_epochs += 1;
        }
    }
    Ok(exported)
}

fn path(task: &TaskId, out: &Path) -> PathBuf {
    let name = format!("{}.json", task.id());
    out.join(task.category()).join(name)
}

/// As a whole: readers see the old or the new file, never half of it. It gets the time of what it tells, if
/// that is given.
fn write(
    task: &TaskId,
    run: &TestCaseRun,
    out: &Path,
    at: Option<Timestamp>,
) -> Result<PathBuf, ResultsError> {
    let path = path(task, out);
    let folder = path.parent().unwrap_or(out);
    let put = || -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        let mut file = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempfile_in(folder)?;
        file.write_all(&serde_json::to_vec_pretty(run)?)?;
        file.write_all(b"\n")?;
        let readable = fs::Permissions::from_mode(0o644);
        file.as_file().set_permissions(readable)?;
        if let Some(at) = at {
            file.as_file().set_modified(at.into())?;
        }
        file.as_file().sync_data()?;
        file.persist(&path).map_err(|failed| failed.error)?;
        Ok(())
    };
    put().map_err(ResultsError::io("can't write", &path))?;
    Ok(path)
}

/// Removes what a killed process was writing.
fn tidy(out: &Path) -> Result<(), ResultsError> {
    let unreadable = || ResultsError::io("can't tidy", out);
    let folders = fs::read_dir(out).map_err(unreadable())?;
    for folder in folders.flatten().filter(|entry| !is_taken(&entry.path())) {
        let Ok(files) = fs::read_dir(folder.path()) else {
            continue;
        };
        for file in files.flatten() {
            if file.file_name().to_string_lossy().starts_with(UNFINISHED) {
                fs::remove_file(file.path()).map_err(unreadable())?;
            }
        }
    }
    Ok(())
}

/// Belongs to the run folder itself.
pub(crate) fn is_taken(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    name.is_none_or(|name| TAKEN.contains(&name.as_ref()) || name.starts_with('.'))
}

fn modified(path: &Path) -> Option<Timestamp> {
    let at = fs::metadata(path).ok()?.modified().ok()?;
    Timestamp::try_from(at).ok()
}
