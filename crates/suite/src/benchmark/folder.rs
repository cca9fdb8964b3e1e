//! What lies where in a benchmark's folder.

use std::fs;
use std::path::{Path, PathBuf};

use agon_core::files::stays_inside;

use crate::error::SuiteError;

pub(crate) const FILE: &str = "benchmark.toml";

const DATASETS: [&str; 3] = ["jsonl", "json", "csv"];

/// A file of the folder, by the name that `benchmark.toml` gives it.
pub(super) fn named(root: &Path, name: &str) -> Result<PathBuf, String> {
    if !stays_inside(Path::new(name)) {
        return Err(format!("`{name}` is no file of the benchmark's folder"));
    }
    let path = root.join(name);
    let lost = |error| format!("there is no file `{name}` here: {error}");
    let real = fs::canonicalize(&path).map_err(lost)?;
    let real_root = fs::canonicalize(root).map_err(lost)?;
    if !real.starts_with(&real_root) {
        return Err(format!("`{name}` leads out of the benchmark's folder"));
    }
    match real.is_file() {
        true => Ok(path),
        false => Err(format!("`{name}` is no file")),
    }
}

/// The first of these files that is there.
pub(super) fn first<'n>(root: &Path, names: &[&'n str]) -> Option<&'n str> {
    names.iter().copied().find(|name| root.join(name).is_file())
}

/// The only dataset that is there.
pub(super) fn dataset(root: &Path) -> Result<PathBuf, SuiteError> {
    let failed = |error| SuiteError::unreadable(root, error);
    let mut found = Vec::new();
    for entry in fs::read_dir(root).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if path.is_file() && ending.is_some_and(|ending| DATASETS.contains(&ending)) {
            found.push(path);
        }
    }
    found.sort();
    let preferred = found
        .iter()
        .filter(|path| path.file_stem().is_some_and(|stem| stem == "dataset"))
        .count();
    if preferred == 1 {
        found.retain(|path| path.file_stem().is_some_and(|stem| stem == "dataset"));
    }
    match found.len() {
        1 => found
            .pop()
            .ok_or_else(|| SuiteError::layout(root, "there is no dataset here")),
        0 => Err(SuiteError::layout_help(
            root,
            "there is no dataset here",
            "put dataset.jsonl, dataset.json or dataset.csv beside benchmark.toml",
        )),
        _ => Err(SuiteError::layout_help(
            root.join(FILE),
            "there are several datasets here",
            "name one: dataset = \"dataset.jsonl\"",
        )),
    }
}
