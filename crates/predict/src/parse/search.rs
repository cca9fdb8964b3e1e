//! Finds values in a text with anything around them: prose, fences, an assignment, a call. Whatever opens a
//! bracket is tried; what is no value is given up, and the search goes on right behind its bracket.

use super::cursor::Cursor;
use super::reader;
use super::refusal::{ParseError, Refusals};
use super::value::Node;

/// A value, and the first bracket before it that was given up, if any was.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) node: Node,
    pub(super) broken: Option<usize>,
}

/// The next value that begins with a bracket, outside of comments; the cursor stands behind it.
pub(super) fn next(
    cursor: &mut Cursor<'_>,
    refusals: &mut Refusals,
) -> Result<Option<Place>, ParseError> {
    let mut broken = None;
    loop {
        while cursor.peek().is_some_and(|byte| !opens(byte)) {
            if !cursor.skip_comment() {
                cursor.bump();
            }
        }
        let start = cursor.at();
        if cursor.peek().is_none() {
            return Ok(None);
        }
        let found = reader::value(cursor);
        if cursor.exhausted() {
            return Err(ParseError::Tangled);
        }
        match found {
            Ok(node) => return Ok(Some(Place { node, broken })),
            Err(refusal) => {
                refusals.note(refusal);
                broken = broken.or(Some(start));
                cursor.go_to(start + 1);
            }
        }
    }
}

/// Behind a value: the next one, if nothing but separators, an assignment or the name of what is
/// called stands between. Otherwise the cursor stays.
pub(super) fn following(
    cursor: &mut Cursor<'_>,
    refusals: &mut Refusals,
) -> Result<Option<Node>, ParseError> {
    let back = cursor.at();
    let found = adjacent(cursor).then(|| reader::value(cursor));
    if cursor.exhausted() {
        return Err(ParseError::Tangled);
    }
    match found {
        Some(Ok(node)) => return Ok(Some(node)),
        Some(Err(refusal)) => refusals.note(refusal),
        None => {}
    }
    cursor.go_to(back);
    Ok(None)
}

/// Goes over what may stand between two values, and says whether a bracket is next.
fn adjacent(cursor: &mut Cursor<'_>) -> bool {
    loop {
        cursor.skip_space();
        if !(cursor.eat(b',') || cursor.eat(b';') || bullet(cursor)) {
            break;
        }
    }
    if cursor.name().is_some() {
        cursor.skip_space();
        if cursor.eat(b'=') {
            cursor.skip_space();
            if cursor.name().is_some() {
                cursor.skip_space();
                return cursor.peek() == Some(b'(');
            }
        } else {
            return cursor.peek() == Some(b'(');
        }
    }
    cursor.peek().is_some_and(opens)
}

/// What marks an entry of a list in plain text: `-`, `*`, `1.`, `1)`, and single backticks around it.
fn bullet(cursor: &mut Cursor<'_>) -> bool {
    match cursor.peek() {
        Some(b'`') if cursor.byte(1) != Some(b'`') => cursor.bump().is_some(),
        Some(b'-' | b'*') if cursor.byte(1) == Some(b' ') => cursor.bump().is_some(),
        Some(b'0'..=b'9') => {
            let back = cursor.at();
            while cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                cursor.bump();
            }
            let marks = cursor.eat(b'.') || cursor.eat(b')');
            if !marks {
                cursor.go_to(back);
            }
            marks
        }
        _ => false,
    }
}

fn opens(byte: u8) -> bool {
    matches!(byte, b'{' | b'[' | b'(')
}
