//! The agent, entered for a whole run, and the names under which it can be.

use std::sync::Arc;

use agon_agent::{Agent, AgentError, Contender, Kind, Services, SetupError, TrialContext};
use agon_core::{Action, Digest, Purpose};
use agon_llm::config::Environment;
use agon_llm::{Account, Model};

use super::agent::CodeAct;
use super::options::Options;
use super::past::Past;

/// Both are the same agent; the second is what configurations call it.
pub static KINDS: &[Kind] = &[
    Kind {
        name: "codeact",
        argument: "",
        about: "asks a model, which works with a shell, an editor and Python",
        check: |_| Ok(()),
        open: |_, services| open("codeact", services).map(|agent| Box::new(agent) as _),
    },
    Kind {
        name: "CodeActAgent",
        argument: "",
        about: "the same as codeact",
        check: |_| Ok(()),
        open: |_, services| open("CodeActAgent", services).map(|agent| Box::new(agent) as _),
    },
];

/// The agent that asks the first of the models.
pub(crate) fn open(name: &str, services: &Services) -> Result<CodeActContender, SetupError> {
    let wrong = |why: String| SetupError::Spec {
        spec: name.to_owned(),
        why,
    };
    let options = Options::of(
        services.config.as_ref(),
        services.session.as_ref(),
        &Environment::of_process(),
    )
    .map_err(wrong)?;
    let Some(model) = services.models.first() else {
        return Err(wrong(
            "it asks a model, and none is named: use --model NAME".to_owned(),
        ));
    };
    Ok(CodeActContender::new(options, Some(model.clone())))
}

#[derive(Debug)]
pub struct CodeActContender {
    options: Arc<Options>,
    model: Option<Model>,
    script: Vec<Action>,
    past: Option<Arc<Past>>,
}

impl CodeActContender {
    /// Without a model it plays its script and finishes.
    pub fn new(options: Options, model: Option<Model>) -> Self {
        Self {
            options: Arc::new(options),
            model,
            script: Vec::new(),
            past: None,
        }
    }

    /// Every trial goes on from there.
    #[must_use]
    pub(crate) fn with_past(self, past: Arc<Past>) -> Self {
        Self {
            past: Some(past),
            ..self
        }
    }

    /// These are played first, in every trial.
    #[must_use]
    pub fn with_script(self, actions: Vec<Action>) -> Self {
        Self {
            script: actions,
            ..self
        }
    }

    /// One for a trial, whose account pays for what it asks.
    pub(super) fn agent(&self, account: &Arc<Account>) -> CodeAct {
        let model = self.model.as_ref();
        let model = model.map(|model| model.on(account, Purpose::Agent));
        let condenser = self.options.condenser().on(account);
        let agent = CodeAct::new(Arc::clone(&self.options), model, condenser);
        agent
            .with_script(self.script.clone())
            .with_past(self.past.clone())
    }
}

impl Contender for CodeActContender {
    fn digest(&self) -> Option<Digest> {
        // What was before is nobody else's.
        if self.past.is_some() {
            return None;
        }
        if self.script.is_empty() {
            return Some(self.options.digest());
        }
        let script = serde_json::to_vec(&self.script).ok()?;
        Some(Digest::of_parts([
            self.options.digest().bytes().as_slice(),
            script.as_slice(),
        ]))
    }

    fn for_trial(&self, context: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(self.agent(&context.account)))
    }
}
