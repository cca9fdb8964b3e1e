//! A whole answer of this API.

use agon_core::{ModelFault, Usage};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::content::OWN_ID;
use super::fault::of_error;
use crate::error::LlmError;
use crate::message::{Image, MediaType, Part, Reasoning, ToolCall};
use crate::reply::{Reply, Stop};
use crate::spec::Wire;

pub(super) fn decode(body: Value) -> Result<Reply, LlmError> {
    if body["error"].is_object() || body[0]["error"].is_object() {
        return Err(of_error(None, &body));
    }
    let feedback = &body["promptFeedback"];
    if let Some(reason) = feedback["blockReason"].as_str() {
        let why = feedback["blockReasonMessage"].as_str().unwrap_or_default();
        return Err(refusal(reason, why));
    }
    let candidate = &body["candidates"][0];
    let reason = candidate["finishReason"].as_str().unwrap_or_default();
    let why = candidate["finishMessage"].as_str().unwrap_or_default();
    match reason {
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => return Err(refusal(reason, why)),
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MALFORMED_RESPONSE" => {
            let why = format_args!("the answer can't be used: {reason} {why}");
            return Err(LlmError::new(ModelFault::BadAnswer, why));
        }
        _ => {}
    }
    if !candidate.is_object() {
        return Err(broken("the answer has no candidate"));
    }
    let given = candidate["content"]["parts"].as_array();
    let given = given.map(Vec::as_slice).unwrap_or_default();
    let mut ids = Ids::new(&body);
    let parts: Vec<Part> = given.iter().flat_map(|part| read(part, &mut ids)).collect();
    let calls = parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
    let stop = match reason {
        "STOP" if calls => Stop::ToolCalls,
        "STOP" => Stop::End,
        "MAX_TOKENS" => Stop::MaxTokens,
        other => Stop::Other(other.to_owned()),
    };
    // A model may have nothing to say, and then says why it ended.
    let unsaid = matches!(reason, "" | "FINISH_REASON_UNSPECIFIED");
    if parts.is_empty() && !matches!(stop, Stop::End | Stop::MaxTokens) {
        let fault = match unsaid {
            true => ModelFault::BrokenResponse,
            false => ModelFault::BadAnswer,
        };
        let why = format_args!("the answer is empty ({reason} {why})");
        return Err(LlmError::new(fault, why));
    }
    Ok(Reply {
        parts,
        stop,
        usage: usage(&body["usageMetadata"]),
        model: body["modelVersion"].as_str().unwrap_or_default().to_owned(),
        raw: body,
    })
}

fn broken(why: impl std::fmt::Display) -> LlmError {
    LlmError::new(ModelFault::BrokenResponse, why)
}

fn refusal(reason: &str, why: &str) -> LlmError {
    LlmError::new(
        ModelFault::Refusal,
        format_args!("the provider refuses to answer: {reason} {why}"),
    )
}

/// Ids for calls that come without: the same answer has the same ones.
struct Ids {
    base: Option<String>,
    next: usize,
}

impl Ids {
    fn new(body: &Value) -> Self {
        let parts = body["candidates"][0]["content"]["parts"].as_array();
        let needed = parts.into_iter().flatten().any(|part| {
            part["functionCall"].is_object() && !part["functionCall"]["id"].is_string()
        });
        let base = needed.then(|| {
            let digest = Sha256::digest(body.to_string());
            digest
                .iter()
                .take(6)
                .map(|byte| format!("{byte:02x}"))
                .collect()
        });
        Self { base, next: 0 }
    }

    fn next(&mut self) -> String {
        let base = self.base.as_deref().unwrap_or_default();
        let id = format!("{OWN_ID}{base}_{}", self.next);
        self.next += 1;
        id
    }
}

fn read(part: &Value, ids: &mut Ids) -> Vec<Part> {
    let raw = || Some((Wire::Gemini, part.clone()));
    if let Some(call) = part["functionCall"].as_object() {
        let text = |key: &str| call.get(key).and_then(Value::as_str).map(str::to_owned);
        return vec![Part::ToolCall(ToolCall {
            id: text("id")
                .filter(|id| !id.is_empty())
                .unwrap_or_else(|| ids.next()),
            name: text("name").unwrap_or_default(),
            input: call.get("args").cloned().unwrap_or_else(|| json!({})),
            raw: raw(),
        })];
    }
    if let Some(text) = part["text"].as_str() {
        if part["thought"] == true {
            return vec![Part::Reasoning(Reasoning {
                text: text.to_owned(),
                raw: raw(),
            })];
        }
        let mut parts = Vec::new();
        if !text.is_empty() {
            parts.push(Part::Text(text.to_owned()));
        }
        // The signature goes back on an empty text, as it comes at the end of a stream.
        if let Some(signature) = part["thoughtSignature"].as_str() {
            parts.push(Part::Other {
                wire: Wire::Gemini,
                value: json!({"text": "", "thoughtSignature": signature}),
            });
        }
        return parts;
    }
    let data = &part["inlineData"];
    let media = data["mimeType"].as_str().and_then(MediaType::parse);
    let bytes = data["data"]
        .as_str()
        .and_then(|data| STANDARD.decode(data).ok());
    match (media, bytes) {
        (Some(media), Some(bytes)) => vec![Part::Image(Image {
            media,
            bytes: bytes.into(),
        })],
        _ if part.is_object() => vec![Part::Other {
            wire: Wire::Gemini,
            value: part.clone(),
        }],
        _ => Vec::new(),
    }
}

/// Thoughts are reported apart from the answer; what was cached is part of the prompt.
pub(super) fn usage(usage: &Value) -> Usage {
    let count = |key: &str| usage[key].as_u64().unwrap_or(0);
    let reasoning_tokens = count("thoughtsTokenCount");
    Usage {
        input_tokens: count("promptTokenCount").saturating_add(count("toolUsePromptTokenCount")),
        output_tokens: count("candidatesTokenCount").saturating_add(reasoning_tokens),
        cached_tokens: count("cachedContentTokenCount"),
        reasoning_tokens,
        calls: 1,
        ..Usage::default()
    }
}
