//! A trial step by step, as a judge is shown it: what the agent did and what the screen looked like
//! afterwards. Made from the record; never holds what the agent thought, which is no evidence.

use std::fmt;
use std::sync::Arc;

use agon_core::observation::ObservationKind;
use agon_core::{Action, Event, EventBody, Fault, Picture, Source};

#[derive(Debug, Clone, PartialEq)]
pub struct FlowStep {
    /// From 1.
    pub step: u32,
    /// The event that the action is.
    pub seq: u64,
    /// Seconds since the trial began.
    pub t: f64,
    /// `None`: a message that was no allowed action.
    pub action: Option<Action>,
    /// Why it was not carried out, or what a command said.
    pub said: Option<String>,
    /// The screen once the action had taken effect; its bytes are with [`PictureSource`].
    pub screen: Option<Picture>,
    /// The title of the active window then.
    pub window: Option<String>,
}

/// Where the pictures of a record are.
pub trait PictureSource: fmt::Debug + Send + Sync {
    /// Blocks while it reads.
    fn load(&self, picture: &Picture) -> Result<Arc<[u8]>, Fault>;
}

impl FlowStep {
    /// The steps of a record, in order.
    pub fn of(events: &[Event]) -> Vec<Self> {
        let mut steps: Vec<Self> = Vec::new();
        for event in events {
            match (&event.source, &event.body) {
                (Source::Agent, EventBody::Action(action)) => {
                    steps.push(Self::new(&steps, event, Some(action.clone()), None));
                }
                (Source::Agent, EventBody::Refused(text)) => {
                    steps.push(Self::new(&steps, event, None, Some(text.clone())));
                }
                (_, EventBody::Observation(seen)) => {
                    let answered = |step: &&mut Self| event.cause.is_none_or(|seq| seq == step.seq);
                    let Some(step) = steps.last_mut().filter(answered) else {
                        continue;
                    };
                    if let Some(screen) = &seen.screen {
                        step.screen = Some(screen.picture.without_data());
                        step.window = screen.window.as_ref().map(|w| w.title().to_owned());
                    }
                    if !seen.text.is_empty() && seen.kind != ObservationKind::Done {
                        step.said = Some(seen.text.clone());
                    }
                }
                _ => {}
            }
        }
        steps
    }

    fn new(before: &[Self], event: &Event, action: Option<Action>, said: Option<String>) -> Self {
        Self {
            step: u32::try_from(before.len())
                .unwrap_or(u32::MAX)
                .saturating_add(1),
            seq: event.seq,
            t: event.t,
            action,
            said,
            screen: None,
            window: None,
        }
    }
}
