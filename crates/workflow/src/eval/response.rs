//! The simulated user that most benchmarks have: go on, ask nobody, finish with the answer.

use agon_agent::user::nudge;
use agon_core::user::EXIT;

use crate::state::State;

/// What it says to the agent's last message.
pub fn codeact_user_response(state: &State) -> String {
    codeact_user_response_with(state, false, |_| None)
}

/// `encapsulate_solution` asks for the answer between tags. A message in which `try_parse` finds an answer
/// ends the conversation.
pub fn codeact_user_response_with(
    state: &State,
    encapsulate_solution: bool,
    try_parse: impl Fn(&str) -> Option<String>,
) -> String {
    if state.get_last_agent_message().and_then(try_parse).is_some() {
        return EXIT.to_owned();
    }
    let said = u32::try_from(state.user_messages()).unwrap_or(u32::MAX);
    nudge(encapsulate_solution, said)
}
