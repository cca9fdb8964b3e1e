//! Suites in temporary folders.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use agon_core::check::Check;
use agon_core::clock::FixedClock;
use agon_core::{CutOff, Task};
use agon_suite::{LoadOptions, Suite, SuiteErrors, load_suite};
use jiff::tz::TimeZone;
use miette::{GraphicalReportHandler, GraphicalTheme};
use tempfile::TempDir;

/// A moment in the middle of October.
pub(crate) fn october() -> FixedClock {
    FixedClock("2024-10-15T12:00:00Z".parse().unwrap())
}

pub(crate) fn options(clock: &FixedClock) -> LoadOptions<'_> {
    LoadOptions {
        clock,
        zone: TimeZone::UTC,
        max_steps: None,
    }
}

pub(crate) struct Folder {
    temporary: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self {
            temporary: tempfile::tempdir().unwrap(),
        }
    }

    /// A suite of one task: `demo/one.yaml`.
    pub(crate) fn of_task(yaml: &str) -> Self {
        Self::new().with("demo/one.yaml", yaml)
    }

    pub(crate) fn with(self, path: &str, content: &str) -> Self {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.temporary.path().join("suite")
    }

    pub(crate) fn load(&self) -> Result<Suite, SuiteErrors> {
        load(&self.path())
    }

    pub(crate) fn suite(&self) -> Suite {
        self.load().unwrap_or_else(|errors| {
            let lines: Vec<_> = errors.errors().iter().map(ToString::to_string).collect();
            panic!("{errors}: {lines:?}")
        })
    }

    /// The errors of a suite that must not load, as people see them.
    pub(crate) fn complaint(&self) -> String {
        let errors = self.load().unwrap_err();
        let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
            .with_width(100)
            .with_links(false);
        let mut text = String::new();
        handler.render_report(&mut text, &errors).unwrap();
        let root = self.path().display().to_string();
        let text = text.replace(&root, "suite");
        // Places are part of the contract, so they are shown beside the pictures.
        errors.errors().iter().fold(text, |mut text, error| {
            writeln!(text, "{}", error.line().replace(&root, "suite")).unwrap();
            text
        })
    }
}

pub(crate) fn load(path: &Path) -> Result<Suite, SuiteErrors> {
    let clock = october();
    load_suite(path, &options(&clock))
}

pub(crate) fn one(yaml: &str) -> Task {
    Folder::of_task(yaml).suite().tasks.remove(0)
}

pub(crate) fn checks(task: &Task) -> Vec<Check> {
    task.checks.open(&CutOff::after_freeze()).clone()
}
