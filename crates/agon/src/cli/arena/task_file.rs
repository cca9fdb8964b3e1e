//! Task files of the arena: one JSON object, a list of them, or one per line. Read as the servers read
//! them, so that what is wrong shows before anything is started.

use std::path::{Path, PathBuf};

use agon_arena::{Task, wire};
use agon_desktop::Size;
use serde_json::Value;

use crate::cli::failure::Failure;

const MOST_BYTES: u64 = 64 << 20;

/// A task, and what only `agon arena run` looks at.
#[derive(Debug, Clone)]
pub(super) struct TaskFile {
    pub(super) task: Task,
    pub(super) apps: Option<Vec<String>>,
    pub(super) screen: Option<Size>,
}

/// All tasks of all files, each so many times.
pub(super) fn read(files: &[PathBuf], times: u32) -> Result<Vec<TaskFile>, Failure> {
    let mut all = Vec::new();
    for file in files {
        for (number, value) in values(file)?.into_iter().enumerate() {
            let place = format!("{}, task {}", file.display(), number + 1);
            for time in 1..=times {
                all.push(one(&value, &place, time)?);
            }
        }
    }
    if all.is_empty() {
        return Err(Failure::new("there is no task in these files"));
    }
    let mut ids: Vec<&str> = all.iter().map(|file| file.task.task_id.as_str()).collect();
    ids.sort_unstable();
    if let Some(twice) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Failure::new(format_args!(
            "the task id `{}` is used twice: an id is good for one play; leave `task_id` out to get a \
             new one, or play it several times with --times",
            twice[0]
        )));
    }
    Ok(all)
}

fn values(file: &Path) -> Result<Vec<Value>, Failure> {
    let failed = |why: String| Failure::new(format_args!("{}: {why}", file.display()));
    let size = std::fs::metadata(file).map_err(|error| failed(error.to_string()))?;
    if size.len() > MOST_BYTES {
        return Err(failed("larger than 64 MB".to_owned()));
    }
    let text = std::fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    match serde_json::from_str(&text) {
        Ok(Value::Array(values)) => Ok(values),
        Ok(value) => Ok(vec![value]),
        Err(whole) => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let values: Result<Vec<Value>, _> = lines.map(serde_json::from_str).collect();
            values.map_err(|_| failed(format!("neither JSON nor JSON lines: {whole}")))
        }
    }
}

fn one(value: &Value, place: &str, time: u32) -> Result<TaskFile, Failure> {
    let failed = |why: String| Failure::new(format_args!("{place}: {why}"));
    let mut task = wire::parse_task(value).map_err(|wrong| failed(wrong.to_string()))?;
    if time > 1 && value.get("task_id").is_some() {
        task.task_id = format!("{}#{time}", task.task_id);
    }
    let apps = value.get("apps").map(|apps| {
        serde_json::from_value(apps.clone())
            .map_err(|_| failed("`apps` is no list of texts".into()))
    });
    let screen = value.get("screen").map(|screen| {
        let size = screen.as_str().and_then(|text| text.parse().ok());
        size.ok_or_else(|| failed("`screen` is no WIDTHxHEIGHT such as \"480x360\"".into()))
    });
    Ok(TaskFile {
        task,
        apps: apps.transpose()?,
        screen: screen.transpose()?,
    })
}
