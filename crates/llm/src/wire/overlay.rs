//! Keys that a user lays over a body: objects are gone into, everything else is replaced.

use serde_json::{Map, Value};

use crate::request::Request;
use crate::spec::ModelSpec;

const EXTRA: &str = "extra_body";

/// Those of the configuration, then those of the request. `extra_body` is spread, as clients do.
pub(crate) fn overlay_own(body: &mut Map<String, Value>, spec: &ModelSpec, request: &Request) {
    for keys in [&spec.settings.completion_kwargs, &request.extra] {
        for (key, value) in keys {
            match value {
                Value::Object(spread) if key == EXTRA => overlay(body, spread),
                value => overlay(body, &Map::from_iter([(key.clone(), value.clone())])),
            }
        }
    }
}

pub(crate) fn overlay(body: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (body.get_mut(key), value) {
            (Some(Value::Object(under)), Value::Object(over)) => overlay(under, over),
            _ => {
                body.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_gone_into_and_the_rest_is_replaced() {
        let mut body = json!({"a": {"b": 1, "c": [1]}, "d": 1})
            .as_object()
            .cloned()
            .unwrap();
        let over = json!({"a": {"c": [2]}, "d": {"e": 1}, "f": null})
            .as_object()
            .cloned()
            .unwrap();
        overlay(&mut body, &over);
        let expected = json!({"a": {"b": 1, "c": [2]}, "d": {"e": 1}, "f": null});
        assert_eq!(Value::Object(body), expected);
    }
}
