//! An action in a few words, for lists and captions. Takes it as it is recorded, so that actions of a later
//! version, or broken ones, have words too. Everything in it is hostile: the words are one line of bounded
//! length, in which characters that hide or reorder others are seen.

use serde_json::Value;

use crate::visible::plain;

/// Characters that a list has room for.
const MOST: usize = 120;

/// Bytes that are looked at: what is cleaned of a long text is never more than a few words.
const LOOKED_AT: usize = 1024;

/// The kind of a recorded action (`click`, `run`).
pub(crate) fn kind(action: &Value) -> &str {
    let name = action.get("action").and_then(Value::as_str);
    name.filter(|name| is_name(name)).unwrap_or("unknown")
}

/// `click 10,20`, `type "abc"`, `$ ls -l`.
pub(crate) fn brief(action: &Value) -> String {
    let text = |name: &str| words(action.get(name).and_then(Value::as_str).unwrap_or_default());
    let kind = kind(action);
    let told = match kind {
        "run" => run(action, &text("command")),
        "cell" => format!(">>> {}", text("code")),
        "browse" => text("code"),
        "read" => format!("read {}{}", text("path"), lines(action)),
        "write" => format!("write {}", text("path")),
        "edit" => format!("edit {}", text("path")),
        "insert" => {
            let line = action.get("line").and_then(Value::as_u64).unwrap_or(0);
            format!("insert into {} after line {line}", text("path"))
        }
        "undo" => format!("undo the last change of {}", text("path")),
        "message" => format!("say \"{}\"", text("text")),
        "think" => format!("think \"{}\"", text("thought")),
        "finish" => quoted("finish", &text("result")),
        "reject" => quoted("reject", &text("reason")),
        "key" => format!("press {}", text("keys")),
        "key_down" => format!("hold {}", text("key")),
        "key_up" => format!("release {}", text("key")),
        "type" => format!("type \"{}\"", text("text")),
        "move" => format!("move to {}", point(action)),
        "click" => click(action),
        "drag" => drag(action),
        "scroll" => scroll(action),
        "wait" => match action.get("seconds").and_then(Value::as_f64) {
            Some(seconds) => format!("wait {seconds} s"),
            None => "wait".to_owned(),
        },
        "screenshot" => "look at the screen".to_owned(),
        other => other.to_owned(),
    };
    clip(told.trim_end())
}

/// A text of anybody as part of one line.
pub(super) fn words(text: &str) -> String {
    let mut end = text.len().min(LOOKED_AT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    plain(text.get(..end).unwrap_or_default()).trim().to_owned()
}

pub(super) fn clip(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
    }
}

/// Names are shown as they are, and may become names of classes in a page.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    (1..=40).contains(&name.len()) && name.chars().all(fits)
}

fn quoted(verb: &str, text: &str) -> String {
    match text {
        "" => verb.to_owned(),
        text => format!("{verb} \"{text}\""),
    }
}

fn run(action: &Value, command: &str) -> String {
    let input = action.get("input").and_then(Value::as_bool) == Some(true);
    match (input, command) {
        (true, _) => format!("> {command}"),
        (false, "") => "wait for more output".to_owned(),
        (false, _) => format!("$ {command}"),
    }
}

fn lines(action: &Value) -> String {
    let line = |at: usize| action.get("lines")?.get(at)?.as_i64();
    match (line(0), line(1)) {
        (Some(from), Some(-1)) => format!(" from line {from}"),
        (Some(from), Some(to)) => format!(", lines {from} to {to}"),
        _ => String::new(),
    }
}

fn whole(value: &Value, name: &str) -> Option<i64> {
    value.get(name).and_then(Value::as_i64)
}

fn point(value: &Value) -> String {
    match (whole(value, "x"), whole(value, "y")) {
        (Some(x), Some(y)) => format!("{x},{y}"),
        _ => "?".to_owned(),
    }
}

fn button(action: &Value) -> &'static str {
    match action.get("button").and_then(Value::as_str) {
        Some("right") => "right-",
        Some("middle") => "middle-",
        _ => "",
    }
}

fn click(action: &Value) -> String {
    let times = match action.get("count").and_then(Value::as_u64) {
        Some(2) => "double-",
        Some(3) => "triple-",
        _ => "",
    };
    format!("{times}{}click {}", button(action), point(action))
}

fn drag(action: &Value) -> String {
    let path = action.get("path").and_then(Value::as_array);
    let ends = path.and_then(|path| Some((path.first()?, path.last()?)));
    match ends {
        Some((from, to)) => format!("{}drag {} to {}", button(action), point(from), point(to)),
        None => "drag".to_owned(),
    }
}

fn scroll(action: &Value) -> String {
    let notches = |name| whole(action, name).unwrap_or(0);
    let way = |notches: i64, back: &str, on: &str| match notches {
        0 => None,
        n if n < 0 => Some(format!("{back} {}", n.unsigned_abs())),
        n => Some(format!("{on} {n}")),
    };
    let ways = [
        way(notches("dy"), "up", "down"),
        way(notches("dx"), "left", "right"),
    ];
    let ways: Vec<String> = ways.into_iter().flatten().collect();
    format!("scroll {} at {}", ways.join(" "), point(action))
}

#[cfg(test)]
mod tests {
    use agon_core::{Action, ActionKind};
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_action_has_words() {
        let told = [
            (json!({"action":"run","command":"ls -l"}), "$ ls -l"),
            (json!({"action":"run","command":""}), "wait for more output"),
            (
                json!({"action":"run","command":"C-c","input":true}),
                "> C-c",
            ),
            (json!({"action":"cell","code":"a = 1\nb"}), ">>> a = 1 b"),
            (json!({"action":"browse","code":"goto('x')"}), "goto('x')"),
            (
                json!({"action":"read","path":"a","lines":[3,-1]}),
                "read a from line 3",
            ),
            (
                json!({"action":"read","path":"a","lines":[3,9]}),
                "read a, lines 3 to 9",
            ),
            (
                json!({"action":"write","path":"a","content":"b"}),
                "write a",
            ),
            (
                json!({"action":"edit","path":"a","old":"b","new":"c"}),
                "edit a",
            ),
            (
                json!({"action":"insert","path":"a","line":7,"text":"c"}),
                "insert into a after line 7",
            ),
            (
                json!({"action":"undo","path":"a"}),
                "undo the last change of a",
            ),
            (json!({"action":"message","text":"hi"}), "say \"hi\""),
            (json!({"action":"think","thought":"hm"}), "think \"hm\""),
            (json!({"action":"finish"}), "finish"),
            (json!({"action":"finish","result":"42"}), "finish \"42\""),
            (json!({"action":"reject","reason":"no"}), "reject \"no\""),
            (json!({"action":"key","keys":"ctrl+s"}), "press ctrl+s"),
            (json!({"action":"key_down","key":"a"}), "hold a"),
            (json!({"action":"key_up","key":"a"}), "release a"),
            (json!({"action":"type","text":"abc"}), "type \"abc\""),
            (json!({"action":"move","x":1,"y":2}), "move to 1,2"),
            (json!({"action":"click","x":10,"y":20}), "click 10,20"),
            (
                json!({"action":"click","x":1,"y":2,"button":"right","count":2}),
                "double-right-click 1,2",
            ),
            (
                json!({"action":"drag","path":[{"x":1,"y":2},{"x":3,"y":4},{"x":5,"y":6}]}),
                "drag 1,2 to 5,6",
            ),
            (
                json!({"action":"scroll","x":1,"y":2,"dy":-3,"dx":1}),
                "scroll up 3 right 1 at 1,2",
            ),
            (json!({"action":"wait","seconds":1.5}), "wait 1.5 s"),
            (json!({"action":"screenshot"}), "look at the screen"),
        ];
        for kind in ActionKind::ALL {
            let tested = |(action, _): &(Value, &str)| {
                serde_json::from_value::<Action>(action.clone())
                    .unwrap()
                    .kind()
                    == kind
            };
            assert!(told.iter().any(tested), "{kind}");
        }
        for (action, words) in told {
            assert_eq!(brief(&action), words);
        }
    }

    #[test]
    fn what_nobody_knows_is_named_and_what_is_broken_breaks_nothing() {
        assert_eq!(brief(&json!({"action":"teleport","to":"moon"})), "teleport");
        for broken in [
            json!(null),
            json!({"action":7}),
            json!({"action":"<b>"}),
            json!([1]),
        ] {
            assert_eq!(brief(&broken), "unknown");
        }
        assert_eq!(brief(&json!({"action":"click","x":"a"})), "click ?");
        assert_eq!(brief(&json!({"action":"drag","path":[]})), "drag");
    }

    #[test]
    fn words_of_others_are_one_short_line() {
        let long = json!({"action":"type","text":format!("a\n\u{202e}b{}", "ü".repeat(100_000))});
        let told = brief(&long);
        assert!(told.starts_with("type \"a <202E>bü"), "{told}");
        assert_eq!(told.chars().count(), MOST + 1);
    }
}
