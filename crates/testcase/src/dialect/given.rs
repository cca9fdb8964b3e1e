//! Arguments of an action as models give them: numbers as texts, points in several forms, null for what is
//! left out. Says in words what is wrong. Knows no system's action names.

use agon_core::Seconds;
use agon_core::action::{Button, Point};
use serde_json::{Map, Value};

use super::frame::Frame;

/// Notches at once that a wheel may be asked for.
const MOST_NOTCHES: f64 = 1_000.0;

#[derive(Debug, Clone, Copy)]
pub(super) struct Given<'a>(Option<&'a Map<String, Value>>);

impl<'a> Given<'a> {
    /// What is no object gives nothing.
    pub(super) fn of(value: &'a Value) -> Self {
        Self(value.as_object())
    }

    /// The first of the names that is there and not null.
    pub(super) fn get(self, names: &[&str]) -> Option<&'a Value> {
        let found = |name: &&str| self.0?.get(*name).filter(|value| !value.is_null());
        names.iter().find_map(found)
    }

    /// Words; numbers and the like as they are written.
    pub(super) fn text(self, names: &[&str]) -> Option<String> {
        self.get(names).map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }

    pub(super) fn words(self, names: &[&str]) -> Result<String, String> {
        self.text(names)
            .ok_or_else(|| format!("`{}` is missing", first(names)))
    }

    pub(super) fn number(self, names: &[&str]) -> Result<Option<f64>, String> {
        let Some(value) = self.get(names) else {
            return Ok(None);
        };
        let read = number(value);
        read.map(Some)
            .ok_or_else(|| format!("`{}` is {value}, which is no number", first(names)))
    }

    pub(super) fn seconds(self, names: &[&str], usual: f64) -> Result<Seconds, String> {
        let seconds = self.number(names)?.unwrap_or(usual);
        Seconds::new(seconds)
            .ok_or_else(|| format!("`{}` is {seconds}, which is no duration", first(names)))
    }

    /// Turns of a wheel: `per` of the unit that is given are one notch. Anything but 0 is at least one.
    pub(super) fn notches(
        self,
        names: &[&str],
        usual: Option<f64>,
        per: f64,
    ) -> Result<i32, String> {
        let given = self.number(names)?.or(usual);
        let given = given.ok_or_else(|| format!("`{}` is missing", first(names)))?;
        let notches = given / per;
        if notches.abs() > MOST_NOTCHES {
            return Err(format!("`{}` is {given}, which is too far", first(names)));
        }
        let whole = notches.round();
        if whole == 0.0 && given != 0.0 {
            return Ok(given.signum() as i32);
        }
        Ok(whole as i32)
    }

    pub(super) fn button(self, names: &[&str]) -> Result<Button, String> {
        let Some(name) = self.text(names) else {
            return Ok(Button::Left);
        };
        match name.to_ascii_lowercase().as_str() {
            "left" => Ok(Button::Left),
            "middle" => Ok(Button::Middle),
            "right" => Ok(Button::Right),
            _ => Err(format!(
                "`{name}` is no button: there are left, middle and right"
            )),
        }
    }

    /// A point of the screen by `x` and `y`, or by one value under any of the names.
    pub(super) fn point(self, names: &[&str], frame: &Frame) -> Result<Option<Point>, String> {
        if let Some(value) = self.get(names) {
            let (x, y) =
                pair(value).ok_or_else(|| format!("`{}` is {value}: give [x, y]", first(names)))?;
            return frame.point(x, y).map(Some);
        }
        // Some models put both into one.
        if let Some((x, y)) = self.get(&["x"]).filter(|x| x.is_array()).and_then(pair) {
            return frame.point(x, y).map(Some);
        }
        match (self.number(&["x"])?, self.number(&["y"])?) {
            (Some(x), Some(y)) => frame.point(x, y).map(Some),
            (None, None) => Ok(None),
            (Some(_), None) => Err("`y` is missing".to_owned()),
            (None, Some(_)) => Err("`x` is missing".to_owned()),
        }
    }

    pub(super) fn must_point(self, names: &[&str], frame: &Frame) -> Result<Point, String> {
        let point = self.point(names, frame)?;
        point.ok_or_else(|| "the point is missing: where is it to be done?".to_owned())
    }

    /// Keys to be pressed together, as `ctrl+s`.
    pub(super) fn keys(self, names: &[&str]) -> Result<String, String> {
        let missing = || format!("`{}` is missing: give at least one key", first(names));
        match self.get(names).ok_or_else(missing)? {
            Value::String(keys) if keys.len() > 1 && keys.contains(',') => {
                together(keys.split(',').map(str::trim)).ok_or_else(missing)
            }
            Value::String(keys) => Some(keys.clone())
                .filter(|keys| !keys.is_empty())
                .ok_or_else(missing),
            Value::Array(keys) => {
                let keys: Option<Vec<&str>> = keys.iter().map(Value::as_str).collect();
                let keys = keys.ok_or_else(|| {
                    format!("`{}` is to be a list of names of keys", first(names))
                })?;
                together(keys.into_iter()).ok_or_else(missing)
            }
            other => Err(format!("`{}` is {other}, which is no key", first(names))),
        }
    }
}

fn first<'a>(names: &[&'a str]) -> &'a str {
    names.first().copied().unwrap_or_default()
}

/// A blank would begin another combination, and `+` stands between keys.
fn together<'a>(keys: impl Iterator<Item = &'a str>) -> Option<String> {
    let keys: Vec<&str> = keys.collect();
    if let [key] = keys.as_slice() {
        return (!key.is_empty()).then(|| (*key).to_owned());
    }
    let plain = |key: &&str| match *key {
        " " => "space".to_owned(),
        "\n" | "\r" => "Return".to_owned(),
        "\t" => "Tab".to_owned(),
        key => key.trim().replace(' ', "_"),
    };
    let keys: Vec<String> = keys.iter().map(plain).collect();
    let whole = !keys.is_empty() && keys.iter().all(|key| !key.is_empty());
    whole.then(|| keys.join("+"))
}

/// The keys of a combination, if they can be told apart; else all as one.
pub(super) fn apart(keys: &str) -> Vec<String> {
    let parts: Vec<String> = keys.split('+').map(str::to_owned).collect();
    let plain = |part: &String| !part.is_empty() && !part.contains([' ', ',', '\n', '\t', '\r']);
    if parts.len() > 1 && parts.iter().all(plain) {
        return parts;
    }
    vec![keys.to_owned()]
}

fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|number| number.is_finite())
}

/// `[1, 2]`, `{"x": 1, "y": 2}`, `"(1, 2)"`.
fn pair(value: &Value) -> Option<(f64, f64)> {
    match value {
        Value::Array(both) => match both.as_slice() {
            [x, y] => Some((number(x)?, number(y)?)),
            _ => None,
        },
        Value::Object(both) => Some((number(both.get("x")?)?, number(both.get("y")?)?)),
        Value::String(text) => {
            let bare = text.trim().trim_matches(['(', ')', '[', ']']);
            let (x, y) = bare.split_once(',')?;
            let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite());
            Some((number(x)?, number(y)?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn points_come_in_many_forms() {
        let frame = Frame::same(1280, 800);
        for given in [
            json!({"x": 10, "y": 20}),
            json!({"x": "10", "y": 20.2}),
            json!({"x": [10, 20]}),
            json!({"coordinate": [10, 20]}),
            json!({"coordinate": {"x": 10, "y": 20}}),
            json!({"coordinate": "(10, 20)"}),
        ] {
            let point = Given::of(&given).point(&["coordinate"], &frame);
            assert_eq!(point, Ok(Some(Point { x: 10, y: 20 })), "{given}");
        }
        let none = Given::of(&Value::Null).point(&["coordinate"], &frame);
        assert_eq!(none, Ok(None));
    }

    #[test]
    fn what_is_wrong_with_a_point_is_said() {
        let frame = Frame::same(1280, 800);
        for (given, word) in [
            (json!({"x": 10}), "`y` is missing"),
            (json!({"y": 10, "x": null}), "`x` is missing"),
            (json!({"x": "far", "y": 1}), "no number"),
            (json!({"coordinate": [1]}), "give [x, y]"),
            (json!({"coordinate": 5}), "give [x, y]"),
            (json!({"coordinate": [1, 801]}), "not on the screen"),
            (json!({"coordinate": "1, 1e999"}), "give [x, y]"),
        ] {
            let why = Given::of(&given).point(&["coordinate"], &frame);
            assert!(
                why.as_ref().is_err_and(|why| why.contains(word)),
                "{given}: {why:?}"
            );
        }
    }

    #[test]
    fn keys_are_pressed_together() {
        for (given, keys) in [
            (json!({"keys": ["ctrl", "s"]}), "ctrl+s"),
            (json!({"keys": ["ctrl", " "]}), "ctrl+space"),
            (json!({"keys": ["shift", "page down"]}), "shift+page_down"),
            (json!({"keys": "ctrl+s"}), "ctrl+s"),
            (json!({"keys": "ctrl, s"}), "ctrl+s"),
            (json!({"keys": ["Return"]}), "Return"),
            (json!({"keys": ","}), ","),
        ] {
            assert_eq!(
                Given::of(&given).keys(&["keys"]),
                Ok(keys.to_owned()),
                "{given}"
            );
        }
        for given in [
            json!({}),
            json!({"keys": []}),
            json!({"keys": ["ctrl", ""]}),
            json!({"keys": ""}),
            json!({"keys": [1, 2]}),
            json!({"keys": {}}),
        ] {
            assert!(Given::of(&given).keys(&["keys"]).is_err(), "{given}");
        }
    }

    #[test]
    fn a_little_turn_of_the_wheel_is_one_notch() {
        let of = |given: Value| Given::of(&given).notches(&["n"], None, 50.0);
        assert_eq!(of(json!({"n": -5})), Ok(-1));
        assert_eq!(of(json!({"n": 0})), Ok(0));
        assert_eq!(of(json!({"n": 120})), Ok(2));
        assert!(of(json!({"n": 1e9})).is_err());
        assert!(of(json!({})).is_err());
    }
}
