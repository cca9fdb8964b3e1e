//! What a row's result says about the instance: benchmarks each have their own keys for it.

use serde_json::{Map, Value};

/// Passed or not, and how well; `None` where nothing tells.
pub(super) fn score(
    test_result: &Map<String, Value>,
    row: &Map<String, Value>,
) -> Option<(bool, f64)> {
    let reports = [test_result.get("report"), row.get("report")];
    let objects = reports
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .chain([test_result]);
    let mut number = None;
    for object in objects {
        let passed = ["resolved", "result", "success", "passed", "correct"]
            .iter()
            .find_map(|key| truth(object.get(*key)?));
        let by_exit = || object.get("exit_code")?.as_i64().map(|code| code == 0);
        let points = ["score", "reward", "accuracy", "result"]
            .iter()
            .find_map(|key| object.get(*key)?.as_f64())
            .filter(|points| (0.0..=1.0).contains(points));
        number = number.or(points);
        if let Some(passed) = passed.or_else(by_exit) {
            let plain = if passed { 1.0 } else { 0.0 };
            return Some((passed, number.unwrap_or(plain)));
        }
    }
    number.map(|points| (points >= 1.0, points))
}

/// Programs write yes and no in several ways.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::Number(number) if number.as_f64() == Some(1.0) => Some(true),
        Value::Number(number) if number.as_f64() == Some(0.0) => Some(false),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Some(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}
