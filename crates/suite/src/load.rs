//! Reading a suite from disk: every error of every file in one go, then tasks in a fixed order.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use agon_core::digest::Hasher;
use agon_core::files::FileTree;
use agon_core::{Clock, Digest, Seconds, Task};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::benchmark;
use crate::build::{self, Draft, MaxSteps};
use crate::error::{SourceText, SuiteError, SuiteErrors};
use crate::format::SuiteFile;
use crate::harbor;
use crate::layout::{self, Found};
use crate::lint::{Finding, as_written};
use crate::source::{MAX_FILE, Node, NodeError, parse_toml, parse_yaml};
use crate::tree;

#[derive(Debug)]
pub struct LoadOptions<'a> {
    /// Dates in task files are expanded by this clock.
    pub clock: &'a dyn Clock,
    /// The time zone in which they are.
    pub zone: TimeZone,
    /// `--max-steps`.
    pub max_steps: Option<MaxSteps>,
}

impl<'a> LoadOptions<'a> {
    /// Dates in the time zone of this machine, steps as the suite says.
    pub fn new(clock: &'a dyn Clock) -> Self {
        Self {
            clock,
            zone: TimeZone::system(),
            max_steps: None,
        }
    }
}

#[derive(Debug)]
pub struct Suite {
    pub name: String,
    pub description: String,
    /// As given.
    pub path: PathBuf,
    /// Over all tasks and what reports use of them.
    pub digest: Digest,
    /// In order of level (none last), category, id; those of a dataset in its own order.
    pub tasks: Vec<Task>,
    /// The fields of a dataset that no agent may learn.
    pub hidden: Vec<String>,
    /// Images that have to be made before the tasks can be played.
    pub builds: Vec<ImageBuild>,
    /// What was noticed while reading.
    pub notes: Vec<Finding>,
}

/// An image that a suite brings the recipe of.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageBuild {
    /// As the environments of tasks name it. It has the digest of the recipe in it: a tag that is there
    /// already need not be made again.
    pub tag: String,
    /// Has a `Dockerfile`, and what that copies.
    pub folder: PathBuf,
    /// How long it may take.
    pub limit: Seconds,
}

pub fn load_suite(path: &Path, options: &LoadOptions<'_>) -> Result<Suite, SuiteErrors> {
    let place = |folder: &Path| folder.join(benchmark::FILE).is_file();
    match path.parent() {
        _ if place(path) => return benchmark::load(path, options),
        Some(folder) if path.file_name().is_some_and(|name| name == benchmark::FILE) => {
            return benchmark::load(folder, options);
        }
        _ => {}
    }
    if let Some(folders) = harbor::find(path) {
        return harbor::load(path, &folders, options);
    }
    let mut errors = Vec::new();
    let layout = match layout::discover(path, &mut errors) {
        Ok(layout) => layout,
        Err(error) => {
            errors.push(error);
            return Err(SuiteErrors::new(path, errors));
        }
    };
    let config = config(&layout.config).unwrap_or_else(|error| {
        errors.push(error);
        SuiteFile::default()
    });
    let loader = Loader {
        root: layout.config.parent().unwrap_or(path),
        config: &config,
        now: options.clock.now(),
        options,
    };
    let mut tasks = Vec::with_capacity(layout.tasks.len());
    let mut notes = Vec::new();
    for found in layout.tasks {
        match loader.task(found, &mut notes) {
            Ok(task) => tasks.push(task),
            Err(more) => errors.extend(more),
        }
    }
    if !errors.is_empty() {
        return Err(SuiteErrors::new(path, errors));
    }
    tasks.sort_by(|a, b| {
        let key = |task: &Task| (task.level.is_none(), task.level);
        key(a).cmp(&key(b)).then_with(|| a.id.cmp(&b.id))
    });
    Ok(Suite {
        name: config.name.unwrap_or(layout.name),
        description: config.description,
        path: path.to_owned(),
        digest: suite_digest(&tasks),
        hidden: Vec::new(),
        builds: Vec::new(),
        notes,
        tasks,
    })
}

pub(crate) fn suite_digest(tasks: &[Task]) -> Digest {
    let mut hasher = Hasher::default();
    for task in tasks {
        hasher.part(task.digest.bytes());
        hasher.part(task.name.as_bytes());
        hasher.part(task.level.map_or("", |level| level.name()).as_bytes());
        hasher.part(&task.weight.to_le_bytes());
    }
    hasher.finish()
}

struct Loader<'a> {
    /// The suite's folder.
    root: &'a Path,
    config: &'a SuiteFile,
    now: Timestamp,
    options: &'a LoadOptions<'a>,
}

impl Loader<'_> {
    fn task(&self, found: Found, notes: &mut Vec<Finding>) -> Result<Task, Vec<SuiteError>> {
        let source = read_text(&found.file).map_err(|error| vec![error])?;
        let parsed = parse_yaml(source.text());
        let mut node = parsed.map_err(|error| vec![source.error(error)])?;
        notes.extend(as_written(&found.id, &node));
        build::expand(&mut node, self.now, &self.options.zone);
        let (visible, verify, solve) =
            extras(found.folder.as_deref()).map_err(|error| vec![error])?;
        let draft = Draft {
            id: found.id,
            node,
            visible,
            verify,
            solve,
            root: self.root.to_owned(),
            instance: None,
        };
        build::task(draft, self.config, self.options.max_steps.as_ref())
            .map_err(|errors| errors.into_iter().map(|e| source.error(e)).collect())
    }
}

/// What a task's own folder adds to its file.
pub(crate) fn extras(
    folder: Option<&Path>,
) -> Result<(FileTree, FileTree, Option<String>), SuiteError> {
    let Some(folder) = folder else {
        return Ok((FileTree::default(), FileTree::default(), None));
    };
    let solve = folder.join("solution/solve.sh");
    let solve = match solve.is_file() {
        true => Some(read_text(&solve)?.text().to_owned()),
        false => None,
    };
    Ok((
        tree::read(&folder.join("visible"))?,
        tree::read(&folder.join("verify"))?,
        solve,
    ))
}

fn config(path: &Path) -> Result<SuiteFile, SuiteError> {
    if !path.is_file() {
        return Ok(SuiteFile::default());
    }
    let source = read_text(path)?;
    let read = || -> Result<SuiteFile, NodeError> {
        let node = parse_toml(source.text())?;
        let file: SuiteFile = node.read()?;
        for (level, weight) in &file.weights {
            if *weight < 0.0 {
                let weights = node.get("weights").unwrap_or(&node);
                let span = weights.get(level.name()).map_or(node.span, Node::head);
                return Err(NodeError::new("a weight can't be negative").at(span));
            }
        }
        Ok(file)
    };
    read().map_err(|error| source.error(error))
}

pub(crate) fn read_text(path: &Path) -> Result<SourceText, SuiteError> {
    let failed = |error| SuiteError::unreadable(path, error);
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(SuiteError::layout(path, "the file is larger than 1 MiB"));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| SuiteError::layout(path, "the file is not UTF-8 text"))?;
    Ok(SourceText::new(path.display().to_string(), text))
}
