//! Reads one point out of an answer, in any of the ways in which models write points. In which unit it is
//! written is not known here.

use super::answer::skip_thoughts;
use super::cursor::Cursor;
use super::reader;
use super::refusal::{ParseError, Rank, Refusal, Refusals};
use super::value::{Node, Value, field};

const NOTHING: &str = "expected a point such as [x, y], and there is none";
/// Longer tags hold no point.
const LONGEST_TAG: usize = 256;
/// Longer texts say more than where to click.
const LONGEST_SENTENCE: usize = 1_000;
/// Two or four numbers follow, up to the next `<`.
const TAGS: [&str; 7] = [
    "<point>",
    "<points>",
    "<click>",
    "<box>",
    "<bbox>",
    "<|box_start|>",
    "<|point_start|>",
];
const POINTS: [&str; 8] = [
    "point_2d",
    "point",
    "coordinate",
    "coordinates",
    "position",
    "location",
    "center",
    "centre",
];
const BOXES: [&str; 5] = ["bbox_2d", "bbox", "box_2d", "box", "bounding_box"];

/// Finite, in the unit of the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// The first point in an answer, behind the last `</think>`. Text in quotes is looked into only if there
/// is no other.
///
/// `[x, y]`, `(x, y)`, `x, y` alone; objects with `x` and `y`, `mouse_x` and `mouse_y`, a `point_2d`,
/// `point`, `coordinate` or `position`; calls such as `click(x=1, y=2)`; `<point>x y</point>`,
/// `<point x="1" y="2">` and `<|box_start|>(x, y)<|box_end|>`; `x=1, y=2` and `Click at 1, 2` if these are
/// all numbers that there are. A box of four numbers, which are two corners, stands for its centre, and so
/// does `left`, `top`, `width`, `height`; `x` and `y` are a point, unless a `bbox` holds them. The horizontal number always comes first.
pub fn point_of(text: &str) -> Result<Point, ParseError> {
    let mut cursor = Cursor::new(text)?;
    skip_thoughts(&mut cursor)?;
    // Without brackets: one that is not closed may have been cut off inside of a number.
    if let Some(point) = numbers(cursor.rest()).filter(|_| !cursor.rest().contains(['[', '('])) {
        return Ok(point);
    }
    let mut refusals = Refusals::default();
    let start = cursor.at();
    for inside in [Inside::Nothing, Inside::Texts] {
        cursor.go_to(start);
        if let Some(point) = scan(&mut cursor, &mut refusals, inside)? {
            return Ok(point);
        }
    }
    spelled(&text[start..]).ok_or_else(|| refusals.into_error(text, NOTHING))
}

/// Whether text in quotes is looked into as well. Quotes inside of quotes are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Texts,
    Nothing,
}

fn scan(
    cursor: &mut Cursor<'_>,
    refusals: &mut Refusals,
    inside: Inside,
) -> Result<Option<Point>, ParseError> {
    while let Some(byte) = cursor.peek() {
        let start = cursor.at();
        match byte {
            b'<' => {
                if let Some(point) = tagged(cursor.rest()) {
                    return Ok(Some(point));
                }
                cursor.bump();
            }
            b'{' | b'[' | b'(' => {
                let found = reader::value(cursor);
                if cursor.exhausted() {
                    return Err(ParseError::Tangled);
                }
                match found {
                    Ok(node) => match within(&node, inside) {
                        Some(point) => return Ok(Some(point)),
                        None => refusals.note(Refusal {
                            rank: Rank::Other,
                            why: "expected a point in this value".into(),
                            at: start,
                        }),
                    },
                    Err(refusal) => {
                        refusals.note(refusal);
                        cursor.go_to(start + 1);
                    }
                }
            }
            _ => {
                cursor.bump();
            }
        }
    }
    Ok(None)
}

fn within(node: &Node, inside: Inside) -> Option<Point> {
    match &node.value {
        Value::Object(fields) => {
            direct(fields).or_else(|| fields.iter().find_map(|(_, node)| within(node, inside)))
        }
        Value::List(list) => {
            of_list(list).or_else(|| list.iter().find_map(|node| within(node, inside)))
        }
        Value::Text(text) if inside == Inside::Texts => {
            let mut cursor = Cursor::new(text).ok()?;
            let mut ignored = Refusals::default();
            scan(&mut cursor, &mut ignored, Inside::Nothing).ok()?
        }
        _ => None,
    }
}

/// What the fields of an object say by their names.
fn direct(fields: &[(String, Node)]) -> Option<Point> {
    let named = |names: &[&str]| {
        names
            .iter()
            .filter_map(|name| match &field(fields, name)?.value {
                Value::List(list) => of_list(list),
                Value::Object(inner) if BOXES.contains(name) => boxed(inner, "x", "y"),
                _ => None,
            })
            .next()
    };
    let (x, y) = match pair(fields, "mouse_x", "mouse_y").or_else(|| pair(fields, "x", "y")) {
        Some(found) => found,
        None => {
            return boxed(fields, "left", "top")
                .or_else(|| named(&POINTS))
                .or_else(|| named(&BOXES));
        }
    };
    point(x, y)
}

/// The centre of a box that says by names where it begins and how large it is, or its two corners.
fn boxed(fields: &[(String, Node)], left: &str, top: &str) -> Option<Point> {
    if let Some((left, top)) = pair(fields, left, top) {
        let size = pair(fields, "width", "height").or_else(|| pair(fields, "w", "h"));
        let (width, height) = size.unwrap_or_default();
        return point(left + width / 2.0, top + height / 2.0);
    }
    let (left, top) = pair(fields, "x1", "y1")?;
    let (right, bottom) = pair(fields, "x2", "y2")?;
    centre(left, top, right, bottom)
}

fn pair(fields: &[(String, Node)], x: &str, y: &str) -> Option<(f64, f64)> {
    let number = |name: &str| match &field(fields, name)?.value {
        // Some write numbers in quotes.
        Value::Text(text) => single(text.trim()),
        value => value.number(),
    };
    Some((number(x)?, number(y)?))
}

fn of_list(list: &[Node]) -> Option<Point> {
    if list.len() > 4 {
        return None;
    }
    let numbers: Option<Vec<f64>> = list.iter().map(|node| node.value.number()).collect();
    of_numbers(&numbers?)
}

fn of_numbers(numbers: &[f64]) -> Option<Point> {
    match *numbers {
        [x, y] => point(x, y),
        [left, top, right, bottom] => centre(left, top, right, bottom),
        _ => None,
    }
}

fn point(x: f64, y: f64) -> Option<Point> {
    (x.is_finite() && y.is_finite()).then_some(Point { x, y })
}

fn centre(left: f64, top: f64, right: f64, bottom: f64) -> Option<Point> {
    point(f64::midpoint(left, right), f64::midpoint(top, bottom))
}

/// The point of a tag that begins here.
fn tagged(rest: &str) -> Option<Point> {
    if let Some(content) = TAGS.iter().find_map(|tag| rest.strip_prefix(tag)) {
        let content = shortened(content);
        return numbers(content.split('<').next()?);
    }
    let attributes = rest
        .strip_prefix("<points")
        .or(rest.strip_prefix("<point"))?;
    let attributes = shortened(attributes).split('>').next()?;
    let attribute = |names: [&str; 2]| {
        attributes.split_whitespace().find_map(|word| {
            let (name, value) = word.split_once('=')?;
            let value = value.trim_end_matches('/').trim_matches(['"', '\'']);
            names.contains(&name).then(|| value.parse::<f64>().ok())?
        })
    };
    point(attribute(["x", "x1"])?, attribute(["y", "y1"])?)
}

/// So much as a tag may hold, so that many tags that never end cost no more than their number.
fn shortened(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_TAG);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Two or four numbers and nothing else but brackets, commas and white space.
fn numbers(text: &str) -> Option<Point> {
    let text = text.trim();
    if text.len() > LONGEST_TAG {
        return None;
    }
    let mut found = Vec::new();
    let between = |letter: char| letter.is_whitespace() || "()[],;".contains(letter);
    for word in text.split(between).filter(|word| !word.is_empty()) {
        found.push(single(word)?);
    }
    of_numbers(&found)
}

fn single(word: &str) -> Option<f64> {
    // Rust reads `inf` and `nan` too.
    let ends = word.ends_with(|letter: char| letter.is_ascii_digit() || letter == '.');
    ends.then(|| word.parse().ok())?
}

/// Two numbers in a sentence, if there are no others and next to nothing stands between them.
fn spelled(text: &str) -> Option<Point> {
    if text.len() > LONGEST_SENTENCE || text.contains(['[', '(', '{', '<']) {
        return None;
    }
    let part = |letter: char| letter.is_ascii_alphanumeric() || "+-._".contains(letter);
    let mut found = Vec::new();
    let mut between = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|letter: char| letter.is_ascii_digit() || letter == '-') {
        let start = rest[..at].rfind(|letter| !part(letter));
        let start = start.map_or(0, |end| {
            end + rest[end..].chars().next().map_or(1, char::len_utf8)
        });
        let end = rest[start..].find(|letter| !part(letter));
        let end = end.map_or(rest.len(), |length| start + length);
        let word = rest[start..end].trim_end_matches('.');
        match single(word) {
            Some(number) => {
                if found.len() == 1 {
                    between.push_str(&rest[..start]);
                }
                found.push(number);
            }
            None if found.len() == 1 => between.push_str(&rest[..end]),
            None => {}
        }
        rest = &rest[end..];
    }
    let joined = between.to_ascii_lowercase().replace("and", "");
    let empty = joined.chars().all(|letter| " \t\n,;:=y".contains(letter));
    match *found {
        [x, y] if empty => point(x, y),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read_however_they_are_written() {
        for text in [
            "[10, 20]",
            "(10, 20)",
            "10, 20",
            " 10 20\n",
            "The button is at (10, 20).",
            r#"{"x": 10, "y": 20}"#,
            r#"{"point_2d": [10, 20], "label": "OK"}"#,
            r#"```json
[{"point_2d": [10.0, 20.0], "label": "the 'OK' button"}]
```"#,
            r#"{"screen": [1920, 1080], "point": [10, 20]}"#,
            r#"{"bbox_2d": [5, 15, 15, 25]}"#,
            r#"{"x": 10, "y": 20, "width": 10, "height": 10}"#,
            r#"{"bbox": {"x": 5, "y": 15, "width": 10, "height": 10}}"#,
            r#"{"x": "10", "y": " 20"}"#,
            r#"{"thought": "not (1, 2)", "action": {"x": 10, "y": 20}}"#,
            "x=10, y=20",
            "x: 10\ny: 20",
            "Click at 10, 20.",
            "I would click button2 at 10 and 20",
            "at [1, 2]?</think>[10, 20]",
            r#"{"left": 5, "top": 15, "width": 10, "height": 10}"#,
            r#"{"x1": 5, "y1": 15, "x2": 15, "y2": 25}"#,
            "[5, 15, 15, 25]",
            "[[5, 15, 15, 25]]",
            "<point>10 20</point>",
            "<point>10, 20</point>",
            "It is <point x=\"10\" y=\"20\" alt=\"the button\">the button</point>",
            "<points x1=\"10\" y1=\"20\" x2=\"1\" y2=\"2\"/>",
            "<point x='10' y='20'/>",
            "<|box_start|>(10,20)<|box_end|>",
            "<|object_ref_start|>OK<|object_ref_end|><|box_start|>(5,15),(15,25)<|box_end|>",
            "<box>[[5, 15, 15, 25]]</box>",
            "Action: click(start_box='(10,20)')",
            "Action: click(start_box='<|box_start|>(10,20)<|box_end|>')",
            "pyautogui.click(10, 20)",
            "pyautogui.click(x=10, y=20)",
            r#"<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [10, 20]}}</tool_call>"#,
            "MouseAction(name='click', mouse_x=10, mouse_y=20, mouse_button_name='left')",
            "{'name': 'click', 'mouse_x': 10, 'mouse_y': 20}",
            "<think>at [1, 2]?</think>[10, 20]",
            "[1] says: (10, 20)",
            "(see (this)) [10, 20]",
        ] {
            assert_eq!(point_of(text), Ok(Point { x: 10.0, y: 20.0 }), "{text}");
        }
        assert_eq!(point_of("(0.25, -.5)"), Ok(Point { x: 0.25, y: -0.5 }));
    }

    #[test]
    fn the_first_point_wins() {
        assert_eq!(point_of("(1, 2) or (3, 4)"), Ok(Point { x: 1.0, y: 2.0 }));
        assert_eq!(
            point_of("<point>1 2</point> [3, 4]"),
            Ok(Point { x: 1.0, y: 2.0 })
        );
    }

    #[test]
    fn a_refusal_says_why() {
        for (text, part) in [
            ("", "such as [x, y]"),
            ("I see no button.", "such as [x, y]"),
            ("[1, 2, 3]", "expected a point in this value"),
            ("['1', '2']", "expected a point in this value"),
            ("[1, 2", "and the answer ends"),
            ("<point>nan inf</point>", "such as [x, y]"),
            ("<point x=\"inf\" y=\"1\">", "such as [x, y]"),
            ("<point>1 2 3</point>", "such as [x, y]"),
            ("(25 + 113, 4)", "nothing is calculated"),
            ("<think>(1, 2)", "nothing but thoughts"),
            ("There are 2 windows, 3 buttons.", "such as [x, y]"),
            ("At 1, 2 or 3, 4.", "such as [x, y]"),
            ("x=12%, y=5", "such as [x, y]"),
            ("At 12, 10-20", "such as [x, y]"),
        ] {
            let why = point_of(text).unwrap_err().to_string();
            assert!(why.contains(part), "{text}: {why}");
        }
    }

    #[test]
    fn huge_boxes_have_no_infinite_centre() {
        let text = "[1e308, 1e308, 1.7e308, 1.7e308]";
        assert!(
            point_of(text).is_ok_and(|point| point.x.is_finite()),
            "{text}"
        );
        assert!(point_of("{'left': 1.7e308, 'top': 1, 'w': 1.7e308, 'h': 1.7e308}").is_err());
        assert!(point_of(&"<point>".repeat(100_000)).is_err());
        assert!(point_of(&"[\"(\", ".repeat(1_000)).is_err());
    }
}
