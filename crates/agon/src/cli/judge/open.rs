//! From arguments to a judge that can be asked.

use agon_grade::{Judge, JudgeOptions};

use super::args::JudgeArgs;
use crate::cli::failure::Failure;
use crate::cli::llm::OpenModels;

impl JudgeArgs {
    /// The judge, if one is named. `agent` is the model that is judged.
    pub(in crate::cli) fn open(
        &self,
        models: &OpenModels,
        agent: Option<&str>,
    ) -> Result<Option<Judge>, Failure> {
        let Some(name) = &self.judge else {
            return Ok(None);
        };
        let judge = models.named(name)?;
        if let Some(agent) = agent.filter(|_| !self.judge_may_be_agent) {
            let (is, of) = (judge.spec(), models.config.model(agent)?);
            if (is.provider, &is.model) == (of.provider, &of.model) {
                return Err(Failure::new(format_args!(
                    "the judge `{name}` is the model that is judged, and would be lenient with itself: \
                     name another with --judge, or say --judge-may-be-agent"
                )));
            }
        }
        let options = JudgeOptions {
            votes: self.judge_votes.unwrap_or(1),
            // What is asked must be the same each time.
            nonce_seed: models.taped.then_some(0),
            ..JudgeOptions::default()
        };
        Ok(Some(Judge::new(judge, options)))
    }
}
