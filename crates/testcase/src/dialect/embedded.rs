//! JSON objects in a text that holds other words too: fenced, or between sentences. Bounded work on any text.

use serde_json::Value;

/// So many places are tried as the beginning of an object.
const TRIES: usize = 64;

/// Where an object stands in a text, and the object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) value: Value,
}

/// The objects of a text in order, none inside of another.
pub(crate) fn objects(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut at = 0;
    for _ in 0..TRIES {
        let Some(from) = text
            .get(at..)
            .and_then(|rest| rest.find('{'))
            .map(|n| at + n)
        else {
            break;
        };
        let Some(rest) = text.get(from..) else {
            break;
        };
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                at = from + values.byte_offset();
                found.push(Found {
                    from,
                    to: at,
                    value,
                });
            }
            // What has no end is passed over: perhaps what is in it has one.
            _ => at = from + 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn values(text: &str) -> Vec<Value> {
        objects(text).into_iter().map(|found| found.value).collect()
    }

    #[test]
    fn objects_are_found_among_words() {
        assert_eq!(values(r#"{"a": 1}"#), [json!({"a": 1})]);
        assert_eq!(
            values("Well:\n```json\n{\"a\": \"}{\"}\n```\nand {\"b\": {}}."),
            [json!({"a": "}{"}), json!({"b": {}})]
        );
        assert_eq!(values("{{\"a\": 1}}"), [json!({"a": 1})]);
        assert_eq!(values("{a set} { \"a\": [{}] }"), [json!({"a": [{}]})]);
        assert!(values("no { object").is_empty());
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "([{}\"\\\\a:, ]|\\PC){0,80}") {
            for found in objects(&text) {
                prop_assert!(text.get(found.from..found.to).is_some());
            }
        }
    }
}
