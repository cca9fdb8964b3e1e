//! Lists and values that others wrote, counted while they are read: a file of a bounded size can ask for many
//! times as much memory. Knows nothing of what they mean.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::{Map, Value};

/// Of one value of any form, with all that is in it.
const MOST_VALUES: usize = 10_000;

/// `MOST` at most; `null` is an empty one.
pub(crate) fn list<'de, D, T, const MOST: usize>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let list: Option<List<T, MOST>> = Option::deserialize(deserializer)?;
    Ok(list.map(|list| list.0).unwrap_or_default())
}

/// Any JSON, of not too many values.
pub(crate) fn value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Counted(&Cell::new(MOST_VALUES)).deserialize(deserializer)
}

struct List<T, const MOST: usize>(Vec<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for List<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Items::<T, MOST>(PhantomData))
    }
}

struct Items<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Items<T, MOST> {
    type Value = List<T, MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            if list.len() == MOST {
                return Err(A::Error::custom(format_args!(
                    "it has more than {MOST} entries"
                )));
            }
            list.push(item);
        }
        Ok(List(list))
    }
}

/// How many values there may still be.
#[derive(Clone, Copy)]
struct Counted<'a>(&'a Cell<usize>);

impl<'de> DeserializeSeed<'de> for Counted<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let left = self.0.get().checked_sub(1);
        let too_many = || D::Error::custom(format_args!("it has more than {MOST_VALUES} values"));
        self.0.set(left.ok_or_else(too_many)?);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Counted<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, is: bool) -> Result<Value, E> {
        Ok(is.into())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = fields.next_key()? {
            map.insert(key, fields.next_value_seed(self)?);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Small {
        #[serde(default, deserialize_with = "list::<_, _, 3>")]
        list: Vec<u8>,
        #[serde(default, deserialize_with = "value")]
        value: Value,
    }

    fn read(text: &str) -> Result<Small, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn lists_end_where_they_are_too_long() {
        assert_eq!(read(r#"{"list": [1, 2, 3]}"#).unwrap().list, [1, 2, 3]);
        for none in [r#"{"list": null}"#, "{}"] {
            assert!(read(none).unwrap().list.is_empty());
        }
        // What comes behind is not looked at any more.
        let error = read(r#"{"list": [1, 2, 3, 4, {{{"#).unwrap_err();
        assert!(error.contains("more than 3 entries"), "{error}");
        let error = read(r#"{"list": {}}"#).unwrap_err();
        assert!(error.contains("expected a list"), "{error}");
    }

    #[test]
    fn values_come_back_as_they_are_unless_they_are_too_many() {
        let text = r#"{"a":[null,true,-1,2,1.5,"x"],"b":{"c":{}}}"#;
        let value = read(&format!(r#"{{"value": {text}}}"#)).unwrap().value;
        assert_eq!(value.to_string(), text);
        let many = format!(r#"{{"value": [{}, {{{{"#, ["0"; MOST_VALUES].join(","));
        let error = read(&many).unwrap_err();
        assert!(error.contains("more than 10000 values"), "{error}");
    }
}
