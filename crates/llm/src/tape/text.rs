//! Long strings of bodies, kept once per tape and referred to by their hash.

use std::collections::HashMap;

use agon_core::Digest;
use serde_json::{Map, Value, json};

/// What is longer is kept apart.
const SHORT: usize = 4 << 10;

/// Stands in a body for a text that is kept apart.
const TEXT: &str = "$agon_text";

/// A body whose long texts are referred to. `None` where the body itself says something that looks like
/// such a reference: it is kept as it is.
pub(super) fn shortened<'a>(
    body: &'a Value,
    each: &mut impl FnMut(Digest, &'a str),
) -> Option<Value> {
    Some(match body {
        Value::String(text) if text.len() > SHORT => {
            let digest = Digest::of(text.as_bytes());
            each(digest, text);
            json!({ TEXT: digest })
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| shortened(item, each));
            Value::Array(items.collect::<Option<_>>()?)
        }
        Value::Object(fields) if fields.contains_key(TEXT) => return None,
        Value::Object(fields) => {
            let short =
                |(name, value): (&String, &'a Value)| Some((name.clone(), shortened(value, each)?));
            Value::Object(fields.iter().map(short).collect::<Option<Map<_, _>>>()?)
        }
        plain => plain.clone(),
    })
}

/// The body as it was; the error is the text that is not there.
pub(super) fn whole(body: Value, texts: &HashMap<Digest, String>) -> Result<Value, String> {
    Ok(match body {
        Value::Array(items) => {
            let items = items.into_iter().map(|item| whole(item, texts));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(fields) => match fields.get(TEXT) {
            Some(name) => {
                let digest = name.as_str().and_then(Digest::from_hex);
                let text = digest.and_then(|digest| texts.get(&digest));
                Value::String(text.ok_or_else(|| name.to_string())?.clone())
            }
            None => {
                let fields = fields.into_iter();
                let whole = |(name, value)| Ok((name, whole(value, texts)?));
                Value::Object(fields.map(whole).collect::<Result<_, String>>()?)
            }
        },
        plain => plain,
    })
}

/// How a reference is shown to people.
pub(super) fn shown(value: &Value) -> Option<String> {
    let digest = value.as_object()?.get(TEXT)?.as_str()?;
    Some(format!("a long text, sha256 {}", digest.get(..12)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shorten(body: &Value) -> (Option<Value>, HashMap<Digest, String>) {
        let mut texts = HashMap::new();
        let short = shortened(body, &mut |digest, text| {
            texts.insert(digest, text.to_owned());
        });
        (short, texts)
    }

    #[test]
    fn long_texts_are_kept_apart_and_come_back() {
        let long = "x".repeat(SHORT + 1);
        let body = json!({ "a": [long, "y".repeat(SHORT), { "b": long }], "c": 1.5 });
        let (short, texts) = shorten(&body);
        let short = short.unwrap();
        assert_eq!(texts.len(), 1);
        assert!(short.to_string().len() < SHORT + 500);
        assert_eq!(whole(short.clone(), &texts).unwrap(), body);
        assert!(whole(short, &HashMap::new()).is_err());
    }

    #[test]
    fn a_body_that_refers_by_itself_is_left_alone() {
        let body = json!({ "a": ["x".repeat(SHORT + 1), { TEXT: "mine" }] });
        assert_eq!(shorten(&body).0, None);
    }
}
