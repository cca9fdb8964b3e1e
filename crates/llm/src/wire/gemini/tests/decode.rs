//! Answers and errors as the documentation shows them.

use std::time::Duration;

use agon_core::{ModelFault, Usage};
use serde_json::{Value, json};

use super::encode::spec;
use crate::LlmError;
use crate::message::{Message, Part, Role};
use crate::reply::{Reply, Stop};
use crate::request::Request;
use crate::spec::Wire;
use crate::wire::contract::{Adapter, Encoding};
use crate::wire::gemini::Gemini;

pub(super) fn decode(body: Value) -> Result<Reply, LlmError> {
    Gemini.decode(&spec("gemini-3.5-flash"), body)
}

fn answer(parts: Value, reason: &str) -> Value {
    json!({
        "candidates": [{
            "content": {"role": "model", "parts": parts},
            "finishReason": reason,
            "index": 0,
        }],
        "usageMetadata": {
            "promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 20,
            "thoughtsTokenCount": 30, "toolUsePromptTokenCount": 5, "totalTokenCount": 155,
        },
        "modelVersion": "gemini-3.5-flash",
        "responseId": "Il0taoSYJ5Cez7",
    })
}

#[test]
fn text_thoughts_and_calls() {
    let parts = json!([
        {"text": "Let me see.", "thought": true},
        {"text": "I look.", "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "weather", "args": {"city": "Bern"}}, "thoughtSignature": "c2lnMg=="},
        {"functionCall": {"name": "weather", "args": {"city": "Basel"}, "id": "fc_2"}},
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}},
        {"executableCode": {"language": "PYTHON", "code": "1"}},
    ]);
    let body = answer(parts.clone(), "STOP");
    let reply = decode(body.clone()).unwrap();
    assert_eq!(reply.stop, Stop::ToolCalls);
    assert_eq!(reply.text(), "I look.");
    assert_eq!(reply.model, "gemini-3.5-flash");
    let usage = Usage {
        input_tokens: 105,
        output_tokens: 50,
        cached_tokens: 60,
        reasoning_tokens: 30,
        calls: 1,
        ..Usage::default()
    };
    assert_eq!(reply.usage, usage);
    let ids: Vec<&str> = reply.tool_calls().map(|call| call.id.as_str()).collect();
    assert!(ids[0].starts_with("agon_") && ids[1] == "fc_2", "{ids:?}");
    let again = decode(body).unwrap();
    assert_eq!(again, reply, "the same answer has the same ids");
    let other = decode(answer(parts.clone(), "MAX_TOKENS")).unwrap();
    assert_ne!(other.tool_calls().next().unwrap().id, ids[0]);
    assert!(
        reply
            .parts
            .iter()
            .any(|part| matches!(part, Part::Image(_)))
    );
    assert!(reply.parts.iter().any(
        |part| matches!(part, Part::Other { wire: Wire::Gemini, value } if value["executableCode"].is_object())
    ));
    // Everything but the picture goes back as it came; the signature of the text follows it.
    let request = Request::new([
        Message::user("a"),
        Message::new(Role::Assistant, reply.parts),
    ]);
    let sent = Gemini
        .encode(&spec("gemini-3.5-flash"), &request, Encoding::default())
        .unwrap()
        .body;
    let mut expected = parts.as_array().cloned().unwrap();
    expected[1] = json!({"text": "I look."});
    expected.insert(2, json!({"text": "", "thoughtSignature": "c2ln"}));
    assert_eq!(sent["contents"][1]["parts"], Value::from(expected));
}

#[test]
fn every_end_is_told_apart() {
    let said = || json!([{"text": "a"}]);
    assert_eq!(decode(answer(said(), "STOP")).unwrap().stop, Stop::End);
    assert_eq!(
        decode(answer(said(), "MAX_TOKENS")).unwrap().stop,
        Stop::MaxTokens
    );
    assert_eq!(
        decode(answer(json!([]), "MAX_TOKENS")).unwrap().stop,
        Stop::MaxTokens
    );
    let other = decode(answer(said(), "LANGUAGE")).unwrap();
    assert_eq!(other.stop, Stop::Other("LANGUAGE".to_owned()));
    for (reason, fault) in [
        ("SAFETY", ModelFault::Refusal),
        ("RECITATION", ModelFault::Refusal),
        ("PROHIBITED_CONTENT", ModelFault::Refusal),
        ("SPII", ModelFault::Refusal),
        ("BLOCKLIST", ModelFault::Refusal),
        ("MALFORMED_FUNCTION_CALL", ModelFault::BadAnswer),
    ] {
        let error = decode(answer(said(), reason)).unwrap_err();
        assert_eq!(error.fault, fault, "{reason}");
        assert!(error.message().contains(reason));
    }
    let blocked =
        json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}});
    assert_eq!(decode(blocked).unwrap_err().fault, ModelFault::Refusal);
}

#[test]
fn what_is_no_answer_is_broken() {
    for body in [
        json!(null),
        json!("text"),
        json!([]),
        json!({}),
        json!({"candidates": []}),
        json!({"candidates": [{}]}),
        answer(json!([]), "FINISH_REASON_UNSPECIFIED"),
    ] {
        let error = decode(body.clone()).unwrap_err();
        assert_eq!(error.fault, ModelFault::BrokenResponse, "{body}");
    }
    let error = decode(answer(json!("text"), "OTHER")).unwrap_err();
    assert_eq!(error.fault, ModelFault::BadAnswer);
}

#[test]
fn a_model_may_have_nothing_to_say() {
    for body in [
        json!({"candidates": [{"finishReason": "STOP"}]}),
        answer(json!([]), "STOP"),
        answer(json!([{"text": ""}]), "STOP"),
    ] {
        let reply = decode(body).unwrap();
        assert_eq!((reply.text().as_str(), reply.stop), ("", Stop::End));
    }
}

#[test]
fn errors_are_told_apart() {
    let error = |code: u16, name: &str, message: &str, details: Value| json!({"error": {"code": code, "message": message, "status": name, "details": details}});
    let info =
        json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
    let none = || json!([]);
    let long =
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    let cases = [
        (
            400,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
            info,
            ModelFault::Authentication,
        ),
        (
            400,
            "INVALID_ARGUMENT",
            long,
            none(),
            ModelFault::ContextOverflow,
        ),
        (
            400,
            "INVALID_ARGUMENT",
            "Unknown name \"x\"",
            none(),
            ModelFault::BadRequest,
        ),
        (
            400,
            "FAILED_PRECONDITION",
            "User location is not supported",
            none(),
            ModelFault::BadRequest,
        ),
        (
            403,
            "PERMISSION_DENIED",
            "Your API key was reported as leaked.",
            none(),
            ModelFault::Authentication,
        ),
        (
            404,
            "NOT_FOUND",
            "models/gemini-9 is not found",
            none(),
            ModelFault::Setup,
        ),
        (
            404,
            "NOT_FOUND",
            "File abc not found",
            none(),
            ModelFault::BadRequest,
        ),
        (
            429,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota",
            none(),
            ModelFault::RateLimit,
        ),
        (
            500,
            "INTERNAL",
            "An internal error has occurred",
            none(),
            ModelFault::Overload,
        ),
        (
            503,
            "UNAVAILABLE",
            "The model is overloaded.",
            none(),
            ModelFault::Overload,
        ),
        (
            504,
            "DEADLINE_EXCEEDED",
            "Deadline expired",
            none(),
            ModelFault::Timeout,
        ),
        (429, "", "Slow down", none(), ModelFault::RateLimit),
    ];
    for (status, name, message, details, fault) in cases {
        let body = error(status, name, message, details);
        for body in [body.clone(), json!([body])] {
            let found = Gemini.fault(status, body.to_string().as_bytes());
            assert_eq!(
                (found.fault, found.status),
                (fault, Some(status)),
                "{name} {message}"
            );
            assert!(found.message().contains(message), "{found}");
            assert_eq!(decode(body).unwrap_err().fault, fault, "{name} {message}");
        }
    }
    for (status, body, fault) in [
        (502, "<html>Bad Gateway</html>", ModelFault::Overload),
        (413, "", ModelFault::ContextOverflow),
        (301, "{}", ModelFault::BrokenResponse),
    ] {
        assert_eq!(
            Gemini.fault(status, body.as_bytes()).fault,
            fault,
            "{status} {body}"
        );
    }
}

#[test]
fn waits_and_spent_quotas_are_read() {
    let body = |details: Value| {
        json!({"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED", "details": details}}).to_string()
    };
    let wait = |delay: &str| json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]);
    let found = Gemini.fault(429, body(wait("34.5s")).as_bytes());
    assert_eq!(found.retry_after, Some(Duration::from_millis(34_500)));
    for odd in ["-1s", "NaNs", "infs", "1e300s", "5", "s"] {
        assert_eq!(
            Gemini.fault(429, body(wait(odd)).as_bytes()).retry_after,
            None,
            "{odd}"
        );
    }
    let quota = json!([{
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
    }]);
    let spent = Gemini.fault(429, body(quota).as_bytes());
    assert_eq!(
        (spent.fault, spent.status),
        (ModelFault::RateLimit, Some(402))
    );
}
