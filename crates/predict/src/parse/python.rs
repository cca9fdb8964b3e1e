//! Values as Python writes them: for prompts that show actions as Python does, and for answers in tests.

use std::fmt::Write as _;

use serde_json::Value;

/// The literal that Python's `repr` would give.
pub fn to_python(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("None"),
        Value::Bool(true) => text.push_str("True"),
        Value::Bool(false) => text.push_str("False"),
        Value::Number(number) => {
            let _ = write!(text, "{number}");
        }
        Value::String(content) => quoted(content, text),
        Value::Array(list) => {
            text.push('[');
            for (index, item) in list.iter().enumerate() {
                separate(index, text);
                write(item, text);
            }
            text.push(']');
        }
        Value::Object(fields) => {
            text.push('{');
            for (index, (name, value)) in fields.iter().enumerate() {
                separate(index, text);
                quoted(name, text);
                text.push_str(": ");
                write(value, text);
            }
            text.push('}');
        }
    }
}

fn separate(index: usize, text: &mut String) {
    if index > 0 {
        text.push_str(", ");
    }
}

fn quoted(content: &str, text: &mut String) {
    let quote = if content.contains('\'') && !content.contains('"') {
        '"'
    } else {
        '\''
    };
    text.push(quote);
    for letter in content.chars() {
        match letter {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            letter if letter == quote => text.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(text, "\\x{:02x}", u32::from(letter));
            }
            letter => text.push(letter),
        }
    }
    text.push(quote);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_as_python_does() {
        let value = json!({"a": [1, -2.5, true, null], "b": "it's", "c": "\"it's\"\n\u{1}ä"});
        assert_eq!(
            to_python(&value),
            r#"{'a': [1, -2.5, True, None], 'b': "it's", 'c': '"it\'s"\n\x01ä'}"#
        );
    }
}
