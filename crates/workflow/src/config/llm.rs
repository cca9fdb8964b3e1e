//! A model by its section in `config.toml`.

use std::path::PathBuf;
use std::sync::Arc;

use agon_llm::config::{Config, ConfigError, ConfigSource};
use agon_llm::local::LocalServers;
use agon_llm::{LlmError, Model, ModelSpec, Session, SessionOptions};

/// A model that can be asked. Clones share its service's limits, so that many instances at once don't
/// ask too much.
#[derive(Debug, Clone)]
pub struct LlmConfig {
    pub config: Arc<Config>,
    pub session: Arc<Session>,
    pub model: Model,
}

#[derive(Debug, thiserror::Error)]
pub enum LlmConfigError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Model(#[from] LlmError),
}

impl LlmConfig {
    pub fn spec(&self) -> &ModelSpec {
        self.model.spec()
    }
}

/// The model of a section of the `config.toml` in the working folder: `NAME`, `llm.NAME` or `[llm.NAME]`;
/// `llm` is `[llm]` itself. What a section does not say it takes from `[llm]`.
pub fn get_llm_config_arg(name: &str) -> Result<LlmConfig, LlmConfigError> {
    get_llm_config_arg_of(name, None)
}

/// The same, of another file.
pub fn get_llm_config_arg_of(
    name: &str,
    file: Option<PathBuf>,
) -> Result<LlmConfig, LlmConfigError> {
    let config = Config::load(&ConfigSource::of_process(file))?;
    let session = Session::open(&SessionOptions {
        local: Some(Arc::new(LocalServers::telling(|_| {}))),
        ..SessionOptions::default()
    })?;
    let model = session.model(config.model(name)?)?;
    Ok(LlmConfig {
        config: Arc::new(config),
        session,
        model,
    })
}
