//! What people write for a key, and what we write. Every name that X knows is one; `spoken` has
//! those of other systems.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use xkeysym::Keysym;

use super::numbers;
use super::spoken::SPOKEN;
use super::symbol::{Key, UNICODE};
use super::vk;
use crate::error::DesktopError;

/// No name is longer; a longer text is not looked at.
const LONGEST_NAME: usize = 48;

/// Where our name is not that of X: plainer ones, and names that people mean another key by (`hyphen`,
/// `multiply`, `caret`, `leftarrow`).
const OURS: &[(u32, &str)] = &[
    (0xff55, "Page_Up"),
    (0xff56, "Page_Down"),
    (0xad, "U00AD"),
    (0xd7, "U00D7"),
    (0x0afc, "U2038"),
    (0x08fb, "U2190"),
    (0x08fc, "U2191"),
    (0x08fd, "U2192"),
    (0x08fe, "U2193"),
];

/// Where keysyms with names are.
const NAMED: &[std::ops::RangeInclusive<u32>] = &[
    0x20..=0x14ff,
    0x20a0..=0x20ff,
    0xfd00..=0xffff,
    0x0100_0100..=0x0100_28ff,
    0x1000_0000..=0x1000_00ff,
    0x1000_fe00..=0x1000_ffff,
    0x1004_ff00..=0x1004_ffff,
    0x1005_ff00..=0x1005_ffff,
    0x1008_1000..=0x1008_12ff,
    0x1008_fe00..=0x1008_ffff,
];

/// X's names, as they are written and in small letters.
struct Known {
    exact: HashMap<Cow<'static, str>, u32>,
    small: HashMap<String, u32>,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let named = || NAMED.iter().cloned().flatten();
    let exact: HashMap<_, _> = named()
        .filter_map(|keysym| Some((x_name(keysym)?, keysym)))
        .collect();
    let mut small = HashMap::with_capacity(exact.len());
    for (name, keysym) in &exact {
        let folded = name.to_lowercase();
        // `a` and not `A` is the key that somebody means who does not care.
        if folded == **name {
            small.insert(folded, *keysym);
        } else {
            small.entry(folded).or_insert(*keysym);
        }
    }
    Known { exact, small }
});

/// As `XKeysymToString` writes it.
fn x_name(keysym: u32) -> Option<Cow<'static, str>> {
    if let Some((_, ours)) = OURS.iter().find(|(of, _)| *of == keysym) {
        return Some(Cow::Borrowed(ours));
    }
    let (vendor, name) = Keysym::new(keysym).name()?.split_once("XK_")?;
    Some(if vendor.is_empty() {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("{vendor}{name}"))
    })
}

pub(super) fn name_of(keysym: u32) -> Cow<'static, str> {
    x_name(keysym).unwrap_or_else(|| match keysym {
        UNICODE..=0x0110_ffff => Cow::Owned(format!("U{:04X}", keysym - UNICODE)),
        _ => Cow::Owned(format!("{keysym:#x}")),
    })
}

pub(super) fn parse(text: &str) -> Result<Key, DesktopError> {
    let mut characters = text.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        return Key::from_char(character).ok_or_else(|| unknown(text));
    }
    if text.len() > LONGEST_NAME {
        return Err(unknown(text));
    }
    let word = text.trim();
    if let Some(vk) = numbers::virtual_key(word) {
        return Key::from_vk(vk);
    }
    if let Some(name) = windows_name(word) {
        return vk::by_name(&name)
            .ok_or_else(|| unknown(text))
            .and_then(Key::from_vk);
    }
    by_name(word)
        .or_else(|| numbers::keysym(word).or_else(|| numbers::code_point(word)))
        .ok_or_else(|| unknown(text))
}

fn by_name(word: &str) -> Option<Key> {
    let bare = bare(word);
    spoken(&bare)
        .or_else(|| KNOWN.exact.get(word).copied())
        .or_else(|| KNOWN.small.get(&word.to_lowercase()).copied())
        .or_else(|| numbered(&bare))
        .and_then(Key::from_keysym)
}

fn spoken(bare: &str) -> Option<u32> {
    SPOKEN
        .iter()
        .find(|(_, names)| names.contains(&bare))
        .map(|(keysym, _)| *keysym)
}

/// Families of keys: `num7`, `numpad7`, `digit7`, `keya`, `function7`.
fn numbered(bare: &str) -> Option<u32> {
    let digit = |rest: &str| match rest.as_bytes() {
        [digit @ b'0'..=b'9'] => Some(u32::from(digit - b'0')),
        _ => None,
    };
    let keypad = ["num", "numpad", "kp"]
        .iter()
        .find_map(|family| bare.strip_prefix(family).and_then(digit));
    let plain = || bare.strip_prefix("digit").and_then(digit);
    let letter = || match bare.strip_prefix("key")?.as_bytes() {
        [letter @ b'a'..=b'z'] => Some(u32::from(*letter)),
        _ => None,
    };
    keypad
        .map(|digit| 0xffb0 + digit)
        .or_else(|| plain().map(|digit| 0x30 + digit))
        .or_else(letter)
}

/// Without what people write in many ways between the parts of a name.
fn bare(word: &str) -> String {
    const BETWEEN: [char; 3] = ['_', '-', ' '];
    if word.starts_with(BETWEEN) || word.ends_with(BETWEEN) {
        return word.to_lowercase();
    }
    word.chars()
        .filter(|c| !BETWEEN.contains(c))
        .flat_map(char::to_lowercase)
        .collect()
}

/// What follows `VK_` or `VK.`, in capitals.
fn windows_name(word: &str) -> Option<String> {
    let (prefix, name) = word.split_at_checked(3)?;
    let windows = prefix.eq_ignore_ascii_case("vk_") || prefix.eq_ignore_ascii_case("vk.");
    windows.then(|| name.to_ascii_uppercase())
}

fn unknown(text: &str) -> DesktopError {
    let wanted: String = text.chars().take(LONGEST_NAME).collect();
    let word = bare(&wanted);
    let far = |name: &str| strsim::damerau_levenshtein(&word, name);
    let nearest = SPOKEN
        .iter()
        .flat_map(|(_, names)| *names)
        .map(|name| (far(name), *name))
        .min_by_key(|(distance, name)| (*distance, name.len()))
        .filter(|(distance, name)| *distance <= 2 && *distance < name.len().min(word.len()))
        .map(|(_, name)| name.to_owned());
    DesktopError::NoSuchKey { wanted, nearest }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
