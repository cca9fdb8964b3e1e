//! Arguments: a JSON array in the order of the parameters, or an object by their names. Rust values
//! and tuples become arrays, so that a call reads like a call.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::DesktopError;

/// Always an array or an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Args(Value);

/// For those without parameters.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, expecting = "no arguments")]
pub struct NoArgs {}

impl Args {
    /// As a type: a struct takes both forms, a tuple or a `Vec` an array only, a `Value` anything.
    pub(super) fn read<A: DeserializeOwned>(
        self,
        name: &str,
        parameters: &str,
    ) -> Result<A, DesktopError> {
        serde_json::from_value(self.0)
            .map_err(|error| DesktopError::Invalid(format!("{name}({parameters}): {error}")))
    }
}

impl From<Value> for Args {
    /// What is neither an array nor an object is the only argument.
    fn from(value: Value) -> Self {
        Self(match value {
            Value::Null => Value::Array(Vec::new()),
            Value::Array(_) | Value::Object(_) => value,
            one => Value::Array(vec![one]),
        })
    }
}

impl From<Vec<Value>> for Args {
    fn from(values: Vec<Value>) -> Self {
        Self(Value::Array(values))
    }
}

impl From<Map<String, Value>> for Args {
    fn from(values: Map<String, Value>) -> Self {
        Self(Value::Object(values))
    }
}

impl From<()> for Args {
    fn from((): ()) -> Self {
        Self(Value::Array(Vec::new()))
    }
}

impl From<&String> for Args {
    fn from(text: &String) -> Self {
        Self(Value::Array(vec![text.as_str().into()]))
    }
}

macro_rules! one_argument {
    ($($type:ty),*) => {
        $(impl From<$type> for Args {
            fn from(one: $type) -> Self {
                Self(Value::Array(vec![one.into()]))
            }
        })*
    };
}

one_argument!(&str, String, bool, u8, u16, u32, u64, i32, i64, f64);

macro_rules! several_arguments {
    ($($name:ident)*) => {
        impl<$($name: Into<Value>),*> From<($($name,)*)> for Args {
            #[expect(non_snake_case, reason = "each value is named as its type")]
            fn from(($($name,)*): ($($name,)*)) -> Self {
                Self(Value::Array(vec![$($name.into()),*]))
            }
        }
    };
}

several_arguments!(A);
several_arguments!(A B);
several_arguments!(A B C);
several_arguments!(A B C D);
several_arguments!(A B C D E);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Click {
        x: i32,
        #[serde(default)]
        button: Option<String>,
    }

    fn read(args: impl Into<Args>) -> Result<Click, String> {
        let read = args.into().read("mouse.click", "x, button?");
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_come_in_order_or_by_name() {
        let plain = Click { x: 3, button: None };
        assert_eq!(read(3), Ok(plain));
        let right = || {
            Ok(Click {
                x: 3,
                button: Some("right".to_owned()),
            })
        };
        assert_eq!(read((3, "right")), right());
        assert_eq!(read(json!([3, "right"])), right());
        assert_eq!(read(json!({"button": "right", "x": 3})), right());
        let nothing: NoArgs = Args::from(()).read("mouse.position", "").unwrap();
        let NoArgs {} = nothing;
    }

    #[test]
    fn wrong_arguments_say_what_is_expected() {
        for bad in [
            json!([]),
            json!({}),
            json!("three"),
            json!([3, "left", 1]),
            json!({"x": 1, "z": 1}),
        ] {
            let error = read(bad).unwrap_err();
            assert!(error.starts_with("mouse.click(x, button?): "), "{error}");
        }
        assert!(Args::from(3).read::<NoArgs>("mouse.position", "").is_err());
    }
}
