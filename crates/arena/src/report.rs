//! What stays of evaluations: `report.jsonl` with the original's three keys, a side file with all
//! else, and the frames that judgements were made on. Knows nothing of how they came about.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use agon_agent::play::Task;
use agon_core::screen::Picture;
use agon_core::sight::Look;
use agon_core::{Clock, ModelFault, PlayStats, SystemClock, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::judging::Looks;
use crate::result::{EvaluationResult, StopReason};

/// How long the parts of an evaluation took, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    pub setup: f64,
    /// From the agent's start to the decision to stop it.
    pub play: f64,
    /// From that decision until the agent had answered it.
    pub stop: f64,
    pub scoring: f64,
}

/// An evaluation with all that the three keys leave out; what `evaluation/results/{task_id}` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub task_id: String,
    pub metrics: Map<String, Value>,
    pub notes: Option<String>,
    pub stop_reason: StopReason,
    /// In words, where the reason is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub times: Times,
    /// As the agent measured them, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stats: Option<PlayStats>,
}

impl Record {
    pub fn result(&self) -> EvaluationResult {
        EvaluationResult {
            task_id: self.task_id.clone(),
            metrics: self.metrics.clone(),
            notes: self.notes.clone(),
        }
    }
}

/// One question to a model about a picture, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Asked {
    /// As it was asked for: a section of the configuration, or `openai/gpt-4o`.
    pub model: String,
    pub question: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    pub seconds: f64,
    /// Requests that were sent.
    pub tries: u32,
    /// It was answered by a tape.
    pub taped: bool,
    pub usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<ModelFault>,
    /// What went wrong, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    pub picture: Picture,
}

/// A line of the side file. It names frames by their digest, which is their file's name.
#[derive(Debug, Serialize)]
struct SideLine<'a> {
    at: String,
    task: &'a Task,
    stop_reason: StopReason,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    times: Times,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<&'a PlayStats>,
    looks: &'a [Look],
    #[serde(skip_serializing_if = "is_zero")]
    looks_left_out: u64,
    #[serde(skip_serializing_if = "<[Asked]>::is_empty")]
    calls: &'a [Asked],
    #[serde(skip_serializing_if = "is_zero")]
    calls_left_out: u64,
    /// Of all calls.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    usage: &'a Usage,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Debug)]
pub struct Report {
    path: PathBuf,
    clock: SystemClock,
    /// Both lines of a task, then those of the next.
    writing: Mutex<()>,
}

impl Report {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            clock: SystemClock::default(),
            writing: Mutex::new(()),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `report.agon.jsonl` for `report.jsonl`.
    pub fn side_path(&self) -> PathBuf {
        self.beside("agon.jsonl")
    }

    /// `report.frames` for `report.jsonl`.
    pub fn frames(&self) -> PathBuf {
        self.beside("frames")
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let stem = self.path.file_stem().unwrap_or_default();
        let mut name = stem.to_os_string();
        name.push(".");
        name.push(ending);
        self.path.with_file_name(name)
    }

    pub fn append(&self, task: &Task, record: &Record, looks: &Looks) -> io::Result<()> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let side = SideLine {
            at: self.clock.now().to_string(),
            task,
            stop_reason: record.stop_reason,
            error: record.error.as_deref(),
            times: record.times,
            stats: record.stats.as_ref(),
            looks: &looks.kept,
            looks_left_out: looks.left_out,
            calls: &looks.calls,
            calls_left_out: looks.calls_left_out,
            usage: &looks.usage,
        };
        append_line(&self.side_path(), &side)?;
        append_line(&self.path, &record.result())
    }
}

fn append_line(path: &Path, line: &impl Serialize) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .read(true)
        .open(path)?;
    let mut text = Vec::new();
    // Whoever wrote last may have died in the middle of it.
    if !ends_with_newline(&mut file)? {
        text.push(b'\n');
    }
    serde_json::to_writer(&mut text, line)?;
    text.push(b'\n');
    // At once, so that others who append to the same file come before or after.
    file.write_all(&text)
}

fn ends_with_newline(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Puts a picture into a folder under its digest; one that is there already stays.
pub(crate) fn store_frame(folder: &Path, picture: &Picture) -> io::Result<()> {
    let Some(data) = picture.data() else {
        return Ok(());
    };
    let path = folder.join(format!("{}.{}", picture.blob, picture.format));
    if path.exists() {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    // Complete or not at all, though several may store the same at the same time.
    let mut file = tempfile_in(folder, picture)?;
    file.1.write_all(data)?;
    fs::rename(&file.0, path)
}

fn tempfile_in(folder: &Path, picture: &Picture) -> io::Result<(PathBuf, File)> {
    let name = format!(".{}.{:016x}", picture.blob.short(), rand::random::<u64>());
    let path = folder.join(name);
    let file = File::create_new(&path)?;
    Ok((path, file))
}

#[cfg(test)]
mod tests {
    use agon_core::screen::PictureFormat;
    use serde_json::json;

    use super::*;

    fn task() -> Task {
        serde_json::from_value(json!({
            "task_id": "t1", "env_name": "e", "window_name": "w", "task_description": "d",
            "timeout": 5, "success_criteria": {}
        }))
        .unwrap()
    }

    fn record(notes: Option<&str>) -> Record {
        Record {
            task_id: "t1".to_owned(),
            metrics: Map::from_iter([("score".to_owned(), json!(1.5))]),
            notes: notes.map(str::to_owned),
            stop_reason: StopReason::EnvEnded,
            error: None,
            times: Times::default(),
            stats: None,
        }
    }

    #[test]
    fn the_report_has_three_keys_and_the_rest_is_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let report = Report::new(folder.path().join("a/b/report.jsonl"));
        let picture = Picture::new(PictureFormat::Png, b"pixels".as_slice());
        store_frame(&report.frames(), &picture).unwrap();
        store_frame(&report.frames(), &picture).unwrap();
        let looks = Looks {
            kept: vec![Look {
                test: "screen_text".to_owned(),
                holds: true,
                found: "LAST 12:34".to_owned(),
                value: Some(12.34),
                confidence: Some(0.9),
                doubt: None,
                picture,
            }],
            ..Looks::default()
        };
        report.append(&task(), &record(None), &looks).unwrap();
        // As if somebody had died while writing.
        let mut file = OpenOptions::new().append(true).open(report.path()).unwrap();
        file.write_all(b"{\"task_id\":").unwrap();
        let none = Looks::default();
        report.append(&task(), &record(Some("n")), &none).unwrap();

        let text = fs::read_to_string(report.path()).unwrap();
        assert_eq!(
            text,
            "{\"task_id\":\"t1\",\"metrics\":{\"score\":1.5},\"notes\":null}\n{\"task_id\":\n\
             {\"task_id\":\"t1\",\"metrics\":{\"score\":1.5},\"notes\":\"n\"}\n"
        );
        assert!(report.side_path().ends_with("a/b/report.agon.jsonl"));
        let side = fs::read_to_string(report.side_path()).unwrap();
        let side: Value = serde_json::from_str(side.lines().next().unwrap()).unwrap();
        assert_eq!(side["stop_reason"], "env_ended");
        assert_eq!(side["task"]["task_id"], "t1");
        let blob = side["looks"][0]["picture"]["blob"].as_str().unwrap();
        let stored = report.frames().join(format!("{blob}.png"));
        assert_eq!(fs::read(stored).unwrap(), b"pixels");
        assert_eq!(fs::read_dir(report.frames()).unwrap().count(), 1);
    }
}
