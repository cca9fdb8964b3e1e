//! What agents have in common whose models use a tool of the provider's own for screens: calls become wishes,
//! and every call is answered with the screen after it.

use agon_core::Action;
use agon_llm::{Part, Reply, Stop, ToolCall, ToolResult};

use super::manner::{Done, Reading, What, Wish};

/// The name of the tool, whoever brings it.
const TOOL: &str = "computer";

/// Calls of the answer, in order. One that holds none is the result.
pub(super) fn read(reply: &Reply) -> Reading {
    let wishes: Vec<Wish> = reply.tool_calls().map(wish).collect();
    let words = reply.text();
    let said = words.trim();
    if !wishes.is_empty() || said.is_empty() || reply.stop == Stop::MaxTokens {
        return Reading {
            thought: thought(reply),
            wishes,
        };
    }
    let finish = Action::Finish {
        result: Some(said.to_owned()),
    };
    Reading {
        thought: None,
        wishes: vec![Wish {
            text: said.to_owned(),
            what: What::Act(finish),
            call: None,
        }],
    }
}

fn wish(call: &ToolCall) -> Wish {
    let what = match call.name.as_str() {
        TOOL => What::Call(call.input.clone()),
        other => {
            let name: String = other.chars().take(40).collect();
            What::Wrong(format!("there is no tool `{name}`: there is `{TOOL}`"))
        }
    };
    Wish {
        text: format!("{} {}", call.name, call.input),
        what,
        call: Some(call.clone()),
    }
}

/// What it said and thought beside its calls, and what its provider warns of.
fn thought(reply: &Reply) -> Option<String> {
    let mut words = Vec::new();
    for part in &reply.parts {
        match part {
            Part::Text(text) => words.push(text.trim().to_owned()),
            Part::Reasoning(reasoning) => words.push(reasoning.text.trim().to_owned()),
            Part::ToolCall(call) => words.extend(warnings(call)),
            _ => {}
        }
    }
    words.retain(|word| !word.is_empty());
    (!words.is_empty()).then(|| words.join("\n"))
}

/// Checks of the provider that a person should look at. Nobody is there, so they are acknowledged, and
/// recorded here.
fn warnings(call: &ToolCall) -> Vec<String> {
    let raw = call.raw.as_ref().map(|(_, raw)| raw);
    let checks = raw.and_then(|raw| raw.get("pending_safety_checks")?.as_array());
    let told = |check: &serde_json::Value| {
        let words = check
            .get("message")
            .or_else(|| check.get("code"))?
            .as_str()?;
        let words: String = words.chars().take(500).collect();
        Some(format!("(safety check acknowledged: {words})"))
    };
    checks.into_iter().flatten().filter_map(told).collect()
}

/// What came of each call. The answer to one is the screen; what else there is to say stands beside.
pub(super) fn told(done: &[Done], words_in_results: bool) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut beside = Vec::new();
    for done in done {
        let text = outcome(done);
        let Some(call) = &done.wish.call else {
            beside.extend(text.map(Part::Text));
            beside.push(done.sight.part());
            continue;
        };
        let mut result = Vec::new();
        if let Some(text) = text {
            match words_in_results {
                true => result.push(Part::Text(text)),
                false => beside.push(Part::Text(text)),
            }
        }
        result.push(done.sight.part());
        parts.push(Part::ToolResult(ToolResult {
            call: call.id.clone(),
            name: call.name.clone(),
            parts: result,
            is_error: done.failed && words_in_results,
        }));
    }
    parts.extend(beside);
    parts
}

fn outcome(done: &Done) -> Option<String> {
    match (done.failed, done.text.is_empty()) {
        (true, _) => Some(format!("This was not done: {}", done.text)),
        (false, true) => None,
        (false, false) => Some(done.text.clone()),
    }
}
