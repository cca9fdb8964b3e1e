//! The evaluator that was named, with the models that it may ask.

use std::sync::Arc;

use agon_arena::Evaluator;
use agon_arena::evaluators::{self, Kind, Models};
use agon_llm::Budget;
use agon_llm::config::Config;

use super::args::JudgeArgs;
use crate::cli::failure::Failure;

/// Makes evaluators of one kind; all of them share connections, tape and budget.
#[derive(Debug, Clone)]
pub(super) struct Judges {
    kind: &'static Kind,
    models: Option<Arc<Models>>,
}

impl Judges {
    /// A wrong name, a missing key or a tape that is none shows before anything is started.
    pub(super) fn open(name: &str, args: &JudgeArgs) -> Result<Self, Failure> {
        let kind = evaluators::kind(name).map_err(Failure::new)?;
        if !kind.asks() {
            if args.models.model.is_some() {
                return Err(Failure::new(format!(
                    "the evaluator {name} asks no model: leave --model out, or use --evaluator vision"
                )));
            }
            return Ok(Self { kind, models: None });
        }
        let open = args.models.open()?;
        let budget = Budget {
            tokens: args.budget_tokens,
            money: args.budget_money,
        };
        let default = open.model.map(|model| model.spec().clone());
        let models = Models::new(open.session, Config::clone(&open.config), default, budget);
        Ok(Self {
            kind,
            models: Some(Arc::new(models.map_err(Failure::new)?)),
        })
    }

    pub(super) fn make(&self) -> Result<Box<dyn Evaluator>, String> {
        let made = self.kind.make(self.models.as_ref());
        made.map_err(|error| error.to_string())
    }
}
