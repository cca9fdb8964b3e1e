//! Asks the model, and tells whose failure it is if there is no answer.

use agon_agent::AgentError;
use agon_core::verdict::TurnEnd;
use agon_core::{Condensation, ModelFault};
use agon_llm::{LlmError, Model, Reply, Request};

use super::conversation::Conversation;

/// How often a conversation is made shorter for one question.
const SQUEEZES: u32 = 3;

/// What a question came to.
#[derive(Debug)]
pub(super) enum Asked {
    Reply(Reply),
    /// The model answered and nothing could be read of it: why.
    Unreadable(String),
}

/// `request` is all but the messages, which are those of the conversation. What had to be forgotten of it is
/// added to `condensed`.
pub(super) async fn ask(
    model: &Model,
    mut request: Request,
    conversation: &mut Conversation,
    condensed: &mut Option<Condensation>,
) -> Result<Asked, AgentError> {
    let mut squeezed = 0;
    loop {
        request.messages = conversation.messages().to_vec();
        let error = match model.ask(&request).await {
            Ok(reply) => return Ok(Asked::Reply(reply)),
            Err(error) => error,
        };
        match error.fault {
            ModelFault::BadAnswer => return Ok(Asked::Unreadable(error.message().to_owned())),
            ModelFault::ContextOverflow if squeezed < SQUEEZES => {
                let Some(gone) = conversation.forget() else {
                    return Err(ended_by(error));
                };
                squeezed += 1;
                note(condensed, Some(gone));
            }
            _ => return Err(ended_by(error)),
        }
    }
}

/// What is forgotten goes on from what was forgotten before.
pub(super) fn note(condensed: &mut Option<Condensation>, gone: Option<Condensation>) {
    if let Some(gone) = gone {
        let from = condensed.as_ref().map_or(gone.from, |before| before.from);
        *condensed = Some(Condensation { from, ..gone });
    }
}

/// What the model or its length limit did is the agent's failure; all else is the service's.
fn ended_by(error: LlmError) -> AgentError {
    match error.fault {
        ModelFault::Budget => AgentError::OutOfBudget(error.spent.unwrap_or(TurnEnd::TokenLimit)),
        ModelFault::Refusal | ModelFault::ContextOverflow | ModelFault::BadAnswer => {
            AgentError::Crashed(error.to_string())
        }
        _ => AgentError::Model(error.to_string()),
    }
}
