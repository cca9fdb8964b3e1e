//! The check of a model that reads its answers in its own way: what it reads is scored like any answer.

use std::sync::Arc;

use agon_core::Digest;
use agon_core::answer::{AnswerScore, AnswerTest};

use crate::model::ActionModel;
use crate::score::ActionAnswer;

#[derive(Debug)]
pub(crate) struct OwnAnswer {
    answer: ActionAnswer,
    model: Arc<dyn ActionModel>,
}

impl OwnAnswer {
    pub(crate) fn new(answer: ActionAnswer, model: Arc<dyn ActionModel>) -> Self {
        Self { answer, model }
    }
}

impl AnswerTest for OwnAnswer {
    fn label(&self) -> String {
        self.answer.label()
    }

    fn digest(&self) -> Digest {
        self.answer.digest()
    }

    fn judge(&self, answer: Option<&str>) -> AnswerScore {
        let Some(text) = answer else {
            return self.answer.judge(None);
        };
        match self.model.parse_completion(text) {
            Ok(actions) => self.answer.score(Ok(actions)),
            Err(error) => self.answer.score(Err(error.to_string())),
        }
    }
}
