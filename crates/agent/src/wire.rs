//! The messages of the agent protocol, version 1: what we send, and how an answer is read. Every
//! answer is hostile until it has come through [`read_answer`]. See `docs/agent-protocol.md`.

use agon_core::observation::{FileChange, ObservationKind};
use agon_core::{Action, ActionKind, Brief, Money, Observation, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::contract::{AgentError, Answer, Pictures, Reply};
pub use crate::wire_screen::{MAX_PICTURE, SentPicture, SentScreen};

pub const PROTOCOL: u32 = 1;

/// The longest answer that is read.
pub const MAX_ANSWER: usize = 1 << 20;

/// How much is kept of a message that is no action.
const KEEP: usize = 2048;

/// What we send, one JSON object each.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Message<'a> {
    Start {
        protocol: u32,
        task: &'a Brief,
    },
    Observation {
        trial: &'a str,
        /// Number of the answer that is expected, from 1.
        step: u32,
        kind: ObservationKind,
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_status: Option<i32>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        running: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        omitted: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        changed: Option<&'a FileChange>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pictures: Vec<SentPicture<'a>>,
        /// Boxed: most messages have none, and it is larger than all the rest.
        #[serde(skip_serializing_if = "Option::is_none")]
        screen: Option<Box<SentScreen<'a>>>,
    },
    End {
        trial: &'a str,
    },
}

impl<'a> Message<'a> {
    pub fn start(task: &'a Brief) -> Self {
        Self::Start {
            protocol: PROTOCOL,
            task,
        }
    }

    pub fn observation(
        trial: &'a str,
        step: u32,
        observation: &'a Observation,
        pictures: Pictures,
    ) -> Self {
        // Taken apart in full, so that a new field can't be forgotten here.
        let Observation {
            kind,
            text,
            exit_status,
            running,
            cwd,
            omitted,
            changed,
            pictures: drawn,
            screen,
        } = observation;
        Self::Observation {
            trial,
            step,
            kind: *kind,
            text,
            exit_status: *exit_status,
            running: *running,
            cwd: cwd.as_deref(),
            omitted: (*omitted > 0).then_some(*omitted),
            changed: changed.as_deref(),
            pictures: drawn
                .iter()
                .map(|picture| SentPicture::new(picture, pictures))
                .collect(),
            screen: screen
                .as_ref()
                .map(|screen| Box::new(SentScreen::new(screen, pictures))),
        }
    }

    pub fn to_json(&self) -> Result<Vec<u8>, AgentError> {
        let mut bytes = Vec::new();
        self.append_to(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes it behind what is there already.
    pub(crate) fn append_to(&self, bytes: &mut Vec<u8>) -> Result<(), AgentError> {
        // Can't happen with these types; if it ever does, it is our doing.
        serde_json::to_writer(bytes, self)
            .map_err(|error| AgentError::Unreachable(format!("message not written: {error}")))
    }
}

/// Reads one answer. What is no JSON at all is garbage and ends the turn; JSON that is no known
/// action is refused and the turn goes on.
pub fn read_answer(bytes: &[u8]) -> Result<Answer, AgentError> {
    if bytes.len() > MAX_ANSWER {
        return Err(too_long());
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| AgentError::Garbage(format!("not UTF-8: {error}")))?;
    let value: Value = serde_json::from_str(text)
        .map_err(|error| AgentError::Garbage(format!("not JSON: {error}: {}", cut(text, 200))))?;
    Ok(reply(value).map_or_else(
        |why| Answer::NotAnAction {
            text: cut(text, KEEP),
            why,
            condensed: None,
        },
        Answer::Reply,
    ))
}

pub(crate) fn too_long() -> AgentError {
    AgentError::Garbage(format!("an answer longer than {MAX_ANSWER} bytes"))
}

fn reply(value: Value) -> Result<Reply, String> {
    let Value::Object(mut fields) = value else {
        return Err("an action is a JSON object".to_owned());
    };
    let is_think = fields.get("action").and_then(Value::as_str) == Some("think");
    let thought = if is_think {
        None
    } else {
        thought(&mut fields)?
    };
    let usage = usage(&mut fields)?;
    let uses = uses(&mut fields)?;
    let pictures = pictures(&mut fields)?;
    let action: Action = serde_json::from_value(Value::Object(fields))
        .map_err(|error| cut(&error.to_string(), KEEP))?;
    Ok(Reply {
        action,
        thought,
        usage,
        uses,
        pictures,
        called: None,
        condensed: None,
    })
}

fn uses(fields: &mut Map<String, Value>) -> Result<Option<Vec<ActionKind>>, String> {
    match fields.remove("uses") {
        None | Some(Value::Null) => Ok(None),
        Some(kinds) => serde_json::from_value(kinds)
            .map(Some)
            .map_err(|error| format!("`uses`: {}", cut(&error.to_string(), KEEP))),
    }
}

fn pictures(fields: &mut Map<String, Value>) -> Result<Option<Pictures>, String> {
    match fields.remove("pictures") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(true)) => Ok(Some(Pictures::Wanted)),
        Some(Value::Bool(false)) => Ok(Some(Pictures::Unwanted)),
        Some(_) => Err("`pictures` must be true or false".to_owned()),
    }
}

fn thought(fields: &mut Map<String, Value>) -> Result<Option<String>, String> {
    match fields.remove("thought") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err("`thought` must be a string".to_owned()),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportedUsage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    cost_usd: Option<Value>,
}

fn usage(fields: &mut Map<String, Value>) -> Result<Option<Usage>, String> {
    let reported: ReportedUsage = match fields.remove("usage") {
        None | Some(Value::Null) => return Ok(None),
        Some(value) => serde_json::from_value(value)
            .map_err(|error| format!("`usage`: {}", cut(&error.to_string(), KEEP)))?,
    };
    let money = reported.cost_usd.as_ref().map(dollars).transpose()?;
    Ok(Some(Usage {
        input_tokens: reported.input_tokens,
        output_tokens: reported.output_tokens,
        money,
        ..Usage::default()
    }))
}

/// A string is read exactly; a number is rounded to micro-dollars, since programs compute costs in
/// floating point.
fn dollars(value: &Value) -> Result<Money, String> {
    const MOST: f64 = 1e9;
    let money = match value {
        Value::String(text) => Money::parse(text),
        Value::Number(number) => number
            .as_f64()
            .filter(|dollars| (0.0..=MOST).contains(dollars))
            .map(|dollars| Money::from_micros((dollars * 1e6).round() as u64)),
        _ => None,
    };
    money.ok_or_else(|| "`usage.cost_usd` must be dollars, such as 0.0125 or \"0.0125\"".to_owned())
}

/// The first bytes of a text, at a character's end.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}...", &text[..text.floor_char_boundary(most)])
}

#[cfg(test)]
mod tests {
    use agon_core::{ActionKind, Digest, Picture, PictureFormat, ScreenView, Seconds};
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Answer {
        read_answer(text.as_bytes()).unwrap()
    }

    fn why(text: &str) -> String {
        match read(text) {
            Answer::NotAnAction { why, .. } => why,
            Answer::Reply(reply) => panic!("{reply:?}"),
        }
    }

    #[test]
    fn messages_are_flat_objects() {
        let brief = Brief {
            trial: "00ff".to_owned(),
            instruction: "Say hello.".to_owned(),
            actions: vec![ActionKind::Message, ActionKind::Finish],
            environment: "none".to_owned(),
            max_steps: 3,
            max_seconds: Seconds::whole(60),
            seed: 1,
        };
        let json = |message: Message<'_>| String::from_utf8(message.to_json().unwrap()).unwrap();
        assert_eq!(
            json(Message::start(&brief)),
            r#"{"type":"start","protocol":1,"task":{"trial":"00ff","instruction":"Say hello.","actions":["message","finish"],"environment":"none","max_steps":3,"max_seconds":60.0,"seed":1}}"#
        );
        let mut observation = Observation::new(ObservationKind::Output, "hi\n");
        assert_eq!(
            json(Message::observation(
                "00ff",
                2,
                &observation,
                Pictures::Wanted
            )),
            r#"{"type":"observation","trial":"00ff","step":2,"kind":"output","text":"hi\n"}"#
        );
        observation.exit_status = Some(0);
        observation.running = true;
        observation.cwd = Some("/work".to_owned());
        observation.omitted = 9;
        assert_eq!(
            json(Message::observation(
                "00ff",
                3,
                &observation,
                Pictures::Wanted
            )),
            r#"{"type":"observation","trial":"00ff","step":3,"kind":"output","text":"hi\n","exit_status":0,"running":true,"cwd":"/work","omitted":9}"#
        );
        let mut seen = Observation::done();
        seen.screen = Some(ScreenView {
            width: 8,
            height: 6,
            cursor: None,
            window: None,
            picture: Picture::new(PictureFormat::Png, b"\x89PNG".as_slice()),
        });
        let blob = Digest::of(b"\x89PNG");
        let head = r#"{"type":"observation","trial":"00ff","step":4,"kind":"done","text":"","screen":{"width":8,"height":6,"picture":"#;
        assert_eq!(
            json(Message::observation("00ff", 4, &seen, Pictures::Wanted)),
            format!(
                r#"{head}{{"format":"png","bytes":4,"blob":"{blob}","base64":"iVBORw=="}}}}}}"#
            )
        );
        assert_eq!(
            json(Message::observation("00ff", 4, &seen, Pictures::Unwanted)),
            format!(r#"{head}{{"format":"png","bytes":4,"blob":"{blob}"}}}}}}"#)
        );
        let mut drew = Observation::new(ObservationKind::Output, "<Figure>");
        drew.pictures = vec![Picture::new(PictureFormat::Png, b"\x89PNG".as_slice())];
        let head = r#"{"type":"observation","trial":"00ff","step":5,"kind":"output","text":"<Figure>","pictures":["#;
        assert_eq!(
            json(Message::observation("00ff", 5, &drew, Pictures::Wanted)),
            format!(r#"{head}{{"format":"png","bytes":4,"blob":"{blob}","base64":"iVBORw=="}}]}}"#)
        );
        assert_eq!(
            json(Message::observation("00ff", 5, &drew, Pictures::Unwanted)),
            format!(r#"{head}{{"format":"png","bytes":4,"blob":"{blob}"}}]}}"#)
        );
        assert_eq!(
            json(Message::End { trial: "00ff" }),
            r#"{"type":"end","trial":"00ff"}"#
        );
    }

    #[test]
    fn an_action_may_carry_thought_and_usage() {
        let answer = read(
            r#"{"action":"run","command":"ls","thought":"look","usage":{"input_tokens":5,"cost_usd":0.0000125}}"#,
        );
        assert_eq!(
            answer,
            Answer::Reply(Reply {
                action: Action::run("ls"),
                thought: Some("look".to_owned()),
                usage: Some(Usage {
                    input_tokens: 5,
                    money: Some(Money::from_micros(13)),
                    ..Usage::default()
                }),
                uses: None,
                called: None,
                condensed: None,
                pictures: None,
            })
        );
        let declared = read(r#"{"action":"finish","uses":["run","finish"]}"#);
        assert!(matches!(
            declared,
            Answer::Reply(Reply { uses: Some(uses), .. }) if uses == [ActionKind::Run, ActionKind::Finish]
        ));
        let refused = read(r#"{"action":"finish","uses":["fly"]}"#);
        assert!(matches!(refused, Answer::NotAnAction { .. }));
        for (text, pictures) in [("true", Pictures::Wanted), ("false", Pictures::Unwanted)] {
            let declared = read(&format!(r#"{{"action":"finish","pictures":{text}}}"#));
            assert_eq!(declared.pictures(), Some(pictures));
        }
        let exact = read(r#"{"action":"screenshot","usage":{"cost_usd":"$1.25"}}"#);
        let Answer::Reply(exact) = exact else {
            panic!("{exact:?}")
        };
        assert_eq!(
            exact.usage.and_then(|usage| usage.money),
            Some(Money::from_micros(1_250_000))
        );
    }

    #[test]
    fn the_thought_of_think_is_its_own() {
        assert_eq!(
            read(r#"{"action":"think","thought":"hm"}"#),
            Answer::from(Action::Think {
                thought: "hm".to_owned()
            })
        );
    }

    #[test]
    fn json_that_is_no_action_is_refused_with_a_reason() {
        assert!(why("[]").contains("object"));
        assert!(why(r#"{"action":"fly"}"#).contains("fly"));
        assert!(why(r#"{"command":"ls"}"#).contains("action"));
        assert!(why(r#"{"action":"run","command":"ls","cwd":"/"}"#).contains("cwd"));
        assert!(why(r#"{"action":"finish","thought":7}"#).contains("thought"));
        assert!(why(r#"{"action":"finish","pictures":"few"}"#).contains("pictures"));
        assert!(why(r#"{"action":"click","x":1,"y":1,"count":0}"#).contains("count"));
        assert!(why(r#"{"action":"drag","path":[]}"#).contains("path"));
        assert!(why(r#"{"action":"finish","usage":{"tokens":1}}"#).contains("usage"));
        for cost in ["-1", "1e300", "\"free\"", "[]"] {
            let text = format!(r#"{{"action":"finish","usage":{{"cost_usd":{cost}}}}}"#);
            assert!(why(&text).contains("cost_usd"), "{cost}");
        }
    }

    #[test]
    fn what_is_no_json_is_garbage() {
        let deep = "[".repeat(100_000);
        let long = format!(
            r#"{{"action":"think","thought":"{}"}}"#,
            "x".repeat(MAX_ANSWER)
        );
        for bad in [
            b"\xff{}".as_slice(),
            b"{",
            b"",
            deep.as_bytes(),
            long.as_bytes(),
        ] {
            let error = read_answer(bad).unwrap_err();
            assert!(matches!(error, AgentError::Garbage(_)), "{error}");
            assert!(error.to_string().len() < 500);
        }
    }

    #[test]
    fn what_is_kept_of_a_refused_message_is_bounded() {
        let text = format!("[{}1]", "1,".repeat(100_000));
        let Answer::NotAnAction { text, .. } = read(&text) else {
            panic!()
        };
        assert!(text.len() <= KEEP + 3);
    }

    /// JSON that looks like an answer but is not quite one.
    fn nearly() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,12}".prop_map(Value::from),
            prop::sample::select(ActionKind::ALL.map(ActionKind::name).to_vec())
                .prop_map(Value::from),
        ];
        let keys = prop::sample::select(vec![
            "action",
            "command",
            "path",
            "text",
            "thought",
            "usage",
            "uses",
            "pictures",
            "cost_usd",
            "x",
            "y",
            "seconds",
            "input_tokens",
            "result",
        ]);
        leaf.prop_recursive(3, 32, 6, move |inner| {
            prop::collection::vec((keys.clone(), inner), 0..6).prop_map(|pairs| {
                Value::Object(
                    pairs
                        .into_iter()
                        .map(|(key, value)| (key.to_owned(), value))
                        .collect(),
                )
            })
        })
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = read_answer(&bytes);
        }

        #[test]
        fn every_json_is_an_answer(value in nearly()) {
            let text = value.to_string();
            prop_assert!(read_answer(text.as_bytes()).is_ok(), "{}", text);
        }

        #[test]
        fn cutting_never_splits_a_character(text in "\\PC{0,40}", most in 0usize..50) {
            let cut = cut(&text, most);
            prop_assert!(cut == text || text.starts_with(cut.trim_end_matches("...")));
        }
    }
}
