//! Ticks at an interval.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use crate::error::DesktopError;
use crate::listen;
use crate::registry::listener::{Listen, ListenerKind};
use crate::registry::message::Message;
use crate::registry::shelf::Registry;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Interval {
    #[serde(default = "second")]
    interval: f64,
}

fn second() -> f64 {
    1.0
}

pub(super) fn put(registry: &Registry<ListenerKind>) {
    let tick = ListenerKind::described(
        "interval?",
        "Calls back every so many seconds, 1 unless said; late callbacks cause no drift.",
        |_context, Interval { interval }: Interval| {
            let interval = seconds(interval)?;
            Ok(Listen::with(move |mut callback| {
                listen::tick(interval, move |tick| {
                    callback(Message::new(json!({ "number": tick.number })))
                })
            }))
        },
    );
    registry.put("std/tick", Some("clock/tick"), tick);
}

pub(super) fn seconds(seconds: f64) -> Result<Duration, DesktopError> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| DesktopError::Invalid(format!("{seconds} is no number of seconds")))
}
