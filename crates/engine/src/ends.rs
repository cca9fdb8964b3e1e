//! How an agent's turn ends other than by `finish`: what that is called, whose doing it was, and how it is
//! told. Plays nothing.

use agon_agent::AgentError;
use agon_core::verdict::TurnEnd;
use agon_core::{Fault, FaultClass};

use crate::attempt::Attempt;
use crate::stage::Gone;
use crate::turns::calls;

/// What ended the turn before the agent called it done, in words.
pub(crate) fn note(attempt: &Attempt, end: TurnEnd) -> Option<String> {
    let limits = &attempt.task().limits;
    match end {
        TurnEnd::Rejected => Some("the agent refused the task".to_owned()),
        TurnEnd::Silent => Some(format!("the agent gave no answer for {}", limits.step)),
        TurnEnd::StepLimit => Some(match limits.steps {
            1 => "the turn ended after 1 step".to_owned(),
            steps => format!("the turn ended after {steps} steps"),
        }),
        TurnEnd::TimeLimit => Some(format!("the turn ended after {}", limits.seconds)),
        TurnEnd::TokenLimit => Some("the turn ended: its tokens are used up".to_owned()),
        TurnEnd::MoneyLimit => Some("the turn ended: its money is spent".to_owned()),
        TurnEnd::Operator => attempt.halt.note(),
        _ => None,
    }
}

/// An environment that is gone before the agent has done anything was not lost by it.
pub(crate) fn not_ready(gone: Gone) -> Fault {
    let lost = |why: String| Fault::new(FaultClass::Environment, why);
    match gone {
        Gone::Fault(fault) => fault,
        Gone::ScreenLost(why) => lost(format!("the screen was gone before it was shown: {why}")),
        Gone::UserLeft | Gone::Spent(_) => {
            lost("the user left before anything was said".to_owned())
        }
        Gone::BroughtDown => lost("it was brought down before the agent did anything".to_owned()),
    }
}

/// How a turn ends whose environment is no longer there to act in.
pub(crate) fn ended_by_loss(attempt: &mut Attempt, gone: Gone) -> Result<TurnEnd, Fault> {
    match gone {
        Gone::UserLeft => Ok(TurnEnd::Finished),
        Gone::Spent(end) => Ok(attempt.models.spent()?.unwrap_or(end)),
        Gone::BroughtDown => Ok(TurnEnd::BroughtDown),
        Gone::ScreenLost(why) => {
            attempt.end_note = Some(format!("the agent's screen is gone: {why}"));
            Ok(TurnEnd::ScreenLost)
        }
        Gone::Fault(fault) => Err(fault),
    }
}

/// How an agent that does not answer ends its turn; only one that can't be reached, or was never made for
/// the task, is a fault.
pub(crate) fn ended_by(attempt: &mut Attempt, error: AgentError) -> Result<TurnEnd, Fault> {
    let end = match &error {
        AgentError::Left => TurnEnd::Left,
        AgentError::Crashed(_) => TurnEnd::Crashed,
        AgentError::Garbage(_) => TurnEnd::Garbage,
        AgentError::OutOfBudget(end) => attempt.models.spent()?.unwrap_or(*end),
        AgentError::Unreachable(_) => {
            return Err(Fault::new(FaultClass::AgentUnreachable, error));
        }
        AgentError::Model(_) => {
            calls(attempt, None)?;
            return Err(Fault::new(attempt.models.fault_class(), error));
        }
        // Trying again can't help: somebody has to name other tasks, or another agent.
        AgentError::Unfit(_) => return Err(Fault::new(FaultClass::ModelSetup, error)),
    };
    attempt.end_note = Some(error.to_string());
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_before_the_agent_acts_is_a_fault() {
        for gone in [Gone::ScreenLost("it hung".to_owned()), Gone::BroughtDown] {
            assert_eq!(not_ready(gone).class, FaultClass::Environment);
        }
        let fault = Fault::new(FaultClass::Evidence, "disk full");
        assert_eq!(not_ready(Gone::Fault(fault.clone())).message, fault.message);
    }
}
