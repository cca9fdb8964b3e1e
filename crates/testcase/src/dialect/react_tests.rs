//! What AgentDesk's actions mean, and that they come back.

use proptest::prelude::*;

use super::super::samples::{actions, frame};
use super::*;

fn of(text: &str) -> Result<Action, String> {
    read(&serde_json::from_str(text).unwrap(), &frame())
}

#[test]
fn agentdesks_own_forms_are_read() {
    let click = |x, y, button, count| Action::Click {
        x,
        y,
        button,
        count,
        hold: None,
    };
    let key = |keys: &str| Action::Key {
        keys: keys.to_owned(),
        hold: None,
    };
    for (text, action) in [
        (
            r#"{"name": "click", "parameters": {"button": "right", "x": 4, "y": 5}}"#,
            click(4, 5, Button::Right, 1),
        ),
        (
            r#"{"name": "click", "parameters": {"x": 0, "y": 0}}"#,
            click(0, 0, Button::Left, 1),
        ),
        (r#"{"name": "click"}"#, click(7, 9, Button::Left, 1)),
        (
            r#"{"name": "click", "parameters": {"x": 4, "y": 5, "button": null}}"#,
            click(4, 5, Button::Left, 1),
        ),
        (
            r#"{"name": "double_click", "parameters": {"x": 4, "y": 5}}"#,
            click(4, 5, Button::Left, 2),
        ),
        (
            r#"{"name": "move_mouse", "parameters": {"x": 4, "y": 5}}"#,
            Action::Move { x: 4, y: 5 },
        ),
        (
            r#"{"name": "drag_mouse", "parameters": {"x": 4, "y": 5}}"#,
            Action::Drag {
                path: vec![Point { x: 7, y: 9 }, Point { x: 4, y: 5 }],
                button: Button::Left,
                seconds: None,
            },
        ),
        (
            r#"{"name": "scroll", "parameters": {"clicks": 5}}"#,
            Action::Scroll {
                x: 7,
                y: 9,
                dx: 0,
                dy: -5,
            },
        ),
        (
            r#"{"name": "scroll", "parameters": {}}"#,
            Action::Scroll {
                x: 7,
                y: 9,
                dx: 0,
                dy: 3,
            },
        ),
        (
            r#"{"name": "press_key", "parameters": {"key": "enter"}}"#,
            key("enter"),
        ),
        (
            r#"{"name": "hot_key", "parameters": {"keys": ["ctrl", "shift", "esc"]}}"#,
            key("ctrl+shift+esc"),
        ),
        (
            r#"{"name": "result", "parameters": {"value": 42}}"#,
            Action::Finish {
                result: Some("42".to_owned()),
            },
        ),
        (
            r#"{"name": "take_screenshots", "parameters": {"count": 1, "delay": 0.0}}"#,
            Action::Screenshot,
        ),
        (
            r#"{"name": "exec", "parameters": {"cmd": "ls"}}"#,
            Action::run("ls"),
        ),
    ] {
        assert_eq!(of(text), Ok(action), "{text}");
    }
}

#[test]
fn what_is_no_action_is_said() {
    for (text, word) in [
        ("{}", "`name`"),
        (r#"{"name": "fly"}"#, "`fly` is no action"),
        (
            r#"{"name": "open_url", "parameters": {"url": "x"}}"#,
            "browser",
        ),
        (r#"{"name": "move_mouse"}"#, "the point is missing"),
        (r#"{"name": "type_text"}"#, "`text` is missing"),
        (r#"{"name": "exec"}"#, "`command` is missing"),
        (
            r#"{"name": "click", "parameters": {"x": 1, "y": 900}}"#,
            "not on the screen",
        ),
        (
            r#"{"name": "click", "parameters": {"button": "wheel"}}"#,
            "no button",
        ),
        (
            r#"{"name": "wait", "parameters": {"seconds": -1}}"#,
            "no duration",
        ),
    ] {
        let why = of(text).unwrap_err();
        assert!(why.contains(word), "{text}: {why}");
    }
}

#[test]
fn every_offer_is_an_action_of_its_kind() {
    for offer in OFFERS {
        let call = json!({"name": offer.name(), "parameters": {
            "x": 1, "y": 2, "text": "a", "key": "a", "keys": ["a"], "command": "ls",
        }});
        assert_eq!(
            read(&call, &frame()).unwrap().kind(),
            offer.kind,
            "{offer:?}"
        );
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(action in actions()) {
        if let Some(call) = write(&action, &frame()) {
            prop_assert_eq!(read(&call, &frame()), Ok(action));
        } else {
            let rare = matches!(action, Action::Drag { .. } | Action::Scroll { .. } | Action::Think { .. });
            prop_assert!(rare, "{:?}", action);
        }
    }

    #[test]
    fn no_call_breaks_it(name in "click|scroll|wait|hot_key|result", x in any::<f64>(), text in "\\PC{0,20}") {
        let call = json!({"name": name, "parameters": {"x": x, "y": text, "clicks": x, "seconds": x, "keys": text}});
        let _ = read(&call, &frame());
    }
}
