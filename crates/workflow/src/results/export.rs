//! A run of any agent as an evaluation's files, long after it was played.

use std::fs;
use std::path::{Path, PathBuf};

use agon_core::Money;
use agon_core::clock::FixedClock;
use agon_store::{Manifest, RunReader};
use agon_suite::{LoadOptions, load_suite};
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::rows::{Instances, RunRows};
use crate::eval::{EvalFileError, EvalMetadata};

/// The key of a manifest's selection that holds what the model may cost for one instance.
pub const BUDGET: &str = "max_budget_per_task";

/// Writes `metadata.json` and `output.jsonl` into a folder. Says where.
pub fn export(reader: RunReader, out: &Path) -> Result<Vec<PathBuf>, EvalFileError> {
    let (metadata_file, output_file) = (out.join("metadata.json"), out.join("output.jsonl"));
    let metadata = metadata_of(&reader, out)?;
    for file in [&metadata_file, &output_file] {
        must_be_ours(file, &metadata, reader.manifest())?;
    }
    let instances = instances_of(reader.manifest());
    metadata.write(&metadata_file)?;
    let budget = budget_of(reader.manifest());
    let rows = RunRows::new(reader, metadata, instances).with_budget(budget);
    rows.write_all(&output_file)?;
    Ok(vec![metadata_file, output_file])
}

/// Nothing is overwritten but an earlier export of the same run, which its metadata tells: not what others
/// made, and not what the run was imported from.
fn must_be_ours(
    file: &Path,
    metadata: &EvalMetadata,
    manifest: &Manifest,
) -> Result<(), EvalFileError> {
    if fs::symlink_metadata(file).is_err() {
        return Ok(());
    }
    let beside = EvalMetadata::read(&file.with_file_name("metadata.json"));
    let same = beside.is_ok_and(|there| there.is_of_same_run(metadata));
    let place = fs::canonicalize(file).ok();
    let is_source = |path: &str| place.is_some() && fs::canonicalize(path).ok() == place;
    if same && !manifest.suites.iter().any(|suite| is_source(&suite.path)) {
        return Ok(());
    }
    Err(EvalFileError::NotOfThisRun {
        path: file.to_owned(),
    })
}

/// What one instance could cost, as it was asked for.
fn budget_of(manifest: &Manifest) -> Option<Money> {
    Money::parse(manifest.selection.get(BUDGET)?)
}

/// That of the run itself if it was a benchmark's, or what the manifest tells.
pub fn metadata_of(reader: &RunReader, out: &Path) -> Result<EvalMetadata, EvalFileError> {
    let own = reader.folder().path().join("metadata.json");
    if own.is_file() {
        return EvalMetadata::read(&own);
    }
    let manifest = reader.manifest();
    let began = manifest.created.to_zoned(TimeZone::UTC);
    let names: Vec<&str> = manifest.suites.iter().map(|suite| &*suite.name).collect();
    Ok(EvalMetadata {
        agent_class: manifest.agent.spec.clone(),
        llm_config: model(manifest),
        max_iterations: manifest
            .tasks
            .iter()
            .map(|task| task.steps)
            .max()
            .unwrap_or(0),
        eval_output_dir: out.display().to_string(),
        start_time: began.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        git_commit: "unknown".to_owned(),
        dataset: Some(names.join("-")),
        ..EvalMetadata::default()
    })
}

fn model(manifest: &Manifest) -> Map<String, Value> {
    let Some(stamp) = manifest.models.first() else {
        return Map::new();
    };
    let mut fields = Map::from_iter([("model".to_owned(), json!(stamp.model))]);
    for (name, value) in &stamp.settings {
        fields.insert(name.clone(), value.clone());
    }
    fields
}

/// The dataset's rows, if its folder is still where it was. Nothing depends on them but a key of each row.
pub fn instances_of(manifest: &Manifest) -> Instances {
    let clock = FixedClock(manifest.dates_from);
    let options = LoadOptions::new(&clock);
    let mut instances = Instances::new();
    for suite in &manifest.suites {
        let Ok(suite) = load_suite(Path::new(&suite.path), &options) else {
            continue;
        };
        for task in suite.tasks {
            if let Some(row) = task.instance.on_host() {
                instances.insert(task.id.clone(), row.clone());
            }
        }
    }
    instances
}
