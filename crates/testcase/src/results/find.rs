//! Finds result files of the original below a folder, and tells what they say of each case.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use agon_core::TaskId;
use agon_store::RunFolder;
use serde::Deserialize;

use super::error::ResultsError;
use super::files::is_taken;
use super::schema::{NO_SCORE, TestCaseRun, bytes_of};

const MANIFEST: &str = "run.json";
const LOCK: &str = "run.lock";

/// `<category>/<id>.json` below `at`, or `at` itself. Anything else is left out.
pub(crate) fn files(at: &Path) -> Result<Vec<PathBuf>, ResultsError> {
    let failed = |path: &Path| ResultsError::io("can't read", path);
    if fs::metadata(at).map_err(failed(at))?.is_file() {
        return Ok(vec![at.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(at).map_err(failed(at))? {
        let folder = entry.map_err(failed(at))?.path();
        // Links are not followed: they could lead anywhere.
        let is_folder = fs::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_dir());
        if !is_folder || is_taken(&folder) {
            continue;
        }
        for entry in fs::read_dir(&folder).map_err(failed(&folder))? {
            let path = entry.map_err(failed(&folder))?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "json")
                && path.is_file()
            {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// What the path of a file says about its case.
pub(crate) fn named(path: &Path) -> Option<(String, String)> {
    let category = path.parent()?.file_name()?.to_str()?;
    let id = path.file_stem()?.to_str()?;
    Some((category.to_owned(), id.to_owned()))
}

/// Whether `at` is, or has below it, results of the original and nothing that is a run of ours.
pub fn is_results(at: &Path) -> bool {
    let is_one = |path: &PathBuf| match TestCaseRun::read(path) {
        Ok(run) => !run.id.is_empty() && !run.task.is_empty(),
        Err(_) => false,
    };
    !at.join(MANIFEST).exists() && files(at).is_ok_and(|files| files.iter().any(is_one))
}

/// Results in a folder that is no run of ours: what the original's selection goes by.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Foreign {
    scores: BTreeMap<TaskId, Scores>,
    unreadable: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    pub ai: f64,
    pub human: f64,
}

/// What a file says, read without building its steps.
#[derive(Deserialize)]
struct Peek {
    id: String,
    #[serde(default)]
    ai_score: Option<f64>,
    #[serde(default)]
    human_score: Option<f64>,
}

/// The results in `dir`, but for those of the run that it may be the folder of. A file that can't be read, or
/// tells of another case, counts as none: its case is played, and the file replaced.
pub fn foreign(dir: &Path) -> Result<Foreign, ResultsError> {
    let mut found = Foreign::default();
    if !dir.is_dir() {
        return Ok(found);
    }
    let run = RunFolder::at(dir);
    let mut ours = HashSet::new();
    if run.has_manifest() {
        let tasks = run.read_manifest()?.tasks;
        ours.extend(tasks.into_iter().map(|stamp| stamp.task));
    }
    for path in files(dir)? {
        let named = named(&path).and_then(|(category, id)| TaskId::new(category, id).ok());
        let Some(task) = named.filter(|task| !ours.contains(task)) else {
            continue;
        };
        match peek(&path) {
            Ok(peek) if peek.id == task.id() => {
                let scores = Scores {
                    ai: peek.ai_score.unwrap_or(NO_SCORE),
                    human: peek.human_score.unwrap_or(NO_SCORE),
                };
                found.scores.insert(task, scores);
            }
            Ok(_) => {}
            Err(error) => found.unreadable.push(error.to_string()),
        }
    }
    Ok(found)
}

fn peek(path: &Path) -> Result<Peek, ResultsError> {
    let text = bytes_of(path).map_err(ResultsError::io("can't read", path))?;
    serde_json::from_slice(&text).map_err(|error| ResultsError::Broken {
        path: path.to_owned(),
        why: error.to_string(),
    })
}

impl Foreign {
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// Files that count as none, and why.
    pub fn unreadable(&self) -> &[String] {
        &self.unreadable
    }

    /// There is a result: `run-all` does not play it, and `validate-only` looks at it.
    pub fn has(&self, task: &TaskId) -> bool {
        self.scores.contains_key(task)
    }

    /// The result says that it failed, a person before a judge: `rerun-failed` plays it, as it does what
    /// has no result.
    pub fn failed(&self, task: &TaskId) -> bool {
        self.scores.get(task).is_some_and(|scores| {
            scores.human == 0.0 || (scores.ai == 0.0 && scores.human == NO_SCORE)
        })
    }
}

/// Lets a folder that holds nothing but results of the original become a run folder too.
pub fn make_room(dir: &Path) -> Result<(), ResultsError> {
    let failed = || ResultsError::io("can't use", dir);
    if dir.join(MANIFEST).exists() || dir.join(LOCK).exists() {
        return Ok(());
    }
    let Ok(mut entries) = fs::read_dir(dir) else {
        return Ok(());
    };
    let Some(first) = entries.next() else {
        return Ok(());
    };
    let only_results = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry?.path();
        let mut files = fs::read_dir(&path)?;
        let is_json = |entry: std::io::Result<fs::DirEntry>| {
            entry.is_ok_and(|entry| entry.path().extension().is_some_and(|end| end == "json"))
        };
        match files.all(is_json) {
            true => Ok(()),
            false => Err(std::io::Error::other(format!(
                "{} holds other things than results of test cases: choose another folder",
                path.display()
            ))),
        }
    };
    [first]
        .into_iter()
        .chain(entries)
        .try_for_each(only_results)
        .map_err(failed())?;
    fs::write(dir.join(LOCK), b"").map_err(failed())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn put(folder: &Path, name: &str, content: &serde_json::Value) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content.to_string()).unwrap();
    }

    #[test]
    fn what_is_played_again_goes_by_both_scores() {
        let root = tempfile::tempdir().unwrap();
        let scores = [
            ("passed", 1.0, -1.0, false),
            ("failed", 0.0, -1.0, true),
            ("saved", 0.0, 1.0, false),
            ("doomed", 1.0, 0.0, true),
            ("open", -1.0, -1.0, false),
        ];
        for (id, ai, human, _) in scores {
            let content = json!({ "id": id, "ai_score": ai, "human_score": human });
            put(root.path(), &format!("games/{id}.json"), &content);
        }
        put(root.path(), "games/renamed.json", &json!({ "id": "other" }));
        put(root.path(), "blobs/ab.json", &json!({ "id": "ab" }));
        let found = foreign(root.path()).unwrap();
        let renamed = TaskId::new("games", "renamed").unwrap();
        assert!(!found.has(&renamed), "it tells of another case");
        for (id, _, _, failed) in scores {
            let task = TaskId::new("games", id).unwrap();
            assert!(found.has(&task));
            assert_eq!(found.failed(&task), failed, "{id}");
        }
        fs::write(root.path().join("games/torn.json"), "{\"id\"").unwrap();
        let found = foreign(root.path()).unwrap();
        let [torn] = found.unreadable() else {
            panic!("{found:?}")
        };
        assert!(torn.contains("torn.json"), "{torn}");
        assert!(!found.has(&TaskId::new("games", "torn").unwrap()));
        assert!(found.has(&TaskId::new("games", "passed").unwrap()));
        assert!(foreign(&root.path().join("nowhere")).unwrap().is_empty());
    }

    #[test]
    fn only_folders_of_results_become_run_folders() {
        let root = tempfile::tempdir().unwrap();
        make_room(root.path()).unwrap();
        assert!(
            !root.path().join(LOCK).exists(),
            "an empty one can be used as it is"
        );
        put(root.path(), "games/a.json", &json!({}));
        make_room(root.path()).unwrap();
        assert!(root.path().join(LOCK).exists());
        fs::remove_file(root.path().join(LOCK)).unwrap();
        fs::write(root.path().join("games/thesis.tex"), "").unwrap();
        let error = make_room(root.path()).unwrap_err().to_string();
        assert!(error.contains("games"), "{error}");
        fs::remove_file(root.path().join("games/thesis.tex")).unwrap();
        fs::write(root.path().join("thesis.tex"), "").unwrap();
        assert!(make_room(root.path()).is_err());
    }
}
