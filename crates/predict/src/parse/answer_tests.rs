//! Answers as models give them, and why some are refused.

use agon_core::prediction::{KeyAction, KeyActionName, MouseAction, MouseActionName};
use serde_json::json;

use super::super::cursor::MAX_BYTES;
use super::*;

fn click(x: f64, y: f64) -> UiAction {
    mouse(MouseActionName::Click, x, y)
}

fn mouse(name: MouseActionName, mouse_x: f64, mouse_y: f64) -> UiAction {
    MouseAction {
        name,
        mouse_x,
        mouse_y,
        mouse_button_name: "left".to_owned(),
        mouse_pressed: true,
        element_state: serde_json::Map::new(),
    }
    .into()
}

fn key(name: KeyActionName, key_name: &str) -> UiAction {
    KeyAction {
        name,
        key_name: key_name.to_owned(),
    }
    .into()
}

fn press(key_name: &str) -> UiAction {
    key(KeyActionName::Press, key_name)
}

const CLICK: &str = r#"{"name": "click", "mouse_x": 138, "mouse_y": 89, "mouse_button_name": "left", "mouse_pressed": true}"#;

/// What is said about an answer that is refused.
fn why(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn json_and_python_are_read() {
    let python = "{'name': 'click', 'mouse_x': 138, 'mouse_y': 89.0, \
                  'mouse_button_name': 'left', 'mouse_pressed': True, 'element_state': {},}";
    for text in [CLICK, python] {
        assert_eq!(parse(text).unwrap(), [click(138.0, 89.0)], "{text}");
    }
}

#[test]
fn anything_may_stand_around_it() {
    for text in [
        format!("```json\n{CLICK}\n```"),
        format!("```python\nactive_action_dict = {CLICK}\n```\nThat's it."),
        format!("active_action_dict={CLICK}"),
        format!("It moved by (113, 34), so [see above] the answer's:\n\n{CLICK}\n\nDone (ok)."),
        format!("[{CLICK}]"),
        format!("({CLICK},)"),
        format!("{{\"actions\": [{CLICK}]}}"),
        format!("{{\"why\": \"it {{moved}} [113]\", \"result\": {{\"actions\": [{CLICK}]}}}}"),
        format!("{{\"name\": \"predict\", \"arguments\": {CLICK}}}"),
        format!("print({CLICK})"),
        format!("<think>\nFirst {{'name': 'press', 'key': 'a'}} was done.</think>\n{CLICK}"),
        "MouseAction(name='click', mouse_x=138, mouse_y=89, mouse_button_name='left', \
         mouse_pressed=True)"
            .to_owned(),
        "ActionEvents(actions=[MouseAction(name='click', mouse_x=138, mouse_y=89, \
         mouse_button_name='left', mouse_pressed=True, element_state={})])"
            .to_owned(),
        "[dict(name='click', mouse_x=138, mouse_y=89, mouse_button_name='left', \
         mouse_pressed=True)]"
            .to_owned(),
    ] {
        assert_eq!(parse(&text), Ok(vec![click(138.0, 89.0)]), "{text}");
    }
}

#[test]
fn keys_are_read_under_both_names() {
    for text in [
        r#"{"name": "press", "key_name": "a"}"#,
        r#"{"name": "press", "key": "a"}"#,
        r#"{"name": "press", "key_name": null, "key": "a", "element_state": {"x": 1}}"#,
        r#"{"name": "press", "key_name": "a", "key": "b", "mouse_x": null}"#,
    ] {
        assert_eq!(parse(text), Ok(vec![press("a")]), "{text}");
    }
    let text = "KeyAction(name=\"release\", key_name=\"'\")";
    assert_eq!(parse(text), Ok(vec![key(KeyActionName::Release, "'")]));
}

#[test]
fn lists_mix_both_kinds_and_keep_their_order() {
    let text = "actions = [\n  {'name': 'move', 'mouse_x': 1, 'mouse_y': 2},  # go there\n  \
                KeyAction(name='press', key_name='a'), ('name', ),\n]";
    let mut moved = mouse(MouseActionName::Move, 1.0, 2.0);
    if let UiAction::Mouse(action) = &mut moved {
        action.mouse_button_name.clear();
        action.mouse_pressed = false;
    }
    let read = parse(text).unwrap();
    assert_eq!(read, [moved, press("a")], "up to what is no action");
}

#[test]
fn actions_that_follow_each_other_are_a_list() {
    for text in [
        "{'name':'press','key':'a'}\n{'name':'press','key':'b'}",
        "so {'name':'press','key':'c'}: {'name':'press','key':'a'}, {'name':'press','key':'b'}; ok",
        "1. {'name':'press','key':'a'}\n2. {'name':'press','key':'b'}",
        "1) `{'name':'press','key':'a'}`\n2) `{'name':'press','key':'b'}`",
        "- {'name':'press','key':'a'}\n- {'name':'press','key':'b'}\n",
        "* `{'name':'press','key':'a'}`\n* `{'name':'press','key':'b'}`\n",
        "x = KeyAction(name='press', key_name='a')\ny = KeyAction(name='press', key_name='b')\n",
        "KeyAction(name='press', key_name='a')\nKeyAction(name='press', key_name='b')",
        "[{'name':'press','key':'a'}, {'name':'press','key':'b'}, {'name':'pre",
        "[{'name':'press','key':'a'}, {'name':'press','key':'b'}, {'name':'press','key': 1 + 2}]",
    ] {
        assert_eq!(parse(text), Ok(vec![press("a"), press("b")]), "{text}");
    }
}

#[test]
fn the_last_place_with_valid_actions_wins() {
    for text in [
        "{'name':'press','key':'b'} becomes {'name':'press','key':'a'}",
        "{'name':'press'} or {'name':'press','key':'b'} or {'name':'press','key':'a'}",
        "{'name':'press','key':'b'} [{'name':'press','key':'a'}]",
        "{'name':'press','key':'a'} {'title': 'Calculator', 'meta': {}}",
        "{'name':'press','key':'a'}, as (113, 34) says [see above].",
        // A comment is no answer, and neither is a thought.
        "{'name':'press','key':'a'}\n# was {'name':'press','key':'b'}",
        "{'name':'press','key':'a'} // was {'name':'press','key':'b'}",
        "{'name':'press','key':'b'}</think>{'name':'press','key':'a'}",
        "<thinking>{'name':'press','key':'b'}</thinking>{'name':'press','key':'a'}",
        "<think>a</think> b </think>{'name':'press','key':'a'}",
        // What is assigned to the name that was asked for, whatever follows.
        "active_action_dict={'name':'press','key':'a'}\nIt was {'name':'press','key':'b'}.",
        "active_action_dict={'name':'press','key':'b'} no, \
         active_action_dict = {'name':'press','key':'a'}",
        "actions = [{'name':'press','key':'a'}]\nof {'name':'press','key':'b'}",
        "action={'name':'press','key':'a'} active_action_dict=",
        "active_action_dict = 'see below': {'name':'press','key':'a'}",
        // The last fenced block, if there is one.
        "```\n{'name':'press','key':'b'}\n```\nso\n```python\n{'name':'press','key':'a'}\n```\n\
         and not {'name':'press','key':'b'}",
        "```json\n{'name':'press','key':'a'}",
        // Names of fields.
        "{'reference': {'name':'press','key':'b'}, 'answer': {'name':'press','key':'a'}}",
        "{'answer': {'name':'press','key':'a'}, 'reference': {'name':'press','key':'b'}}",
        "{'before': {'name':'press','key':'b'}, 'after': {'name':'press','key':'a'}}",
    ] {
        assert_eq!(parse(text), Ok(vec![press("a")]), "{text}");
    }
}

#[test]
fn entries_of_a_list_may_hold_actions() {
    const A: &str = "{'name':'press','key':'a'}";
    const B: &str = "{'name':'press','key':'b'}";
    for text in [
        format!("[{{'step': 1, 'action': {A}}}, {{'step': 2, 'action': {B}}}]"),
        format!("[{{'thought': 'first a'}}, {A}, {B}]"),
        format!("[[{A}], [{B}]]"),
        format!("{{'answer': [{A}, {B}, {{'name': 'press'}}, {A}]}}"),
        format!("[{A}, {B}, {{'name': 'press', 'key': 1 + 2}}, {A}]"),
    ] {
        assert_eq!(parse(&text), Ok(vec![press("a"), press("b")]), "{text}");
    }
}

#[test]
fn small_liberties_are_understood() {
    for text in [
        "{'name': 'Press', 'key': 'a'}",
        r#"{"answer": "{\"name\": \"press\", \"key\": \"a\"}"}"#,
        "{\n  // the key\n  \"name\": \"press\", // down\n  \"key\": \"a\"\n}",
        "{\u{201c}name\u{201d}: \u{201c}press\u{201d}, \u{2018}key\u{2019}: \u{2018}a\u{2019}}",
    ] {
        assert_eq!(parse(text), Ok(vec![press("a")]), "{text}");
    }
    let divided = "{'name': 'move', 'mouse_y': 2, 'mouse_x': 277 // 2\n}";
    assert!(why(divided).contains("nothing is calculated"), "{divided}");
}

#[test]
fn element_state_is_kept() {
    let state = r#", "element_state": {"role": "AXButton", "n": [1, 2.5, null]}}"#;
    let text = CLICK.replace('}', state);
    let UiAction::Mouse(action) = parse(&text).unwrap().remove(0) else {
        panic!("{text}");
    };
    let state = serde_json::Value::Object(action.element_state);
    assert_eq!(state, json!({"role": "AXButton", "n": [1, 2.5, null]}));
}

#[test]
fn a_refusal_says_why() {
    const AT: &str = "{'name': 'move', 'mouse_x': 1, 'mouse_y': 2, ";
    let with = |rest: &str| format!("{AT}{rest}}}");
    let click = |rest: &str| with(rest).replace("move", "click");
    for (text, part) in [
        (String::new(), "there is none"),
        ("I cannot do that.".to_owned(), "there is none"),
        ("[]".to_owned(), "expected a list of actions"),
        (
            "{'name': 'click', 'mouse_x': 1}".to_owned(),
            "expected `mouse_y` in this mouse action, at character 0",
        ),
        (
            "{'name': 'click', 'mouse_x': '1', 'mouse_y': 2}".to_owned(),
            "expected `mouse_x` to be a number, and it is text, at character 29",
        ),
        (
            "{'name': 'click', 'mouse_x': True, 'mouse_y': 2}".to_owned(),
            "and it is a truth value",
        ),
        (click(""), "expected `mouse_button_name` in this click"),
        (
            click("'mouse_button_name': 'left'"),
            "expected `mouse_pressed` in this click",
        ),
        (
            click("'mouse_button_name': 1"),
            "to be text, and it is a number",
        ),
        (with("'mouse_pressed': 1"), "to be true or false"),
        (
            with("'element_state': []"),
            "to be an object, and it is a list",
        ),
        (
            "{'name': 'move', 'mouse_x': 1e999, 'mouse_y': 2}".to_owned(),
            "expected a finite number",
        ),
        (
            "{'name': 'press'}".to_owned(),
            "expected `key_name` in this key action",
        ),
        (
            "{'name': 'drag', 'mouse_x': 1}".to_owned(),
            "expected `name` to be click, move, press or release",
        ),
        (
            "{'name': 3, 'mouse_x': 1}".to_owned(),
            "expected `name` to be text",
        ),
        (
            "{'mouse_x': 1, 'mouse_y': 2}".to_owned(),
            "expected a `name` in this action",
        ),
        (
            "{'name': 'move', 'mouse_x': 25 + 113, 'mouse_y': 2}".to_owned(),
            "nothing is calculated, at character 31: `…",
        ),
        (
            "__import__('os').system('rm -rf /')".to_owned(),
            "there is none",
        ),
        (
            "<think>{'name':'press','key':'a'}".to_owned(),
            "nothing but thoughts",
        ),
        (
            "{'name':'press','key':'a'".to_owned(),
            "and the answer ends",
        ),
    ] {
        let why = why(&text);
        assert!(why.contains(part), "{text}: {why}");
    }
}

#[test]
fn length_and_number_are_bounded() {
    assert!(why(&" ".repeat(MAX_BYTES + 1)).contains("at most 1048576"));
    let many = |count: usize| format!("[{}]", "{'name':'press','key':'a'},".repeat(count));
    assert_eq!(parse(&many(MAX_ACTIONS)).unwrap().len(), MAX_ACTIONS);
    assert_eq!(parse(&many(MAX_ACTIONS + 1)), Err(ParseError::TooMany));
    let rows = "{'name':'press','key':'a'}\n".repeat(MAX_ACTIONS + 1);
    assert_eq!(parse(&rows), Err(ParseError::TooMany));
}

#[test]
fn hostile_texts_take_few_steps_per_byte() {
    const PIECES: &[&str] = &[
        "[",
        "(",
        "{",
        "[{",
        "{'a':",
        "[1,",
        "[\"",
        "['[\"",
        "('''",
        "[#",
        "f(x=",
        "((x=",
        "[[],",
        "[' ',",
        "{'name':'click','mouse_x':1,",
        "\\",
        "'",
        "\"\"\"[",
        "[1,'\\",
        "(a ",
        "( # [\n",
        "<think>",
        "</think>",
        "active_action_dict=[",
        "\nactions=",
        "```[{",
        "[{'name':'press','key':'a'},{",
        "\u{201c}",
        " //",
        "1. ",
        "{'a':'b'}",
        "[-",
        "[1e",
        "[\u{a0}",
        "(x=[",
    ];
    for piece in PIECES {
        for length in [1_000, 20_000] {
            let text: String = piece.chars().cycle().take(length).collect();
            let steps = steps(&text);
            assert!(
                steps <= 36 * text.len() + 5_000,
                "{piece}: {steps} for {length}"
            );
        }
    }
}

#[test]
fn too_much_to_try_is_refused_as_such() {
    assert_eq!(parse(&"[1, ".repeat(5_000)), Err(ParseError::Tangled));
}
