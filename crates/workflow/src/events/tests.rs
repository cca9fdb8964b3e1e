//! The JSON of events, both ways: every type, older keys, broken ones.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn read(value: &Value) -> Result<Event, EventError> {
    Event::from_json(value.as_object().unwrap().clone())
}

/// One event of every type, as the files write it.
fn every_type() -> Vec<Value> {
    let keys = |kind: &str| match kind {
        "run" => json!({ "command": "ls" }),
        "run_ipython" => json!({ "code": "1" }),
        "read" => json!({ "path": "a" }),
        "write" => json!({ "path": "a", "content": "b" }),
        "edit" => json!({ "path": "a", "command": "insert", "insert_line": 3 }),
        "browse" => json!({ "url": "http://a/" }),
        "browse_interactive" => json!({ "browser_actions": "noop()" }),
        "call_tool_mcp" => json!({ "name": "t", "arguments": { "x": 1 } }),
        "message" | "system" => json!({ "content": "hello" }),
        "delegate" => json!({ "agent": "Other", "inputs": { "task": "t" }, "outputs": {} }),
        "recall" => json!({ "recall_type": "knowledge" }),
        "condensation" => {
            json!({ "forgotten_event_ids": [1, 2], "summary": "s", "summary_offset": 1 })
        }
        "change_agent_state" | "agent_state_changed" => json!({ "agent_state": "running" }),
        _ => json!({}),
    };
    let actions = Action::TYPES.iter().map(|kind| {
        json!({ "id": 3, "timestamp": "2026-11-16T10:00:00", "source": "agent", "action": kind,
            "args": keys(kind) })
    });
    let seen = Observation::TYPES.iter().map(|kind| {
        json!({ "id": 4, "timestamp": "2026-11-16T10:00:00", "source": "environment", "cause": 3,
            "observation": kind, "content": "text", "extras": keys(kind) })
    });
    actions.chain(seen).collect()
}

#[test]
fn every_type_is_written_as_the_original_does() {
    let events: Vec<Event> = every_type().iter().map(|v| read(v).unwrap()).collect();
    let lines: Vec<String> = events
        .iter()
        .map(|event| serde_json::to_string(event).unwrap())
        .collect();
    let golden = include_str!("../../tests/golden/events.jsonl");
    let mut text = lines.join("\n");
    text.push('\n');
    assert_eq!(
        text, golden,
        "write the new text over events.jsonl if it is right"
    );
}

#[test]
fn the_golden_file_reads_and_writes_the_same() {
    for line in include_str!("../../tests/golden/events.jsonl").lines() {
        let event: Event = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), line);
    }
}

/// A history with all top-level keys, written by hand after the original's description.
#[test]
fn a_whole_history_keeps_its_keys_and_their_order() {
    let text = include_str!("../../tests/golden/history.json");
    let history: History = serde_json::from_str(text).unwrap();
    let mut written = serde_json::to_string_pretty(&history).unwrap();
    written.push('\n');
    assert_eq!(written, text);
    let History::Flat(events) = &history else {
        panic!("it is flat")
    };
    assert_eq!(events[2].action().unwrap().timeout(), Some(120.0));
    assert_eq!(events[3].observation().unwrap().success(), Some(true));
}

#[test]
fn older_keys_are_understood() {
    let event = read(&json!({ "action": "message", "args": {
        "content": "look", "images_urls": ["data:,"], "wait_for_response": true } }));
    let Some(Action::Message(message)) = event.unwrap().action().cloned() else {
        panic!("a message")
    };
    assert_eq!(message.image_urls, Some(vec!["data:,".to_owned()]));

    let event = read(&json!({ "action": "run", "args": {
        "command": "ls", "is_confirmed": "rejected", "keep_prompt": true } }));
    let Some(Action::Run(run)) = event.unwrap().action().cloned() else {
        panic!("a command")
    };
    assert_eq!(run.confirmation_state, ConfirmationState::Rejected);

    let event = read(&json!({ "observation": "run", "content": "x", "extras": {
        "command": "ls", "exit_code": 2, "command_id": 7, "formatted_output_and_error": "x" } }));
    let Some(Observation::Run(seen)) = event.unwrap().observation().cloned() else {
        panic!("an output")
    };
    assert_eq!((seen.exit_code(), seen.metadata.pid), (2, 7));

    let finish = json!({ "action": "finish", "args": { "task_completed": "true", "outputs": {} } });
    assert!(read(&finish).is_ok());
    let edit = json!({ "action": "edit", "args": { "path": "a", "translated_ipython_code": "" } });
    assert!(read(&edit).is_ok());
}

#[test]
fn what_is_no_event_is_told_apart() {
    let error = |value: Value| read(&value).unwrap_err();
    assert_eq!(error(json!({})), EventError::Neither);
    assert_eq!(
        error(json!({ "action": "fly" })),
        EventError::UnknownAction("fly".to_owned())
    );
    assert_eq!(
        error(json!({ "observation": "fly" })),
        EventError::UnknownObservation("fly".to_owned())
    );
    let (kind, key) = ("run", "command");
    assert_eq!(
        error(json!({ "action": "run", "args": {} })),
        EventError::Missing { kind, key }
    );
    for bad in [
        json!({ "action": "run", "args": { "command": 3 } }),
        json!({ "action": "run", "args": { "command": "ls", "security_risk": 9 } }),
        json!({ "action": "condensation", "args": {} }),
        json!({ "action": "condensation", "args": { "forgotten_event_ids": [1], "summary": "s" } }),
        json!({ "action": "condensation", "args": {
            "forgotten_event_ids": [1], "forgotten_events_start_id": 1, "forgotten_events_end_id": 2 } }),
    ] {
        assert!(matches!(error(bad), EventError::Malformed { .. }));
    }
    for bad in [
        json!({ "action": "null", "id": "one" }),
        json!({ "action": "null", "source": "god" }),
        json!({ "action": "null", "args": [] }),
    ] {
        assert!(matches!(error(bad), EventError::Shape(_)));
    }
    let many =
        serde_json::from_value::<History>(json!([{ "action": "null" }, { "action": "fly" }]));
    assert!(many.unwrap_err().to_string().starts_with("event 1: `fly`"));
}

fn numbered(id: u64, cause: Option<u64>, body: impl Into<EventBody>) -> Event {
    Event {
        id: Some(id),
        cause,
        ..Event::new(EventSource::Agent, body)
    }
}

#[test]
fn pairs_hold_every_action_and_every_orphan() {
    let run = |id| numbered(id, None, Action::from(CmdRunAction::new("ls")));
    let output = |id, cause| {
        numbered(
            id,
            Some(cause),
            Observation::from(CmdOutputObservation::default()),
        )
    };
    let error = numbered(
        4,
        None,
        Observation::from(ErrorObservation::new("bad call")),
    );
    let history = vec![run(0), output(1, 0), run(2), error, output(5, 77)];
    let pairs = super::pairs(&history);
    let ids: Vec<_> = pairs.iter().map(|(a, o)| (a.id, o.id)).collect();
    assert_eq!(
        ids,
        [
            (Some(0), Some(1)),
            (Some(2), None),
            (None, Some(4)),
            (None, Some(5))
        ]
    );
    let text = serde_json::to_string(&History::Pairs(pairs.clone())).unwrap();
    let back: History = serde_json::from_str(&text).unwrap();
    assert_eq!(back, History::Pairs(pairs));
    assert_eq!(back.into_flat(), history);
}

#[test]
fn a_trajectory_leaves_pages_out_and_gives_actions_back() {
    let mut page = BrowserOutputObservation {
        url: "http://a/".to_owned(),
        ..Default::default()
    };
    page.screenshot = "data:image/png;base64,AAAA".to_owned();
    page.dom_object.insert("big".to_owned(), json!(1));
    let user = Event::new(EventSource::User, Action::from(MessageAction::new("do it")));
    let asks = MessageAction {
        wait_for_response: true,
        ..MessageAction::new("what?")
    };
    let history = vec![
        Event::new(
            EventSource::Agent,
            Action::from(SystemMessageAction::default()),
        ),
        user.clone(),
        Event::new(EventSource::Agent, Action::from(asks.clone())),
        Event { ..user },
        Event::new(EventSource::Agent, Action::from(CmdRunAction::new("ls"))),
        Event::new(EventSource::Environment, Observation::from(page)),
        Event::new(
            EventSource::Environment,
            Action::from(NullAction::default()),
        ),
        Event::new(EventSource::Agent, Action::from(asks.clone())),
    ];
    let text = write_trajectory(&history, false).unwrap();
    assert!(
        !text.contains("base64") && !text.contains("dom_object"),
        "{text}"
    );
    assert!(write_trajectory(&history, true).unwrap().contains("base64"));
    let (first, actions) = read_trajectory(&text).unwrap();
    assert_eq!(first.content, "do it");
    let silent = MessageAction {
        wait_for_response: false,
        ..asks.clone()
    };
    assert_eq!(
        actions,
        [silent.into(), CmdRunAction::new("ls").into(), asks.into()]
    );
    assert!(
        read_trajectory("[]")
            .unwrap_err()
            .to_string()
            .contains("no message")
    );
    assert!(read_trajectory("{").is_err());
}

/// Another value in each place, of the same kind: names that the format fixes stay.
fn shaken(value: &Value, fixed: bool, next: &mut dyn FnMut() -> (String, i64)) -> Value {
    const FIXED: &[&str] = &[
        "action",
        "observation",
        "source",
        "confirmation_state",
        "impl_source",
        "recall_type",
        "security_risk",
        "message",
    ];
    match value {
        Value::String(_) if !fixed => Value::from(next().0),
        Value::Number(number) if !fixed && number.is_i64() => Value::from(next().1.abs()),
        Value::Array(items) => items.iter().map(|item| shaken(item, fixed, next)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), shaken(value, FIXED.contains(&&**key), next)))
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_the_same(
        values in proptest::collection::vec((any::<String>(), -5i64..1_000_000), 1..40),
    ) {
        let mut at = 0;
        let mut next = || {
            at += 1;
            values[at % values.len()].clone()
        };
        for value in every_type() {
            let whole = serde_json::to_value(read(&value).unwrap()).unwrap();
            let event = read(&shaken(&whole, false, &mut next)).unwrap();
            let text = serde_json::to_string(&event).unwrap();
            let back: Event = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&back, &event);
            prop_assert_eq!(serde_json::to_string(&back).unwrap(), text);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in r#"[\[\]{}":, a-z0-9_-]{0,80}"#) {
        let _ = serde_json::from_str::<History>(&text).is_ok();
        let _ = read_trajectory(&text).is_ok();
    }
}
