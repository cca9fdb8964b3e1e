//! The agent's list of tasks. Agon records it as a thought; the model's own call tells what it held.

use agon_core::Called;
use serde_json::{Map, Value};

use crate::events::{Action, AgentThinkAction, TaskTrackingAction};

/// The tool that keeps the list.
const TRACKER: &str = "task_tracker";
/// Answers of models are not nested deeper.
const DEEPEST: usize = 32;

/// A thought that was a call of the tracker, as such a call; any other action as it is.
pub(super) fn tracked(action: Action, called: Option<&Called>, response: &Value) -> Action {
    let (Action::Think(AgentThinkAction { thought }), Some(called)) = (&action, called) else {
        return action;
    };
    if called.function != TRACKER {
        return action;
    }
    let Some(mut arguments) = arguments(response, &called.id) else {
        return action;
    };
    let command = arguments.get("command").and_then(Value::as_str);
    let command = command.unwrap_or("plan").to_owned();
    let list = match arguments.remove("task_list") {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    let object = |item| match item {
        Value::Object(fields) => Some(fields),
        _ => None,
    };
    TaskTrackingAction {
        command,
        task_list: list.into_iter().filter_map(object).collect(),
        thought: thought.clone(),
    }
    .into()
}

/// What the call of that id was given, in any provider's form: an object, or a text that holds one.
pub(crate) fn arguments(response: &Value, id: &str) -> Option<Map<String, Value>> {
    found(response, id, DEEPEST)
}

fn found(response: &Value, id: &str, deep: usize) -> Option<Map<String, Value>> {
    if deep == 0 {
        return None;
    }
    match response {
        Value::Array(items) => items.iter().find_map(|item| found(item, id, deep - 1)),
        Value::Object(fields) => {
            let named = ["id", "call_id"];
            if named
                .iter()
                .any(|key| fields.get(*key).is_some_and(|value| value == id))
                && let Some(given) = given(fields)
            {
                return Some(given);
            }
            fields.values().find_map(|value| found(value, id, deep - 1))
        }
        _ => None,
    }
}

fn given(call: &Map<String, Value>) -> Option<Map<String, Value>> {
    let inside = call
        .get("function")
        .and_then(|function| function.get("arguments"));
    match inside.or(call.get("arguments")).or(call.get("input"))? {
        Value::Object(fields) => Some(fields.clone()),
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}
