//! Answers on their way out: whole, or as the events of a stream, which say that we are still there
//! while the model thinks. An answer keeps its place until it is read, so that nobody can pile them up.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::fault::Fault;
use crate::wire::Spoken;

/// Both vendors' clients go by it, whatever the status.
const SHOULD_RETRY: &str = "x-should-retry";

#[derive(Debug)]
pub(super) struct Outlet {
    content: Content,
    /// Given back when all of it was taken.
    _place: Option<OwnedSemaphorePermit>,
}

#[derive(Debug)]
enum Content {
    Whole(Option<Bytes>),
    Events(mpsc::Receiver<Bytes>),
}

impl Body for Outlet {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut self.content {
            Content::Whole(bytes) => Poll::Ready(bytes.take()),
            Content::Events(events) => events.poll_recv(context),
        };
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Content::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Content::Events(_) => SizeHint::default(),
        }
    }
}

type Place = Option<OwnedSemaphorePermit>;

pub(super) fn whole(status: StatusCode, body: &Value, place: Place) -> Response<Outlet> {
    let bytes = Bytes::from(body.to_string());
    respond(
        status,
        "application/json",
        Content::Whole(Some(bytes)),
        place,
    )
}

pub(super) fn events(events: mpsc::Receiver<Bytes>, place: Place) -> Response<Outlet> {
    let mut response = respond(
        StatusCode::OK,
        "text/event-stream",
        Content::Events(events),
        place,
    );
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

pub(super) fn refusal(fault: &Fault, wire: Spoken) -> Response<Outlet> {
    let mut response = whole(fault.status, &fault.body(wire), None);
    let headers = response.headers_mut();
    let again = if fault.again { "true" } else { "false" };
    headers.insert(SHOULD_RETRY, HeaderValue::from_static(again));
    if fault.again {
        headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

fn respond(
    status: StatusCode,
    kind: &'static str,
    content: Content,
    place: Place,
) -> Response<Outlet> {
    let mut response = Response::new(Outlet {
        content,
        _place: place,
    });
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// One server-sent event.
pub(super) fn event(name: Option<&str>, data: &str) -> Bytes {
    let mut text = String::with_capacity(data.len() + 32);
    if let Some(name) = name {
        text.extend(["event: ", name, "\n"]);
    }
    for line in data.split('\n') {
        text.extend(["data: ", line, "\n"]);
    }
    text.push('\n');
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_framed_line_by_line() {
        assert_eq!(event(None, "[DONE]"), "data: [DONE]\n\n");
        assert_eq!(
            event(Some("ping"), "{\n}"),
            "event: ping\ndata: {\ndata: }\n\n"
        );
    }
}
