//! What a listener tells: JSON in the words of `owa`, and the pixels where there are some.

use std::sync::Arc;

use serde_json::Value;

use crate::listen::Event;
use crate::screen::Frame;

#[derive(Debug, Clone)]
pub struct Message {
    body: Value,
    /// Where it comes from.
    event: Option<Event>,
    /// Pixels are not JSON.
    frame: Option<Arc<Frame>>,
}

impl Message {
    pub fn new(body: impl Into<Value>) -> Self {
        Self {
            body: body.into(),
            event: None,
            frame: None,
        }
    }

    pub(super) fn of_event(body: Value, event: Event) -> Self {
        Self {
            body,
            event: Some(event),
            frame: None,
        }
    }

    pub(super) fn with_frame(body: Value, frame: Arc<Frame>) -> Self {
        Self {
            body,
            event: None,
            frame: Some(frame),
        }
    }

    pub fn json(&self) -> &Value {
        &self.body
    }

    /// The same in our own words, which tell more: the name of the key, for one.
    pub fn event(&self) -> Option<&Event> {
        self.event.as_ref()
    }

    /// The virtual key of a keyboard event.
    pub fn vk(&self) -> Option<u16> {
        self.body.get("vk")?.as_u64()?.try_into().ok()
    }

    /// Of a keyboard event: whether the key went down.
    pub fn is_press(&self) -> bool {
        self.body
            .get("event_type")
            .is_some_and(|kind| kind == "press")
    }

    /// The picture of a screen event.
    pub fn frame(&self) -> Option<&Arc<Frame>> {
        self.frame.as_ref()
    }
}
