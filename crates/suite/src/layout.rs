//! Where tasks lie on disk: `suite/<category>/<id>.yaml` or `suite/<category>/<id>/task.yaml`,
//! nothing deeper. One task file or task folder is a suite too.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use agon_core::TaskId;
use agon_core::id::check_name;

use crate::error::SuiteError;

const TASK_FILE: &str = "task.yaml";

/// A task's file, and its folder where it has one of its own.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Found {
    pub(crate) id: TaskId,
    pub(crate) file: PathBuf,
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct Layout {
    /// The suite's name unless `suite.toml` gives one.
    pub(crate) name: String,
    /// Where `suite.toml` would be.
    pub(crate) config: PathBuf,
    /// In order of category and id.
    pub(crate) tasks: Vec<Found>,
}

pub(crate) fn discover(path: &Path, errors: &mut Vec<SuiteError>) -> Result<Layout, SuiteError> {
    let meta = fs::metadata(path).map_err(|error| SuiteError::unreadable(path, error))?;
    if meta.is_file() {
        let own_folder = path
            .parent()
            .filter(|_| path.file_name() == Some(OsStr::new(TASK_FILE)));
        return match own_folder {
            Some(folder) => single(path, Some(folder)),
            None => single(path, None),
        };
    }
    if path.join(TASK_FILE).is_file() {
        return single(&path.join(TASK_FILE), Some(path));
    }
    let categories = folders(path)?;
    if categories.iter().any(|folder| is_task_folder(folder)) {
        return Err(one_category(path));
    }
    let mut tasks = Vec::new();
    for category in &categories {
        tasks.extend(in_category(category, errors)?);
    }
    if tasks.is_empty() && errors.is_empty() {
        let task_files = entries(path)?.into_iter().any(|file| is_task_file(&file));
        if task_files {
            return Err(one_category(path));
        }
        return Err(SuiteError::layout_help(
            path,
            "there are no tasks here",
            "a suite holds <category>/<id>.yaml or <category>/<id>/task.yaml",
        ));
    }
    tasks.sort();
    for pair in tasks.windows(2) {
        if let [first, second] = pair
            && first.id == second.id
        {
            errors.push(SuiteError::layout_help(
                &second.file,
                format!("the task `{}` is here a second time", second.id),
                format!("it is also in {}: rename one", first.file.display()),
            ));
        }
    }
    Ok(Layout {
        name: folder_name(path).unwrap_or_else(|| "suite".to_owned()),
        config: path.join("suite.toml"),
        tasks,
    })
}

/// One task as a suite: its category is the name of the folder it lies in.
fn single(file: &Path, folder: Option<&Path>) -> Result<Layout, SuiteError> {
    let full = fs::canonicalize(file).map_err(|error| SuiteError::unreadable(file, error))?;
    let task = match folder {
        Some(_) => full.parent().unwrap_or(&full),
        None => &full,
    };
    let id = match folder {
        Some(_) => task.file_name(),
        None => task.file_stem(),
    };
    let id = id.and_then(OsStr::to_str).unwrap_or_default().to_owned();
    let category_folder = task.parent();
    let category = category_folder
        .and_then(folder_name)
        .filter(|name| check_name(name).is_ok())
        .unwrap_or_else(|| "tasks".to_owned());
    let root = category_folder.and_then(Path::parent);
    let id =
        TaskId::new(&category, id).map_err(|error| SuiteError::layout(file, error.to_string()))?;
    Ok(Layout {
        name: root.and_then(folder_name).unwrap_or(category),
        config: root.unwrap_or(Path::new("/")).join("suite.toml"),
        tasks: vec![Found {
            id,
            file: file.to_owned(),
            folder: folder.map(Path::to_owned),
        }],
    })
}

/// A folder that is one task: `task.yaml` and no other tasks in it.
fn is_task_folder(folder: &Path) -> bool {
    let others = entries(folder).unwrap_or_default();
    folder.join(TASK_FILE).is_file()
        && !others.iter().any(|other| {
            other.join(TASK_FILE).is_file()
                || (is_task_file(other) && other.file_name() != Some(OsStr::new(TASK_FILE)))
        })
}

fn is_task_file(path: &Path) -> bool {
    path.is_file() && path.extension() == Some(OsStr::new("yaml"))
}

fn one_category(path: &Path) -> SuiteError {
    SuiteError::layout_help(
        path,
        "this folder holds tasks, not categories: it is one category of a suite",
        format!(
            "give the suite itself, with --category {} to play only this part",
            folder_name(path).unwrap_or_default()
        ),
    )
}

fn in_category(category: &Path, errors: &mut Vec<SuiteError>) -> Result<Vec<Found>, SuiteError> {
    let name = category
        .file_name()
        .and_then(OsStr::to_str)
        .unwrap_or_default();
    let mut found = Vec::new();
    for path in entries(category)? {
        let (stem, file, folder) = if path.is_dir() {
            let file = path.join(TASK_FILE);
            if !file.is_file() {
                if path.join("visible").is_dir() || path.join("verify").is_dir() {
                    errors.push(SuiteError::layout(path, "this folder has no task.yaml"));
                }
                continue;
            }
            (path.file_name(), file, Some(path.clone()))
        } else if is_task_file(&path) {
            (path.file_stem(), path.clone(), None)
        } else {
            continue;
        };
        match TaskId::new(name, stem.and_then(OsStr::to_str).unwrap_or_default()) {
            Ok(id) => found.push(Found { id, file, folder }),
            Err(error) => errors.push(SuiteError::layout(&path, error.to_string())),
        }
    }
    Ok(found)
}

fn folders(path: &Path) -> Result<Vec<PathBuf>, SuiteError> {
    let mut folders = entries(path)?;
    folders.retain(|path| path.is_dir());
    Ok(folders)
}

/// What lies in a folder, without hidden things, in order.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, SuiteError> {
    let failed = |error| SuiteError::unreadable(folder, error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !entry.file_name().as_encoded_bytes().starts_with(b".") {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

pub(crate) fn folder_name(path: &Path) -> Option<String> {
    let full = fs::canonicalize(path).ok()?;
    full.file_name()?.to_str().map(str::to_owned)
}
