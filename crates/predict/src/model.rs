//! What a model that predicts actions is: four methods with defaults, so that whoever brings a model of
//! his own writes only what differs. Knows no suite and no run.

use std::fmt;

use agon_core::prediction::{UiAction, Window};
use agon_llm::LlmError;
use async_trait::async_trait;

use crate::asker::Asker;
use crate::options::Options;
use crate::parse::{self, ParseError};
use crate::prompt;
use crate::score::PointUnit;

/// Why there is no completion.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PredictError {
    #[error(transparent)]
    Model(#[from] LlmError),
    /// The model is not there, or did not start: nobody's failure to predict.
    #[error("{0}")]
    Setup(String),
    /// The model's own failure, such as an answer that never ends.
    #[error("{0}")]
    Own(String),
}

#[async_trait]
pub trait ActionModel: fmt::Debug + Send + Sync {
    fn options(&self) -> &Options;

    /// Loads model and tokenizer. Called once, before the first question.
    async fn init_model(&mut self) -> Result<(), PredictError> {
        Ok(())
    }

    /// The question about windows and actions.
    fn build_prompt(&self, reference: &Window, actions: &[UiAction], active: &Window) -> String {
        prompt::windows(reference, actions, active)
    }

    /// The question about a picture, `width` x `height` as the model sees it.
    fn build_picture_prompt(
        &self,
        instruction: &str,
        width: u32,
        height: u32,
        unit: PointUnit,
    ) -> String {
        prompt::picture(instruction, width, height, unit)
    }

    /// The answer. By default the language model that [`Options::model_name`] names is asked.
    async fn get_completion(
        &self,
        prompt: &str,
        asker: &Asker<'_>,
    ) -> Result<String, PredictError> {
        asker.ask(prompt).await
    }

    /// The actions in an answer.
    fn parse_completion(&self, completion: &str) -> Result<Vec<UiAction>, ParseError> {
        parse::parse(completion)
    }
}

/// A language model, asked as all of the defaults do.
#[derive(Debug, Clone, Default)]
pub struct LanguageModel {
    options: Options,
}

impl LanguageModel {
    pub fn new(options: Options) -> Self {
        Self { options }
    }
}

#[async_trait]
impl ActionModel for LanguageModel {
    fn options(&self) -> &Options {
        &self.options
    }
}
