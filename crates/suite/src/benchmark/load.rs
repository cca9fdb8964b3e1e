//! A benchmark's folder becomes a suite: every error that can be told at once, tasks in the order of the
//! dataset.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use agon_core::files::{FileTree, stays_inside};
use agon_core::{Task, TaskId};
use globset::{Glob, GlobSet, GlobSetBuilder};

use super::dataset::{self, Row};
use super::instance::{self, Common};
use super::parts::{Parts, Reader};
use super::sources::Sources;
use super::template::Templates;
use super::{FILE, folder, naming};
use crate::error::{SuiteError, SuiteErrors};
use crate::format::BenchmarkFile;
use crate::layout::folder_name;
use crate::load::{LoadOptions, Suite, read_text, suite_digest};
use crate::source::{Node, NodeError, nearest, parse_toml};
use crate::tree;

const ID: &str = "instance_id";
const HIDDEN: [&str; 6] = [
    "answer",
    "expected",
    "solution",
    "patch",
    "test_patch",
    "gold*",
];
/// A mistake in a template is made in every row: more of them say nothing new.
const MAX_ERRORS: usize = 20;

/// `path` is the folder that has `benchmark.toml`.
pub(crate) fn load(path: &Path, options: &LoadOptions<'_>) -> Result<Suite, SuiteErrors> {
    let mut errors = Vec::new();
    match read(path, options, &mut errors) {
        Some(suite) if errors.is_empty() => Ok(suite),
        _ => Err(SuiteErrors::new(path, errors)),
    }
}

fn read(path: &Path, options: &LoadOptions<'_>, errors: &mut Vec<SuiteError>) -> Option<Suite> {
    let source = noted(read_text(&path.join(FILE)), errors)?;
    let parsed =
        parse_toml(source.text()).and_then(|node| Ok((node.read::<BenchmarkFile>()?, node)));
    let (file, node) = noted(parsed.map_err(|error| source.error(error)), errors)?;
    let mut sources = Sources::default();
    sources.add(source);

    let reader = Reader {
        root: path,
        file: &file,
        node: &node,
        sources: &mut sources,
        errors,
    };
    let parts = reader.parts();
    let dataset = noted(dataset_path(path, &file, &node, &sources), errors)?;
    let rows = noted(dataset::read(&dataset), errors)?;
    let fields: BTreeSet<String> = rows
        .iter()
        .flat_map(|row| row.fields.keys().cloned())
        .collect();
    let hidden = noted(
        hidden(&file, &node).map_err(|error| sources.error(error)),
        errors,
    )?;
    let mut templates = Templates::new(fields, hidden);
    learn(&parts, &mut templates, &sources, errors);

    let visible = noted(visible(path, &file, &node, &sources), errors)?;
    let verify = noted(tree::read(&path.join("verify")), errors)?;
    let name = folder_name(path).unwrap_or_else(|| "benchmark".to_owned());
    let names = Names {
        dataset: &dataset,
        id: file.id.as_deref().unwrap_or(ID),
        category: Category::of(file.category.as_deref(), &name, &rows),
    };
    let ids = names.all(&rows, errors);
    if !errors.is_empty() {
        return None;
    }
    let common = Common {
        root: path,
        parts: &parts,
        templates: &templates,
        sources: &sources,
        visible: &visible,
        verify: &verify,
        max_steps: options.max_steps.as_ref(),
    };
    let tasks = tasks(&common, &rows, ids, errors);
    Some(Suite {
        name: file.name.unwrap_or(name),
        description: file.description,
        path: path.to_owned(),
        digest: suite_digest(&tasks),
        hidden: templates.hidden(),
        builds: Vec::new(),
        notes: Vec::new(),
        tasks,
    })
}

fn noted<T>(read: Result<T, SuiteError>, errors: &mut Vec<SuiteError>) -> Option<T> {
    read.map_err(|error| errors.push(error)).ok()
}

fn dataset_path(
    root: &Path,
    file: &BenchmarkFile,
    node: &Node,
    sources: &Sources,
) -> Result<PathBuf, SuiteError> {
    match &file.dataset {
        Some(name) => folder::named(root, name).map_err(|message| {
            let place = node.get("dataset").unwrap_or(node).head();
            sources.error(NodeError::new(message).at(place))
        }),
        None => folder::dataset(root),
    }
}

fn visible(
    root: &Path,
    file: &BenchmarkFile,
    node: &Node,
    sources: &Sources,
) -> Result<FileTree, SuiteError> {
    let name = file.files.visible.as_deref().unwrap_or("visible");
    if !stays_inside(Path::new(name)) {
        let place = node.get("files").unwrap_or(node).head();
        let message = format!("`{name}` is no folder of the benchmark's folder");
        return Err(sources.error(NodeError::new(message).at(place)));
    }
    tree::read(&root.join(name))
}

fn hidden(file: &BenchmarkFile, node: &Node) -> Result<GlobSet, NodeError> {
    let written: Vec<&str> = match &file.hidden {
        Some(names) => names.iter().map(String::as_str).collect(),
        None => HIDDEN.to_vec(),
    };
    let mut set = GlobSetBuilder::new();
    let place = node.get("hidden").unwrap_or(node).head();
    let wrong = |error: &globset::Error| NodeError::new(error.to_string()).at(place);
    for name in written {
        set.add(Glob::new(name).map_err(|error| wrong(&error))?);
    }
    set.build().map_err(|error| wrong(&error))
}

fn learn(
    parts: &Parts,
    templates: &mut Templates,
    sources: &Sources,
    errors: &mut Vec<SuiteError>,
) {
    let mut found = Vec::new();
    let more = parts.solve.iter().chain(&parts.per_instance);
    for part in parts.keys.iter().chain(more) {
        templates.learn(&part.node, part.side, part.form, &mut found);
    }
    errors.extend(found.into_iter().map(|error| sources.error(error)));
}

/// A row that fits no template is a task that can't be played, and leaves the others alone. If there are
/// only such rows, it is the benchmark that is wrong.
fn tasks(
    common: &Common<'_>,
    rows: &[Row],
    ids: Vec<(TaskId, String)>,
    errors: &mut Vec<SuiteError>,
) -> Vec<Task> {
    let mut seen = HashSet::new();
    let mut tasks = Vec::with_capacity(rows.len());
    let (mut wrong, mut playable) = (Vec::new(), false);
    for (row, (id, name)) in rows.iter().zip(ids) {
        match common.task(row, id.clone(), &name) {
            Ok(task) => {
                playable = true;
                tasks.push(task);
            }
            // Files are the benchmark's, not the row's.
            Err(found)
                if !found
                    .iter()
                    .all(|error| matches!(error, SuiteError::Text(_))) =>
            {
                errors.extend(found.into_iter().filter(|e| seen.insert(e.line())));
                if errors.len() >= MAX_ERRORS {
                    break;
                }
            }
            Err(found) => {
                let why: Vec<String> = found.iter().map(SuiteError::line).collect();
                tasks.push(instance::unplayable(row, id, name, why.join("; ")));
                let new = found.into_iter().filter(|e| seen.insert(e.line()));
                wrong.extend(new.take(MAX_ERRORS - wrong.len()));
            }
        }
    }
    if !playable {
        errors.extend(wrong);
    }
    tasks
}

enum Category {
    Field(String),
    Word(String),
}

impl Category {
    /// A field if some row has it.
    fn of(written: Option<&str>, folder: &str, rows: &[Row]) -> Self {
        match written {
            Some(name) if rows.iter().any(|row| row.fields.contains_key(name)) => {
                Self::Field(name.to_owned())
            }
            Some(word) => Self::Word(naming::safe(word)),
            None => Self::Word(naming::safe(folder)),
        }
    }
}

/// How the rows are called.
struct Names<'a> {
    dataset: &'a Path,
    id: &'a str,
    category: Category,
}

impl Names<'_> {
    /// The tasks' ids, and what the dataset calls them. Ids are unique over the whole dataset, whatever
    /// the category: that is how its users know them.
    fn all(&self, rows: &[Row], errors: &mut Vec<SuiteError>) -> Vec<(TaskId, String)> {
        let mut first: HashMap<String, usize> = HashMap::new();
        let mut names = Vec::with_capacity(rows.len());
        for (at, row) in rows.iter().enumerate() {
            if errors.len() >= MAX_ERRORS {
                break;
            }
            let (id, name) = match self.one(row) {
                Ok(found) => found,
                Err(message) => {
                    errors.push(dataset::wrong(self.dataset, row.line, message));
                    continue;
                }
            };
            if let Some(other) = first.insert(id.id().to_owned(), at) {
                let line = rows.get(other).map_or(0, |row| row.line);
                let place = match line {
                    0 => format!("row {}", other + 1),
                    line => format!("line {line}"),
                };
                let message = format!("`{name}` is the task `{}`, as is {place}", id.id());
                errors.push(dataset::wrong(self.dataset, row.line, message));
            }
            names.push((id, name));
        }
        names
    }

    fn one(&self, row: &Row) -> Result<(TaskId, String), String> {
        let name = self.field(row, self.id, "id")?;
        let category = match &self.category {
            Category::Field(field) => naming::safe(&self.field(row, field, "category")?),
            Category::Word(word) => word.clone(),
        };
        let id = TaskId::new(category, naming::safe(&name)).map_err(|error| error.to_string())?;
        Ok((id, name))
    }

    fn field(&self, row: &Row, field: &str, key: &str) -> Result<String, String> {
        match row.fields.get(field) {
            Some(value) => naming::text(value)
                .ok_or_else(|| format!("the field `{field}` has to be a text or a number")),
            None => {
                let known = row.fields.keys().map(String::as_str);
                let near = nearest(field, known.clone())
                    .map(|near| format!(", did you mean `{near}`?"))
                    .unwrap_or_default();
                let known: Vec<&str> = known.take(30).collect();
                let known = known.join(", ");
                Err(format!(
                    "the row has no field `{field}`{near} (say {key} = \"...\" in {FILE}; fields: {known})"
                ))
            }
        }
    }
}
