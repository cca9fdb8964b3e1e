//! Takes the body of a request: of bounded size, within a bounded time.

use std::time::Duration;

use agon_agent::play::Task;
use axum::body::{Bytes, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::message::Registration;
use super::peer::PeerUrl;
use super::reply;
use super::task::parse_task;
use super::unprocessable::Unprocessable;

/// A longer body is refused with 413.
pub const MOST_BYTES: usize = 1 << 20;

/// Whoever takes longer to send his body gets 408.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was sent, not yet understood.
#[derive(Debug)]
pub struct Payload {
    bytes: Bytes,
    is_json: bool,
}

impl Payload {
    pub fn new(bytes: impl Into<Bytes>, content_type: Option<&str>) -> Self {
        Self {
            bytes: bytes.into(),
            is_json: content_type.is_some_and(is_json),
        }
    }

    /// Any JSON; what is not said to be JSON is not taken for it.
    pub fn value(&self) -> Result<Value, Unprocessable> {
        if self.bytes.is_empty() {
            return Err(Unprocessable::missing_body());
        }
        if !self.is_json {
            let text = String::from_utf8_lossy(&self.bytes).into_owned();
            return Err(Unprocessable::no_object(&Value::String(text)));
        }
        serde_json::from_slice(&self.bytes)
            .map_err(|error| Unprocessable::no_json(&error, &self.bytes))
    }

    pub fn task(&self) -> Result<Task, Unprocessable> {
        parse_task(&self.value()?)
    }

    /// Where the other side is: `{"evaluator_url": ..}` or `{"agent_url": ..}`; or what to answer.
    #[expect(clippy::result_large_err, reason = "it is answered at once")]
    pub fn registration(&self, key: &str) -> Result<PeerUrl, Response> {
        let told = self.value().and_then(|body| Registration::parse(body, key));
        let told = told.map_err(IntoResponse::into_response)?;
        PeerUrl::parse(&told.url).map_err(|why| reply::err(StatusCode::BAD_REQUEST, why))
    }

    /// An addition to a route that takes no body: what is missing or not understood is no error.
    pub fn addition<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.bytes).ok()
    }
}

impl<S: Send + Sync> FromRequest<S> for Payload {
    type Rejection = Response;

    async fn from_request(request: Request, _: &S) -> Result<Self, Response> {
        let too_long = || {
            let text = "the body is longer than 1 MB";
            reply::detail(StatusCode::PAYLOAD_TOO_LARGE, text)
        };
        let (parts, body) = request.into_parts();
        let content_type = text_of(&parts.headers, header::CONTENT_TYPE);
        let promised = text_of(&parts.headers, header::CONTENT_LENGTH);
        if promised.and_then(|text| text.parse::<u64>().ok()) > Some(MOST_BYTES as u64) {
            return Err(too_long());
        }
        match tokio::time::timeout(PATIENCE, to_bytes(body, MOST_BYTES)).await {
            Ok(Ok(bytes)) => Ok(Self::new(bytes, content_type)),
            // Or the connection broke, and nobody reads this.
            Ok(Err(_)) => Err(too_long()),
            Err(_) => {
                let text = "the body did not come in time";
                Err(reply::detail(StatusCode::REQUEST_TIMEOUT, text))
            }
        }
    }
}

fn text_of(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// `application/json`, also with parameters, or any `application/...+json`.
fn is_json(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default();
    let kind = kind.trim().to_ascii_lowercase();
    kind.strip_prefix("application/")
        .is_some_and(|kind| kind == "json" || kind.ends_with("+json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_said_to_be_json_is_taken_for_it() {
        for good in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/a+json",
        ] {
            assert!(Payload::new("{}", Some(good)).value().is_ok(), "{good}");
        }
        for bad in [
            None,
            Some("text/plain"),
            Some("json"),
            Some("application/jsonx"),
        ] {
            assert!(Payload::new("{}", bad).value().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn each_kind_of_bad_body_has_its_own_complaint() {
        let kind = |bytes: &'static str| {
            let refused = Payload::new(bytes, Some("application/json")).value();
            refused.unwrap_err().body()["detail"][0]["type"].clone()
        };
        assert_eq!(kind(""), "missing");
        assert_eq!(kind("{"), "json_invalid");
        assert_eq!(kind("{\"a\":1e999}"), "json_invalid");
    }
}
