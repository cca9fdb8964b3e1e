//! Errors of this API, and how they are called.

use agon_core::ModelFault;
use serde_json::{Value, json};

use crate::error::LlmError;
use crate::wire::fault::{by_status, named_by_request, of_body};

/// Asking again does not help where money is missing.
const PAYMENT_REQUIRED: u16 = 402;

/// An answer with a status that is no success.
pub(super) fn fault(status: u16, body: &[u8]) -> LlmError {
    match serde_json::from_slice::<Value>(body) {
        Ok(value) if value["error"]["type"].is_string() => of_error(Some(status), &value),
        _ => of_body(status, body),
    }
}

/// `{"type": "error", "error": {"type": .., "message": ..}}`, with or without a status.
pub(super) fn of_error(status: Option<u16>, body: &Value) -> LlmError {
    let error = &body["error"];
    let kind = error["type"].as_str().unwrap_or_default();
    let message = error["message"].as_str().unwrap_or("no message");
    let (fault, status) = class(kind, message, status);
    let text = match status {
        Some(status) => format!("status {status}: {kind}: {message}"),
        None => format!("{kind}: {message}"),
    };
    let mut error = LlmError::new(fault, text);
    error.status = status;
    error
}

fn class(kind: &str, message: &str, status: Option<u16>) -> (ModelFault, Option<u16>) {
    let message = message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    let too_long = [
        "prompt is too long",
        "exceed context limit",
        "context window",
        "too many total text bytes",
    ];
    let fault = match kind {
        "invalid_request_error" if says(&too_long) => ModelFault::ContextOverflow,
        "invalid_request_error" if says(&["credit balance is too low"]) => {
            return (ModelFault::RateLimit, Some(PAYMENT_REQUIRED));
        }
        "billing_error" => return (ModelFault::RateLimit, Some(PAYMENT_REQUIRED)),
        "invalid_request_error" if says(&["content filtering policy"]) => ModelFault::Refusal,
        "invalid_request_error" => ModelFault::BadRequest,
        "not_found_error" if named_by_request(&message) => ModelFault::BadRequest,
        "not_found_error" => ModelFault::Setup,
        "authentication_error" | "permission_error" => ModelFault::Authentication,
        "rate_limit_error" => ModelFault::RateLimit,
        "request_too_large" => ModelFault::ContextOverflow,
        "timeout_error" => ModelFault::Timeout,
        "overloaded_error" | "api_error" => ModelFault::Overload,
        _ => status.map_or(ModelFault::Overload, by_status),
    };
    (fault, status)
}

/// For clients of the gateway.
pub(super) fn write(error: &LlmError) -> Value {
    let kind = match error.fault {
        ModelFault::Authentication => "authentication_error",
        ModelFault::RateLimit => "rate_limit_error",
        ModelFault::Budget => "billing_error",
        ModelFault::ContextOverflow | ModelFault::Refusal | ModelFault::BadRequest => {
            "invalid_request_error"
        }
        ModelFault::Overload => "overloaded_error",
        ModelFault::Timeout => "timeout_error",
        _ => "api_error",
    };
    let message = match error.fault {
        // Clients look for these words.
        ModelFault::ContextOverflow => format!("prompt is too long: {}", error.message()),
        _ => error.message().to_owned(),
    };
    json!({"type": "error", "error": {"type": kind, "message": message}})
}
