//! Errors, as a client of the provider's own is told them: the right status, the provider's form, and
//! whether to try again.

use agon_core::ModelFault;
use hyper::StatusCode;
use serde_json::Value;

use crate::error::LlmError;
use crate::wire::Spoken;

/// All that an agent is told about a tape.
const NOT_ON_TAPE: &str = "this run is answered by a tape, which has no answer to this request";

#[derive(Debug)]
pub(super) struct Fault {
    pub(super) status: StatusCode,
    pub(super) error: LlmError,
    /// The client may come again by itself. Everything else was tried again on our side, or would fail
    /// again.
    pub(super) again: bool,
}

impl Fault {
    /// Of the request or its sender, not of a model.
    pub(super) fn of_client(status: StatusCode, why: &str) -> Self {
        let fault = match status {
            StatusCode::UNAUTHORIZED => ModelFault::Authentication,
            StatusCode::TOO_MANY_REQUESTS => ModelFault::RateLimit,
            _ => ModelFault::BadRequest,
        };
        Self {
            status,
            error: LlmError::new(fault, why),
            again: status == StatusCode::TOO_MANY_REQUESTS,
        }
    }

    pub(super) fn of_model(error: LlmError, wire: Spoken) -> Self {
        // The record says what is different; an agent would hear what others asked.
        let error = match error.fault {
            ModelFault::NotOnTape => LlmError::new(ModelFault::NotOnTape, NOT_ON_TAPE),
            _ => error,
        };
        let status = match error.fault {
            // Clients try 429 again and again; this one is for good.
            ModelFault::Budget => StatusCode::PAYMENT_REQUIRED,
            ModelFault::BadRequest | ModelFault::ContextOverflow | ModelFault::Refusal => {
                StatusCode::BAD_REQUEST
            }
            ModelFault::RateLimit => StatusCode::TOO_MANY_REQUESTS,
            ModelFault::Overload => overloaded(wire),
            ModelFault::Timeout | ModelFault::Cancelled => StatusCode::GATEWAY_TIMEOUT,
            ModelFault::Authentication
            | ModelFault::BrokenResponse
            | ModelFault::BadAnswer
            | ModelFault::Network
            | ModelFault::NotOnTape
            | ModelFault::Setup => StatusCode::BAD_GATEWAY,
        };
        Self {
            status,
            error,
            again: false,
        }
    }

    pub(super) fn body(&self, wire: Spoken) -> Value {
        wire.form().write_error(&self.error)
    }
}

/// Anthropic has a status of its own for it.
fn overloaded(wire: Spoken) -> StatusCode {
    match wire {
        Spoken::Messages => StatusCode::from_u16(529).unwrap_or(StatusCode::SERVICE_UNAVAILABLE),
        _ => StatusCode::SERVICE_UNAVAILABLE,
    }
}
