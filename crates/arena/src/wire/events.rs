//! State changes as server-sent events, for viewers. Nobody who listens can slow a server down.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use serde::Serialize;
use tokio::sync::{Semaphore, watch};
use tokio::time::sleep;

use super::reply;
use crate::result::StopReason;

/// More at the same time would be somebody who wants all connections.
const MOST_LISTENERS: usize = 16;

/// A stream ends after this long.
const LIFE: Duration = Duration::from_secs(600);

/// Who listens comes again after this long.
const RETRY: Duration = Duration::from_secs(1);

const HEARTBEAT: Duration = Duration::from_secs(10);

/// One state change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StateChange {
    pub state: &'static str,
    pub task_id: Option<String>,
    /// Why the last task ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<StopReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Who listens sees the newest change; changes that come quicker than he reads are left out.
#[derive(Debug, Clone)]
pub struct Events {
    changes: watch::Sender<StateChange>,
    places: Arc<Semaphore>,
}

impl Events {
    /// The first state.
    pub fn new(state: &'static str) -> Self {
        let first = StateChange {
            state,
            task_id: None,
            reason: None,
            error: None,
        };
        Self {
            changes: watch::Sender::new(first),
            places: Arc::new(Semaphore::new(MOST_LISTENERS)),
        }
    }

    pub fn tell(&self, change: StateChange) {
        self.changes.send_if_modified(|last| {
            let new = *last != change;
            *last = change;
            new
        });
    }

    /// The answer of an `events` route: the state now, then every change. It ends after a while, before
    /// its connection does; who listens is told to come again, and is then told the state first.
    pub fn respond(&self) -> Response {
        self.respond_for(LIFE)
    }

    fn respond_for(&self, life: Duration) -> Response {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            let text = "too many listen to events; try again later";
            return reply::detail(StatusCode::SERVICE_UNAVAILABLE, text);
        };
        let mut changes = self.changes.subscribe();
        changes.mark_changed();
        let events = stream::unfold((changes, place), |(mut changes, place)| async move {
            changes.changed().await.ok()?;
            let change = changes.borrow_and_update().clone();
            let data = serde_json::to_string(&change).unwrap_or_default();
            let event = Event::default().event("state").data(data).retry(RETRY);
            Some((Ok::<_, Infallible>(event), (changes, place)))
        });
        let events = events.take_until(Box::pin(sleep(life)));
        Sse::new(events)
            .keep_alive(KeepAlive::new().interval(HEARTBEAT))
            .into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stream_ends_properly_and_says_when_to_come_again() {
        let events = Events::new("INIT");
        let body = events.respond_for(Duration::from_millis(20)).into_body();
        let text = axum::body::to_bytes(body, 1 << 16).await.unwrap();
        let text = std::str::from_utf8(&text).unwrap();
        assert!(
            text.starts_with("event: state\ndata: {\"state\":\"INIT\""),
            "{text}"
        );
        assert!(text.contains("\nretry: 1000\n"), "{text}");
        assert_eq!(events.places.available_permits(), MOST_LISTENERS);
    }
}
