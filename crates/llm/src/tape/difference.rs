//! What is different about two requests, in a few lines that a person can use: JSON pointers with the
//! old value and the new one.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Write};

use serde_json::Value;

use super::request::canonical;
use super::text;

/// No more lines than this.
const MOST: usize = 10;

/// Characters of a value, and of a pointer, that are shown.
const VALUE: usize = 60;
const POINTER: usize = 60;

/// Characters before the first difference of two strings that are shown.
const BEFORE: usize = 20;

/// A request as far as it is compared with many: a hash per message, and one of all the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    messages: Vec<u64>,
    rest: u64,
}

impl Shape {
    /// `conversation` names the field that holds the messages.
    pub(super) fn of(body: &Value, conversation: &str) -> Self {
        let messages = match body.get(conversation) {
            Some(Value::Array(messages)) => messages.iter().map(hash).collect(),
            Some(one) => vec![hash(one)],
            None => Vec::new(),
        };
        let rest = match body {
            Value::Object(fields) => {
                let rest = fields.iter().filter(|(name, _)| *name != conversation);
                hash(&Value::Object(
                    rest.map(|(name, value)| (name.clone(), value.clone()))
                        .collect(),
                ))
            }
            other => hash(other),
        };
        Self { messages, rest }
    }

    /// More is nearer: messages that both begin with, an equal rest, as few as possible too many.
    pub(super) fn nearness(&self, other: &Self) -> (usize, bool, usize) {
        let both = self.messages.iter().zip(&other.messages);
        let shared = both.take_while(|(a, b)| a == b).count();
        let apart = self.messages.len().abs_diff(other.messages.len());
        (shared, self.rest == other.rest, usize::MAX - apart)
    }
}

struct Hashing(DefaultHasher);

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn hash(value: &Value) -> u64 {
    let mut hashing = Hashing(DefaultHasher::new());
    // Nothing that is written here can fail: there is no file.
    let _ = canonical(value, &mut hashing);
    hashing.0.finish()
}

/// What leads from `old` to `new`.
pub(super) fn differences(old: &Value, new: &Value) -> Vec<String> {
    let mut found = Found::default();
    found.compare(&mut String::new(), old, new);
    let Found { mut lines, more } = found;
    if more > 0 {
        lines.truncate(MOST - 1);
        lines.push(format!("and {} more", more + 1));
    }
    lines
}

#[derive(Default)]
struct Found {
    lines: Vec<String>,
    more: usize,
}

impl Found {
    fn compare(&mut self, pointer: &mut String, old: &Value, new: &Value) {
        let long = |value| text::shown(value).is_some();
        match (old, new) {
            _ if old == new => {}
            (Value::Object(before), Value::Object(after)) if !long(old) && !long(new) => {
                let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
                for name in names {
                    let name_in_pointer = name.replace('~', "~0").replace('/', "~1");
                    self.step(pointer, &name_in_pointer, before.get(name), after.get(name));
                }
            }
            (Value::Array(before), Value::Array(after)) => {
                for at in 0..before.len().max(after.len()) {
                    self.step(pointer, &at.to_string(), before.get(at), after.get(at));
                }
            }
            (Value::String(before), Value::String(after)) => {
                let (before, after) = around_difference(before, after);
                self.add(pointer, &before, &after);
            }
            _ => self.add(pointer, &shown(old), &shown(new)),
        }
    }

    fn step(&mut self, pointer: &mut String, name: &str, old: Option<&Value>, new: Option<&Value>) {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(name);
        match (old, new) {
            (Some(old), Some(new)) => self.compare(pointer, old, new),
            (old, new) => {
                let side = |value: Option<&Value>| value.map_or("nothing".to_owned(), shown);
                self.add(pointer, &side(old), &side(new));
            }
        }
        pointer.truncate(length);
    }

    fn add(&mut self, pointer: &str, old: &str, new: &str) {
        if self.lines.len() == MOST {
            self.more += 1;
            return;
        }
        let pointer = match pointer {
            "" => "the request".to_owned(),
            pointer => cut(pointer, POINTER),
        };
        self.lines.push(format!("{pointer}: {old} -> {new}"));
    }
}

fn shown(value: &Value) -> String {
    text::shown(value).unwrap_or_else(|| cut(&value.to_string(), VALUE))
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}..", &text[..at]),
        None => text.to_owned(),
    }
}

/// Two strings from shortly before the place where they begin to differ.
fn around_difference(old: &str, new: &str) -> (String, String) {
    let same = old.chars().zip(new.chars()).take_while(|(a, b)| a == b);
    let begin = same.count().saturating_sub(BEFORE);
    let part = |text: &str| {
        let dots = if begin > 0 { ".." } else { "" };
        let rest: String = text.chars().skip(begin).collect();
        Value::String(format!("{dots}{}", cut(&rest, VALUE))).to_string()
    };
    (part(old), part(new))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_differs_is_named_with_both_values() {
        let old = json!({
            "messages": [{ "content": "It is 10:02 o'clock, and the window is open." }],
            "temperature": 0.0, "a/b": 1, "same": [1, 2],
        });
        let new = json!({
            "messages": [{ "content": "It is 10:03 o'clock, and the window is open." }, { "x": 1 }],
            "temperature": 0.5, "a/b": 2, "same": [1, 2], "seed": 7,
        });
        assert_eq!(
            differences(&old, &new),
            [
                "/a~1b: 1 -> 2",
                r#"/messages/0/content: "It is 10:02 o'clock, and the window is open." -> "It is 10:03 o'clock, and the window is open.""#,
                r#"/messages/1: nothing -> {"x":1}"#,
                "/seed: nothing -> 7",
                "/temperature: 0.0 -> 0.5",
            ]
        );
        let far = format!("{}a", "x".repeat(500));
        let lines = differences(&json!(far), &json!(far.replace('a', "b")));
        let xs = "x".repeat(BEFORE);
        assert_eq!(lines, [format!(r#"the request: "..{xs}a" -> "..{xs}b""#)]);
    }

    #[test]
    fn the_nearest_shares_the_longest_beginning() {
        let body = |messages: &[&str], temperature: f64| json!({ "messages": messages, "temperature": temperature });
        let shape = |body: &Value| Shape::of(body, "messages");
        let asked = shape(&body(&["a", "b", "c"], 0.0));
        let order = [
            body(&["x"], 0.0),
            body(&["a", "x", "c"], 0.5),
            body(&["a", "b"], 0.5),
            body(&["a", "b", "x", "y"], 0.0),
            body(&["a", "b", "x"], 0.0),
            body(&["a", "b", "c"], 0.5),
            body(&["a", "b", "c"], 0.0),
        ];
        let nearness: Vec<_> = order
            .iter()
            .map(|body| asked.nearness(&shape(body)))
            .collect();
        assert!(nearness.is_sorted_by(|a, b| a <= b), "{nearness:?}");
    }

    proptest! {
        #[test]
        fn lines_are_few_and_short(old in super::super::request::any_json(), new in super::super::request::any_json()) {
            let lines = differences(&old, &new);
            prop_assert_eq!(lines.is_empty(), old == new);
            prop_assert!(lines.len() <= MOST);
            for line in lines {
                prop_assert!(line.chars().count() < 400, "{}", line);
            }
        }
    }
}
