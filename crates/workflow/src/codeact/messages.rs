//! The conversation as the model is shown it: from the history, cut and masked. Sides alternate, the user's
//! first and last; every call is followed by its result, and there is no result without its call.

use std::borrow::Cow;

use agon_llm::{Message, Part, Role, ToolCall, ToolResult};

use super::cut;
use super::history::{Exchange, History, Outcome};

const MASKED: &str = "[This result is too old to be shown.]";
const OLD_PICTURE: &str = "[An older picture, not shown any more.]";
const NOTHING_SAID: &str = "[no answer]";
const UNNAMED: &str = "unnamed";

/// No service takes a longer name of a tool.
const LONGEST_NAME: usize = 64;

const FORGOTTEN: &str = "[Earlier steps are not shown any more.]";
const ASKED: &str = "[Among them the user asked for this.]";

/// How much of it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Look {
    /// Characters of one result.
    pub(super) most_chars: usize,
    /// Results are masked that are older than so many events.
    pub(super) results: Option<usize>,
    /// So many pages are shown, the newest.
    pub(super) pages: Option<usize>,
    /// So many pictures are shown, the newest.
    pub(super) pictures: usize,
}

/// `outstanding` calls, which have no result, are left out.
pub(super) fn of(history: &History, look: &Look) -> Vec<Message> {
    let shown = shown(history, look);
    let mut messages = vec![Message::user(history.task())];
    note_gap(history, 0, &mut messages);
    for (n, (exchange, shown)) in history.exchanges().iter().zip(&shown).enumerate() {
        let (said, results) = exchange_parts(exchange, shown, look.most_chars);
        messages.push(Message::new(Role::Assistant, said));
        messages.push(Message::new(Role::User, results));
        note_gap(history, n + 1, &mut messages);
    }
    // What is worth keeping: the task, which never changes, and all of it for the next question.
    let last = messages.len() - 1;
    messages[0].cache = true;
    messages[last].cache = true;
    messages
}

/// Says at its place what is missing.
fn note_gap(history: &History, at: usize, messages: &mut [Message]) {
    if let (Some(gap), Some(last)) = (
        history.gap().filter(|gap| gap.after == at),
        messages.last_mut(),
    ) {
        let mut words = match &gap.summary {
            Some(summary) => format!("{FORGOTTEN} Summary of them:\n\n{summary}"),
            None => FORGOTTEN.to_owned(),
        };
        for asked in &gap.asked {
            words += &format!("\n\n{ASKED}\n\n{asked}");
        }
        last.parts.push(Part::Text(words));
    }
}

/// What is shown of each outcome of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shown {
    text: bool,
    pictures: bool,
}

/// From the newest to the oldest, so that the newest are counted first.
fn shown(history: &History, look: &Look) -> Vec<Vec<Shown>> {
    let (mut events, mut pages, mut pictures) = (0, 0, 0);
    let mut all: Vec<Vec<Shown>> = Vec::new();
    for exchange in history.exchanges().iter().rev() {
        let mut of_exchange = Vec::new();
        for outcome in exchange.outcomes.iter().rev() {
            let fresh = look.results.is_none_or(|most| events < most);
            events += 2;
            let mut shown = Shown {
                text: fresh,
                pictures: fresh,
            };
            if let Some(outcome) = outcome {
                if outcome.page {
                    pages += 1;
                    if look.pages.is_some_and(|most| pages > most) {
                        shown.text = false;
                    }
                }
                pictures += outcome.pictures.len();
                shown.pictures = shown.text && pictures <= look.pictures;
            }
            of_exchange.push(shown);
        }
        if exchange.outcomes.is_empty() {
            events += exchange.events();
        }
        of_exchange.reverse();
        all.push(of_exchange);
    }
    all.reverse();
    all
}

/// What the model said, and what it was told.
fn exchange_parts(exchange: &Exchange, shown: &[Shown], most: usize) -> (Vec<Part>, Vec<Part>) {
    let mut outcomes = exchange.outcomes.iter().zip(shown);
    let (mut said, mut told) = (Vec::new(), Vec::new());
    for part in &exchange.said {
        match part {
            Part::ToolCall(call) => {
                if let Some((Some(outcome), shown)) = outcomes.next() {
                    let call = acceptable(call);
                    told.push(result(&call, outcome, *shown, most));
                    said.push(Part::ToolCall(call.into_owned()));
                }
            }
            Part::Text(text) if text.trim().is_empty() => {}
            part => said.push(part.clone()),
        }
    }
    if !said
        .iter()
        .any(|part| matches!(part, Part::Text(_) | Part::ToolCall(_)))
    {
        said.push(Part::Text(NOTHING_SAID.to_owned()));
    }
    if let Some(reply) = &exchange.reply {
        told.push(Part::Text(cut::middle(reply, most).into_owned()));
    }
    told.extend(exchange.asked.clone().map(Part::Text));
    if told.is_empty() {
        told.push(Part::Text("Go on.".to_owned()));
    }
    (said, told)
}

/// Services refuse a whole conversation in which a call has a name that no tool could have. One that the
/// model made up is shown to it as nearly as it can be.
fn acceptable(call: &ToolCall) -> Cow<'_, ToolCall> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let begins = call
        .name
        .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if begins && call.name.len() <= LONGEST_NAME && call.name.chars().all(plain) {
        return Cow::Borrowed(call);
    }
    let kept = call.name.chars().map(|c| if plain(c) { c } else { '_' });
    let first = (!begins).then_some('_');
    let name: String = first.into_iter().chain(kept).take(LONGEST_NAME).collect();
    Cow::Owned(ToolCall {
        name: match call.name.as_str() {
            "" => UNNAMED.to_owned(),
            _ => name,
        },
        // The provider's own form has the same name in it.
        raw: None,
        ..call.clone()
    })
}

fn result(call: &ToolCall, outcome: &Outcome, shown: Shown, most: usize) -> Part {
    let mut parts = Vec::new();
    let text = if shown.text {
        cut::middle(&outcome.text, most).into_owned()
    } else {
        MASKED.to_owned()
    };
    parts.push(Part::Text(text));
    if shown.pictures && !outcome.drawn_before {
        parts.extend(outcome.pictures.iter().cloned().map(Part::Image));
    } else if shown.text && (outcome.drawn_before || !outcome.pictures.is_empty()) {
        parts.push(Part::Text(OLD_PICTURE.to_owned()));
    }
    Part::ToolResult(ToolResult {
        call: call.id.clone(),
        name: call.name.clone(),
        parts,
        is_error: outcome.is_error,
    })
}

/// Tokens that a request of these comes to, by its length: four characters each.
pub(super) fn tokens(messages: &[Message]) -> u64 {
    const OF_A_PICTURE: u64 = 1_500;
    fn parts(all: &[Part]) -> u64 {
        let each = all.iter().map(|part| match part {
            Part::Text(text) => text.len() as u64 / 4,
            Part::Image(_) => OF_A_PICTURE,
            Part::ToolCall(call) => call.input.to_string().len() as u64 / 4,
            Part::ToolResult(result) => parts(&result.parts),
            Part::Reasoning(reasoning) => reasoning.text.len() as u64 / 4,
            Part::Other { value, .. } => value.to_string().len() as u64 / 4,
        });
        each.sum()
    }
    messages.iter().map(|message| parts(&message.parts)).sum()
}
