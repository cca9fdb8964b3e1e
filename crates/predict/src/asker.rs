//! Asks the language model of a trial: the prompt cut to its size, the pictures beside it. What an
//! [`ActionModel`](crate::ActionModel) that has a model of its own never needs.

use std::sync::{Mutex, PoisonError};

use agon_core::prediction::{CUT_ANSWER, CUT_PROMPT};
use agon_llm::{AnswerKey, Image, Message, Model, Part, Request, Role, Stop};

use crate::item::Question;
use crate::model::PredictError;
use crate::options::Options;
use crate::prompt;

#[derive(Debug)]
pub struct Asker<'a> {
    pub(crate) model: Option<&'a Model>,
    pub(crate) options: &'a Options,
    pub(crate) image: Option<Image>,
    /// Goes before the prompt.
    pub(crate) system: &'static str,
    /// For the mock models that answer right or wrong on purpose.
    pub(crate) key: Option<AnswerKey>,
    pub(crate) warnings: Mutex<Vec<String>>,
}

impl<'a> Asker<'a> {
    pub(crate) fn new(model: Option<&'a Model>, options: &'a Options, question: &Question) -> Self {
        Self {
            system: prompt::system(question),
            model,
            options,
            image: None,
            key: None,
            warnings: Mutex::default(),
        }
    }

    /// What may be asked: the end of a prompt that is too long. Whoever asks a model of his own should
    /// cut in the same way.
    pub fn cut<'p>(&self, prompt: &'p str) -> &'p str {
        let (text, was) = self.options.cut(prompt);
        if let (Some(was), Some(most)) = (was, self.options.max_input_size) {
            self.warn(format!(
                "{CUT_PROMPT} from {was} to its last {most} characters"
            ));
        }
        text
    }

    fn warn(&self, warning: String) {
        self.warnings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(warning);
    }

    pub async fn ask(&self, prompt: &str) -> Result<String, PredictError> {
        let model = self.model.ok_or_else(|| {
            let name = &self.options.model_name;
            PredictError::Setup(format!(
                "there is no language model `{name}` here: open it, or override `get_completion`"
            ))
        })?;
        let mut parts = vec![Part::Text(self.cut(prompt).to_owned())];
        parts.extend(self.image.clone().map(Part::Image));
        let mut request = Request::new([Message::new(Role::User, parts)]);
        request.system = Some(self.system.to_owned());
        request.sampling.max_tokens = Some(self.options.max_tokens);
        request.answer_key.clone_from(&self.key);
        let reply = model.ask(&request).await?;
        if reply.stop == Stop::MaxTokens {
            self.warn(CUT_ANSWER.to_owned());
        }
        Ok(reply.text())
    }

    pub(crate) fn warnings(self) -> Vec<String> {
        self.warnings
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
