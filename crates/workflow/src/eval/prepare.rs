//! Which instances of a dataset are to be worked on.

use std::collections::HashSet;
use std::path::Path;

use agon_core::Digest;
use serde_json::{Map, Value};

use super::error::EvalFileError;
use super::instance::Instance;
use super::lines::for_each_row;

/// How many unknown ids an error names.
const NAMED: usize = 10;

/// Ids alone, or what is left after the first `skip_num`, of those the first `eval_n_limit`; all without any
/// of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    pub eval_ids: Option<Vec<String>>,
    pub skip_num: Option<usize>,
    pub eval_n_limit: Option<usize>,
    /// Takes so many at random instead of the first ones; the same seed takes the same ones.
    pub sample: Option<u64>,
}

impl Selection {
    pub fn first(count: usize) -> Self {
        Self {
            eval_n_limit: Some(count),
            ..Self::default()
        }
    }
}

/// The selected rows, in the dataset's order, without those that `output_file` has a result of.
pub fn prepare_dataset(
    dataset: Vec<Map<String, Value>>,
    output_file: &Path,
    selection: &Selection,
) -> Result<Vec<Instance>, EvalFileError> {
    let mut known = HashSet::new();
    let mut instances = Vec::with_capacity(dataset.len());
    for (row, fields) in dataset.into_iter().enumerate() {
        let instance = Instance::new(fields, row + 1)?;
        if !known.insert(instance.id()) {
            return Err(EvalFileError::SameId(instance.id()));
        }
        instances.push(instance);
    }
    let mut chosen = chosen(instances, &known, selection)?;
    let finished = finished(output_file)?;
    chosen.retain(|instance| !finished.contains(&instance.id()));
    Ok(chosen)
}

fn chosen(
    mut instances: Vec<Instance>,
    known: &HashSet<String>,
    selection: &Selection,
) -> Result<Vec<Instance>, EvalFileError> {
    if let Some(ids) = &selection.eval_ids {
        let unknown: Vec<String> = ids
            .iter()
            .filter(|id| !known.contains(*id))
            .map(|id| format!("`{id}`"))
            .collect();
        if !unknown.is_empty() {
            let named = unknown.iter().take(NAMED).cloned().collect::<Vec<_>>();
            return Err(EvalFileError::UnknownIds(named.join(", ")));
        }
        instances.retain(|instance| ids.contains(&instance.id()));
        return Ok(instances);
    }
    if let Some(skipped) = selection.skip_num {
        instances.drain(..skipped.min(instances.len()));
    }
    let Some(limit) = selection.eval_n_limit else {
        return Ok(instances);
    };
    match selection.sample {
        None => instances.truncate(limit),
        Some(seed) => {
            let mut ranks: Vec<(Digest, String)> = instances
                .iter()
                .map(|instance| (rank(seed, &instance.id()), instance.id()))
                .collect();
            ranks.sort();
            let taken: HashSet<String> = ranks.into_iter().take(limit).map(|(_, id)| id).collect();
            instances.retain(|instance| taken.contains(&instance.id()));
        }
    }
    Ok(instances)
}

/// Depends on nothing but seed and id, so that a longer dataset does not turn everything round.
fn rank(seed: u64, id: &str) -> Digest {
    Digest::of(format!("{seed} {id}").as_bytes())
}

/// Ids with a result. A row that holds an error and no result is no result.
fn finished(output_file: &Path) -> Result<HashSet<String>, EvalFileError> {
    let mut finished = HashSet::new();
    for_each_row(output_file, |id, graded| {
        if graded {
            finished.insert(id);
        }
    })?;
    Ok(finished)
}
