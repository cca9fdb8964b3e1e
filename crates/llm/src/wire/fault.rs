//! What went wrong, from a status and an error body of an OpenAI-compatible service. Bodies may be
//! anything: an error object, a text, a page of a proxy.

use agon_core::ModelFault;
use serde_json::Value;

use super::body::text;
use crate::error::LlmError;

/// Of a page or a text that is no error object, this much is shown.
const SHOWN: usize = 300;
/// A quota that is used up has the status that a service gives where money is missing: asking again does
/// not help.
const PAYMENT_REQUIRED: u16 = 402;

/// By the status alone.
pub(super) const fn by_status(status: u16) -> ModelFault {
    match status {
        401 | 403 => ModelFault::Authentication,
        402 | 429 => ModelFault::RateLimit,
        408 | 504 | 524 => ModelFault::Timeout,
        413 => ModelFault::ContextOverflow,
        // No such model, or no such address: nothing is answered there, whatever is asked.
        404 => ModelFault::Setup,
        409 | 425 | 500..=599 => ModelFault::Overload,
        400..=499 => ModelFault::BadRequest,
        _ => ModelFault::BrokenResponse,
    }
}

/// An answer with a status that is no success.
pub(super) fn of_body(status: u16, body: &[u8]) -> LlmError {
    if let Ok(value) = serde_json::from_slice::<Value>(body)
        && let Some(error) = of_value(Some(status), &value)
    {
        return error;
    }
    let page = String::from_utf8_lossy(body);
    let page = page.trim();
    let what = if page.is_empty() {
        "an empty answer".to_owned()
    } else if page.starts_with('<') {
        format!(
            "a page that is no answer of a model service: {}",
            shorten(page)
        )
    } else {
        shorten(page)
    };
    let fault = too_long(Some(status), page).unwrap_or(by_status(status));
    with_status(fault, Some(status), &what)
}

/// An error object, wherever it was found. `None`: the value holds none.
pub(super) fn of_value(status: Option<u16>, value: &Value) -> Option<LlmError> {
    // Gemini's compatible endpoint wraps it in a list.
    let value = value
        .as_array()
        .and_then(|all| all.first())
        .unwrap_or(value);
    let error = match value.get("error") {
        Some(Value::Null) | None => value,
        Some(error) => error,
    };
    let is_error = value.get("error").is_some_and(|error| !error.is_null())
        || text(value, "object") == Some("error")
        || text(value, "type") == Some("error")
        || (status.is_some() && (value.get("detail").is_some() || value.get("message").is_some()));
    if !is_error {
        return None;
    }
    let words = |key: &str| match error.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let message = match error {
        Value::String(message) => message.clone(),
        _ => text(error, "message").map_or_else(|| shorten(&error.to_string()), str::to_owned),
    };
    // OpenRouter says there what the provider behind it said.
    let behind = error.pointer("/metadata/raw").map(|raw| match raw {
        Value::String(raw) => shorten(raw),
        raw => shorten(&raw.to_string()),
    });
    let message = match behind {
        Some(behind) => format!("{message} ({behind})"),
        None => message,
    };
    let (code, kind) = (words("code"), words("type"));
    let inner = code.parse().ok().filter(|code| (400..600).contains(code));
    let status = inner.or(status);
    let fault = by_name(&code)
        .or_else(|| by_name(&kind))
        .or_else(|| {
            let missing = status == Some(404) && named_by_request(&message);
            missing.then_some(ModelFault::BadRequest)
        })
        .or_else(|| {
            let moderated = error.pointer("/metadata/reasons").is_some();
            moderated.then_some(ModelFault::Refusal)
        })
        .or_else(|| too_long(status, &message))
        .or_else(|| status.map(by_status))
        .or_else(|| by_general_name(&code))
        .or_else(|| by_general_name(&kind))
        .unwrap_or(ModelFault::Overload);
    let spent = [&code, &kind].iter().any(|name| is_quota(name));
    let status = if spent {
        Some(PAYMENT_REQUIRED)
    } else {
        status
    };
    Some(with_status(fault, status, &message))
}

fn with_status(fault: ModelFault, status: Option<u16>, message: &str) -> LlmError {
    let message = match status {
        Some(status) => format!("status {status}: {message}"),
        None => message.to_owned(),
    };
    let mut error = LlmError::new(fault, message);
    error.status = status;
    error
}

fn is_quota(name: &str) -> bool {
    matches!(
        name,
        "insufficient_quota" | "billing_hard_limit_reached" | "billing_not_active"
    )
}

/// Names that say more than the status they come with.
fn by_name(name: &str) -> Option<ModelFault> {
    match name {
        "context_length_exceeded" | "exceed_context_size_error" | "string_above_max_length" => {
            Some(ModelFault::ContextOverflow)
        }
        "content_filter"
        | "content_policy_violation"
        | "moderation_blocked"
        | "invalid_prompt"
        | "cyber_policy" => Some(ModelFault::Refusal),
        "invalid_api_key" | "account_deactivated" => Some(ModelFault::Authentication),
        "model_not_found" => Some(ModelFault::Setup),
        name if is_quota(name) => Some(ModelFault::RateLimit),
        _ => None,
    }
}

/// Names of whole classes, for errors without a status.
fn by_general_name(name: &str) -> Option<ModelFault> {
    match name {
        "rate_limit_exceeded" | "rate_limit_error" | "tokens" | "requests" => {
            Some(ModelFault::RateLimit)
        }
        "authentication_error" | "permission_error" => Some(ModelFault::Authentication),
        "invalid_request_error" | "BadRequestError" => Some(ModelFault::BadRequest),
        "not_found_error" => Some(ModelFault::Setup),
        "timeout" | "timeout_error" => Some(ModelFault::Timeout),
        _ => None,
    }
}

/// Whether what was not found is something that the request names or wants: then the model is there.
pub(super) fn named_by_request(message: &str) -> bool {
    const WORDS: [&str; 7] = [
        "file",
        "container",
        "conversation",
        "previous response",
        "previous_response",
        "item with id",
        // OpenRouter: a model is there, but not one that takes pictures or tools.
        "endpoints found that support",
    ];
    let message = message.to_ascii_lowercase();
    WORDS.iter().any(|words| message.contains(words))
}

/// Services that have no name for it say in words that a request is too long.
fn too_long(status: Option<u16>, message: &str) -> Option<ModelFault> {
    // Where the status says something else, such words are in passing.
    if matches!(status, Some(401..=404 | 429)) {
        return None;
    }
    const TOO_LONG: [&str; 8] = [
        "maximum context length",
        "context window",
        "context length",
        "exceeds the available context size",
        "prompt is too long",
        "input is too long",
        "input length exceeds",
        "reduce the length of the messages",
    ];
    // Linear in the message, which is bounded by the error body.
    let message = message.to_ascii_lowercase();
    TOO_LONG
        .iter()
        .any(|words| message.contains(words))
        .then_some(ModelFault::ContextOverflow)
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push_str(" ...");
    }
    short
}

/// The names that OpenAI gives to such an error, for clients of the gateway.
pub(super) fn write(error: &LlmError) -> Value {
    let (kind, code) = match error.fault {
        ModelFault::Authentication => ("authentication_error", "invalid_api_key"),
        ModelFault::RateLimit => ("rate_limit_error", "rate_limit_exceeded"),
        ModelFault::Budget => ("insufficient_quota", "insufficient_quota"),
        ModelFault::ContextOverflow => ("invalid_request_error", "context_length_exceeded"),
        ModelFault::Refusal => ("invalid_request_error", "content_filter"),
        ModelFault::BadRequest => ("invalid_request_error", "invalid_request"),
        _ => ("server_error", error.fault.name()),
    };
    serde_json::json!({"error": {
        "message": error.message(),
        "type": kind,
        "code": code,
        "param": null,
    }})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(status: u16, body: &str) -> ModelFault {
        of_body(status, body.as_bytes()).fault
    }

    #[test]
    fn errors_of_services_are_told_apart() {
        let cases = [
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
                ModelFault::ContextOverflow,
            ),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
                ModelFault::RateLimit,
            ),
            (
                429,
                r#"{"error":{"message":"Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 4000. Please try again in 6s.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
                ModelFault::RateLimit,
            ),
            (
                401,
                r#"{"error":{"message":"Incorrect API key provided: sk-abc***.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
                ModelFault::Authentication,
            ),
            (
                400,
                r#"{"error":{"message":"The response was filtered due to the prompt triggering content management policy.","type":null,"param":"prompt","code":"content_filter","status":400}}"#,
                ModelFault::Refusal,
            ),
            (
                404,
                r#"{"error":{"message":"The model `gpt-9` does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#,
                ModelFault::Setup,
            ),
            (
                400,
                r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0.0 with this model.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}"#,
                ModelFault::BadRequest,
            ),
            (
                500,
                r#"{"error":{"message":"The server had an error while processing your request. Sorry about that!","type":"server_error","param":null,"code":null}}"#,
                ModelFault::Overload,
            ),
            // vLLM, old and new.
            (
                400,
                r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}"#,
                ModelFault::ContextOverflow,
            ),
            (
                422,
                r#"{"detail":[{"loc":["body","messages"],"msg":"field required"}]}"#,
                ModelFault::BadRequest,
            ),
            // llama.cpp.
            (
                400,
                r#"{"error":{"code":400,"message":"the request exceeds the available context size. try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#,
                ModelFault::ContextOverflow,
            ),
            // Ollama.
            (
                404,
                r#"{"error":{"message":"model \"llama9\" not found, try pulling it first","type":"api_error","param":null,"code":null}}"#,
                ModelFault::Setup,
            ),
            // A wrong address.
            (404, "404 page not found", ModelFault::Setup),
            (404, r#"{"detail":"Not Found"}"#, ModelFault::Setup),
            // What the request names is not there, or no model takes such a request.
            (
                404,
                r#"{"error":{"message":"No such File object: file-1","type":"invalid_request_error"}}"#,
                ModelFault::BadRequest,
            ),
            (
                404,
                r#"{"error":{"message":"No endpoints found that support image input","code":404}}"#,
                ModelFault::BadRequest,
            ),
            (
                502,
                "<html><title>502 Bad Gateway</title></html>",
                ModelFault::Overload,
            ),
            (302, "<html>moved</html>", ModelFault::BrokenResponse),
            (503, "", ModelFault::Overload),
            (
                429,
                r#"{"error":{"message":"Rate limit reached; use a smaller context window.","type":"tokens","code":"rate_limit_exceeded"}}"#,
                ModelFault::RateLimit,
            ),
            (529, "overloaded", ModelFault::Overload),
            (
                402,
                r#"{"error":{"message":"Insufficient credits","code":402}}"#,
                ModelFault::RateLimit,
            ),
            (408, "{}", ModelFault::Timeout),
            (504, "upstream", ModelFault::Timeout),
            (413, "Payload too large", ModelFault::ContextOverflow),
            (
                403,
                r#"{"error":{"message":"flagged","code":403,"metadata":{"reasons":["violence"],"flagged_input":"..."}}}"#,
                ModelFault::Refusal,
            ),
        ];
        for (status, body, expected) in cases {
            assert_eq!(fault(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn errors_inside_of_a_success_are_classed_by_their_own_code() {
        let value = serde_json::json!({"error": {"code": 429, "message": "Provider returned error",
            "metadata": {"raw": "slow down", "provider_name": "X"}}});
        let error = of_value(None, &value).unwrap();
        assert_eq!(
            (error.fault, error.status),
            (ModelFault::RateLimit, Some(429))
        );
        assert!(error.message().contains("slow down"), "{error}");
        let value = serde_json::json!({"choices": []});
        assert_eq!(of_value(None, &value), None);
        let value = serde_json::json!({"error": {"type": "server_error", "message": "broke"}});
        assert_eq!(of_value(None, &value).unwrap().fault, ModelFault::Overload);
    }

    #[test]
    fn a_quota_that_is_spent_says_so_by_its_status() {
        let body = br#"{"error":{"message":"no","code":"insufficient_quota"}}"#;
        assert_eq!(of_body(429, body).status, Some(402));
    }

    #[test]
    fn what_is_written_is_read_as_the_same_fault() {
        for fault in [
            ModelFault::Authentication,
            ModelFault::RateLimit,
            ModelFault::ContextOverflow,
            ModelFault::Refusal,
            ModelFault::BadRequest,
            ModelFault::Overload,
        ] {
            let written = write(&LlmError::new(fault, "words"));
            assert_eq!(of_value(None, &written).unwrap().fault, fault);
        }
    }
}
