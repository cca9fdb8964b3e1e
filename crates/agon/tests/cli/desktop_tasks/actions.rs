//! What an agent does with keyboard and mouse, and what it is told when that can't be done.

use agon::core::verdict::{Outcome, TurnEnd};
use agon::prelude::EventBody;
use serde_json::json;

use super::room::{Room, SIZE, TERMINAL, moment, write_done};

/// Looks at the pictures it is sent, clicks into the window and types.
const LOOKER: &str = r#"
import base64, json, os, struct, sys

def hear():
    return json.loads(sys.stdin.readline())

def say(**action):
    print(json.dumps(action), flush=True)

def size(picture):
    data = base64.b64decode(picture["base64"], validate=True)
    assert len(data) == picture["bytes"] and picture["format"] == "png"
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR"
    return struct.unpack(">II", data[16:24])

hear()
first = hear()
screen = first["screen"]
assert first["kind"] == "ready"
assert size(screen["picture"]) == (screen["width"], screen["height"])
window = screen["window"]
say(action="click", x=window["x"] + 9, y=window["y"] + 9, thought=json.dumps([window["title"],
    os.environ.get("DISPLAY"), os.path.exists("/tmp/.X11-unix")]))
clicked = hear()["screen"]
assert clicked["cursor"] == {"x": window["x"] + 9, "y": window["y"] + 9}
say(action="type", text="echo done > done.txt\n", pictures=False)
typed = hear()["screen"]
assert "base64" not in typed["picture"] and typed["picture"]["blob"] != clicked["picture"]["blob"]
say(action="wait", seconds=0.5, pictures=True)
assert size(hear()["screen"]["picture"]) == (320, 240)
say(action="finish")
"#;

#[test]
fn an_agent_of_any_language_sees_the_screen_and_acts_on_it() {
    let room = Room::new();
    room.bench.write("agents/looker.py", LOOKER);
    room.task("a", &json!([]), &json!({}));
    room.bench
        .run(&["--agent", "cmd:/usr/bin/python3 agents/looker.py"])
        .expect(0);
    let played = room.trial("a");
    let notes: Vec<_> = played.events.iter().map(|event| &event.body).collect();
    assert_eq!(played.line.outcome, Outcome::Passed, "{notes:?}");
    // The agent's own program is somewhere else, where there is no display.
    let thought = notes.iter().find_map(|body| match body {
        EventBody::Thought(text) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(thought, Some(r#"["xterm", null, false]"#));
}

#[test]
fn the_edges_of_the_screen_are_on_it_and_what_is_beyond_is_an_error() {
    let (width, height) = SIZE;
    let at = |x: i32, y: i32| json!({ "action": "click", "x": x, "y": y, "button": "middle" });
    let inside = [
        (0, 0),
        (0, height / 2),
        (width - 1, 0),
        (0, height - 1),
        (width - 1, height - 1),
    ];
    let outside = [
        (-1, 5),
        (5, -1),
        (width, 5),
        (5, height),
        (i32::MAX, i32::MIN),
        (65_536, 65_536),
    ];
    let mut actions: Vec<_> = inside.iter().map(|&(x, y)| at(x, y)).collect();
    actions.extend(outside.iter().map(|&(x, y)| at(x, y)));
    actions.push(json!({ "action": "move", "x": width, "y": 0 }));
    actions.push(json!({ "action": "scroll", "x": -1, "y": 0, "dy": 1 }));
    let half = json!([{ "x": 1, "y": 1 }, { "x": 9, "y": height }]);
    actions.push(json!({ "action": "drag", "path": half }));
    actions.push(json!({ "action": "scroll", "x": 1, "y": 1, "dy": i32::MIN }));
    let wrong = outside.len() + 4;
    actions.extend([write_done(), moment()]);
    let played = Room::played(&json!(actions), &json!({}));
    assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.line);
    assert_eq!(played.line.end, Some(TurnEnd::Finished));
    let steps = played.steps();
    for (step, &place) in steps.iter().zip(&inside) {
        step.done();
        assert_eq!(step.cursor(), place);
    }
    let last = inside[inside.len() - 1];
    for step in &steps[inside.len()..inside.len() + wrong] {
        let said = step.error();
        assert!(
            said.contains("outside of the screen of 320x240") || said.contains("notches"),
            "{said}"
        );
        // Nothing of it was done.
        assert_eq!(step.cursor(), last, "{:?}", step.action);
        assert!(step.input.is_empty(), "{:?}", step.input);
    }
}

#[test]
fn keys_and_texts_that_are_none_are_errors_and_nothing_is_typed() {
    let wrong = json!([
        { "action": "key", "keys": "contrl+c" },
        { "action": "key", "keys": "" },
        { "action": "key", "keys": "ctrl+" },
        { "action": "key_down", "key": "Rihgt" },
        { "action": "key_up", "key": "no key" },
        { "action": "type", "text": "exit\u{4}" },
        { "action": "type", "text": "\u{1b}[2J" },
        { "action": "type", "text": "a\u{0}" },
    ]);
    let mut actions = wrong.as_array().unwrap().clone();
    actions.extend([write_done(), moment()]);
    let played = Room::played(&json!(actions), &json!({}));
    assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.line);
    let steps = played.steps();
    for step in &steps[..actions.len() - 2] {
        step.error();
        assert!(step.input.is_empty(), "{:?}: {:?}", step.action, step.input);
    }
    assert!(steps[0].error().contains("`contrl` is no key"));
    let said = steps[3].error();
    assert!(said.contains("did you mean `right`?"), "{said}");
    assert!(
        steps[5].error().contains("(U+0004) can't be typed"),
        "{}",
        steps[5].error()
    );
}

#[test]
fn keys_left_down_reach_nothing_else() {
    let room = Room::new();
    // What is typed is exact, and the next trial's keyboard is another.
    let hold = |key: &str| json!({ "action": "key_down", "key": key });
    let actions = [hold("shift"), hold("ctrl"), write_done(), moment()];
    room.task("a", &json!(actions), &json!({}));
    let mut plain = vec![json!({ "action": "key", "keys": "e" })];
    plain.extend("cho space d o n e space".split(' ').flat_map(|word| {
        let keys: Vec<_> = match word {
            "cho" => vec!["c", "h", "o"],
            word => vec![word],
        };
        keys.into_iter()
            .map(|key| json!({ "action": "key", "keys": key }))
            .collect::<Vec<_>>()
    }));
    plain.push(json!({ "action": "type", "text": "> done.txt\n" }));
    plain.push(moment());
    room.task("b", &json!(plain), &json!({}));
    room.play(&["--workers", "1", "--epochs", "3"]).expect(0);
    let trials = room.bench.trials();
    assert_eq!(trials.len(), 6);
    for line in trials {
        assert_eq!(line.outcome, Outcome::Passed, "{line:?}");
    }
}

#[test]
fn after_its_window_was_closed_an_agent_is_still_answered() {
    let actions = json!([
        { "action": "key", "keys": "alt+F4" },
        { "action": "wait", "seconds": 0.5 },
        { "action": "type", "text": "nobody hears this\n" },
        { "action": "click", "x": 9, "y": 9, "count": 2 },
        { "action": "drag", "path": [{ "x": 9, "y": 9 }, { "x": 90, "y": 90 }] },
        { "action": "scroll", "x": 9, "y": 9, "dy": 3 },
        { "action": "screenshot" },
    ]);
    let played = Room::played(&actions, &json!({}));
    assert_eq!(played.line.outcome, Outcome::Failed, "{:?}", played.line);
    assert_eq!(played.line.end, Some(TurnEnd::Finished));
    let steps = played.steps();
    assert_eq!(steps.len(), 7);
    for step in &steps {
        step.done();
    }
    for step in &steps[1..] {
        assert_eq!(step.screen().window, None, "{:?}", step.action);
    }
}

#[test]
fn commands_and_screen_are_of_one_environment() {
    let actions = json!([
        { "action": "type", "text": "echo typed > by_keys.txt\n" },
        { "action": "wait", "seconds": 0.5 },
        { "action": "run", "command": "cat by_keys.txt; echo $DISPLAY; xwininfo -root -tree" },
        { "action": "run", "command": format!("{TERMINAL} -T second -e cat & sleep 2") },
        { "action": "screenshot" },
        { "action": "write", "path": "done.txt", "content": "done\n" },
    ]);
    let allowed = json!({ "actions": ["type", "wait", "run", "screenshot", "write", "finish"] });
    let played = Room::played(&actions, &allowed);
    assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.line);
    let steps = played.steps();
    let said = &steps[2].seen.text;
    assert!(
        said.starts_with("typed\n:4242\n") && said.contains("\"xterm\""),
        "{said}"
    );
    assert_eq!(steps[2].seen.screen, None, "a shell has its own words");
    let window = steps[4].screen().window.as_ref().unwrap();
    assert_eq!(window.title(), "second");
}
