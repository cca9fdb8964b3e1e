//! Reads fields as forgivingly as the original's validation does: `"1"` and `1.0` are whole numbers,
//! unknown fields are dropped. Knows nothing of what a field means.

use serde_json::{Map, Value};

use super::unprocessable::Unprocessable;

/// The fields of one object, and what is wrong with them.
#[derive(Debug)]
pub struct Fields {
    fields: Map<String, Value>,
    complaints: Vec<Unprocessable>,
}

impl Fields {
    pub fn of(body: Value) -> Result<Self, Unprocessable> {
        match body {
            Value::Object(fields) => Ok(Self {
                fields,
                complaints: Vec::new(),
            }),
            other => Err(Unprocessable::no_object(&other)),
        }
    }

    /// What is wrong, if anything is.
    pub fn finish(self) -> Result<(), Unprocessable> {
        Unprocessable::all(self.complaints).map_or(Ok(()), Err)
    }

    pub fn text(&mut self, name: &str) -> Option<String> {
        self.required(name, text)
    }

    /// A text of so many bytes at most.
    pub fn short_text_or(
        &mut self,
        name: &str,
        most: usize,
        default: impl FnOnce() -> String,
    ) -> Option<String> {
        self.optional(name, |value| short(text(value)?, most), default)
    }

    pub fn whole(&mut self, name: &str, range: Range<i64>) -> Option<i64> {
        self.required(name, |value| range.check(whole(value)?))
    }

    pub fn whole_or(&mut self, name: &str, range: Range<i64>, default: i64) -> Option<i64> {
        self.optional(name, |value| range.check(whole(value)?), || default)
    }

    pub fn number_or(&mut self, name: &str, range: Range<f64>, default: f64) -> Option<f64> {
        self.optional(name, |value| range.check(number(value)?), || default)
    }

    pub fn object(&mut self, name: &str) -> Option<Map<String, Value>> {
        self.required(name, object)
    }

    fn required<T>(&mut self, name: &str, read: impl FnOnce(&Value) -> Read<T>) -> Option<T> {
        let Some(value) = self.fields.get(name) else {
            let whole = Value::Object(self.fields.clone());
            self.complaints.push(Unprocessable::one(
                "missing",
                &[name],
                "Field required",
                &whole,
            ));
            return None;
        };
        match read(value) {
            Ok(value) => Some(value),
            Err(complaint) => {
                let complaint =
                    Unprocessable::one(complaint.kind, &[name], &complaint.message, value);
                self.complaints.push(complaint);
                None
            }
        }
    }

    fn optional<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&Value) -> Read<T>,
        default: impl FnOnce() -> T,
    ) -> Option<T> {
        if self.fields.contains_key(name) {
            self.required(name, read)
        } else {
            Some(default())
        }
    }
}

type Read<T> = Result<T, Complaint>;

#[derive(Debug)]
struct Complaint {
    kind: &'static str,
    message: String,
}

fn complaint<T>(kind: &'static str, message: &str) -> Read<T> {
    Err(Complaint {
        kind,
        message: message.to_owned(),
    })
}

/// Both ends belong to it.
#[derive(Debug, Clone, Copy)]
pub struct Range<T> {
    pub least: T,
    pub most: T,
}

impl<T: PartialOrd + std::fmt::Display> Range<T> {
    fn check(&self, value: T) -> Read<T> {
        if value < self.least {
            let message = format!("Input should be greater than or equal to {}", self.least);
            return complaint("greater_than_equal", &message);
        }
        if value > self.most {
            let message = format!("Input should be less than or equal to {}", self.most);
            return complaint("less_than_equal", &message);
        }
        Ok(value)
    }
}

fn text(value: &Value) -> Read<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        _ => complaint("string_type", "Input should be a valid string"),
    }
}

fn short(text: String, most: usize) -> Read<String> {
    if text.len() > most {
        let message = format!("String should have at most {most} bytes");
        return complaint("string_too_long", &message);
    }
    Ok(text)
}

fn object(value: &Value) -> Read<Map<String, Value>> {
    match value {
        Value::Object(fields) => Ok(fields.clone()),
        _ => complaint("dict_type", "Input should be a valid dictionary"),
    }
}

fn number(value: &Value) -> Read<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::Bool(yes) => Some(f64::from(u8::from(*yes))),
        Value::String(text) => match plain(text).parse() {
            Ok(number) => Some(number),
            Err(_) => {
                let message = "Input should be a valid number, unable to parse string as a number";
                return complaint("float_parsing", message);
            }
        },
        _ => return complaint("float_type", "Input should be a valid number"),
    };
    match number {
        Some(number) if number.is_finite() => Ok(number),
        _ => complaint("finite_number", "Input should be a finite number"),
    }
}

fn whole(value: &Value) -> Read<i64> {
    match value {
        Value::Number(number) => number.as_i64().map_or_else(
            || {
                let message =
                    "Input should be a valid integer, got a number with a fractional part";
                number
                    .as_f64()
                    .and_then(without_fraction)
                    .map_or_else(|| complaint("int_from_float", message), Ok)
            },
            Ok,
        ),
        Value::Bool(yes) => Ok(i64::from(*yes)),
        Value::String(text) => {
            let text = plain(text);
            // "3.0" is three, "3e0" is nothing.
            let digits = match text.split_once('.') {
                Some((digits, zeros)) if zeros.bytes().all(|byte| byte == b'0') => digits,
                _ => &text,
            };
            digits.parse().or_else(|_| {
                let message =
                    "Input should be a valid integer, unable to parse string as an integer";
                complaint("int_parsing", message)
            })
        }
        _ => complaint("int_type", "Input should be a valid integer"),
    }
}

/// White space around a number and underscores within are passed over.
fn plain(text: &str) -> String {
    let text = text.trim();
    let inner = !text.starts_with('_') && !text.ends_with('_') && !text.contains("__");
    if inner {
        text.replace('_', "")
    } else {
        text.to_owned()
    }
}

/// Numbers beyond the range become its ends: whoever has a range finds them outside of it.
fn without_fraction(number: f64) -> Option<i64> {
    (number.fract() == 0.0).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_numbers_are_read_as_the_original_reads_them() {
        for (value, expected) in [
            (json!(3), 3),
            (json!(3.0), 3),
            (json!("1"), 1),
            (json!(" 12 "), 12),
            (json!("3.0"), 3),
            (json!("1_000"), 1000),
            (json!(true), 1),
            (json!(-2), -2),
            (json!(1e30), i64::MAX),
        ] {
            assert_eq!(whole(&value).unwrap(), expected, "{value}");
        }
        for (value, kind) in [
            (json!(1.5), "int_from_float"),
            (json!("x"), "int_parsing"),
            (json!("1.5"), "int_parsing"),
            (json!("_1"), "int_parsing"),
            (json!(""), "int_parsing"),
            (json!(null), "int_type"),
            (json!([]), "int_type"),
        ] {
            assert_eq!(whole(&value).unwrap_err().kind, kind, "{value}");
        }
    }

    #[test]
    fn numbers_are_read_as_the_original_reads_them_but_must_be_finite() {
        assert_eq!(number(&json!("2.5")).unwrap(), 2.5);
        assert_eq!(number(&json!(2)).unwrap(), 2.0);
        assert_eq!(number(&json!("nan")).unwrap_err().kind, "finite_number");
        assert_eq!(number(&json!("1e999")).unwrap_err().kind, "finite_number");
        assert_eq!(number(&json!("two")).unwrap_err().kind, "float_parsing");
        assert_eq!(number(&json!({})).unwrap_err().kind, "float_type");
    }

    proptest! {
        #[test]
        fn any_text_is_a_number_or_a_complaint(text in ".*") {
            let value = Value::String(text);
            let _ = whole(&value);
            let _ = number(&value);
        }
    }
}
