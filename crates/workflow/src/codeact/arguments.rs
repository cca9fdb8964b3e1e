//! The arguments of a tool call, typed. A model wrote them: numbers may be texts, and nothing need be there.

use serde_json::{Map, Value};

/// Longest name of an argument that is repeated to the model.
const LONGEST_NAME: usize = 60;

#[derive(Debug)]
pub(super) struct Arguments<'a> {
    tool: &'a str,
    given: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    pub(super) fn of(tool: &'a str, input: &'a Value) -> Result<Self, String> {
        let Value::Object(given) = input else {
            return Err(format!(
                "the arguments of `{tool}` are no JSON object: write them as one, and close it"
            ));
        };
        Ok(Self { tool, given })
    }

    pub(super) fn text(&self, name: &str) -> Result<String, String> {
        self.text_if_any(name)?
            .ok_or_else(|| format!("`{}` needs the argument `{name}`", self.tool))
    }

    pub(super) fn text_if_any(&self, name: &str) -> Result<Option<String>, String> {
        match self.given.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(self.wrong(name, "a text")),
        }
    }

    /// `true` and `false` as words or as they are.
    pub(super) fn switch(&self, name: &str) -> Result<bool, String> {
        match self.given.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(on)) => Ok(*on),
            Some(Value::String(word)) => match word.trim().to_ascii_lowercase().as_str() {
                "true" => Ok(true),
                "false" | "" => Ok(false),
                _ => Err(self.wrong(name, "`true` or `false`")),
            },
            Some(_) => Err(self.wrong(name, "`true` or `false`")),
        }
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, String> {
        let wrong = || self.wrong(name, "a number");
        match self.given.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Number(number)) => number.as_f64().map(Some).ok_or_else(wrong),
            Some(Value::String(text)) => text.trim().parse().map(Some).map_err(|_| wrong()),
            Some(_) => Err(wrong()),
        }
    }

    pub(super) fn whole(&self, name: &str) -> Result<Option<i64>, String> {
        let value = self.given.get(name).filter(|value| !value.is_null());
        value
            .map(|value| whole(value).ok_or_else(|| self.wrong(name, "a whole number")))
            .transpose()
    }

    /// Two whole numbers.
    pub(super) fn pair(&self, name: &str) -> Result<Option<[i64; 2]>, String> {
        let wrong = || self.wrong(name, "a list of two whole numbers, such as [1, 20]");
        let Some(items) = self.list(name).map_err(|_| wrong())? else {
            return Ok(None);
        };
        match items.as_slice() {
            // Some models mean nothing by it.
            [] => Ok(None),
            [from, to] => Ok(Some([
                whole(from).ok_or_else(wrong)?,
                whole(to).ok_or_else(wrong)?,
            ])),
            _ => Err(wrong()),
        }
    }

    /// A list, perhaps written as text.
    pub(super) fn list(&self, name: &str) -> Result<Option<Vec<Value>>, String> {
        match self.given.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items.clone())),
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(Value::Array(items)) => Ok(Some(items)),
                _ => Err(self.wrong(name, "a list")),
            },
            Some(_) => Err(self.wrong(name, "a list")),
        }
    }

    /// Nothing but these may have been given.
    pub(super) fn only(&self, names: &[&str]) -> Result<(), String> {
        match self
            .given
            .keys()
            .find(|name| !names.contains(&name.as_str()))
        {
            None => Ok(()),
            Some(name) => Err(format!(
                "`{}` has no argument `{}`; it takes: {}",
                self.tool,
                name.chars().take(LONGEST_NAME).collect::<String>(),
                names.join(", ")
            )),
        }
    }

    fn wrong(&self, name: &str, wanted: &str) -> String {
        format!("the argument `{name}` of `{}` must be {wanted}", self.tool)
    }
}

fn whole(value: &Value) -> Option<i64> {
    /// Whole numbers up to here have a float of their own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            let float = number.as_f64()?;
            (float.fract() == 0.0 && float.abs() < EXACT).then_some(float as i64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_models_write_is_understood() {
        let input =
            json!({"a": "7", "b": 7.0, "c": "[1, -1]", "d": "True", "e": [2, "3"], "f": null});
        let arguments = Arguments::of("tool", &input).unwrap();
        assert_eq!(arguments.whole("a"), Ok(Some(7)));
        assert_eq!(arguments.whole("b"), Ok(Some(7)));
        assert_eq!(arguments.number("a"), Ok(Some(7.0)));
        assert_eq!(arguments.pair("c"), Ok(Some([1, -1])));
        assert_eq!(arguments.pair("e"), Ok(Some([2, 3])));
        assert_eq!(arguments.switch("d"), Ok(true));
        assert_eq!(arguments.switch("missing"), Ok(false));
        assert_eq!(arguments.text_if_any("f"), Ok(None));
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        let input = json!({"a": "seven", "b": 7.5, "c": [1], "d": "perhaps", "e": {}});
        let arguments = Arguments::of("tool", &input).unwrap();
        assert!(arguments.number("a").unwrap_err().contains("`a` of `tool`"));
        assert!(arguments.whole("b").is_err());
        assert!(arguments.pair("c").is_err());
        assert!(arguments.switch("d").is_err());
        assert!(arguments.text("e").is_err());
        assert!(arguments.text("none").unwrap_err().contains("needs"));
        assert!(
            arguments
                .only(&["a", "b", "c", "d"])
                .unwrap_err()
                .contains("`e`")
        );
        let broken = Arguments::of("tool", &json!("{\"a\":")).unwrap_err();
        assert!(broken.contains("no JSON object"), "{broken}");
    }
}
