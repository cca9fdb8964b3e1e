//! State changes as server-sent events, for viewers. Nobody who listens can slow a server down.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Serialize;
use tokio::sync::{Semaphore, watch};

use super::reply;
use crate::result::StopReason;

/// More at the same time would be somebody who wants all connections.
const MOST_LISTENERS: usize = 16;

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

    /// Changes as they come, for who waits for one within the server.
    pub fn watch(&self) -> watch::Receiver<StateChange> {
        self.changes.subscribe()
    }

    /// The answer of an `events` route: the state now, then every change.
    pub fn respond(&self) -> Response {
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
            let event = Event::default().event("state").data(data);
            Some((Ok::<_, Infallible>(event), (changes, place)))
        });
        Sse::new(events)
            .keep_alive(KeepAlive::new().interval(HEARTBEAT))
            .into_response()
    }
}
