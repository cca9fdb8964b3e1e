//! What a client asks, once it is known whom it asks and that it may ask that.

use hyper::StatusCode;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;

use super::allowed::{Allowed, Offer};
use super::fault::Fault;
use super::intake::Taken;
use super::said::cut;
use super::{keys, reach};
use crate::request::Request;
use crate::wire::Spoken;

pub(super) struct Question<'a> {
    pub(super) offer: &'a Offer,
    pub(super) wire: Spoken,
    /// The answer is wanted as the events of a stream.
    pub(super) stream: bool,
    pub(super) request: Request,
    /// Held as long as the request is.
    pub(super) room: OwnedSemaphorePermit,
}

impl<'a> Question<'a> {
    /// `confined`: whoever asks has no network.
    pub(super) fn read(
        allowed: &'a Allowed,
        wire: Spoken,
        taken: Taken,
        confined: bool,
    ) -> Result<Self, Fault> {
        let Taken { mut body, room } = taken;
        let offer = find(allowed, body.get("model").and_then(Value::as_str))?;
        let stream = body.get("stream").and_then(Value::as_bool) == Some(true);
        let refused = |why: String| Fault::of_client(StatusCode::BAD_REQUEST, &why);
        keys::keep_known(wire, &mut body, confined).map_err(refused)?;
        if confined {
            reach::stays_inside(wire, &body).map_err(refused)?;
        }
        let mut request = wire
            .form()
            .read_request(body)
            .map_err(|error| Fault::of_model(error, wire))?;
        // No answer is longer than the configuration allows, whatever the client asks for.
        if let Some(most) = offer.model.spec().settings.max_output_tokens {
            let asked = &mut request.sampling.max_tokens;
            *asked = asked.map(|asked| asked.min(most));
        }
        Ok(Self {
            offer,
            wire,
            stream,
            request,
            room,
        })
    }
}

pub(super) fn find<'a>(allowed: &'a Allowed, model: Option<&str>) -> Result<&'a Offer, Fault> {
    allowed.find(model).ok_or_else(|| {
        let why = format!(
            "the model `{}` is not one of this trial; there are: {}",
            cut(model.unwrap_or_default()),
            allowed.names()
        );
        Fault::of_client(StatusCode::NOT_FOUND, &why)
    })
}
