//! The record of a trial: JSON lines, one event each. What an event carries is found under the name
//! of its kind, so that readers of one kind need not know the others.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::digest::Digest;
use crate::fault::Fault;
use crate::input::InputEvent;
use crate::model_call::ModelCall;
use crate::observation::Observation;
use crate::ran::RanCommand;
use crate::realtime::{PlayStats, Reactions};
use crate::screen::ScreenRecord;
use crate::sight::Look;
use crate::told::{Called, Condensation};
use crate::usage::Usage;
use crate::verdict::{CheckResult, TurnEnd, Verdict};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Agent,
    Environment,
    User,
    Grader,
    Harness,
}

/// Phases of a trial, in order.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Setup,
    Running,
    Frozen,
    Graded,
}

impl Phase {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Running => "running",
            Self::Frozen => "frozen",
            Self::Graded => "graded",
        }
    }
}

/// Something kept outside of the event, by content hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// `work` (the frozen working folder), `output` (one whole output), `patch`, `complete` (what the
    /// completing script said), `row` and `case` (imported results), or `file:PATH`.
    pub what: String,
    pub blob: Digest,
    pub bytes: u64,
}

/// What happened. Serialised as `"kind": "<name>", "<name>": {...}`.
#[derive(Debug, Clone, PartialEq)]
pub enum EventBody {
    Phase(Phase),
    /// What the agent was asked to do.
    Instruction(String),
    Action(Action),
    Observation(Observation),
    /// A message of the agent that was no allowed action: the text as far as it is kept.
    Refused(String),
    Thought(String),
    /// The tool call that the next action was made from.
    Called(Called),
    /// The agent's model is shown less of what happened.
    Condensed(Condensation),
    Usage(Usage),
    /// A language model was asked.
    Model(ModelCall),
    Kept(Kept),
    /// A screen that no observation shows.
    Screen(ScreenRecord),
    /// What the X server saw of keyboard and mouse since the last event of this kind.
    Input(Vec<InputEvent>),
    /// The screen was judged while the trial was played.
    Look(Look),
    /// What an agent that plays in real time does by itself.
    Reacted(Reactions),
    /// What was measured of an agent that played in real time.
    Play(PlayStats),
    End(TurnEnd),
    /// A command was run to grade the trial.
    Ran(RanCommand),
    Check(CheckResult),
    Verdict(Verdict),
    Fault(Fault),
    Note(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub seq: u64,
    /// Seconds since the trial began.
    pub t: f64,
    pub at: Timestamp,
    pub source: Source,
    /// The event that this one answers.
    pub cause: Option<u64>,
    pub body: EventBody,
}

/// The flat form on disk: exactly one of the body's keys is there, named by `kind`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Event")]
struct Line {
    seq: u64,
    t: f64,
    at: Timestamp,
    source: Source,
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phase: Option<Phase>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instruction: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    action: Option<Action>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    observation: Option<Observation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thought: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    called: Option<Called>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    condensed: Option<Condensation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<ModelCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept: Option<Kept>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    screen: Option<ScreenRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<Vec<InputEvent>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    look: Option<Look>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reacted: Option<Reactions>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    play: Option<PlayStats>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<TurnEnd>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ran: Option<RanCommand>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    check: Option<CheckResult>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fault: Option<Fault>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Phase,
    Instruction,
    Action,
    Observation,
    Refused,
    Thought,
    Called,
    Condensed,
    Usage,
    Model,
    Kept,
    Screen,
    Input,
    Look,
    Reacted,
    Play,
    End,
    Ran,
    Check,
    Verdict,
    Fault,
    Note,
}

macro_rules! bodies {
    ($($variant:ident => $field:ident),* $(,)?) => {
        impl Line {
            fn of(event: &Event) -> Self {
                let mut line = Self {
                    seq: event.seq, t: event.t, at: event.at, source: event.source,
                    cause: event.cause, kind: Kind::Note,
                    phase: None, instruction: None, action: None, observation: None, refused: None, thought: None,
                    called: None, condensed: None,
                    usage: None, model: None, kept: None, screen: None, input: None, look: None, reacted: None, play: None, end: None,
                    ran: None, check: None, verdict: None, fault: None, note: None,
                };
                match &event.body {
                    $(EventBody::$variant(body) => {
                        line.kind = Kind::$variant;
                        line.$field = Some(body.clone());
                    })*
                }
                line
            }

            fn body(self) -> Option<EventBody> {
                match self.kind {
                    $(Kind::$variant => self.$field.map(EventBody::$variant),)*
                }
            }
        }
        impl EventBody {
            /// The names of all kinds that this version knows.
            pub const KINDS: &[&str] = &[$(stringify!($field)),*];

            pub const fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => stringify!($field),)* }
            }
        }
    };
}

bodies! {
    Phase => phase, Instruction => instruction, Action => action, Observation => observation, Refused => refused,
    Thought => thought, Called => called, Condensed => condensed, Usage => usage, Model => model, Kept => kept, Screen => screen,
    Input => input, Look => look, Reacted => reacted, Play => play, End => end, Ran => ran, Check => check, Verdict => verdict,
    Fault => fault, Note => note,
}

impl Serialize for Event {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Line::of(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = Line::deserialize(deserializer)?;
        let (seq, t, at, source, cause) = (line.seq, line.t, line.at, line.source, line.cause);
        let body = line
            .body()
            .ok_or_else(|| serde::de::Error::custom("the key named by `kind` is missing"))?;
        Ok(Self {
            seq,
            t,
            at,
            source,
            cause,
            body,
        })
    }
}

impl JsonSchema for Event {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Event".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Line::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputKind;
    use crate::realtime::Reaction;
    use crate::screen::{Picture, PictureFormat, ScreenMoment, ScreenView};

    #[test]
    fn an_event_is_one_flat_object() {
        let event = Event {
            seq: 12,
            t: 3.1234,
            at: "2026-11-15T12:00:00Z".parse().unwrap(),
            source: Source::Agent,
            cause: Some(11),
            body: EventBody::Action(Action::run("ls")),
        };
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(
            text,
            r#"{"seq":12,"t":3.1234,"at":"2026-11-15T12:00:00Z","source":"agent","kind":"action","cause":11,"action":{"action":"run","command":"ls"}}"#
        );
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
    }

    #[test]
    fn a_kind_without_its_body_is_refused() {
        let text =
            r#"{"seq":0,"t":0,"at":"2026-11-15T12:00:00Z","source":"agent","kind":"action"}"#;
        assert!(serde_json::from_str::<Event>(text).is_err());
    }

    #[test]
    fn screens_and_inputs_are_events_of_their_own() {
        let picture = Picture::new(PictureFormat::Png, b"pixels".as_slice());
        let screen = ScreenView {
            width: 640,
            height: 480,
            cursor: None,
            window: None,
            picture,
        };
        let mut seen = Observation::done();
        seen.screen = Some(screen.clone());
        let bodies = [
            EventBody::Screen(ScreenRecord {
                what: ScreenMoment::Final,
                screen,
                around: None,
            }),
            EventBody::Input(vec![InputEvent::new(0.5, InputKind::Motion)]),
            EventBody::Observation(seen),
            EventBody::Reacted(Reactions {
                steps: 3,
                actions: 2,
                answers: vec![Reaction {
                    t: 0.75,
                    latency: 0.25,
                }],
            }),
        ];
        let picture = format!(
            r#"{{"width":640,"height":480,"picture":{{"format":"png","blob":"{}","bytes":6}}}}"#,
            Digest::of(b"pixels")
        );
        let ends = [
            format!(r#""kind":"screen","screen":{{"what":"final","screen":{picture}}}}}"#),
            r#""kind":"input","input":[{"t":0.5,"kind":"motion"}]}"#.to_owned(),
            format!(
                r#""kind":"observation","observation":{{"kind":"done","text":"","screen":{picture}}}}}"#
            ),
            r#""kind":"reacted","reacted":{"steps":3,"actions":2,"answers":[{"t":0.75,"latency":0.25}]}}"#
                .to_owned(),
        ];
        for (body, end) in bodies.into_iter().zip(ends) {
            let event = Event {
                seq: 0,
                t: 1.0,
                at: "2026-11-15T12:00:00Z".parse().unwrap(),
                source: Source::Environment,
                cause: None,
                body,
            };
            let text = serde_json::to_string(&event).unwrap();
            assert!(text.ends_with(&end), "{text}");
            assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
        }
    }
}
