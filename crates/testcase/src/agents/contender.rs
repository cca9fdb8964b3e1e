//! An agent that sees a screen, entered for a whole run.

use std::sync::Arc;

use agon_agent::{Agent, AgentError, Contender, Services, SetupError, TrialContext};
use agon_core::{Digest, EnvironmentKind, Purpose};
use agon_llm::Model;

use super::agent::GuiAgent;
use super::manner::Manner;

#[derive(Debug)]
pub struct GuiContender {
    manner: Arc<dyn Manner>,
    model: Model,
}

impl GuiContender {
    /// The agent that asks the first of the run's models; `spec` is its name, for messages.
    pub fn open(
        spec: &str,
        manner: Arc<dyn Manner>,
        services: &Services,
    ) -> Result<Self, SetupError> {
        Self::new(spec, manner, services.models.first())
    }

    pub(super) fn new(
        spec: &str,
        manner: Arc<dyn Manner>,
        model: Option<&Model>,
    ) -> Result<Self, SetupError> {
        let wrong = |why: String| SetupError::Spec {
            spec: spec.to_owned(),
            why,
        };
        let Some(model) = model else {
            return Err(wrong(
                "it asks a model, and none is named: use --model NAME".to_owned(),
            ));
        };
        if !model.spec().sees() {
            return Err(wrong(format!(
                "it works by what it sees, and the model {} is shown no pictures: use one with vision",
                model.spec().name
            )));
        }
        Ok(Self {
            manner,
            model: model.clone(),
        })
    }
}

impl Contender for GuiContender {
    fn digest(&self) -> Option<Digest> {
        Some(Digest::of(self.manner.identity().as_bytes()))
    }

    fn for_trial(&self, context: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError> {
        if context.task.environment.kind != EnvironmentKind::Desktop {
            return Err(AgentError::Unfit(
                "it works by what it sees, and the task has no screen".to_owned(),
            ));
        }
        let model = self.model.on(&context.account, Purpose::Agent);
        Ok(Box::new(GuiAgent::new(Arc::clone(&self.manner), model)))
    }
}
