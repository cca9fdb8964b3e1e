//! From arguments to models that can be asked.

use std::sync::Arc;

use agon_llm::config::{Config, ConfigSource};
use agon_llm::local::LocalServers;
use agon_llm::{Model, Session, SessionOptions};

use super::args::ModelArgs;
use crate::cli::failure::Failure;
use crate::cli::output;

#[derive(Debug)]
pub(in crate::cli) struct OpenModels {
    pub(in crate::cli) session: Arc<Session>,
    pub(in crate::cli) config: Arc<Config>,
    /// The one that `--model` names.
    pub(in crate::cli) model: Option<Model>,
}

impl ModelArgs {
    pub(in crate::cli) fn open(&self) -> Result<OpenModels, Failure> {
        let config = Config::load(&ConfigSource::of_process(self.config.clone()))?;
        // Whoever asks no model has no use for what is odd about them.
        if self.model.is_some() {
            for warning in config.warnings() {
                output::say(&format!("agon: {}", output::plain(warning)));
            }
        }
        let session = Session::open(&SessionOptions {
            replay: self.tape.clone(),
            record: self.record_tape.clone(),
            prices: self.prices.clone(),
            local: Some(Arc::new(LocalServers::telling(|text| {
                output::say(&format!("agon: {text}"));
            }))),
            ..SessionOptions::default()
        })?;
        let mut open = OpenModels {
            session,
            config: Arc::new(config),
            model: None,
        };
        open.model = self
            .model
            .as_deref()
            .map(|name| open.named(name))
            .transpose()?;
        Ok(open)
    }
}

impl OpenModels {
    /// Of the tape that answers, if one does.
    pub(in crate::cli) fn tape(&self) -> Option<agon_core::Digest> {
        self.session.tape().map(agon_llm::tape::Tape::digest)
    }

    pub(in crate::cli) fn named(&self, name: &str) -> Result<Model, Failure> {
        Ok(self.session.model(self.config.model(name)?)?)
    }
}
