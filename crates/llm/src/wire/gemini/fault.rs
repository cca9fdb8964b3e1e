//! Errors of this API, as all of Google's give them.

use std::time::Duration;

use agon_core::ModelFault;
use serde_json::Value;

use crate::error::LlmError;
use crate::wire::fault::{by_status, named_by_request, of_body};

/// A quota that is used up for today: asking again does not help.
const PAYMENT_REQUIRED: u16 = 402;
/// Nobody waits longer.
const LONGEST_WAIT: f64 = 86_400.0;

/// An answer with a status that is no success.
pub(super) fn fault(status: u16, body: &[u8]) -> LlmError {
    match serde_json::from_slice::<Value>(body) {
        Ok(value) if error(&value)["message"].is_string() => of_error(Some(status), &value),
        _ => of_body(status, body),
    }
}

/// Some come in a list.
fn error(body: &Value) -> &Value {
    let inner = &body[0]["error"];
    if inner.is_object() {
        inner
    } else {
        &body["error"]
    }
}

/// `{"error": {"code": .., "message": .., "status": .., "details": [..]}}`.
pub(super) fn of_error(status: Option<u16>, body: &Value) -> LlmError {
    let error = error(body);
    let code = error["code"]
        .as_u64()
        .and_then(|code| u16::try_from(code).ok());
    let status = status.or(code);
    let name = error["status"].as_str().unwrap_or_default();
    let message = error["message"].as_str().unwrap_or("no message");
    let (fault, status) = class(name, message, &error["details"], status);
    let text = match status {
        Some(status) => format!("status {status}: {name}: {message}"),
        None => format!("{name}: {message}"),
    };
    let mut llm = LlmError::new(fault, text);
    llm.status = status;
    llm.retry_after = retry_after(&error["details"]);
    llm
}

fn class(
    name: &str,
    message: &str,
    details: &Value,
    status: Option<u16>,
) -> (ModelFault, Option<u16>) {
    let message = message.to_ascii_lowercase();
    let details = details.as_array().map(Vec::as_slice).unwrap_or_default();
    let bad_key = details
        .iter()
        .any(|detail| detail["reason"] == "API_KEY_INVALID");
    let violations = details
        .iter()
        .flat_map(|detail| detail["violations"].as_array())
        .flatten();
    let spent = violations
        .filter_map(|violation| violation["quotaId"].as_str())
        .any(|quota| quota.contains("PerDay"));
    let too_long = message.contains("exceeds the maximum number of tokens")
        || (message.contains("input token count") && message.contains("exceed"));
    let fault = match name {
        "INVALID_ARGUMENT" if bad_key || message.contains("api key not valid") => {
            ModelFault::Authentication
        }
        "INVALID_ARGUMENT" if too_long => ModelFault::ContextOverflow,
        "NOT_FOUND" if !named_by_request(&message) => ModelFault::Setup,
        "INVALID_ARGUMENT"
        | "FAILED_PRECONDITION"
        | "NOT_FOUND"
        | "OUT_OF_RANGE"
        | "UNIMPLEMENTED" => ModelFault::BadRequest,
        "UNAUTHENTICATED" | "PERMISSION_DENIED" => ModelFault::Authentication,
        "RESOURCE_EXHAUSTED" if spent => return (ModelFault::RateLimit, Some(PAYMENT_REQUIRED)),
        "RESOURCE_EXHAUSTED" => ModelFault::RateLimit,
        "DEADLINE_EXCEEDED" => ModelFault::Timeout,
        "INTERNAL" | "UNAVAILABLE" | "ABORTED" | "UNKNOWN" => ModelFault::Overload,
        _ => status.map_or(ModelFault::Overload, by_status),
    };
    (fault, status)
}

/// `{"@type": ".../google.rpc.RetryInfo", "retryDelay": "34.07s"}`.
fn retry_after(details: &Value) -> Option<Duration> {
    let mut details = details.as_array()?.iter();
    let delay = details.find_map(|detail| detail["retryDelay"].as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    let sane = (0.0..=LONGEST_WAIT).contains(&seconds);
    sane.then(|| Duration::from_secs_f64(seconds))
}
