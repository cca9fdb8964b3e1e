//! The keys of an American keyboard, as WebDriver numbers them and as Chromium is told about them.

use serde_json::{Value, json};

/// Keys with two characters: without Shift, with Shift, the name of the key, Windows' number for it.
const PAIRS: [(char, char, &str, u32); 21] = [
    ('1', '!', "Digit1", 49),
    ('2', '@', "Digit2", 50),
    ('3', '#', "Digit3", 51),
    ('4', '$', "Digit4", 52),
    ('5', '%', "Digit5", 53),
    ('6', '^', "Digit6", 54),
    ('7', '&', "Digit7", 55),
    ('8', '*', "Digit8", 56),
    ('9', '(', "Digit9", 57),
    ('0', ')', "Digit0", 48),
    (';', ':', "Semicolon", 186),
    ('=', '+', "Equal", 187),
    (',', '<', "Comma", 188),
    ('-', '_', "Minus", 189),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    ('`', '~', "Backquote", 192),
    ('[', '{', "BracketLeft", 219),
    ('\\', '|', "Backslash", 220),
    (']', '}', "BracketRight", 221),
    ('\'', '"', "Quote", 222),
];

/// Keys without a character: WebDriver's number, the name, Windows' number, what is typed all the same.
const NAMED: [(char, &str, u32, &str); 15] = [
    ('\u{e003}', "Backspace", 8, ""),
    ('\u{e004}', "Tab", 9, "\t"),
    ('\u{e006}', "Enter", 13, "\r"),
    ('\u{e007}', "Enter", 13, "\r"),
    ('\u{e00c}', "Escape", 27, ""),
    ('\u{e00e}', "PageUp", 33, ""),
    ('\u{e00f}', "PageDown", 34, ""),
    ('\u{e010}', "End", 35, ""),
    ('\u{e011}', "Home", 36, ""),
    ('\u{e012}', "ArrowLeft", 37, ""),
    ('\u{e013}', "ArrowUp", 38, ""),
    ('\u{e014}', "ArrowRight", 39, ""),
    ('\u{e015}', "ArrowDown", 40, ""),
    ('\u{e016}', "Insert", 45, ""),
    ('\u{e017}', "Delete", 46, ""),
];

const SHIFT: u32 = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    name: String,
    code: String,
    number: u32,
    text: String,
    /// What would be typed without Shift.
    plain: String,
    shift: bool,
}

impl Key {
    /// None for the numbers of WebDriver that no test has needed yet.
    pub(crate) fn of(character: char) -> Option<Self> {
        let typed = match character {
            '\n' => '\u{e007}',
            '\t' => '\u{e004}',
            '\u{e00d}' => ' ',
            other => other,
        };
        if let Some((_, name, number, text)) = NAMED.iter().find(|(code, ..)| *code == typed) {
            return Some(Self {
                name: (*name).to_owned(),
                code: (*name).to_owned(),
                number: *number,
                text: (*text).to_owned(),
                plain: (*text).to_owned(),
                shift: false,
            });
        }
        let (code, number, plain) = match typed {
            '\u{e000}'..='\u{e05d}' => return None,
            ' ' => ("Space".to_owned(), 32, ' '),
            'a'..='z' | 'A'..='Z' => {
                let large = typed.to_ascii_uppercase();
                (
                    format!("Key{large}"),
                    u32::from(large),
                    typed.to_ascii_lowercase(),
                )
            }
            _ => PAIRS
                .iter()
                .find(|(plain, shifted, ..)| [*plain, *shifted].contains(&typed))
                // Not on this keyboard, and typed all the same.
                .map_or((String::new(), 0, typed), |(plain, _, code, number)| {
                    ((*code).to_owned(), *number, *plain)
                }),
        };
        Some(Self {
            name: typed.to_string(),
            code,
            number,
            text: typed.to_string(),
            plain: plain.to_string(),
            shift: plain != typed,
        })
    }

    /// Down and up again: the parameters of `Input.dispatchKeyEvent`.
    pub(crate) fn stroke(&self) -> Vec<Value> {
        vec![self.event("keyDown"), self.event("keyUp")]
    }

    /// The same with the Shift key around it, where the character has one.
    pub(crate) fn typed(&self) -> Vec<Value> {
        let shift = |kind| json!({"type": kind, "key": "Shift", "code": "ShiftLeft", "windowsVirtualKeyCode": 16});
        let mut events = self.stroke();
        if self.shift {
            events.insert(0, shift("rawKeyDown"));
            events.push(shift("keyUp"));
        }
        events
    }

    fn event(&self, kind: &str) -> Value {
        json!({
            "type": kind, "key": self.name, "code": self.code, "text": self.text,
            "unmodifiedText": self.plain, "windowsVirtualKeyCode": self.number,
            "modifiers": if self.shift { SHIFT } else { 0 },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_a_key_with_or_without_shift() {
        let stroke = Key::of('?').unwrap().stroke();
        assert_eq!(
            stroke[0],
            json!({"type": "keyDown", "key": "?", "code": "Slash", "text": "?", "unmodifiedText": "/",
                "windowsVirtualKeyCode": 191, "modifiers": 8})
        );
        assert_eq!(stroke[1]["type"], "keyUp");
        let key = Key::of('b').unwrap();
        assert_eq!(
            (key.code.as_str(), key.number, key.shift),
            ("KeyB", 66, false)
        );
        assert_eq!(key.typed().len(), 2);
        let key = Key::of('B').unwrap();
        assert_eq!((key.code.as_str(), key.plain.as_str()), ("KeyB", "b"));
        let typed: Vec<Value> = key
            .typed()
            .iter()
            .map(|event| event["key"].clone())
            .collect();
        assert_eq!(typed, ["Shift", "B", "B", "Shift"]);
    }

    #[test]
    fn a_key_without_a_character_has_a_number() {
        let key = Key::of('\u{e014}').unwrap();
        assert_eq!((key.name.as_str(), key.text.as_str()), ("ArrowRight", ""));
        assert_eq!(Key::of('\u{e007}').unwrap().text, "\r");
        assert_eq!(Key::of('\n'), Key::of('\u{e007}'));
        assert_eq!(Key::of('\u{e00d}'), Key::of(' '));
        assert_eq!(Key::of('\u{e050}'), None);
    }

    #[test]
    fn a_character_of_no_key_is_typed_all_the_same() {
        let key = Key::of('é').unwrap();
        assert_eq!((key.text.as_str(), key.number, key.shift), ("é", 0, false));
    }
}
