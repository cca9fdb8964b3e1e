//! The bodies that both servers answer with.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;
use serde_json::json;

/// 200 `{"success": true, "message": text}`.
pub fn ok(message: impl Into<String>) -> Response {
    let message: String = message.into();
    json(
        StatusCode::OK,
        &json!({ "success": true, "message": message }),
    )
}

/// `{"success": false, "error": text}` with the status that the original has for it.
pub fn err(status: StatusCode, error: impl Into<String>) -> Response {
    let error: String = error.into();
    json(status, &json!({ "success": false, "error": error }))
}

/// What the framework itself says: `{"detail": text}`.
pub fn detail(status: StatusCode, text: &str) -> Response {
    json(status, &json!({ "detail": text }))
}

/// Any body.
pub fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let (status, body) = match serde_json::to_vec(body) {
        Ok(body) => (status, body),
        // Keys that are no text; nothing that we send has any.
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, Vec::new()),
    };
    with_type(status, Body::from(body))
}

/// 204 without a body, as the original answers when there is no result yet.
pub fn no_content() -> Response {
    with_type(StatusCode::NO_CONTENT, Body::empty())
}

fn with_type(status: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
