//! What a trial left behind, as far as checks may look at it. Made by the engine after a trial, or
//! from the run folder when a trial is graded again.

use std::sync::Arc;
use std::time::Duration;

use agon_core::verdict::TurnEnd;
use agon_core::{Action, CutOff, Event, EventBody, Source, Surroundings};
use agon_sandbox::{Changes, WorkArchive};

use crate::flow::{FlowStep, PictureSource};

#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// Proof that the agent can no longer act: opens the checks and the `verify` tree.
    pub cut_off: &'a CutOff,
    /// The frozen working folder; `None` where the environment has none.
    pub work: Option<&'a WorkArchive>,
    /// What was changed beside it in a container, for checks in a fresh one.
    pub changes: Option<&'a Changes>,
    /// The text given with `finish`.
    pub result: Option<&'a str>,
    /// What the agent did, in order.
    pub actions: &'a [Action],
    /// What was seen; `None` where there is no screen.
    pub sight: Option<&'a SightEvidence>,
    /// Step by step; empty where no judge is to look at it.
    pub flow: &'a [FlowStep],
    pub pictures: &'a dyn PictureSource,
    /// All of this is what somebody else tells, who has played in an environment of his own: what is found
    /// in it is tainted.
    pub told: bool,
}

/// What was seen of a desktop.
#[derive(Debug, Clone)]
pub struct SightEvidence {
    /// The screen before anything was done, as PNG.
    pub first: Option<Arc<[u8]>>,
    /// The last screen before the agent was cut off, as PNG.
    pub last: Arc<[u8]>,
    /// What stood around the last screen.
    pub around: Surroundings,
    /// How long was played, where the world moves by itself.
    pub played: Option<Duration>,
}

impl Evidence<'_> {
    /// The agent's own actions in a record, for grading it again.
    pub fn actions_of(events: impl IntoIterator<Item = Event>) -> Vec<Action> {
        events
            .into_iter()
            .filter(|event| event.source == Source::Agent)
            .filter_map(|event| match event.body {
                EventBody::Action(action) => Some(action),
                _ => None,
            })
            .collect()
    }

    /// The answer among the agent's actions: that of its last `finish`, or the message after which its
    /// user left, which ends a turn as a `finish` does.
    pub fn result_of(actions: &[Action], end: Option<TurnEnd>) -> Option<&str> {
        if let (Some(Action::Message { text }), Some(TurnEnd::Finished)) = (actions.last(), end) {
            return Some(text);
        }
        actions.iter().rev().find_map(|action| match action {
            Action::Finish { result } => Some(result.as_deref()),
            _ => None,
        })?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(source: Source, body: EventBody) -> Event {
        Event {
            seq: 0,
            t: 0.0,
            at: "2026-11-15T12:00:00Z".parse().unwrap(),
            source,
            cause: None,
            body,
        }
    }

    #[test]
    fn only_what_the_agent_did_counts_as_its_action() {
        let finish = Action::Finish {
            result: Some("42".into()),
        };
        let actions = Evidence::actions_of([
            event(Source::Agent, EventBody::Action(Action::run("ls"))),
            event(Source::Harness, EventBody::Action(Action::run("setup"))),
            event(Source::Agent, EventBody::Refused("rm".into())),
            event(Source::Agent, EventBody::Action(finish.clone())),
        ]);
        assert_eq!(actions, [Action::run("ls"), finish]);
        let finished = Some(TurnEnd::Finished);
        assert_eq!(Evidence::result_of(&actions, finished), Some("42"));
    }

    #[test]
    fn a_later_finish_without_an_answer_takes_the_answer_back() {
        let actions = [
            Action::Finish {
                result: Some("42".into()),
            },
            Action::Finish { result: None },
        ];
        let finished = Some(TurnEnd::Finished);
        assert_eq!(Evidence::result_of(&actions, finished), None);
    }

    #[test]
    fn a_message_is_the_answer_only_where_the_user_left_after_it() {
        let message = Action::Message {
            text: "it is 42".into(),
        };
        let actions = [Action::run("ls"), message];
        let result = |end| Evidence::result_of(&actions, Some(end));
        assert_eq!(result(TurnEnd::Finished), Some("it is 42"));
        assert_eq!(result(TurnEnd::StepLimit), None);
    }
}
