//! Which values are actions, and what is wrong with those that are nearly so.

use agon_core::prediction::{KeyAction, KeyActionName, MouseAction, MouseActionName, UiAction};

use super::cursor::Cursor;
use super::reader;
use super::refusal::{Rank, Refusal, Refusals};
use super::value::{Node, Value, field, fields_to_json};

/// Answers with more actions are refused.
pub const MAX_ACTIONS: usize = 10_000;

/// What a value holds.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    One(UiAction),
    List(Vec<UiAction>),
    Nothing,
}

type Fields = [(String, Node)];

/// Fields that say themselves that the answer is in them.
const ANSWERS: [&str; 6] = [
    "answer",
    "active_action",
    "active_action_dict",
    "actions",
    "action",
    "prediction",
];

/// The actions in a value: it may be one, or hold some somewhere inside. Of the fields of an object those
/// that are named like an answer come first, then the last that has actions. Of a list all entries count,
/// up to the first that is nearly an action, as if the answer had been cut off there.
pub(super) fn find(node: &Node, refusals: &mut Refusals) -> Found {
    found(node, refusals, Inside::Texts)
}

/// Whether text in quotes is read as well. Quotes inside of quotes are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Texts,
    Nothing,
}

fn found(node: &Node, refusals: &mut Refusals, inside: Inside) -> Found {
    match &node.value {
        Value::Object(fields) => match action(fields, node.at) {
            Some(Ok(action)) => Found::One(action),
            Some(Err(refusal)) => {
                refusals.note(refusal);
                Found::Nothing
            }
            None => of_fields(fields, refusals, inside),
        },
        Value::List(list) => {
            let actions = of_entries(list, refusals, inside);
            if !actions.is_empty() {
                return Found::List(actions);
            }
            refusals.note(Refusal {
                rank: Rank::Other,
                why: "expected a list of actions".into(),
                at: node.at,
            });
            Found::Nothing
        }
        Value::Text(text) if inside == Inside::Texts => of_text(text),
        _ => Found::Nothing,
    }
}

fn of_fields(fields: &Fields, refusals: &mut Refusals, inside: Inside) -> Found {
    let answers = ANSWERS.iter().filter_map(|name| field(fields, name));
    let others = fields
        .iter()
        .rev()
        .filter(|(name, _)| !ANSWERS.contains(&name.as_str()))
        .map(|(_, node)| node);
    for node in answers.chain(others) {
        let found = found(node, refusals, inside);
        if found != Found::Nothing {
            return found;
        }
    }
    Found::Nothing
}

fn of_entries(list: &[Node], refusals: &mut Refusals, inside: Inside) -> Vec<UiAction> {
    let mut actions = Vec::new();
    for node in list {
        let close = refusals.close();
        match found(node, refusals, inside) {
            Found::One(action) => actions.push(action),
            Found::List(more) => actions.extend(more),
            Found::Nothing => {}
        }
        // Whatever follows belongs to a place that is not known.
        if refusals.close() > close {
            break;
        }
    }
    actions
}

/// Text that is a value itself, as when an answer was written as JSON twice.
fn of_text(text: &str) -> Found {
    if !text.trim_start().starts_with(['{', '[']) {
        return Found::Nothing;
    }
    let Ok(node) = Cursor::new(text).map(|mut cursor| reader::value(&mut cursor)) else {
        return Found::Nothing;
    };
    // What is wrong there has no place in the answer.
    node.map_or(Found::Nothing, |node| {
        found(&node, &mut Refusals::default(), Inside::Nothing)
    })
}

/// `None`: it has nothing of an action.
fn action(fields: &Fields, at: usize) -> Option<Result<UiAction, Refusal>> {
    const TELLING: [&str; 5] = [
        "mouse_x",
        "mouse_y",
        "mouse_button_name",
        "mouse_pressed",
        "key_name",
    ];
    let name = field(fields, "name").or_else(|| {
        TELLING
            .iter()
            .any(|name| field(fields, name).is_some())
            .then_some(&MISSING)
    })?;
    let understood = match &name.value {
        Value::Text(text) => match text.to_ascii_lowercase().as_str() {
            "click" => mouse(MouseActionName::Click, fields, at),
            "move" => mouse(MouseActionName::Move, fields, at),
            "press" => key(KeyActionName::Press, fields, at),
            "release" => key(KeyActionName::Release, fields, at),
            // Tools, people and files have names too.
            _ if !TELLING.iter().any(|name| field(fields, name).is_some()) => return None,
            _ => Err(Refusal::close(
                "expected `name` to be click, move, press or release",
                name.at,
            )),
        },
        Value::Null => Err(Refusal::close("expected a `name` in this action", at)),
        _ if !TELLING.iter().any(|name| field(fields, name).is_some()) => return None,
        other => {
            let why = format!("expected `name` to be text, and it is {}", other.kind());
            Err(Refusal::close(why, name.at))
        }
    };
    Some(understood)
}

const MISSING: Node = Node {
    at: 0,
    value: Value::Null,
};

fn mouse(name: MouseActionName, fields: &Fields, at: usize) -> Result<UiAction, Refusal> {
    let mouse_x = number(fields, "mouse_x", at)?;
    let mouse_y = number(fields, "mouse_y", at)?;
    let button = text(fields, "mouse_button_name")?;
    let pressed = truth(fields, "mouse_pressed")?;
    // A move presses nothing, so that an answer need not say what.
    let needed = |what: &str| Refusal::close(format!("expected `{what}` in this click"), at);
    if name == MouseActionName::Click {
        button.ok_or_else(|| needed("mouse_button_name"))?;
        pressed.ok_or_else(|| needed("mouse_pressed"))?;
    }
    let element_state = match field(fields, "element_state").map(|node| (node.at, &node.value)) {
        None => serde_json::Map::new(),
        Some((_, Value::Object(state))) => fields_to_json(state.clone()),
        Some((at, other)) => return Err(wrong("element_state", "an object", other, at)),
    };
    Ok(UiAction::Mouse(MouseAction {
        name,
        mouse_x,
        mouse_y,
        mouse_button_name: button.unwrap_or_default().to_owned(),
        mouse_pressed: pressed.unwrap_or_default(),
        element_state,
    }))
}

fn key(name: KeyActionName, fields: &Fields, at: usize) -> Result<UiAction, Refusal> {
    let key_name = match text(fields, "key_name")? {
        Some(key) => key,
        None => text(fields, "key")?
            .ok_or_else(|| Refusal::close("expected `key_name` in this key action", at))?,
    };
    Ok(UiAction::Key(KeyAction {
        name,
        key_name: key_name.to_owned(),
    }))
}

fn number(fields: &Fields, name: &str, at: usize) -> Result<f64, Refusal> {
    let node = field(fields, name)
        .ok_or_else(|| Refusal::close(format!("expected `{name}` in this mouse action"), at))?;
    node.value
        .number()
        .ok_or_else(|| wrong(name, "a number", &node.value, node.at))
}

fn text<'a>(fields: &'a Fields, name: &str) -> Result<Option<&'a str>, Refusal> {
    match field(fields, name).map(|node| (node.at, &node.value)) {
        None => Ok(None),
        Some((_, Value::Text(text))) => Ok(Some(text)),
        Some((at, other)) => Err(wrong(name, "text", other, at)),
    }
}

fn truth(fields: &Fields, name: &str) -> Result<Option<bool>, Refusal> {
    match field(fields, name).map(|node| (node.at, &node.value)) {
        None => Ok(None),
        Some((_, Value::Bool(value))) => Ok(Some(*value)),
        Some((at, other)) => Err(wrong(name, "true or false", other, at)),
    }
}

fn wrong(name: &str, expected: &str, found: &Value, at: usize) -> Refusal {
    let why = format!(
        "expected `{name}` to be {expected}, and it is {}",
        found.kind()
    );
    Refusal::close(why, at)
}
