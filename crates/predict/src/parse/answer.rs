//! From an answer to its actions: of several places that hold valid ones, which counts.

use agon_core::prediction::UiAction;

use super::action::{self, Found, MAX_ACTIONS};
use super::cursor::Cursor;
use super::place::{self, Fences};
use super::refusal::{ParseError, Refusals};
use super::search;

const NOTHING: &str = "expected an action or a list of actions, and there is none";

/// The actions in an answer, at least one.
///
/// The answer may be JSON or a Python literal, one action or a list, alone or with anything around it.
/// It begins behind the last `</think>`. What is assigned to `active_action_dict`, or to `actions` or
/// `action` at the beginning of a line, comes first; otherwise the last place in a fenced block counts, and
/// without one the last place at all: models repeat the question before they answer. Actions that follow
/// each other with nothing but separators between them are one place. A list that is cut off, or has
/// an entry that is nearly an action, gives what stands before.
pub fn parse(text: &str) -> Result<Vec<UiAction>, ParseError> {
    let mut cursor = Cursor::new(text)?;
    read(&mut cursor)
}

fn read(cursor: &mut Cursor<'_>) -> Result<Vec<UiAction>, ParseError> {
    skip_thoughts(cursor)?;
    let start = cursor.at();
    let mut refusals = Refusals::default();
    let mut found = None;
    if let Some(at) = place::assignment(cursor.rest()) {
        cursor.go_to(start + at);
        found = places(cursor, Wanted::First, &mut refusals)?;
    }
    if found.is_none() {
        cursor.go_to(start);
        found = places(cursor, Wanted::Last, &mut refusals)?;
    }
    match found {
        None => Err(refusals.into_error(cursor.text(), NOTHING)),
        Some(actions) if actions.len() > MAX_ACTIONS => Err(ParseError::TooMany),
        Some(actions) => Ok(actions),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    First,
    Last,
}

/// The actions of the place that counts.
fn places(
    cursor: &mut Cursor<'_>,
    wanted: Wanted,
    refusals: &mut Refusals,
) -> Result<Option<Vec<UiAction>>, ParseError> {
    let fences = Fences::of(cursor.text(), cursor.at());
    let (mut fenced, mut other) = (None, None);
    // Behind a broken entry of a list nothing counts, up to where that list ends.
    let mut list_end = 0;
    let mut counted = false;
    loop {
        let before = cursor.at();
        let next = match search::next(cursor, refusals) {
            Ok(next) => next,
            Err(_) if fenced.is_some() || other.is_some() => break,
            Err(error) => return Err(error),
        };
        let Some(search::Place { node, broken }) = next else {
            break;
        };
        if let Some(start) = broken.filter(|_| before >= list_end)
            && let Some(end) = place::end_of_list(cursor.text(), start)
        {
            (list_end, counted) = (end, false);
        }
        let at = node.at;
        let actions = match action::find(&node, refusals) {
            Found::List(actions) => actions,
            Found::One(action) => gathered(cursor, action, refusals)?,
            Found::Nothing => continue,
        };
        if at < list_end && std::mem::replace(&mut counted, true) {
            continue;
        }
        if wanted == Wanted::First {
            return Ok(Some(actions));
        }
        let kept = if fences.hold(at) {
            &mut fenced
        } else {
            &mut other
        };
        *kept = Some(actions);
    }
    Ok(fenced.or(other))
}

/// One action, and those that follow it closely.
fn gathered(
    cursor: &mut Cursor<'_>,
    first: UiAction,
    refusals: &mut Refusals,
) -> Result<Vec<UiAction>, ParseError> {
    let mut actions = vec![first];
    loop {
        let back = cursor.at();
        let Some(node) = search::following(cursor, refusals)? else {
            return Ok(actions);
        };
        match action::find(&node, refusals) {
            Found::One(action) => actions.push(action),
            Found::List(_) | Found::Nothing => {
                // It may be a place of its own.
                cursor.go_to(back);
                return Ok(actions);
            }
        }
    }
}

/// Some models write their thoughts first, in which they often repeat the question.
pub(super) fn skip_thoughts(cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
    let end = place::behind_thoughts(cursor.text()).ok_or(ParseError::OnlyThoughts)?;
    cursor.go_to(end);
    Ok(())
}

/// How many steps an answer takes, whatever becomes of it.
#[cfg(test)]
pub(super) fn steps(text: &str) -> usize {
    Cursor::new(text).map_or(0, |mut cursor| {
        let _ = read(&mut cursor);
        cursor.steps()
    })
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
