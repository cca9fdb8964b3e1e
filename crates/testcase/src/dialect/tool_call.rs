//! Calls that a model writes into its text, as the Qwen models are taught:
//! `<tool_call>{"name": .., "arguments": {..}}</tool_call>`. Tags may be missing, arguments may be a text with
//! JSON in it, or the call may be written with tags alone. Knows no function.

use serde_json::{Map, Value};

use super::embedded::objects;

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

/// More calls in one text are not looked at.
const MOST_CALLS: usize = 64;

/// What a text holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Written {
    /// The words around the calls.
    pub(crate) prose: String,
    pub(crate) calls: Vec<Call>,
}

/// One call: its function, if it is named, and its arguments; or why it can't be read.
pub(crate) type Call = Result<(Option<String>, Value), String>;

/// All calls of a text, in order.
pub(crate) fn read(text: &str) -> Written {
    if let Some(written) = tagged(text) {
        return written;
    }
    let found = objects(text);
    let calls: Vec<_> = found
        .into_iter()
        .filter_map(|found| call(&found.value).map(|call| (found.from, found.to, call)))
        .take(MOST_CALLS)
        .collect();
    let Some((first, _, _)) = calls.first() else {
        return Written {
            prose: bare(text),
            calls: Vec::new(),
        };
    };
    let before = text.get(..*first).unwrap_or_default();
    let after = calls.last().and_then(|(_, to, _)| text.get(*to..));
    Written {
        prose: bare(&format!("{before}\n{}", after.unwrap_or_default())),
        calls: calls.into_iter().map(|(_, _, call)| Ok(call)).collect(),
    }
}

/// Calls between tags; the last one may lack its end. `None`: there is no tag.
fn tagged(text: &str) -> Option<Written> {
    let (mut prose, mut rest) = match text.split_once(OPEN) {
        Some((before, rest)) => (before.to_owned(), rest),
        // A model may leave out the tag that it was to begin with.
        None => {
            let (body, after) = text.split_once(CLOSE)?;
            let from = objects(body).pop().map_or(body.len(), |found| found.from);
            let (before, body) = body.split_at_checked(from)?;
            return Some(Written {
                prose: bare(&format!("{before}\n{after}")),
                calls: vec![one(body)],
            });
        }
    };
    let mut calls = Vec::new();
    while calls.len() < MOST_CALLS {
        let (body, after) = match (rest.find(CLOSE), rest.find(OPEN)) {
            (Some(end), next) if next.is_none_or(|next| end < next) => {
                (&rest[..end], &rest[end + CLOSE.len()..])
            }
            (_, Some(next)) => (&rest[..next], &rest[next..]),
            _ => (rest, ""),
        };
        calls.push(one(body));
        let Some((words, next)) = after.split_once(OPEN) else {
            prose.push('\n');
            prose.push_str(after);
            break;
        };
        prose.push('\n');
        prose.push_str(words);
        rest = next;
    }
    Some(Written {
        prose: bare(&prose),
        calls,
    })
}

/// What stands between two tags.
fn one(body: &str) -> Call {
    let found = objects(body);
    let call = found.iter().find_map(|found| call(&found.value));
    call.or_else(|| by_tags(body))
        .ok_or_else(|| "the call is no JSON object with a name and arguments".to_owned())
}

/// `{"name": .., "arguments": ..}`, or arguments alone, which have an action.
fn call(value: &Value) -> Option<(Option<String>, Value)> {
    let arguments = value.get("arguments").or_else(|| value.get("parameters"));
    match arguments {
        Some(Value::String(text)) => {
            let arguments = serde_json::from_str(text).ok().filter(Value::is_object)?;
            Some((name(value), arguments))
        }
        Some(arguments) if arguments.is_object() => Some((name(value), arguments.clone())),
        Some(_) => None,
        None => value.get("action")?.as_str().map(|_| (None, value.clone())),
    }
}

fn name(value: &Value) -> Option<String> {
    Some(value.get("name")?.as_str()?.to_owned())
}

/// `<function=computer_use><parameter=action>type</parameter></function>`
fn by_tags(body: &str) -> Option<(Option<String>, Value)> {
    let (_, rest) = body.split_once("<function=")?;
    let (name, mut rest) = rest.split_once('>')?;
    let mut arguments = Map::new();
    while let Some((key, after)) = rest
        .split_once("<parameter=")
        .and_then(|(_, rest)| rest.split_once('>'))
    {
        let (value, after) = after.split_once("</parameter>").unwrap_or((after, ""));
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        // Lists and numbers are JSON; everything else is text as it stands.
        let json = serde_json::from_str::<Value>(value).ok();
        let json = json.filter(|json| json.is_array() || json.is_number());
        let value = json.unwrap_or_else(|| Value::String(value.to_owned()));
        arguments.insert(key.trim().to_owned(), value);
        rest = after;
    }
    Some((Some(name.trim().to_owned()), Value::Object(arguments)))
}

/// Without fences and the blanks around.
fn bare(prose: &str) -> String {
    let lines = prose.lines().filter(|line| !line.trim().starts_with("```"));
    let lines: Vec<&str> = lines.collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn click() -> Value {
        json!({"action": "left_click", "coordinate": [10, 20]})
    }

    #[test]
    fn calls_are_read_in_every_form_that_models_write() {
        let json = r#"{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [10, 20]}}"#;
        for text in [
            format!("I click.\n<tool_call>\n{json}\n</tool_call>"),
            format!("I click.\n<tool_call>\n{json}"),
            format!("I click.\n{json}\n</tool_call>"),
            format!("I click.\n```json\n{json}\n```"),
            format!("I click.\n<tool_call>{{{json}}}</tool_call>"),
            "I click.\n<tool_call>{\"name\": \"computer_use\", \"arguments\": \
             \"{\\\"action\\\": \\\"left_click\\\", \\\"coordinate\\\": [10, 20]}\"}</tool_call>"
                .to_owned(),
            "I click.\n<tool_call><function=computer_use>\n<parameter=action>\nleft_click\n</parameter>\
             <parameter=coordinate>[10, 20]</parameter></function></tool_call>"
                .to_owned(),
        ] {
            let written = read(&text);
            let call = (Some("computer_use".to_owned()), click());
            assert_eq!(written.calls, [Ok(call)], "{text}");
            assert_eq!(written.prose, "I click.", "{text}");
        }
        let bare = read(r#"{"action": "left_click", "coordinate": [10, 20]}"#);
        assert_eq!(bare.calls, [Ok((None, click()))]);
    }

    #[test]
    fn several_calls_stay_in_order_and_broken_ones_are_told() {
        let text = "a <tool_call>{\"name\": \"f\", \"arguments\": {\"action\": \"x\"}}</tool_call> b \
                    <tool_call>{\"name\": \"f\", </tool_call><tool_call>{\"action\": \"y\"}";
        let written = read(text);
        assert_eq!(written.calls.len(), 3);
        assert_eq!(
            written.calls[0],
            Ok((Some("f".into()), json!({"action": "x"})))
        );
        assert!(written.calls[1].is_err());
        assert_eq!(written.calls[2], Ok((None, json!({"action": "y"}))));
        assert_eq!(
            written.prose.split_whitespace().collect::<Vec<_>>(),
            ["a", "b"]
        );
    }

    #[test]
    fn words_without_a_call_are_words() {
        let written = read("The answer is {42}.");
        assert_eq!(written.prose, "The answer is {42}.");
        assert!(written.calls.is_empty());
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "(<tool_call>|</tool_call>|[{}\":a, ]|<function=|<parameter=|\\PC){0,40}") {
            let _ = read(&text);
        }
    }
}
