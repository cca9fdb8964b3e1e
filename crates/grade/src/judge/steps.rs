//! The steps of a trial as text: what was done, what came back, what was in front. Never what was thought,
//! which is no evidence.

use agon_core::Action;
use serde_json::Value;

use super::quote::{cut, quoted};
use crate::flow::FlowStep;

/// Characters of one text of a step.
const LONGEST: usize = 1_000;

/// One step, without its screen. Each halving of the room that there is makes `tight` one more.
pub(super) fn step(step: &FlowStep, tight: u32) -> String {
    let longest = LONGEST >> tight;
    let mut text = format!("Step {}, {:.1} s after the start.", step.step, step.t);
    match &step.action {
        Some(action) => {
            text += " It did:\n";
            text += &quoted(&one_line(action, longest));
            if let Some(said) = &step.said {
                text += "and was told:\n";
                text += &quoted(&cut(said, longest));
            }
        }
        None => {
            // Not what it said: that may be what it thought.
            text += " It said what is no allowed action, and nothing was done.\n";
        }
    }
    if let Some(title) = step.window.as_deref().filter(|title| !title.is_empty()) {
        text += "The active window then:\n";
        text += &quoted(&cut(title, longest));
    }
    text
}

fn one_line(action: &Action, longest: usize) -> String {
    let mut value = as_value(action);
    shorten(&mut value, longest);
    value.to_string()
}

fn as_value(action: &Action) -> Value {
    let mut value = match action {
        Action::Think { .. } => Value::Null,
        action => serde_json::to_value(action).unwrap_or_default(),
    };
    if value.is_null() {
        value = serde_json::json!({ "action": action.kind().name() });
    }
    value
}

fn shorten(value: &mut Value, longest: usize) {
    match value {
        Value::String(text) if text.len() > longest => *text = cut(text, longest),
        Value::Array(values) => values.iter_mut().for_each(|value| shorten(value, longest)),
        Value::Object(values) => values
            .values_mut()
            .for_each(|value| shorten(value, longest)),
        _ => {}
    }
}

/// All words of a step that the program under test, or what it saw, could choose, as far as they are shown.
pub(super) fn words(step: &FlowStep, tight: u32) -> Vec<String> {
    let longest = LONGEST >> tight;
    let said = step.said.as_ref().filter(|_| step.action.is_some());
    let mut words: Vec<String> = [said, step.window.as_ref()]
        .into_iter()
        .flatten()
        .map(|text| cut(text, longest))
        .collect();
    if let Some(action) = &step.action {
        let mut value = as_value(action);
        shorten(&mut value, longest);
        gather(value, &mut words);
    }
    words
}

fn gather(value: Value, words: &mut Vec<String>) {
    match value {
        Value::String(text) => words.push(text),
        Value::Array(values) => values.into_iter().for_each(|value| gather(value, words)),
        Value::Object(values) => values
            .into_iter()
            .for_each(|(_, value)| gather(value, words)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doing(action: Option<Action>, said: Option<&str>, window: Option<&str>) -> FlowStep {
        FlowStep {
            step: 3,
            seq: 9,
            t: 12.34,
            action,
            said: said.map(Into::into),
            screen: None,
            window: window.map(Into::into),
        }
    }

    #[test]
    fn a_step_is_told_in_lines_of_ours_and_quoted_ones() {
        let typed = Action::Type {
            text: "a\nStep 4:".into(),
        };
        let told = step(&doing(Some(typed), Some("x\ny"), Some("Notes")), 0);
        let expected = "Step 3, 12.3 s after the start. It did:\n\
                        | {\"action\":\"type\",\"text\":\"a\\nStep 4:\"}\n\
                        and was told:\n| x\n| y\nThe active window then:\n| Notes\n";
        assert_eq!(told, expected);
        let refused = step(&doing(None, None, Some("Notes")), 0);
        assert!(refused.contains("no allowed action"), "{refused}");
        assert!(refused.ends_with("| Notes\n"), "{refused}");
    }

    #[test]
    fn thoughts_are_never_shown() {
        let thought = Action::Think {
            thought: "I did well".into(),
        };
        let thinking = doing(Some(thought), None, None);
        assert!(step(&thinking, 0).contains("\"think\""));
        assert!(!step(&thinking, 0).contains("well"));
        assert_eq!(words(&thinking, 0), ["think"]);
        // An answer without an action is recorded as it is: often a thought and nothing else.
        let refused = doing(None, Some("I did well"), None);
        assert!(!step(&refused, 0).contains("well"));
        assert!(words(&refused, 0).is_empty());
    }

    #[test]
    fn long_texts_are_cut_and_all_words_are_found() {
        let write = Action::Write {
            path: "p".into(),
            content: "z".repeat(100_000),
            create: false,
        };
        let wrote = doing(Some(write), Some("s"), Some("w"));
        assert!(step(&wrote, 0).len() < 1_500);
        assert!(step(&wrote, 2).len() < 600);
        let words = words(&wrote, 0);
        for word in ["s", "w", "p", "write"] {
            assert!(words.iter().any(|known| known == word), "{word}");
        }
    }
}
