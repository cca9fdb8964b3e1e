//! What a row's result says about the instance: benchmarks each have their own keys for it.

use agon_core::verdict::{CheckResult, TurnEnd};
use serde_json::{Map, Value};

/// All of them are in a result that Agon wrote.
const OWN: [&str; 4] = ["resolved", "result", "score", "checks"];

pub(super) fn is_of_agon(test_result: &Map<String, Value>) -> bool {
    OWN.iter().all(|key| test_result.contains_key(*key))
}

/// Why the turn ended, in a result that Agon wrote.
pub(super) fn own_end(test_result: &Map<String, Value>) -> Option<TurnEnd> {
    let end = test_result.get("end").filter(|_| is_of_agon(test_result))?;
    serde_json::from_value(end.clone()).ok()
}

/// What was checked, in a result that Agon wrote. Signs of tampering are among it.
pub(super) fn own_checks(test_result: &Map<String, Value>) -> Option<Vec<CheckResult>> {
    let checks = test_result
        .get("checks")
        .filter(|_| is_of_agon(test_result))?;
    let checks: Vec<CheckResult> = serde_json::from_value(checks.clone()).ok()?;
    (!checks.is_empty()).then(|| checks.into_iter().map(without_files).collect())
}

/// What programs printed is a file of the run that it comes from.
fn without_files(check: CheckResult) -> CheckResult {
    CheckResult {
        score: check.score,
        weight: check.weight,
        value: check.value,
        tainted: check.tainted,
        integrity: check.integrity,
        parts: check.parts.into_iter().map(without_files).collect(),
        ..CheckResult::plain(check.check, check.passed, check.reason)
    }
}

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
