//! Values as Python writes them with `repr`, and back: texts, numbers, lists, dictionaries, `None`, `True`,
//! `False`. Data only: nothing is ever evaluated.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

/// Deeper than any action.
const DEEPEST: usize = 32;

pub(crate) fn write(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(write).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let field =
                |(key, value): (&String, &Value)| format!("{}: {}", quoted(key), write(value));
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("{{{}}}", fields.join(", "))
        }
    }
}

/// In double quotes if that saves escapes.
fn quoted(text: &str) -> String {
    let quote = match text.contains('\'') && !text.contains('"') {
        true => '"',
        false => '\'',
    };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str(r"\\"),
            '\n' => out.push_str(r"\n"),
            '\r' => out.push_str(r"\r"),
            '\t' => out.push_str(r"\t"),
            c if c == quote => out.extend(['\\', c]),
            c if c.is_control() && u32::from(c) <= 0xff => {
                // Writing to a text can't fail.
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// Reads one value at the beginning; what follows it is returned beside it.
pub(crate) fn read(text: &str) -> Option<(Value, &str)> {
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    Some((value, reader.rest))
}

#[derive(Debug)]
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Goes on behind `mark`, if it is what comes next.
    fn take(&mut self, mark: &str) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(mark);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        self.skip();
        match self.rest.chars().next()? {
            '\'' | '"' => self.text().map(Value::String),
            '[' => self.list("[", "]", depth),
            '(' => self.list("(", ")", depth),
            '{' => self.dictionary(depth),
            _ => self.word(),
        }
    }

    fn list(&mut self, open: &str, close: &str, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        self.take(open);
        while !self.take(close) {
            items.push(self.value(depth + 1)?);
            if !self.take(",") {
                return self.take(close).then_some(Value::Array(items));
            }
        }
        Some(Value::Array(items))
    }

    fn dictionary(&mut self, depth: usize) -> Option<Value> {
        let mut fields = Map::new();
        self.take("{");
        while !self.take("}") {
            self.skip();
            let key = self.text()?;
            if !self.take(":") {
                return None;
            }
            fields.insert(key, self.value(depth + 1)?);
            if !self.take(",") {
                return self.take("}").then_some(Value::Object(fields));
            }
        }
        Some(Value::Object(fields))
    }

    /// A number, or one of three names.
    fn word(&mut self) -> Option<Value> {
        let part = |c: char| !(c.is_ascii_alphanumeric() || "+-._".contains(c));
        let end = self.rest.find(part).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "None" => Some(Value::Null),
            "True" => Some(Value::Bool(true)),
            "False" => Some(Value::Bool(false)),
            word => match word.parse::<i64>() {
                Ok(number) => Some(number.into()),
                Err(_) => Number::from_f64(word.parse().ok()?).map(Value::Number),
            },
        }
    }

    fn text(&mut self) -> Option<String> {
        let mut chars = self.rest.chars();
        let quote = chars.next().filter(|c| matches!(c, '\'' | '"'))?;
        let mut text = String::new();
        loop {
            match chars.next()? {
                '\\' => match chars.next()? {
                    'n' => text.push('\n'),
                    'r' => text.push('\r'),
                    't' => text.push('\t'),
                    'x' => text.push(code(&mut chars, 2)?),
                    'u' => text.push(code(&mut chars, 4)?),
                    'U' => text.push(code(&mut chars, 8)?),
                    c @ ('\\' | '\'' | '"') => text.push(c),
                    c => text.extend(['\\', c]),
                },
                c if c == quote => break,
                c => text.push(c),
            }
        }
        self.rest = chars.as_str();
        Some(text)
    }
}

fn code(chars: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let number = chars.as_str().get(..digits)?;
    let code = u32::from_str_radix(number, 16).ok()?;
    *chars = chars.as_str().get(digits..)?.chars();
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_look_as_python_writes_them() {
        let value = json!({ "x": 1, "y": -2.5, "ok": true, "no": null, "keys": ["ctrl", "it's", "a\"'b\n\u{7}"] });
        let text = r#"{'keys': ['ctrl', "it's", 'a"\'b\n\x07'], 'no': None, 'ok': True, 'x': 1, 'y': -2.5}"#;
        let written = write(&value);
        assert_eq!(read(text).unwrap(), (value.clone(), ""));
        assert_eq!(read(&written).unwrap(), (value, ""));
        for part in ["'x': 1", "'no': None", r#""it's""#, r#"'a"\'b\n\x07'"#] {
            assert!(written.contains(part), "{written}");
        }
        let tuple = read("(1, 2,) rest").unwrap();
        assert_eq!(tuple, (json!([1, 2]), " rest"));
        assert_eq!(read(r"'\u00e9\U0001f600\d'").unwrap().0, json!("é😀\\d"));
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for text in [
            "",
            "'a",
            "[1",
            "{'a' 1}",
            "{1: 2}",
            "click",
            "__import__('os')",
            "'\\x4'",
            "1.2.3",
        ] {
            assert!(read(text).is_none(), "{text}");
        }
        assert!(read(&"[".repeat(100_000)).is_none());
    }

    proptest! {
        #[test]
        fn texts_come_back(text in ".*", number in any::<i64>()) {
            let value = json!({ text.clone(): [text, number] });
            prop_assert_eq!(read(&write(&value)).unwrap().0, value);
        }

        #[test]
        fn any_text_is_read_or_refused(text in r#"[\[\](){}'":, a1.\\NxU-]{0,40}"#) {
            let _ = read(&text);
        }
    }
}
