//! A history as the record of a trial: how result files of OpenHands become runs of Agon's. What Agon has
//! no word for stays as a note.

use std::collections::{BTreeMap, BTreeSet};

use agon_core::observation::{FileChange, ObservationKind};
use agon_core::{
    Called, Condensation, Event as CoreEvent, EventBody as Body, Observation as Seen, Source,
};
use jiff::Timestamp;

use super::action::core_action;
use super::stamp::from_iso;
use crate::events::{Action, CondensationAction, Event, EventBody, EventSource, Observation};

/// How much of an event that has no counterpart is kept.
const KEPT_OF_NOTE: usize = 2_000;

/// Makes events in order, with their numbers and times.
#[derive(Debug)]
pub(crate) struct Writer {
    events: Vec<CoreEvent>,
    began: Timestamp,
    now: Timestamp,
    /// Actions of the agent so far.
    pub(crate) steps: u32,
    /// Which of them has which number in the history.
    numbers: BTreeMap<u64, u32>,
}

impl Writer {
    pub(crate) fn new(began: Timestamp) -> Self {
        Self {
            events: Vec::new(),
            began,
            now: began,
            steps: 0,
            numbers: BTreeMap::new(),
        }
    }

    pub(crate) fn push(&mut self, source: Source, cause: Option<u64>, body: Body) -> u64 {
        let seq = self.events.len() as u64;
        let t = self.now.duration_since(self.began).as_secs_f64().max(0.0);
        self.events.push(CoreEvent {
            seq,
            t,
            at: self.now,
            source,
            cause,
            body,
        });
        seq
    }

    /// Time does not go backwards, whatever a file says.
    fn advance(&mut self, timestamp: Option<&str>) {
        if let Some(at) = timestamp.and_then(from_iso) {
            self.now = self.now.max(at);
        }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.now.duration_since(self.began).as_secs_f64().max(0.0)
    }

    pub(crate) const fn now(&self) -> Timestamp {
        self.now
    }

    pub(crate) fn finish(self) -> Vec<CoreEvent> {
        self.events
    }

    /// `before` is called before each action of the agent, for what belongs there.
    pub(crate) fn tell(&mut self, history: &[Event], mut before: impl FnMut(&mut Self, &Event)) {
        let mut last = None;
        // Where in the record each number of the history stands.
        let mut places = std::collections::HashMap::new();
        for event in history {
            self.advance(event.timestamp.as_deref());
            let place = match &event.body {
                EventBody::Action(action) if event.source == Some(EventSource::Agent) => {
                    before(self, event);
                    self.act(event, action, last)
                }
                EventBody::Action(Action::Message(message)) => {
                    let first = self.steps == 0 && last.is_none();
                    let kind = match first {
                        true => ObservationKind::Ready,
                        false => ObservationKind::Reply,
                    };
                    let seen = Seen::new(kind, &message.content);
                    let source = if first {
                        Source::Environment
                    } else {
                        Source::User
                    };
                    Some(self.push(source, last, Body::Observation(seen)))
                }
                EventBody::Action(_) => None,
                EventBody::Observation(seen) => {
                    let cause = event.cause.and_then(|id| places.get(&id).copied()).or(last);
                    core_observation(seen)
                        .map(|seen| self.push(Source::Environment, cause, Body::Observation(seen)))
                }
            };
            if let Some(place) = place {
                last = Some(place);
                if let Some(id) = event.id {
                    places.insert(id, place);
                }
            }
        }
    }

    fn act(&mut self, event: &Event, action: &Action, cause: Option<u64>) -> Option<u64> {
        match (action, core_action(action)) {
            (_, Ok(core)) => {
                self.steps += 1;
                if let Some(id) = event.id {
                    self.numbers.insert(id, self.steps);
                }
                if let Some(metadata) = &event.tool_call_metadata {
                    let called = Called {
                        function: metadata.function_name.clone(),
                        id: metadata.tool_call_id.clone(),
                        of: u32::try_from(metadata.total_calls_in_response).unwrap_or(1),
                    };
                    self.push(Source::Agent, cause, Body::Called(called));
                }
                if let Some(thought) = action.thought() {
                    self.push(Source::Agent, cause, Body::Thought(thought.to_owned()));
                }
                Some(self.push(Source::Agent, cause, Body::Action(core)))
            }
            (Action::Condensation(condensation), Err(_)) => {
                self.condense(event, condensation, cause)
            }
            (Action::System(_) | Action::Null(_) | Action::Recall(_), Err(_)) => None,
            (other, Err(_)) => {
                self.note(event, other, cause);
                None
            }
        }
    }

    fn note(&mut self, event: &Event, action: &Action, cause: Option<u64>) {
        let text = serde_json::to_string(event).unwrap_or_default();
        let text: String = text.chars().take(KEPT_OF_NOTE).collect();
        let kind = action.kind();
        let note = format!("an action `{kind}` of the imported history: {text}");
        self.push(Source::Agent, cause, Body::Note(note));
    }

    /// Which steps the model was not shown any more. One of which no step is known stays a note.
    fn condense(
        &mut self,
        event: &Event,
        condensation: &CondensationAction,
        cause: Option<u64>,
    ) -> Option<u64> {
        let mut summary = condensation.summary.clone();
        let mut last = None;
        for (from, to) in spans(&self.forgotten(condensation)) {
            let summary = summary.take();
            let condensed = Condensation { from, to, summary };
            last = Some(self.push(Source::Agent, cause, Body::Condensed(condensed)));
        }
        if last.is_none() {
            self.note(event, &condensation.clone().into(), cause);
        }
        last
    }

    fn forgotten(&self, condensation: &CondensationAction) -> BTreeSet<u32> {
        let id = |id: &i64| u64::try_from(*id).ok();
        if let Some(ids) = &condensation.forgotten_event_ids {
            let steps = ids
                .iter()
                .filter_map(|number| self.numbers.get(&id(number)?));
            return steps.copied().collect();
        }
        let first = condensation.forgotten_events_start_id.as_ref().and_then(id);
        let last = condensation.forgotten_events_end_id.as_ref().and_then(id);
        match (first, last) {
            (Some(first), Some(last)) if first <= last => self
                .numbers
                .range(first..=last)
                .map(|(_, step)| *step)
                .collect(),
            _ => BTreeSet::new(),
        }
    }
}

/// Steps that follow each other, as first and last.
fn spans(steps: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for step in steps.iter().copied() {
        match spans.last_mut() {
            Some((_, to)) if *to + 1 == step => *to = step,
            _ => spans.push((step, step)),
        }
    }
    spans
}

fn core_observation(seen: &Observation) -> Option<Seen> {
    let of = |kind| Seen::new(kind, seen.content());
    Some(match seen {
        Observation::Run(output) => {
            let code = output.metadata.exit_code;
            let mut seen = of(ObservationKind::Output);
            seen.running = code == -1;
            seen.exit_status = i32::try_from(code).ok().filter(|_| code != -1);
            seen.cwd.clone_from(&output.metadata.working_dir);
            seen
        }
        Observation::RunIPython(_) | Observation::Mcp(_) => of(ObservationKind::Output),
        Observation::Browse(page) if page.error => of(ObservationKind::Error),
        Observation::Browse(_) | Observation::Read(_) => of(ObservationKind::Content),
        Observation::Edit(edit) => {
            let mut seen = of(ObservationKind::Done);
            seen.changed = edit.diff.as_ref().map(|diff| {
                Box::new(FileChange {
                    path: edit.path.clone(),
                    existed: edit.prev_exist,
                    diff: diff.clone(),
                })
            });
            seen
        }
        Observation::Error(_) | Observation::UserReject(_) => of(ObservationKind::Error),
        Observation::Write(_)
        | Observation::Download(_)
        | Observation::TaskTracking(_)
        | Observation::Delegate(_)
        | Observation::Think(_)
        | Observation::Success(_) => of(ObservationKind::Done),
        Observation::Null(_)
        | Observation::AgentStateChanged(_)
        | Observation::Condense(_)
        | Observation::LoopDetection(_)
        | Observation::Recall(_) => return None,
    })
}
