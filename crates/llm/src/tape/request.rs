//! What makes two requests the same: the hash of wire, model and body. Addresses, headers and keys are
//! not in it, so that a tape answers whoever asks the same.

use std::io::{self, BufWriter, Write};

use agon_core::Digest;
use agon_core::digest::Hasher;
use serde_json::Value;

use crate::spec::Wire;

pub(super) const fn wire_name(wire: Wire) -> &'static str {
    match wire {
        Wire::Chat => "chat",
        Wire::Responses => "responses",
        Wire::Messages => "messages",
        Wire::Gemini => "gemini",
    }
}

pub(super) fn wire_of(name: &str) -> Option<Wire> {
    let all = [Wire::Chat, Wire::Responses, Wire::Messages, Wire::Gemini];
    all.into_iter().find(|wire| wire_name(*wire) == name)
}

/// Where the conversation stands in a body.
pub(super) const fn conversation(wire: Wire) -> &'static str {
    match wire {
        Wire::Chat | Wire::Messages => "messages",
        Wire::Responses => "input",
        Wire::Gemini => "contents",
    }
}

/// The hash of a request. `body` is free of keys.
pub(super) fn key(wire: Wire, model: &str, body: &Value) -> Digest {
    let mut hashing = BufWriter::new(Hashing(Hasher::default()));
    // Nothing that is written here can fail: there is no file.
    let _ = hashing.write_all(b"{\"body\":");
    let _ = canonical(body, &mut hashing);
    let _ = hashing.write_all(b",\"model\":");
    let _ = serde_json::to_writer(&mut hashing, model);
    let _ = write!(hashing, ",\"wire\":\"{}\"}}", wire_name(wire));
    match hashing.into_inner() {
        Ok(hashing) => hashing.0.finish(),
        Err(broken) => broken.into_inner().into_parts().0.0.finish(),
    }
}

/// Whatever is written is hashed.
struct Hashing(Hasher);

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// JSON without blanks, names in order: the same whatever order they were put in.
pub(super) fn canonical(value: &Value, out: &mut impl Write) -> io::Result<()> {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            out.write_all(b"{")?;
            for (at, (name, value)) in fields.into_iter().enumerate() {
                if at > 0 {
                    out.write_all(b",")?;
                }
                serde_json::to_writer(&mut *out, name)?;
                out.write_all(b":")?;
                canonical(value, out)?;
            }
            out.write_all(b"}")
        }
        Value::Array(items) => {
            out.write_all(b"[")?;
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.write_all(b",")?;
                }
                canonical(item, out)?;
            }
            out.write_all(b"]")
        }
        plain => Ok(serde_json::to_writer(out, plain)?),
    }
}

/// Any JSON, not too deep.
#[cfg(test)]
pub(super) fn any_json() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((".*", inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        #[test]
        fn the_key_is_that_of_the_whole_request_as_sorted_json(body in any_json(), model in ".*") {
            let whole = json!({ "wire": "messages", "model": model, "body": body });
            let mut text = Vec::new();
            canonical(&whole, &mut text).unwrap();
            prop_assert_eq!(key(Wire::Messages, &model, &body), Digest::of(&text));
            // The sorted form is the same value.
            let back: Value = serde_json::from_slice(&text).unwrap();
            prop_assert_eq!(back, serde_json::from_str::<Value>(&whole.to_string()).unwrap());
        }

        #[test]
        fn other_requests_have_other_keys(one in any_json(), two in any_json()) {
            let (a, b) = (key(Wire::Chat, "m", &one), key(Wire::Chat, "m", &two));
            prop_assert_eq!(a == b, one == two);
            prop_assert_ne!(a, key(Wire::Gemini, "m", &one));
            prop_assert_ne!(a, key(Wire::Chat, "n", &one));
        }
    }
}
