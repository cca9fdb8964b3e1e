//! A trajectory: the history of one task as a JSON list in a file of its own, without what only browsers
//! need. Read back, it gives the actions to be played again.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::action::{Action, MessageAction};
use super::error::EventError;
use super::event::{Event, EventBody, EventSource};
use super::history::History;
use super::json;
use super::observation::{BrowserOutputObservation, Observation};

/// An event without what a trajectory leaves out of it.
struct Kept<'a> {
    event: &'a Event,
    screenshots: bool,
}

/// What stays of a page.
#[derive(Serialize)]
struct Page<'a> {
    url: &'a str,
    trigger_by_action: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    screenshot: Option<&'a str>,
    screenshot_path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    set_of_marks: Option<&'a str>,
    error: bool,
    goal_image_urls: &'a [Value],
    open_pages_urls: &'a [String],
    filter_visible_only: bool,
}

impl<'a> Page<'a> {
    fn of(page: &'a BrowserOutputObservation, screenshots: bool) -> Self {
        Self {
            url: &page.url,
            trigger_by_action: &page.trigger_by_action,
            screenshot: screenshots.then_some(&*page.screenshot),
            screenshot_path: page.screenshot_path.as_deref(),
            set_of_marks: screenshots.then_some(&*page.set_of_marks),
            error: page.error,
            goal_image_urls: &page.goal_image_urls,
            open_pages_urls: &page.open_pages_urls,
            filter_visible_only: page.filter_visible_only,
        }
    }
}

impl Serialize for Kept<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json::write(self.event, serializer, |seen, map| match seen {
            Observation::Browse(page) => {
                map.serialize_entry("extras", &Page::of(page, self.screenshots))
            }
            seen => seen.fields("extras", map),
        })
    }
}

/// The file's text.
pub fn write_trajectory(history: &[Event], screenshots: bool) -> Result<String, EventError> {
    let kept = |event| Kept { event, screenshots };
    let events: Vec<Kept<'_>> = history.iter().map(kept).collect();
    serde_json::to_string_pretty(&events).map_err(|error| EventError::Shape(error.to_string()))
}

/// The first words of the user, and the agent's actions in their order.
pub fn read_trajectory(text: &str) -> Result<(MessageAction, Vec<Action>), EventError> {
    let items: Vec<Value> =
        serde_json::from_str(text).map_err(|error| EventError::Shape(error.to_string()))?;
    let mut first = None;
    let mut actions = Vec::new();
    for event in History::from_json(items)?.into_flat() {
        let by = event.source;
        match event.body {
            EventBody::Action(Action::Message(said)) if by == Some(EventSource::User) => {
                first.get_or_insert(said);
            }
            EventBody::Action(action) if by == Some(EventSource::Agent) => {
                actions.extend(again(action));
            }
            _ => {}
        }
    }
    let first = first.ok_or_else(|| {
        EventError::Shape("the trajectory has no message of the user to begin with".to_owned())
    })?;
    let last = actions.len().saturating_sub(1);
    for action in actions.iter_mut().take(last) {
        // Nobody answers while an old trajectory is played.
        if let Action::Message(message) = action {
            message.wait_for_response = false;
        }
    }
    Ok((first, actions))
}

/// What the controller did of itself is not played again.
fn again(action: Action) -> Option<Action> {
    match action {
        Action::System(_)
        | Action::Recall(_)
        | Action::Condensation(_)
        | Action::CondensationRequest(_)
        | Action::ChangeAgentState(_)
        | Action::LoopRecovery(_)
        | Action::Null(_) => None,
        action => Some(action),
    }
}
