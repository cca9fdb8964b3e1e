//! Nodes into types through serde. Where a text is asked for, a plain scalar gives the text it was
//! written with; where nothing is said, it is resolved without loss; numbers are read from the
//! text. Every error is placed at the innermost node it belongs to.

use std::str::FromStr;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::error::NodeError;
use super::node::{Content, Key, Node};
use super::scalar::{Plain, resolve};

impl Node {
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, NodeError> {
        T::deserialize(self)
    }

    /// Reads a mapping whose type is chosen by a tag inside of it. Serde has to hold the values of
    /// such a type before it knows what they are, so all but those of `typed` keys stay texts.
    pub(crate) fn read_tagged<T: DeserializeOwned>(&self, typed: &[&str]) -> Result<T, NodeError> {
        T::deserialize(Tagged { node: self, typed }).map_err(|error| {
            let place = error.key.as_deref().and_then(|key| self.key_span(key));
            error.at(place.unwrap_or_else(|| self.head()))
        })
    }

    fn scalar(&self, expected: &str) -> Result<&str, NodeError> {
        match &self.content {
            Content::Scalar { text, .. } => Ok(text),
            Content::Sequence(_) => Err(self.mismatch(Unexpected::Seq, expected)),
            Content::Mapping(_) => Err(self.mismatch(Unexpected::Map, expected)),
        }
    }

    fn mismatch(&self, found: Unexpected<'_>, expected: &str) -> NodeError {
        NodeError::invalid_type(found, &expected).at(self.head())
    }

    fn parsed<T: FromStr>(&self, expected: &str) -> Result<T, NodeError> {
        let text = self.scalar(expected)?;
        text.parse()
            .map_err(|_| self.mismatch(Unexpected::Str(text), expected))
    }
}

macro_rules! numbers {
    ($($method:ident $visit:ident $type:ty, $expected:literal;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
            let number = self.parsed::<$type>($expected)?;
            visitor.$visit(number).map_err(|error: NodeError| error.at(self.span))
        }
    )*};
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = NodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        match &self.content {
            Content::Sequence(_) => self.deserialize_seq(visitor),
            Content::Mapping(_) => self.deserialize_map(visitor),
            Content::Scalar { text, plain: false } => visitor.visit_str(text),
            Content::Scalar { text, plain: true } => match resolve(text) {
                Plain::Null => visitor.visit_unit(),
                Plain::Bool(value) => visitor.visit_bool(value),
                Plain::Unsigned(value) => visitor.visit_u64(value),
                Plain::Signed(value) => visitor.visit_i64(value),
                Plain::Float(value) => visitor.visit_f64(value),
                Plain::Text(text) => visitor.visit_str(text),
            },
        }
        .map_err(|error| error.at(self.head()))
    }

    numbers! {
        deserialize_u8 visit_u8 u8, "a whole number from 0 to 255";
        deserialize_u16 visit_u16 u16, "a whole number from 0 to 65535";
        deserialize_u32 visit_u32 u32, "a whole number";
        deserialize_u64 visit_u64 u64, "a whole number";
        deserialize_i8 visit_i8 i8, "a whole number from -128 to 127";
        deserialize_i16 visit_i16 i16, "a whole number";
        deserialize_i32 visit_i32 i32, "a whole number";
        deserialize_i64 visit_i64 i64, "a whole number";
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        let number = self.parsed::<f64>("a number")?;
        if !number.is_finite() {
            return Err(NodeError::new("expected a finite number").at(self.span));
        }
        visitor
            .visit_f64(number)
            .map_err(|error: NodeError| error.at(self.span))
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        visitor.visit_bool(self.parsed("true or false")?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        visitor
            .visit_str(self.scalar("a text")?)
            .map_err(|error: NodeError| error.at(self.span))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        if self.is_null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, NodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        let Content::Sequence(items) = &self.content else {
            return Err(NodeError::new("expected a list").at(self.head()));
        };
        visitor
            .visit_seq(Items(items.iter()))
            .map_err(|error| error.at(self.head()))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        let Content::Mapping(pairs) = &self.content else {
            let expected = format!("expected {}", &visitor as &dyn serde::de::Expected);
            return Err(NodeError::new(expected).at(self.head()));
        };
        visitor
            .visit_map(Pairs {
                pairs: pairs.iter(),
                value: None,
                reader: |node: &'de Node, _: &Key| node,
            })
            .map_err(|error| error.at(self.head()))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NodeError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NodeError> {
        let name = self.scalar("one word")?;
        visitor
            .visit_enum(Word(name))
            .map_err(|error| error.at(self.span))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple tuple_struct
    }
}

struct Items<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = NodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, NodeError> {
        self.0.next().map(|node| seed.deserialize(node)).transpose()
    }
}

/// The pairs of a mapping; `reader` says how the value of a key is read.
struct Pairs<'de, R> {
    pairs: std::slice::Iter<'de, (Key, Node)>,
    value: Option<(&'de Key, &'de Node)>,
    reader: R,
}

impl<'de, R, D> MapAccess<'de> for Pairs<'de, R>
where
    R: Fn(&'de Node, &Key) -> D,
    D: Deserializer<'de, Error = NodeError>,
{
    type Error = NodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, NodeError> {
        let Some((key, value)) = self.pairs.next() else {
            return Ok(None);
        };
        self.value = Some((key, value));
        let text: StrDeserializer<'_, NodeError> = key.text.as_str().into_deserializer();
        seed.deserialize(text)
            .map(Some)
            .map_err(|error| error.at(key.span))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, NodeError> {
        let (key, value) = self
            .value
            .take()
            .ok_or_else(|| NodeError::new("a value without a key"))?;
        seed.deserialize((self.reader)(value, key))
            .map_err(|error| error.at(value.head()))
    }
}

/// The name of an enum's variant that has no content.
struct Word<'de>(&'de str);

impl<'de> EnumAccess<'de> for Word<'de> {
    type Error = NodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), NodeError> {
        let text: StrDeserializer<'_, NodeError> = self.0.into_deserializer();
        Ok((seed.deserialize(text)?, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'de> {
    type Error = NodeError;

    fn unit_variant(self) -> Result<(), NodeError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, NodeError> {
        Err(NodeError::new("expected one word"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, NodeError> {
        Err(NodeError::new("expected one word"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, NodeError> {
        Err(NodeError::new("expected one word"))
    }
}

/// A mapping with a tag inside: see [`Node::read_tagged`].
struct Tagged<'de, 'k> {
    node: &'de Node,
    typed: &'k [&'k str],
}

impl<'de> Deserializer<'de> for Tagged<'de, '_> {
    type Error = NodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        let Content::Mapping(pairs) = &self.node.content else {
            let expected = format!("expected {}", &visitor as &dyn serde::de::Expected);
            return Err(NodeError::new(expected));
        };
        visitor.visit_map(Pairs {
            pairs: pairs.iter(),
            value: None,
            reader: |node: &'de Node, key: &Key| Field {
                node,
                as_text: !self.typed.contains(&key.text.as_str()),
            },
        })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

/// A value of a tagged mapping.
struct Field<'de> {
    node: &'de Node,
    as_text: bool,
}

impl<'de> Deserializer<'de> for Field<'de> {
    type Error = NodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        match &self.node.content {
            Content::Scalar { text, .. } if self.as_text => visitor.visit_str(text),
            _ => self.node.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::super::parse_yaml;
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, expecting = "a sample")]
    struct Sample {
        #[serde(default)]
        texts: Vec<String>,
        #[serde(default)]
        number: Option<f64>,
        #[serde(default)]
        count: Option<u32>,
        #[serde(default)]
        word: Option<Word>,
        #[serde(default)]
        any: Value,
        #[serde(default)]
        inner: BTreeMap<String, String>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Word {
        Gold,
    }

    fn read(source: &str) -> Result<Sample, NodeError> {
        parse_yaml(source)?.read()
    }

    #[test]
    fn texts_keep_their_source_and_values_resolve_without_loss() {
        let sample = read(
            "texts: [42, 1.10, yes, null, 0755, ~, '7']\nnumber: 1e3\ncount: 7\nword: gold\n\
             any: {a: 1, b: 1.10, c: [true, ~, '1'], d: -3}\ninner: {PORT: 8080}\n",
        )
        .unwrap();
        assert_eq!(
            sample.texts,
            ["42", "1.10", "yes", "null", "0755", "~", "7"]
        );
        assert_eq!((sample.number, sample.count), (Some(1000.0), Some(7)));
        assert_eq!(sample.word, Some(Word::Gold));
        assert_eq!(
            sample.any,
            json!({"a": 1, "b": "1.10", "c": [true, null, "1"], "d": -3})
        );
        assert_eq!(sample.inner["PORT"], "8080");
    }

    #[test]
    fn errors_point_at_the_innermost_place() {
        for (source, message, place) in [
            (
                "texst: []\n",
                "unknown key `texst`, did you mean `texts`?",
                "texst",
            ),
            (
                "word: golf\n",
                "unknown value `golf`, did you mean `gold`?",
                "golf",
            ),
            ("count: many\n", "expected a whole number, found", "many"),
            ("number: nan\n", "expected a finite number", "nan"),
            ("texts: [a, {b: c}]\n", "expected a text, found keys", "b"),
            ("inner: [x]\n", "expected a map", "x"),
            ("just text\n", "expected a sample", "just text"),
        ] {
            let error = read(source).unwrap_err();
            assert!(error.message.contains(message), "{source}: {error:?}");
            let span = error.span.unwrap();
            assert_eq!(&source[span.start..span.end], place, "{source}");
        }
    }
}
