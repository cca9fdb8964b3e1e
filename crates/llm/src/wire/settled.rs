//! What the configuration says, put into a body that a client of its own has written: where the client
//! leaves something open, it holds as it does for every other request.

use serde_json::{Map, Value};

/// Adds what is not there. `same`: keys that say the same thing in different words, so that one of them is
/// enough.
pub(super) fn fill(body: &mut Map<String, Value>, more: Map<String, Value>, same: &[&[&str]]) {
    let says =
        |key: &str, body: &Map<String, Value>| body.get(key).is_some_and(|value| !value.is_null());
    for (key, value) in more {
        let words = same.iter().find(|words| words.contains(&key.as_str()));
        let said = match words {
            Some(words) => words.iter().any(|word| says(word, body)),
            None => says(&key, body),
        };
        if !said {
            body.insert(key, value);
        }
    }
}

/// No answer is longer than the configuration allows, whatever the client asks for.
pub(super) fn cap(body: &mut Map<String, Value>, keys: &[&str], most: Option<u64>) {
    let Some(most) = most else {
        return;
    };
    for key in keys {
        if let Some(asked) = body.get_mut(*key)
            && asked.as_f64().is_some_and(|asked| asked > most as f64)
        {
            *asked = most.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn what_is_open_is_filled_and_what_is_said_stays() {
        let mut body = map(json!({"a": 1, "b": null, "long": 7}));
        let more = map(json!({"a": 2, "b": 2, "c": 2, "short": 2}));
        fill(&mut body, more, &[&["short", "long"]]);
        assert_eq!(body, map(json!({"a": 1, "b": 2, "c": 2, "long": 7})));
    }

    #[test]
    fn lengths_are_bounded_from_above() {
        let mut body = map(json!({"a": 10, "b": 1, "c": 1e300, "d": "x"}));
        cap(&mut body, &["a", "b", "c", "d", "e"], Some(5));
        assert_eq!(body, map(json!({"a": 5, "b": 1, "c": 5, "d": "x"})));
        cap(&mut body, &["a"], None);
        assert_eq!(body["a"], 5);
    }
}
