//! How many values a JSON text has, before it is parsed: `{"":0}` has seven bytes, and takes seven hundred
//! in memory. Counts; whether it is JSON at all is found out later.

/// All values, those in values included; never fewer than there are.
pub(crate) fn values(json: &[u8]) -> usize {
    let (mut count, mut quoted, mut escaped) = (1, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' | b',' if !quoted => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn truly(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(truly).sum(),
            Value::Object(fields) => fields.values().map(truly).sum(),
            _ => 0_usize,
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            r#"[\[{,:"\\a]{0,6}"#.prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 5, |inner| {
            let field = (r#"[\[{,"\\]{0,3}"#, inner.clone());
            prop_oneof![
                proptest::collection::vec(inner, 0..5).prop_map(Value::from),
                proptest::collection::vec(field, 0..5)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn words_are_not_counted() {
        let text = json!({"a": ["[{,\\\",{", 1]}).to_string();
        assert_eq!(values(text.as_bytes()), 4);
        assert_eq!(values(b"3"), 1);
    }

    proptest! {
        #[test]
        fn none_is_missed_and_none_counted_twice(value in value()) {
            let (true_count, found) = (truly(&value), values(value.to_string().as_bytes()));
            prop_assert!(true_count <= found && found <= 2 * true_count, "{true_count} {found}");
        }
    }
}
