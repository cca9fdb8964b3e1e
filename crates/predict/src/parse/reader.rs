//! Values of JSON and Python, read without ever being evaluated: no names, no arithmetic, no calls. A call
//! with named arguments is the object of its arguments, whatever is called.

use super::cursor::{Cursor, MAX_DEPTH};
use super::literal::{self, Escapes};
use super::number;
use super::refusal::Refusal;
use super::value::{Node, Value};

/// The value that begins here.
pub(super) fn value(cursor: &mut Cursor<'_>) -> Result<Node, Refusal> {
    nested(cursor, 0)
}

fn nested(cursor: &mut Cursor<'_>, depth: usize) -> Result<Node, Refusal> {
    cursor.skip_space();
    let at = cursor.at();
    if cursor.exhausted() {
        return Err(Refusal::broken("expected less to read", at));
    }
    let value = match cursor.peek() {
        Some(b'{' | b'[' | b'(') if depth >= MAX_DEPTH => return Err(Refusal::deep(at)),
        Some(b'{') => object(cursor, depth)?,
        Some(b'[') => {
            cursor.bump();
            Value::List(items(cursor, b']', depth, Vec::new())?)
        }
        Some(b'(') => parenthesis(cursor, depth)?,
        Some(b'"' | b'\'') => Value::Text(texts(cursor, Escapes::Read)?),
        Some(0xe2) if literal::begins_typographic(cursor) => {
            Value::Text(literal::typographic(cursor)?)
        }
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => Value::Number(number::number(cursor)?),
        _ => named(cursor, depth)?,
    };
    Ok(Node { at, value })
}

/// Something that begins with a name: a constant, text with a prefix, or a call.
fn named(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Refusal> {
    let at = cursor.at();
    let Some(name) = cursor.name() else {
        return Err(Refusal::broken("expected a value", at));
    };
    if let Some(b'"' | b'\'') = cursor.peek() {
        let escapes = literal::prefix(name)
            .ok_or_else(|| Refusal::broken("expected plain text in quotes", at))?;
        return Ok(Value::Text(texts(cursor, escapes)?));
    }
    match name {
        "None" | "null" => return Ok(Value::Null),
        "True" | "true" => return Ok(Value::Bool(true)),
        "False" | "false" => return Ok(Value::Bool(false)),
        "NaN" | "nan" | "Infinity" | "inf" => {
            return Err(Refusal::broken("expected a finite number", at));
        }
        _ => {}
    }
    let after = cursor.at();
    cursor.skip_space();
    if cursor.peek() != Some(b'(') {
        cursor.go_to(after);
        return Err(Refusal::broken("expected a value, and this is a name", at));
    }
    if depth >= MAX_DEPTH {
        return Err(Refusal::deep(cursor.at()));
    }
    cursor.bump();
    arguments(cursor, depth)
}

/// Text in quotes, and more of it right behind, which belongs to it.
fn texts(cursor: &mut Cursor<'_>, escapes: Escapes) -> Result<String, Refusal> {
    let mut text = literal::literal(cursor, escapes)?;
    loop {
        let after = cursor.at();
        cursor.skip_space();
        if !matches!(cursor.peek(), Some(b'"' | b'\'')) {
            cursor.go_to(after);
            return Ok(text);
        }
        text.push_str(&literal::literal(cursor, Escapes::Read)?);
    }
}

fn object(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Refusal> {
    cursor.bump();
    let mut fields = Vec::new();
    loop {
        cursor.skip_space();
        if cursor.eat(b'}') {
            return Ok(Value::Object(fields));
        }
        let at = cursor.at();
        let name = match nested(cursor, depth + 1)?.value {
            Value::Text(name) => name,
            other => {
                let why = format!("expected a key in quotes, and this is {}", other.kind());
                return Err(Refusal::broken(why, at));
            }
        };
        cursor.skip_space();
        if !cursor.eat(b':') {
            return Err(Refusal::broken("expected `:` after a key", cursor.at()));
        }
        fields.push((name, nested(cursor, depth + 1)?));
        separator(cursor, b'}')?;
    }
}

/// Values up to the closing bracket.
fn items(
    cursor: &mut Cursor<'_>,
    close: u8,
    depth: usize,
    mut items: Vec<Node>,
) -> Result<Vec<Node>, Refusal> {
    loop {
        cursor.skip_space();
        if cursor.eat(close) {
            return Ok(items);
        }
        items.push(nested(cursor, depth + 1)?);
        separator(cursor, close)?;
    }
}

/// A tuple, a value in parentheses, or the named arguments of a call.
fn parenthesis(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Refusal> {
    cursor.bump();
    cursor.skip_space();
    if begins_argument(cursor) {
        return arguments(cursor, depth);
    }
    if cursor.eat(b')') {
        return Ok(Value::List(Vec::new()));
    }
    let first = nested(cursor, depth + 1)?;
    match separator(cursor, b')')? {
        Separator::Close => {
            cursor.eat(b')');
            Ok(first.value)
        }
        Separator::Comma => Ok(Value::List(items(cursor, b')', depth, vec![first])?)),
    }
}

/// `name = `, and the cursor stays where it is.
fn begins_argument(cursor: &mut Cursor<'_>) -> bool {
    let back = cursor.at();
    let named = cursor.name().is_some();
    cursor.skip_space();
    let begins = named && cursor.peek() == Some(b'=') && cursor.byte(1) != Some(b'=');
    cursor.go_to(back);
    begins
}

fn arguments(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Refusal> {
    let mut fields = Vec::new();
    loop {
        cursor.skip_space();
        if cursor.eat(b')') {
            return Ok(Value::Object(fields));
        }
        let at = cursor.at();
        let name = cursor.name();
        cursor.skip_space();
        let (Some(name), true) = (name, cursor.eat(b'=')) else {
            return Err(Refusal::broken(
                "expected the name of an argument and `=`",
                at,
            ));
        };
        fields.push((name.to_owned(), nested(cursor, depth + 1)?));
        separator(cursor, b')')?;
    }
}

enum Separator {
    Comma,
    /// Which is still next.
    Close,
}

fn separator(cursor: &mut Cursor<'_>, close: u8) -> Result<Separator, Refusal> {
    cursor.skip_space();
    if cursor.eat(b',') {
        return Ok(Separator::Comma);
    }
    if cursor.peek() == Some(close) {
        return Ok(Separator::Close);
    }
    let close = char::from(close);
    let why = match cursor.peek() {
        None => format!("expected `,` or `{close}`, and the answer ends"),
        Some(b'+' | b'-' | b'*' | b'/' | b'%') => {
            format!("expected `,` or `{close}`: nothing is calculated")
        }
        Some(_) => format!("expected `,` or `{close}`"),
    };
    Err(Refusal::broken(why, cursor.at()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<serde_json::Value, String> {
        let mut cursor = Cursor::new(text).unwrap();
        value(&mut cursor)
            .map(|node| node.value.into_json())
            .map_err(|refusal| format!("{} at {}", refusal.why, refusal.at))
    }

    #[test]
    fn values_of_both_languages_are_read() {
        for (text, expected) in [
            (
                r#"{"a": [1, true, null], "b": {}}"#,
                json!({"a": [1, true, null], "b": {}}),
            ),
            (
                "{'a': (1, 'x',), 'b': None,}",
                json!({"a": [1, "x"], "b": null}),
            ),
            ("[True, False, ]", json!([true, false])),
            ("()", json!([])),
            ("(1)", json!(1)),
            ("(1,)", json!([1])),
            ("((1, 2), [3])", json!([[1, 2], [3]])),
            ("[r'\\a' \"b\"\n 'c', 'd']", json!(["\\abc", "d"])),
            ("M(x=1, y = (2, 3), )", json!({"x": 1, "y": [2, 3]})),
            ("(x=1)", json!({"x": 1})),
            ("[a.b.M(), dict(k='v')]", json!([{}, {"k": "v"}])),
            ("{'a': 1, 'a': 2}", json!({"a": 2})),
            ("[1, # one, two]\n 2]", json!([1, 2])),
            ("{'a':-1.5e1}", json!({"a": -15.0})),
        ] {
            assert_eq!(read(text).as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn refusals_say_what_was_expected_and_where() {
        for (text, expected) in [
            ("[1 2]", "expected `,` or `]` at 3"),
            (
                "[25 + 113]",
                "expected `,` or `]`: nothing is calculated at 4",
            ),
            ("[1", "expected `,` or `]`, and the answer ends at 2"),
            (
                "{1: 2}",
                "expected a key in quotes, and this is a number at 1",
            ),
            ("{'a', 'b'}", "expected `:` after a key at 4"),
            ("{name: 1}", "expected a value, and this is a name at 1"),
            ("[x]", "expected a value, and this is a name at 1"),
            ("[f(1)]", "expected the name of an argument and `=` at 3"),
            ("f(x==1)", "expected a value at 4"),
            ("[f'{x}']", "expected plain text in quotes at 1"),
            ("[NaN]", "expected a finite number at 1"),
            ("[,]", "expected a value at 1"),
            ("[1,,2]", "expected a value at 3"),
            ("(1]", "expected `,` or `)` at 2"),
            ("[lambda: 1]", "expected a value, and this is a name at 1"),
            ("['x'.upper()]", "expected `,` or `]` at 4"),
            ("", "expected a value at 0"),
        ] {
            assert_eq!(read(text).unwrap_err(), expected, "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(MAX_DEPTH)).is_ok());
        let why = read(&nested(MAX_DEPTH + 1)).unwrap_err();
        assert!(why.contains("more than 64"), "{why}");
        for open in ["{'a':", "(", "f(x=", "{{", "[("] {
            assert!(read(&open.repeat(100_000)).is_err());
        }
    }
}
