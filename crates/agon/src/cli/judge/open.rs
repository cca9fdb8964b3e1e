//! From arguments to a judge that can be asked.

use agon_grade::{Judge, JudgeOptions};
use agon_llm::ModelSpec;
use agon_store::ModelStamp;

use super::args::JudgeArgs;
use crate::cli::failure::Failure;
use crate::cli::llm::OpenModels;
use crate::cli::model_stamp::is_same;

/// The model that is judged.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) enum Player<'a> {
    /// It is asked by us.
    Open(&'a ModelSpec),
    /// It was asked once, or is asked by somebody else: it need not be known here.
    Stamped(&'a ModelStamp),
}

impl Player<'_> {
    fn is(self, judge: &ModelSpec) -> bool {
        match self {
            Self::Open(spec) => (judge.provider, &judge.model) == (spec.provider, &spec.model),
            Self::Stamped(stamp) => is_same(judge, stamp),
        }
    }
}

impl JudgeArgs {
    /// The judge, if one is named.
    pub(in crate::cli) fn open(
        &self,
        models: &OpenModels,
        player: Option<Player<'_>>,
    ) -> Result<Option<Judge>, Failure> {
        let Some(name) = &self.judge else {
            return Ok(None);
        };
        let judge = models.named(name)?;
        let itself = player.is_some_and(|player| player.is(judge.spec()));
        if itself && !self.judge_may_be_agent {
            return Err(Failure::new(format_args!(
                "the judge `{name}` is the model that is judged, and would be lenient with itself: name \
                 another with --judge, or say --judge-may-be-agent"
            )));
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
