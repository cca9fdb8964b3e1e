//! What happens in a run, as server-sent events, for as long as somebody listens.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;

use crate::error::ViewerError;
use crate::serve::{App, For, Reader, failed, trouble};
use crate::shape::Feed;

/// Tells that the connection still stands.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Who was cut off comes again after this long.
const RETRY: Duration = Duration::from_secs(1);

pub(crate) async fn feed(State(app): State<Arc<App>>, Path(run): Path<String>) -> Response {
    let Ok(place) = Arc::clone(&app.listeners).try_acquire_owned() else {
        return trouble(
            Reader::Program,
            StatusCode::SERVICE_UNAVAILABLE,
            "Too many",
            "too many pages listen already: close some",
        );
    };
    // No index is waited for: a feed is told of a slow run like of any other.
    let opened = app
        .work(For::Nobody, move |app| {
            Ok(app.feeds.of(&app.library.run(&run)?))
        })
        .await;
    let feed = match opened {
        Ok(feed) => feed,
        Err(error) => return failed(Reader::Program, &error),
    };
    let events = feed
        .filter_map(|item| async move { event(&item).ok() })
        .take_until(app.stop.clone().cancelled_owned())
        .map(move |event| {
            // Kept until the stream is dropped.
            let _ = &place;
            Ok::<_, Infallible>(event)
        });
    let mut response = Sse::new(events)
        .keep_alive(KeepAlive::new().interval(HEARTBEAT))
        .into_response();
    let headers = response.headers_mut();
    headers.insert(
        axum::http::header::CACHE_CONTROL,
        axum::http::HeaderValue::from_static("no-store"),
    );
    response
}

fn event(item: &Feed) -> Result<Event, ViewerError> {
    let (name, data) = match item {
        Feed::Progress(progress) => ("progress", serde_json::to_string(progress)),
        Feed::Trial(row) => ("trial", serde_json::to_string(row)),
        Feed::Moment(moment) => ("moment", serde_json::to_string(moment)),
        Feed::Stopping(key) => ("stopping", serde_json::to_string(key)),
        Feed::Review(key) => ("review", serde_json::to_string(key)),
    };
    let data = data.map_err(|error| ViewerError::Internal(error.to_string()))?;
    Ok(Event::default().event(name).retry(RETRY).data(data))
}
