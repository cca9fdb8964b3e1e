//! Has a model write down what is about to be forgotten. What happened is data for it, not instructions: it
//! is quoted, and its answer is shown to the agent as a summary and nothing else.

use std::ops::Range;

use agon_core::ModelFault;
use agon_llm::{LlmError, Model, Part, Request};

use crate::codeact::cut;
use crate::codeact::history::{Exchange, History};

pub(in crate::codeact) const PROMPT: &str = include_str!("../prompts/summary.txt");

/// Longest summary, in characters.
const LONGEST: usize = 20_000;

/// `None`: there is none to be had, and what was to be forgotten is, without one.
pub(super) async fn of(
    model: &Model,
    history: &History,
    range: Range<usize>,
    longest: usize,
) -> Result<Option<String>, LlmError> {
    let reply = match model.ask(&request(history, range, longest)).await {
        Ok(reply) => reply,
        // Neither is the service's failure: another try would end the same way.
        Err(error)
            if matches!(
                error.fault,
                ModelFault::ContextOverflow | ModelFault::Refusal | ModelFault::BadAnswer
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let text = reply.text();
    let text = text.trim();
    Ok((!text.is_empty()).then(|| cut::middle(text, LONGEST).into_owned()))
}

fn request(history: &History, range: Range<usize>, longest: usize) -> Request {
    let mut text = PROMPT.trim_end().to_owned();
    text += &format!(
        "\n\n<task>\n{}\n</task>",
        cut::middle(history.task(), longest)
    );
    let earlier = history.gap().and_then(|gap| gap.summary.as_deref());
    if let Some(earlier) = earlier {
        text += &format!("\n\n<earlier_summary>\n{earlier}\n</earlier_summary>");
    }
    text += "\n\n<events>";
    for exchange in history.exchanges().get(range).unwrap_or_default() {
        events(exchange, longest, &mut text);
    }
    text += "\n</events>\n\nWrite the summary now.";
    Request::user(text)
}

fn events(exchange: &Exchange, longest: usize, out: &mut String) {
    let mut push = |kind: &str, text: &str| {
        let text = cut::middle(text, longest);
        *out += &format!("\n<{kind}>\n{text}\n</{kind}>");
    };
    let mut outcomes = exchange.outcomes.iter();
    for part in &exchange.said {
        match part {
            Part::Text(text) if !text.trim().is_empty() => push("said", text),
            Part::ToolCall(call) => {
                push("called", &format!("{} {}", call.name, call.input));
                if let Some(Some(outcome)) = outcomes.next() {
                    push("result", &outcome.text);
                }
            }
            _ => {}
        }
    }
    if let Some(reply) = &exchange.reply {
        push("user", reply);
    }
    if let Some(asked) = &exchange.asked {
        push("user", asked);
    }
}
