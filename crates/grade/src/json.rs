//! Comparing JSON values by what they mean: `1` and `1.0` are the same number, the order of keys does
//! not matter, the order of lists does.

use serde_json::{Number, Value};

pub(crate) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

/// Whole numbers are compared exactly, also beyond what a float can hold.
fn same_number(a: &Number, b: &Number) -> bool {
    if a.is_f64() || b.is_f64() {
        a.as_f64() == b.as_f64()
    } else {
        a == b
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_by_value_and_lists_by_order() {
        assert!(same(
            &json!({"a": 1, "b": [1.0]}),
            &json!({"b": [1], "a": 1.0})
        ));
        assert!(!same(&json!([1, 2]), &json!([2, 1])));
        assert!(!same(&json!({"a": 1}), &json!({"a": 1, "b": null})));
        assert!(!same(&json!("1"), &json!(1)));
        assert!(!same(
            &json!(9_007_199_254_740_993_u64),
            &json!(9_007_199_254_740_992_u64)
        ));
    }
}
