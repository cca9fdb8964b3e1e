//! Runs `agon` in a folder of its own and reads what it left.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use agon::store::{RunReader, TrialLine};
use serde_json::Value;
use tempfile::TempDir;

/// A working folder with suites and runs in it, gone with the test.
pub(crate) struct Bench {
    folder: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, making its folders.
    pub(crate) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// A suite `suite` with one task per entry: id and YAML.
    pub(crate) fn suite(&self, tasks: &[(&str, &str)]) {
        for (id, yaml) in tasks {
            self.write(&format!("suite/test/{id}.yaml"), yaml);
        }
    }

    pub(crate) fn agon(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command.env("NO_COLOR", "1");
        command
    }

    pub(crate) fn call(&self, args: &[&str]) -> Called {
        Called(self.agon(args).output().unwrap())
    }

    /// `agon run suite --out run --json` and further arguments.
    pub(crate) fn run(&self, args: &[&str]) -> Called {
        let mut all = vec!["run", "suite", "--out", "run", "--json"];
        all.extend(args);
        self.call(&all)
    }

    pub(crate) fn reader(&self) -> RunReader {
        RunReader::open(&self.path("run")).unwrap()
    }

    pub(crate) fn trials(&self) -> Vec<TrialLine> {
        self.reader().trials().unwrap()
    }

    /// The only trial of a run of one task.
    pub(crate) fn trial(&self) -> TrialLine {
        let mut trials = self.trials();
        trials.retain(|line| line.is_final);
        assert_eq!(trials.len(), 1, "{trials:?}");
        trials.remove(0)
    }
}

pub(crate) struct Called(pub(crate) Output);

impl Called {
    pub(crate) fn status(&self) -> i32 {
        self.0.status.code().unwrap_or(-1)
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// The last line of standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        let text = self.stdout();
        let last = text
            .lines()
            .last()
            .unwrap_or_else(|| panic!("no output: {}", self.stderr()));
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {last}"))
    }

    #[track_caller]
    pub(crate) fn expect(self, status: i32) -> Self {
        assert_eq!(
            self.status(),
            status,
            "{}\n{}",
            self.stdout(),
            self.stderr()
        );
        self
    }
}

/// The tasks of a suite as its files lie there: `category/id` and the text of each.
pub(crate) fn tasks_in(suite: &Path) -> BTreeMap<String, String> {
    let mut tasks = BTreeMap::new();
    for category in folder(suite).into_iter().filter(|path| path.is_dir()) {
        for task in folder(&category) {
            let file = if task.is_dir() {
                task.join("task.yaml")
            } else {
                task.clone()
            };
            let [category, id] = [category.file_name(), task.file_stem()]
                .map(|name| name.unwrap().to_str().unwrap().to_owned());
            let text = fs::read_to_string(file).unwrap();
            tasks.insert(format!("{category}/{id}"), text);
        }
    }
    tasks
}

fn folder(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The suite that ships with Agon.
pub(crate) fn demo_suite() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/demo")
}
