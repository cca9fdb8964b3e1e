//! Why a request is not answered, in OpenAI's form.

use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    code: &'static str,
    message: String,
}

impl Refusal {
    /// The request can't be answered as it is.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            code: "bad_request",
            message: message.into(),
        }
    }

    pub(crate) fn too_long(message: impl Into<String>) -> Self {
        Self {
            code: "context_length_exceeded",
            ..Self::bad(message)
        }
    }

    pub(crate) fn unknown() -> Self {
        Self {
            status: 404,
            code: "not_found",
            message: "there are POST /v1/chat/completions and /v1/completions, GET /v1/models and /health"
                .to_owned(),
        }
    }

    pub(crate) fn busy() -> Self {
        Self {
            status: 503,
            code: "busy",
            message: "too many requests wait already; try again later".to_owned(),
        }
    }

    /// The model did not do what it must.
    pub(crate) fn broken(message: impl Into<String>) -> Self {
        Self {
            status: 500,
            code: "broken",
            message: message.into(),
        }
    }

    pub(crate) fn body(&self) -> Value {
        let kind = if self.status < 500 {
            "invalid_request_error"
        } else {
            "server_error"
        };
        json!({"error": {"message": self.message, "type": kind, "code": self.code, "param": null}})
    }
}
