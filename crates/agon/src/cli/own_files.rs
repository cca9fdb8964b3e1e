//! What a command itself reads and writes: the configuration, keys, tapes, records, scripts of models. No agent
//! is shown any of it, in `agon run` as in `agon solve`.

use std::path::PathBuf;

use agon_llm::config::ConfigSource;
use agon_llm::{ModelSpec, Provider};

use super::llm::ModelArgs;
use super::report::RUNS;

/// Whether they are there and used this time or not.
pub(super) fn own_files(models: &ModelArgs) -> Vec<PathBuf> {
    let given = [&models.tape, &models.record_tape, &models.prices];
    source(models)
        .places()
        .into_iter()
        .chain(given.into_iter().flatten().cloned())
        .chain([PathBuf::from(RUNS)])
        .collect()
}

/// What a model answers from, where that is a file.
pub(super) fn answers_of(model: &ModelSpec) -> Option<PathBuf> {
    // `script:FILE`, `turns:FILE`.
    let (_, file) = model.model.split_once(':')?;
    (model.provider == Provider::Mock).then(|| PathBuf::from(file))
}

/// Keys are kept from agents also where no model is asked.
pub(super) fn learn_keys(models: &ModelArgs) {
    source(models).learn_keys();
}

fn source(models: &ModelArgs) -> ConfigSource {
    ConfigSource::of_process(models.config.clone())
}
