//! A body that can't be taken, said as FastAPI says it: `{"detail":[{type,loc,msg,input}]}`.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::reply;

/// So much of what was sent is sent back, in bytes.
const MOST_ECHOED: usize = 4096;

/// Status 422.
#[derive(Debug, Clone, PartialEq)]
pub struct Unprocessable {
    detail: Vec<Value>,
}

impl Unprocessable {
    pub fn one(kind: &str, place: &[&str], message: &str, input: &Value) -> Self {
        Self {
            detail: vec![entry(kind, place, message, input)],
        }
    }

    /// There is no body.
    pub fn missing_body() -> Self {
        Self::one("missing", &[], "Field required", &Value::Null)
    }

    /// The body is not JSON.
    pub fn no_json(error: &serde_json::Error, body: &[u8]) -> Self {
        let mut detail = entry("json_invalid", &[], "JSON decode error", &json!({}));
        detail["loc"] = json!(["body", position(error, body)]);
        detail["ctx"] = json!({ "error": error.to_string() });
        Self {
            detail: vec![detail],
        }
    }

    /// The body is JSON, but no object.
    pub fn no_object(input: &Value) -> Self {
        let message = "Input should be a valid dictionary or object to extract fields from";
        Self::one("model_attributes_type", &[], message, input)
    }

    /// Several complaints as one; `None` when there are none.
    pub fn all(complaints: Vec<Self>) -> Option<Self> {
        let detail: Vec<_> = complaints.into_iter().flat_map(|one| one.detail).collect();
        (!detail.is_empty()).then_some(Self { detail })
    }

    pub fn body(&self) -> Value {
        json!({ "detail": self.detail })
    }
}

impl std::fmt::Display for Unprocessable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, detail) in self.detail.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            let places = detail["loc"].as_array().into_iter().flatten().rev();
            let place = places.filter_map(Value::as_str).next().unwrap_or_default();
            let message = detail["msg"].as_str().unwrap_or_default();
            write!(f, "{place}: {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Unprocessable {}

impl IntoResponse for Unprocessable {
    fn into_response(self) -> Response {
        reply::json(StatusCode::UNPROCESSABLE_ENTITY, &self.body())
    }
}

/// Where it stops to be JSON, in characters from the start.
fn position(error: &serde_json::Error, body: &[u8]) -> usize {
    let before = error.line().saturating_sub(1);
    let lines = body.split_inclusive(|byte| *byte == b'\n').take(before);
    let start: usize = lines.map(<[u8]>::len).sum();
    // Columns are counted from one; at the end of a body they name what came last.
    let column = error.column().saturating_sub(usize::from(!error.is_eof()));
    let end = start.saturating_add(column).min(body.len());
    String::from_utf8_lossy(&body[..end]).chars().count()
}

fn entry(kind: &str, place: &[&str], message: &str, input: &Value) -> Value {
    let loc: Vec<&str> = std::iter::once("body")
        .chain(place.iter().copied())
        .collect();
    json!({ "type": kind, "loc": loc, "msg": message, "input": echoed(input) })
}

/// One body can have many complaints, and each names what was sent.
fn echoed(input: &Value) -> Value {
    let text = input.to_string();
    if text.len() <= MOST_ECHOED {
        return input.clone();
    }
    let kept: String = text.chars().take(MOST_ECHOED / 4).collect();
    Value::String(format!("{kept}..."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_where_json_ends_is_named() {
        for (body, place) in [
            ("{", 1),
            ("{a", 1),
            ("{\n\"a\": x", 7),
            ("{\"\u{e9}\": x", 6),
            ("nonsense", 1),
        ] {
            let error = serde_json::from_str::<Value>(body).unwrap_err();
            let refused = Unprocessable::no_json(&error, body.as_bytes());
            assert_eq!(
                refused.body()["detail"][0]["loc"],
                json!(["body", place]),
                "{body}"
            );
            assert_eq!(refused.to_string(), "body: JSON decode error");
        }
    }
}
