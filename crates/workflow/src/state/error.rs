//! How an end reads in `last_error`: the name of the original's exception, and what happened.

use agon_core::verdict::TurnEnd;
use agon_core::{Fault, FaultClass};

/// Empty for an end that is none.
pub fn last_error(end: Option<TurnEnd>, fault: Option<&Fault>, note: Option<&str>) -> String {
    if let Some(fault) = fault {
        return format!("{}: {}", exception(fault.class), fault.message);
    }
    let Some(end) = end else {
        return String::new();
    };
    let (name, what) = match end {
        TurnEnd::Finished | TurnEnd::Rejected | TurnEnd::WorldEnded => return String::new(),
        TurnEnd::Stuck => ("AgentStuckInLoopError", "the agent is stuck in a loop"),
        TurnEnd::StepLimit => ("RuntimeError", "the agent reached its last iteration"),
        TurnEnd::MoneyLimit => ("RuntimeError", "the agent reached its budget"),
        TurnEnd::TokenLimit => ("RuntimeError", "the agent used up its tokens"),
        TurnEnd::TimeLimit => ("RuntimeError", "the agent used up its time"),
        TurnEnd::Silent => ("RuntimeError", "the agent gave no answer in time"),
        TurnEnd::Left => ("RuntimeError", "the agent left without finishing"),
        TurnEnd::Crashed => ("RuntimeError", "the agent crashed"),
        TurnEnd::Garbage => ("LLMMalformedActionError", "the agent sent no actions"),
        TurnEnd::BroughtDown => ("RuntimeError", "the agent brought its environment down"),
        TurnEnd::ScreenLost => ("RuntimeError", "the agent ended its own screen"),
        TurnEnd::Operator => ("RuntimeError", "it was stopped"),
    };
    format!("{name}: {}", note.unwrap_or(what))
}

/// Programs that read result files look for these names to tell what is worth trying again.
const fn exception(class: FaultClass) -> &'static str {
    match class {
        FaultClass::Start => "AgentRuntimeUnavailableError",
        FaultClass::Environment => "AgentRuntimeDisconnectedError",
        FaultClass::Timeout => "AgentRuntimeTimeoutError",
        FaultClass::Setup => "AgentRuntimeError",
        FaultClass::AgentUnreachable => "ConnectionError",
        FaultClass::Model => "ServiceUnavailableError",
        FaultClass::ModelSetup => "AuthenticationError",
        FaultClass::Check | FaultClass::NeedsJudge | FaultClass::Judge | FaultClass::Evidence => {
            "EvalException"
        }
        FaultClass::Internal => "RuntimeError",
    }
}
