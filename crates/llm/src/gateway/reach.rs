//! Whether a body asks nothing of its provider that an agent without network can't do by itself: a search, a
//! remote tool, a picture by address or a file that lies at the provider would be a way out of the sandbox.
//! What is not known to be harmless is refused, by its path.

use std::fmt;

use serde_json::{Map, Value};

use super::said::{cut, says_nothing};
use super::vocabulary::{
    BLOCKS, CHAT, CHOICES, FUNCTION, Kind, MESSAGES, RESPONSES, Rule, TOOLS, UNTYPED,
};
use crate::wire::Spoken;

const TYPE: &str = "type";

/// Words that name something elsewhere, in any spelling of a key. Only the tables say where one is harmless.
const ELSEWHERE: [&str; 9] = [
    "url",
    "uri",
    "fileid",
    "fileids",
    "container",
    "connector",
    "server",
    "vectorstore",
    "previousresponse",
];

/// What can't be passed on.
#[derive(Debug)]
struct Refused {
    /// From the inside out.
    path: Vec<Step>,
    why: String,
}

#[derive(Debug)]
enum Step {
    Key(String),
    Nth(usize),
}

type Checked = Result<(), Refused>;

/// Whether it keeps to what an agent without network can do; the error says what does not, and where.
pub(super) fn stays_inside(wire: Spoken, body: &Value) -> Result<(), String> {
    let rules = match wire {
        Spoken::Chat => CHAT,
        Spoken::Responses => RESPONSES,
        Spoken::Messages => MESSAGES,
    };
    let body = body.as_object().ok_or("the body is no object")?;
    keys(wire, body, rules).map_err(|refused| refused.to_string())
}

fn refused(why: impl Into<String>) -> Checked {
    Err(Refused {
        path: Vec::new(),
        why: why.into(),
    })
}

fn at(step: impl FnOnce() -> Step, checked: Checked) -> Checked {
    checked.map_err(|mut refused| {
        refused.path.push(step());
        refused
    })
}

fn at_key(key: &str, checked: Checked) -> Checked {
    at(|| Step::Key(cut(key)), checked)
}

/// The depth was bounded when the body was read.
fn keys(wire: Spoken, map: &Map<String, Value>, rules: &[(&str, Rule)]) -> Checked {
    for (key, value) in map {
        let rule = rules.iter().find(|(name, _)| name == key);
        let checked = match rule {
            Some((_, rule)) => follows(wire, value, rule),
            None => quiet(key, value),
        };
        at_key(key, checked)?;
    }
    Ok(())
}

fn follows(wire: Spoken, value: &Value, rule: &Rule) -> Checked {
    if says_nothing(value) {
        return Ok(());
    }
    match rule {
        Rule::Free => Ok(()),
        Rule::Plain => plain(value),
        Rule::Data => data(value),
        Rule::DataUrl => match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let checked = match key.as_str() {
                        "url" => data_url(value),
                        _ => quiet(key, value),
                    };
                    at_key(key, checked)?;
                }
                Ok(())
            }
            other => data_url(other),
        },
        Rule::Parts(kinds) => parts(wire, value, kinds),
        Rule::Blocks => parts(wire, value, BLOCKS),
        Rule::Object(rules) => match value {
            Value::Object(map) => keys(wire, map, rules),
            _ => refused("is no object"),
        },
        Rule::Tools => match value {
            Value::Array(tools) => each(tools, |one| tool(wire, one)),
            _ => refused("is no list"),
        },
        Rule::Choice => match value {
            Value::String(_) => Ok(()),
            Value::Object(_) | Value::Array(_) => parts(wire, value, CHOICES),
            _ => refused("is no choice of a tool"),
        },
    }
}

fn each(items: &[Value], check: impl Fn(&Value) -> Checked) -> Checked {
    let mut all = items.iter().enumerate();
    all.try_for_each(|(nth, item)| at(|| Step::Nth(nth), check(item)))
}

fn parts(wire: Spoken, value: &Value, kinds: &[Kind]) -> Checked {
    match value {
        Value::Array(items) => each(items, |item| parts(wire, item, kinds)),
        Value::Object(map) => {
            let kind = kind_of(map, kinds)?;
            if kind.name == "server_tool_use" && !searches_tools(map) {
                return refused("is of a tool that the provider runs: this agent has no network");
            }
            keys(wire, map, kind.keys)
        }
        _ => Ok(()),
    }
}

fn kind_of<'a>(map: &Map<String, Value>, kinds: &'a [Kind]) -> Result<&'a Kind, Refused> {
    let named = match map.get(TYPE) {
        None => Ok(UNTYPED),
        Some(Value::String(named)) => Ok(named.as_str()),
        Some(_) => Err("has a `type` that is no text".to_owned()),
    };
    let found = named.and_then(|named| {
        let fits = |kind: &&Kind| match kind.name.strip_suffix('*') {
            Some(start) => named.starts_with(start),
            None => named == kind.name,
        };
        kinds.iter().find(fits).ok_or_else(|| match named {
            UNTYPED => "has no `type`".to_owned(),
            named => format!(
                "is of the type `{}`, which is not passed on: this agent has no network",
                cut(named)
            ),
        })
    });
    found.map_err(|why| Refused {
        path: Vec::new(),
        why,
    })
}

fn tool(wire: Spoken, tool: &Value) -> Checked {
    let Value::Object(tool) = tool else {
        return refused("is no object");
    };
    // Only this form has tools of the agent's own without a type.
    let untyped = wire == Spoken::Messages
        && !tool.contains_key(TYPE)
        && tool.contains_key("name")
        && tool.contains_key("input_schema");
    let kind = match untyped {
        true => FUNCTION,
        false => kind_of(tool, TOOLS)?.keys,
    };
    let of_function = std::ptr::eq(kind, FUNCTION);
    let odd = |key: &&String| !FUNCTION.iter().any(|(name, _)| name == key);
    if let Some(key) = tool.keys().find(odd).filter(|_| of_function) {
        return at_key(key, refused("is not taken in a tool: leave it out"));
    }
    keys(wire, tool, kind)
}

/// The one tool of a provider that leads nowhere but to the tools of the request.
fn searches_tools(call: &Map<String, Value>) -> bool {
    let name = call.get("name").and_then(Value::as_str);
    name.is_some_and(|name| name.starts_with("tool_search_tool_"))
}

/// What no table knows may be a word or a number, but nothing that holds more, or leads elsewhere.
fn quiet(key: &str, value: &Value) -> Checked {
    if says_nothing(value) {
        return Ok(());
    }
    leads_nowhere(key)?;
    match value {
        Value::Array(_) | Value::Object(_) => refused("is not known here: leave it out"),
        _ => Ok(()),
    }
}

fn leads_nowhere(key: &str) -> Checked {
    let plain = key.chars().filter(char::is_ascii_alphanumeric);
    let plain: String = plain.take(256).collect::<String>().to_ascii_lowercase();
    match ELSEWHERE.iter().any(|word| plain.contains(word)) {
        true => refused("leads to something that is not in the request: this agent has no network"),
        false => Ok(()),
    }
}

/// Settings: any depth, and nothing that leads elsewhere.
fn plain(value: &Value) -> Checked {
    match value {
        Value::Array(items) => each(items, plain),
        Value::Object(map) => map.iter().try_for_each(|(key, value)| {
            let checked = match key.as_str() {
                _ if says_nothing(value) => Ok(()),
                "tools" => refused("is not known here: leave it out"),
                key => leads_nowhere(key).and_then(|()| plain(value)),
            };
            at_key(key, checked)
        }),
        _ => Ok(()),
    }
}

/// Proxies take an address wherever content is expected.
fn data(value: &Value) -> Checked {
    let of_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-\r\n".contains(&byte);
    let bare = value
        .as_str()
        .is_some_and(|text| text.bytes().all(of_base64));
    if bare { Ok(()) } else { data_url(value) }
}

fn data_url(value: &Value) -> Checked {
    let inside = value.as_str().is_some_and(|text| text.starts_with("data:"));
    match inside || says_nothing(value) {
        true => Ok(()),
        false => refused("must hold the content itself, as data: this agent has no network"),
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`")?;
        for (nth, step) in self.path.iter().rev().enumerate() {
            match step {
                Step::Key(key) if nth == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Nth(nth) => write!(f, "[{nth}]")?,
            }
        }
        write!(f, "` {}", self.why)
    }
}

#[cfg(test)]
#[path = "reach_tests.rs"]
mod tests;
