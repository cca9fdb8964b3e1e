//! JSON of others as a value that takes no more memory than there is room for, however it is made: long strings
//! are cut, and what no room is left for is passed over. Knows no events.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// What a value takes in memory beside its text, roughly.
const ONE: usize = 32;

/// An action in a list needs its first words alone.
const OF_AN_ACTION: Room = Room {
    left: 256 << 10,
    longest: 2 << 10,
    cut: false,
};

#[derive(Debug, Clone)]
pub(super) struct Room {
    /// Bytes.
    pub(super) left: usize,
    /// Of one string.
    pub(super) longest: usize,
    /// Something did not fit.
    pub(super) cut: bool,
}

impl Room {
    /// As much of it as fits.
    pub(super) fn read(&mut self, text: &[u8]) -> serde_json::Result<Value> {
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        let value = Within(self).deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(value)
    }

    fn take(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }

    fn is_full(&self) -> bool {
        self.left == 0
    }

    fn text(&mut self, text: &str) -> String {
        let mut end = text.len().min(self.longest).min(self.left);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.cut |= end < text.len();
        self.take(end);
        text.get(..end).unwrap_or_default().to_owned()
    }
}

/// A field that holds an action, for its words.
pub(super) fn action<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Value>, D::Error> {
    Within(&mut OF_AN_ACTION.clone())
        .deserialize(field)
        .map(Some)
}

struct Within<'a>(&'a mut Room);

impl<'de> DeserializeSeed<'de> for Within<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        self.0.take(ONE);
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Within<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(self.0.text(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let room = self.0;
        let mut kept = Vec::new();
        while !room.is_full() {
            match items.next_element_seed(Within(room))? {
                Some(item) => kept.push(item),
                None => return Ok(Value::Array(kept)),
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {
            room.cut = true;
        }
        Ok(Value::Array(kept))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let room = self.0;
        let mut kept = Map::new();
        while !room.is_full() {
            let Some(name) = fields.next_key_seed(Name(room))? else {
                return Ok(Value::Object(kept));
            };
            let value = fields.next_value_seed(Within(room))?;
            kept.insert(name, value);
        }
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            room.cut = true;
        }
        Ok(Value::Object(kept))
    }
}

/// The name of a field.
struct Name<'a>(&'a mut Room);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<String, D::Error> {
        self.0.take(ONE);
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E>(self, name: &str) -> Result<String, E> {
        Ok(self.0.text(name))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn room(left: usize) -> Room {
        Room {
            left,
            longest: 100,
            cut: false,
        }
    }

    #[test]
    fn what_fits_is_kept_as_it_is() {
        let value = json!({"a": [1, -2, 0.5, null, true, "ü\n"], "b": {"c": {}}, "": u64::MAX});
        let mut room = room(10_000);
        assert_eq!(room.read(value.to_string().as_bytes()).unwrap(), value);
        assert!(!room.cut && room.left > 0);
        assert!(room.read(b"{} {}").is_err());
    }

    #[test]
    fn what_does_not_fit_is_cut() {
        let mut strings = room(10_000);
        let long = json!("ü".repeat(90)).to_string();
        let kept = strings.read(long.as_bytes()).unwrap();
        assert_eq!(kept.as_str().unwrap().len(), 100);
        assert!(strings.cut);
        for text in [
            format!("[{}0]", "0,".repeat(100_000)),
            format!("[{}{{}}]", "{},".repeat(100_000)),
            format!("{{\"{}\":1,\"b\":2}}", "k".repeat(100_000)),
        ] {
            let mut room = room(1000);
            let kept = room.read(text.as_bytes()).unwrap();
            assert!(room.cut);
            assert!(kept.to_string().len() < 1100, "{kept}");
        }
    }

    proptest! {
        #[test]
        fn nothing_takes_more_than_there_is(items in prop::collection::vec(".{0,40}", 0..40), left in 1usize..2000) {
            let mut room = room(left);
            let kept = room.read(json!(items).to_string().as_bytes()).unwrap();
            let text: usize = kept.as_array().unwrap().iter().map(|item| item.as_str().unwrap().len()).sum();
            prop_assert!(text <= left);
            prop_assert_eq!(room.cut, kept != json!(items));
        }
    }
}
