//! A task as it comes over the wire: what the original forgives is forgiven, and numbers that would
//! wreck a server are refused.

use agon_agent::play::Task;
use serde_json::Value;

use super::lax::{Fields, Range};
use super::unprocessable::Unprocessable;

/// A check more often than this would be nothing but checks.
pub const LEAST_INTERVAL: f64 = 0.01;

/// A third of a year: no deadline can overflow.
const MOST_SECONDS: i64 = 10_000_000;

/// More is a mistake. A play keeps fewer (see [`Task::num_frames`]), but what an original takes is
/// taken.
const MOST_FRAMES: i64 = 1000;

/// An id is kept, shown, and part of addresses.
const LONGEST_ID: usize = 1000;

/// Reads the body of both start endpoints.
pub fn parse_task(body: &Value) -> Result<Task, Unprocessable> {
    let mut fields = Fields::of(body.clone())?;
    let seconds = Range {
        least: 1,
        most: MOST_SECONDS,
    };
    let interval = Range {
        least: LEAST_INTERVAL,
        most: MOST_SECONDS as f64,
    };
    let frames = Range {
        least: 0,
        most: MOST_FRAMES,
    };
    let task_id = fields.short_text_or("task_id", LONGEST_ID, random_id);
    let env_name = fields.text("env_name");
    let window_name = fields.text("window_name");
    let task_description = fields.text("task_description");
    let timeout = fields.whole("timeout", seconds);
    let check_env_interval_seconds = fields.number_or(
        "check_env_interval_seconds",
        interval,
        Task::default_interval(),
    );
    let success_criteria = fields.object("success_criteria");
    let num_frames = fields.whole_or("num_frames", frames, i64::from(Task::default_frames()));
    fields.finish()?;
    let task = || {
        Some(Task {
            task_id: task_id?,
            env_name: env_name?,
            window_name: window_name?,
            task_description: task_description?,
            timeout: timeout?.try_into().ok()?,
            check_env_interval_seconds: check_env_interval_seconds?,
            success_criteria: success_criteria?,
            num_frames: num_frames?.try_into().ok()?,
        })
    };
    task().ok_or_else(|| Unprocessable::no_object(body))
}

/// As the original makes one: a random UUID, version 4.
pub fn random_id() -> String {
    let random: u128 = rand::random();
    let bits = (random & !(0xf << 76) & !(0b11 << 62)) | (4 << 76) | (0b10 << 62);
    let hex = format!("{bits:032x}");
    let parts = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn full() -> Value {
        json!({
            "task_id": "one", "env_name": "hexagon", "window_name": "Hexagon",
            "task_description": "survive", "timeout": 60, "check_env_interval_seconds": 3.0,
            "success_criteria": {"time_survived": 10}, "num_frames": 5,
        })
    }

    fn with(name: &str, value: Value) -> Value {
        let mut body = full();
        body[name] = value;
        body
    }

    #[test]
    fn a_full_task_is_taken_and_given_back_as_it_was() {
        let task = parse_task(&full()).unwrap();
        assert_eq!(serde_json::to_value(&task).unwrap(), full());
    }

    #[test]
    fn what_may_be_missing_has_the_original_defaults() {
        let body = json!({
            "env_name": "e", "window_name": "w", "task_description": "d", "timeout": "60",
            "success_criteria": {}, "something": "else",
        });
        let task = parse_task(&body).unwrap();
        assert_eq!(task.timeout, 60);
        assert_eq!(task.check_env_interval_seconds, 1.0);
        assert_eq!(task.num_frames, 3);
        assert_eq!(task.task_id.len(), 36);
        assert_eq!(&task.task_id[14..15], "4");
        assert_ne!(task.task_id, parse_task(&body).unwrap().task_id);
    }

    #[test]
    fn every_complaint_names_its_field() {
        let refused = parse_task(&json!({ "task_id": null, "timeout": 1.5 })).unwrap_err();
        let body = refused.body();
        let named: Vec<_> = body["detail"].as_array().unwrap().iter().collect();
        let fields: Vec<_> = named
            .iter()
            .map(|one| one["loc"][1].as_str().unwrap())
            .collect();
        assert_eq!(
            fields,
            [
                "task_id",
                "env_name",
                "window_name",
                "task_description",
                "timeout",
                "success_criteria"
            ]
        );
        assert_eq!(named[0]["type"], "string_type");
        assert_eq!(named[1]["type"], "missing");
        assert_eq!(named[4]["type"], "int_from_float");
    }

    #[test]
    fn r14_numbers_out_of_range_are_refused() {
        for body in [
            with("check_env_interval_seconds", json!(0)),
            with("check_env_interval_seconds", json!(-1)),
            with("check_env_interval_seconds", json!(1e300)),
            with("timeout", json!(0)),
            with("timeout", json!(-5)),
            with("timeout", json!(1e18)),
            with("num_frames", json!(-1)),
            with("num_frames", json!(1_000_000)),
        ] {
            assert!(parse_task(&body).is_err(), "{body}");
        }
        assert!(parse_task(&with("check_env_interval_seconds", json!(0.01))).is_ok());
    }

    #[test]
    fn an_id_of_any_length_is_not_taken() {
        assert!(parse_task(&with("task_id", json!("x".repeat(1000)))).is_ok());
        let refused = parse_task(&with("task_id", json!("x".repeat(1001)))).unwrap_err();
        let body = refused.body();
        assert_eq!(body["detail"][0]["type"], "string_too_long");
        assert_eq!(body["detail"][0]["loc"], json!(["body", "task_id"]));
    }

    #[test]
    fn what_is_no_object_is_refused_as_such() {
        for body in [json!([]), json!("x"), json!(null), json!(3)] {
            let refused = parse_task(&body).unwrap_err().body();
            assert_eq!(refused["detail"][0]["type"], "model_attributes_type");
        }
    }
}
