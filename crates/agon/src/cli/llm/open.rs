//! From arguments to models that can be asked.

use std::sync::Arc;

use agon_llm::config::{Config, ConfigSource};
use agon_llm::local::LocalServers;
use agon_llm::{Model, Provider, Session, SessionOptions};

use super::args::ModelArgs;
use crate::cli::failure::Failure;
use crate::cli::output;

#[derive(Debug)]
pub(in crate::cli) struct OpenModels {
    pub(in crate::cli) session: Arc<Session>,
    pub(in crate::cli) config: Arc<Config>,
    /// The one that `--model` names.
    pub(in crate::cli) model: Option<Model>,
    /// Calls are written to a tape, or taken from one.
    pub(in crate::cli) taped: bool,
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
            taped: self.tape.is_some() || self.record_tape.is_some(),
        };
        open.model = match (&self.model, &self.base_url) {
            (Some(name), None) => Some(open.named(name)?),
            (Some(name), Some(url)) => {
                let spec = open.config.model_at(name, url)?;
                if matches!(spec.provider, Provider::Mock | Provider::Local) {
                    return Err(Failure::new(format_args!(
                        "--base-url: `{name}` is answered on this machine and has no address: leave it out"
                    )));
                }
                Some(open.session.model(spec)?)
            }
            (None, Some(_)) => {
                return Err(Failure::new(
                    "whose address is --base-url? Name the model with --model",
                ));
            }
            (None, None) => None,
        };
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
