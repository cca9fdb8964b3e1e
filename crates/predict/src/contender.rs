//! A model that predicts, entered for a run: every trial is one question and its answer, which is given
//! with `finish` as it came. What the model's service fails to do is a fault; what it answers is not.

use std::collections::HashMap;
use std::sync::Arc;

use agon_agent::{Agent, AgentError, Answer, Contender, TrialContext};
use agon_core::verdict::TurnEnd;
use agon_core::{Action, ActionKind, Brief, Digest, ModelFault, Observation, Purpose, TaskId};
use agon_llm::Model;
use async_trait::async_trait;

use crate::ask::{Asked, ask};
use crate::item::Item;
use crate::model::{ActionModel, PredictError};
use crate::prompt;

#[derive(Debug)]
pub struct Predictor {
    model: Arc<dyn ActionModel>,
    llm: Option<Model>,
    items: HashMap<TaskId, Arc<Item>>,
}

impl Predictor {
    /// `model` must have been initialised. `llm` is what its defaults ask.
    pub fn new(
        model: Arc<dyn ActionModel>,
        llm: Option<Model>,
        items: impl IntoIterator<Item = Item>,
    ) -> Self {
        let items = items.into_iter();
        Self {
            model,
            llm,
            items: items
                .map(|item| (item.id.clone(), Arc::new(item)))
                .collect(),
        }
    }
}

impl Contender for Predictor {
    /// Over what decides, beside the model, what is asked and how much may be answered.
    fn digest(&self) -> Option<Digest> {
        let options = self.model.options();
        let text = format!(
            "{:?} {} {}",
            options.max_input_size,
            options.max_tokens,
            prompt::VERSION
        );
        Some(Digest::of(text.as_bytes()))
    }

    fn for_trial(&self, context: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError> {
        let item = self.items.get(&context.task.id).ok_or_else(|| {
            AgentError::Crashed(format!("`{}` is nothing to predict", context.task.id))
        })?;
        let llm = self.llm.as_ref();
        Ok(Box::new(Prediction {
            model: Arc::clone(&self.model),
            llm: llm.map(|llm| llm.on(&context.account, Purpose::Agent)),
            item: Arc::clone(item),
            warnings: Vec::new(),
        }))
    }
}

#[derive(Debug)]
struct Prediction {
    model: Arc<dyn ActionModel>,
    llm: Option<Model>,
    item: Arc<Item>,
    warnings: Vec<String>,
}

#[async_trait]
impl Agent for Prediction {
    fn uses(&self) -> Option<&[ActionKind]> {
        Some(&[ActionKind::Finish])
    }

    async fn start(&mut self, _: &Brief) -> Result<(), AgentError> {
        Ok(())
    }

    async fn act(&mut self, _: &Observation) -> Result<Answer, AgentError> {
        let Asked { answer, warnings } =
            ask(self.model.as_ref(), self.llm.as_ref(), &self.item).await;
        self.warnings.extend(warnings);
        match answer {
            Ok(text) => Ok(Action::Finish { result: Some(text) }.into()),
            Err(error) => Err(ended_by(error)),
        }
    }

    fn complaints(&self) -> Option<String> {
        (!self.warnings.is_empty()).then(|| self.warnings.join("\n"))
    }
}

/// Whose failure it is that there is no answer. We made the request: one that the service does not take is
/// not the model's failure.
fn ended_by(error: PredictError) -> AgentError {
    match error {
        PredictError::Model(error) => match error.fault {
            ModelFault::Budget => {
                AgentError::OutOfBudget(error.spent.unwrap_or(TurnEnd::TokenLimit))
            }
            ModelFault::Refusal | ModelFault::ContextOverflow | ModelFault::BadAnswer => {
                AgentError::Crashed(error.to_string())
            }
            _ => AgentError::Model(error.to_string()),
        },
        PredictError::Setup(why) => AgentError::Model(why),
        PredictError::Own(why) => AgentError::Crashed(why),
    }
}

#[cfg(test)]
mod tests {
    use agon_llm::LlmError;

    use super::*;

    #[test]
    fn what_the_model_did_wrong_is_its_own_failure() {
        let of = |fault| ended_by(PredictError::Model(LlmError::new(fault, "words")));
        assert!(matches!(of(ModelFault::BadAnswer), AgentError::Crashed(_)));
        assert!(matches!(of(ModelFault::Refusal), AgentError::Crashed(_)));
        assert!(matches!(of(ModelFault::Setup), AgentError::Model(_)));
        assert!(matches!(
            of(ModelFault::BrokenResponse),
            AgentError::Model(_)
        ));
    }
}
