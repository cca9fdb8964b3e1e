//! One key: an X keysym that is known to mean something.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xkeysym::Keysym;

use super::{names, vk};
use crate::error::DesktopError;

/// Keysyms are numbers of 29 bits.
const LARGEST_KEYSYM: u32 = 0x1fff_ffff;

/// How X writes characters that have no number of their own: this and the code point.
pub(super) const UNICODE: u32 = 0x0100_0000;

/// One key, by what it means and not by where it is. `Key::Right`, `"Right".parse()`,
/// `Key::from_char('ä')` and `Key::from_vk(0x27)` are ways to one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(u32);

impl Key {
    /// For tables of keysyms that are known to be right.
    pub(super) const fn known(keysym: u32) -> Self {
        Self(keysym)
    }

    /// The key of an X keysym; `None` where the number means nothing. One character is one key,
    /// whichever of its two numbers it comes by.
    pub fn from_keysym(keysym: u32) -> Option<Self> {
        match keysym {
            0..=0x1f | 0x7f..=0x9f | 0x00ff_ffff => None,
            UNICODE..=0x0110_ffff => char::from_u32(keysym - UNICODE).and_then(Self::from_char),
            _ => (keysym <= LARGEST_KEYSYM).then_some(Self(keysym)),
        }
    }

    /// The key that types a character. `\n` and `\r` are Return, `\t` is Tab; other control
    /// characters, and the code points that are none, have no key.
    pub fn from_char(character: char) -> Option<Self> {
        match character {
            '\n' | '\r' => Some(Self::Return),
            '\t' => Some(Self::Tab),
            _ if character.is_control() => None,
            _ => Some(Keysym::from_char(character).raw())
                .filter(|keysym| *keysym != 0)
                .map(Self),
        }
    }

    /// The key of a Windows virtual-key number. The buttons of the mouse (1, 2, 4, 5, 6) are none.
    pub fn from_vk(vk: u16) -> Result<Self, DesktopError> {
        vk::keysym_of(vk).map(Self)
    }

    pub const fn keysym(self) -> u32 {
        self.0
    }

    /// The Windows virtual-key number, as on an American keyboard.
    pub fn vk(self) -> Option<u16> {
        vk::vk_of(self.0)
    }

    /// The name that X has for it, `U1F600` for a character without one. Parsing it gives the key
    /// again.
    pub fn name(self) -> Cow<'static, str> {
        names::name_of(self.0)
    }

    /// The character that it types, if it is one of text.
    pub fn character(self) -> Option<char> {
        Keysym::new(self.0)
            .key_char()
            .filter(|character| !character.is_control())
    }

    pub fn is_modifier(self) -> bool {
        Keysym::new(self.0).is_modifier_key()
    }

    /// Whether it stands on the keypad, where Num Lock decides.
    pub(crate) fn is_on_keypad(self) -> bool {
        Keysym::new(self.0).is_keypad_key()
    }

    /// The keysym to put on a keyboard: characters beyond Latin-1 by their code point, which all
    /// programs understand, while the older numbers are unknown to some.
    pub(crate) fn sent_as(self) -> u32 {
        match self.character() {
            Some(character) if character > '\u{ff}' && Self::from_char(character) == Some(self) => {
                UNICODE + u32::from(character)
            }
            _ => self.0,
        }
    }

    /// The same key without Shift, for a letter.
    pub(super) fn lower(self) -> Self {
        let Some(character) = self.character() else {
            return self;
        };
        let mut lower = character.to_lowercase();
        match (lower.next(), lower.next()) {
            // Keys of the keypad have characters too, which are no letters.
            (Some(lower), None) if lower != character => Self::from_char(lower).unwrap_or(self),
            _ => self,
        }
    }
}

impl FromStr for Key {
    type Err = DesktopError;

    /// Names of X, Windows, pyautogui, xdotool and others, in upper or lower case; a single
    /// character; a virtual-key number in hexadecimal (`0x27`) or with at least two decimal digits
    /// (`39`, while `9` is the character); a code point (`U+20AC`).
    fn from_str(text: &str) -> Result<Self, DesktopError> {
        names::parse(text)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.name())
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Key {
    /// From a name, or from the number of a virtual key.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrNumber;

        impl Visitor<'_> for NameOrNumber {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a key or the number of a virtual key")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Key, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_u64<E: serde::de::Error>(self, vk: u64) -> Result<Key, E> {
                let vk = u16::try_from(vk)
                    .map_err(|_| E::custom(format_args!("{vk} is no virtual key: use 8 to 254")))?;
                Key::from_vk(vk).map_err(E::custom)
            }

            fn visit_i64<E: serde::de::Error>(self, vk: i64) -> Result<Key, E> {
                let vk = u64::try_from(vk)
                    .map_err(|_| E::custom(format_args!("{vk} is no virtual key: use 8 to 254")))?;
                self.visit_u64(vk)
            }
        }

        deserializer
            .deserialize_any(NameOrNumber)
            .map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn characters_are_keys_and_control_characters_are_not() {
        assert_eq!(Key::from_char('\n'), Some(Key::Return));
        assert_eq!(Key::from_char('\t'), Some(Key::Tab));
        assert_eq!(Key::from_char('ä').unwrap().keysym(), 0xe4);
        assert_eq!(Key::from_char('😀').unwrap().keysym(), 0x0101_f600);
        for none in ['\0', '\x1b', '\x7f', '\u{85}', '\u{fffe}', '\u{fdd0}'] {
            assert_eq!(Key::from_char(none), None, "{none:?}");
        }
    }

    #[test]
    fn a_character_is_one_key_whichever_number_it_comes_by() {
        for (number, character) in [(0x0100_0041, 'A'), (0x0100_044f, 'я'), (0x06d1, 'я')] {
            assert_eq!(Key::from_keysym(number), Key::from_char(character));
        }
        for nothing in [
            0,
            7,
            0x85,
            0x0100_0007,
            0x0100_d800,
            0x00ff_ffff,
            0x2000_0000,
            u32::MAX,
        ] {
            assert_eq!(Key::from_keysym(nothing), None, "{nothing:#x}");
        }
    }

    #[test]
    fn json_is_a_name_or_a_number() {
        let read = |text: &str| serde_json::from_str::<Key>(text);
        assert_eq!(read("39").unwrap(), Key::Right);
        assert_eq!(read("\"right\"").unwrap(), Key::Right);
        assert_eq!(read("8").unwrap(), Key::Backspace);
        assert_eq!(read("\"8\"").unwrap(), Key::from_char('8').unwrap());
        assert_eq!(serde_json::to_string(&Key::Right).unwrap(), "\"Right\"");
        for bad in ["1", "-1", "70000", "3.5", "null", "\"nokey\"", "[]"] {
            read(bad).unwrap_err();
        }
        assert!(read("1").unwrap_err().to_string().contains("mouse"));
    }

    #[test]
    fn capitals_have_a_small_letter() {
        let key = |c| Key::from_char(c).unwrap();
        assert_eq!(key('Q').lower(), key('q'));
        assert_eq!(key('Ж').lower(), key('ж'));
        assert_eq!(Key::F10.lower(), Key::F10);
        assert_eq!(key('!').lower(), key('!'));
        assert_eq!(Key::known(0xffb1).lower(), Key::known(0xffb1));
    }

    proptest! {
        #[test]
        fn every_character_is_found_by_the_name_of_its_key(character: char) {
            if let Some(key) = Key::from_char(character) {
                prop_assert_eq!(key.name().parse::<Key>().unwrap(), key);
                if !character.is_whitespace() {
                    prop_assert_eq!(key.character(), Some(character));
                }
            }
        }

        #[test]
        fn every_number_is_found_by_its_name(keysym in prop_oneof![
            0_u32..0x1_0000,
            0x0100_0000_u32..0x0111_0000,
            0x1000_0000_u32..0x1010_0000,
            any::<u32>(),
        ]) {
            if let Some(key) = Key::from_keysym(keysym) {
                prop_assert_eq!(key.name().parse::<Key>().unwrap(), key);
                let json = serde_json::to_string(&key).unwrap();
                prop_assert_eq!(serde_json::from_str::<Key>(&json).unwrap(), key);
            }
        }

        #[test]
        fn no_text_breaks_the_parser(text in ".{0,60}") {
            let _ = text.parse::<Key>();
        }
    }
}
