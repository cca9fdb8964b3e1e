//! What people write for a key, and what we write. Every name that X knows is one; `SPOKEN` has
//! those of other systems: pyautogui, xdotool, the computer-use tools, browsers.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use xkeysym::Keysym;

use super::numbers;
use super::symbol::{Key, UNICODE};
use super::vk;
use crate::error::DesktopError;

/// No name is longer; a longer text is not looked at.
const LONGEST_NAME: usize = 48;

/// Names without case, blanks, `_` and `-`.
const SPOKEN: &[(&str, u32)] = &[
    ("enter", 0xff0d), ("return", 0xff0d), ("newline", 0xff0d), ("esc", 0xff1b), ("escape", 0xff1b),
    ("space", 0x20), ("spacebar", 0x20), ("tab", 0xff09), ("tabulator", 0xff09),
    ("backspace", 0xff08), ("back", 0xff08), ("bksp", 0xff08), ("delete", 0xffff), ("del", 0xffff),
    ("insert", 0xff63), ("ins", 0xff63), ("home", 0xff50), ("end", 0xff57),
    ("pageup", 0xff55), ("pgup", 0xff55), ("prior", 0xff55),
    ("pagedown", 0xff56), ("pgdn", 0xff56), ("pgdown", 0xff56), ("next", 0xff56),
    ("left", 0xff51), ("arrowleft", 0xff51), ("leftarrow", 0xff51),
    ("up", 0xff52), ("arrowup", 0xff52), ("uparrow", 0xff52),
    ("right", 0xff53), ("arrowright", 0xff53), ("rightarrow", 0xff53),
    ("down", 0xff54), ("arrowdown", 0xff54), ("downarrow", 0xff54),
    ("shift", 0xffe1), ("shiftl", 0xffe1), ("shiftleft", 0xffe1), ("leftshift", 0xffe1), ("lshift", 0xffe1),
    ("shiftr", 0xffe2), ("shiftright", 0xffe2), ("rightshift", 0xffe2), ("rshift", 0xffe2),
    ("ctrl", 0xffe3), ("control", 0xffe3), ("ctrll", 0xffe3), ("controll", 0xffe3), ("ctrlleft", 0xffe3),
    ("controlleft", 0xffe3), ("leftctrl", 0xffe3), ("leftcontrol", 0xffe3), ("lctrl", 0xffe3), ("lcontrol", 0xffe3),
    ("ctrlr", 0xffe4), ("controlr", 0xffe4), ("ctrlright", 0xffe4), ("controlright", 0xffe4),
    ("rightctrl", 0xffe4), ("rightcontrol", 0xffe4), ("rctrl", 0xffe4), ("rcontrol", 0xffe4),
    ("alt", 0xffe9), ("altl", 0xffe9), ("altleft", 0xffe9), ("leftalt", 0xffe9), ("lalt", 0xffe9),
    ("option", 0xffe9), ("opt", 0xffe9), ("optionleft", 0xffe9),
    ("altr", 0xffea), ("altright", 0xffea), ("rightalt", 0xffea), ("ralt", 0xffea), ("optionright", 0xffea),
    ("altgr", 0xfe03), ("altgraph", 0xfe03),
    ("win", 0xffeb), ("winleft", 0xffeb), ("lwin", 0xffeb), ("windows", 0xffeb), ("super", 0xffeb),
    ("superl", 0xffeb), ("superleft", 0xffeb), ("cmd", 0xffeb), ("cmdl", 0xffeb), ("command", 0xffeb),
    ("meta", 0xffeb), ("os", 0xffeb),
    ("winright", 0xffec), ("rwin", 0xffec), ("superr", 0xffec), ("superright", 0xffec),
    ("cmdr", 0xffec), ("commandright", 0xffec), ("hyper", 0xffed),
    ("menu", 0xff67), ("apps", 0xff67), ("app", 0xff67), ("contextmenu", 0xff67),
    ("capslock", 0xffe5), ("caps", 0xffe5), ("numlock", 0xff7f), ("scrolllock", 0xff14),
    ("printscreen", 0xff61), ("print", 0xff61), ("prntscrn", 0xff61), ("prtsc", 0xff61),
    ("prtscr", 0xff61), ("snapshot", 0xff61), ("pause", 0xff13), ("break", 0xff6b),
    ("select", 0xff60), ("execute", 0xff62), ("help", 0xff6a), ("clear", 0xff0b), ("cancel", 0xff69),
    ("kpadd", 0xffab), ("add", 0xffab), ("numpadadd", 0xffab), ("subtract", 0xffad), ("numpadsubtract", 0xffad),
    ("multiply", 0xffaa), ("numpadmultiply", 0xffaa), ("divide", 0xffaf), ("numpaddivide", 0xffaf),
    ("decimal", 0xffae), ("numpaddecimal", 0xffae), ("separator", 0xffac), ("numpadenter", 0xff8d),
    ("minus", 0x2d), ("dash", 0x2d), ("hyphen", 0x2d), ("underscore", 0x5f), ("plus", 0x2b),
    ("equal", 0x3d), ("equals", 0x3d), ("comma", 0x2c), ("period", 0x2e), ("dot", 0x2e), ("point", 0x2e),
    ("slash", 0x2f), ("forwardslash", 0x2f), ("backslash", 0x5c), ("semicolon", 0x3b), ("colon", 0x3a),
    ("quote", 0x27), ("singlequote", 0x27), ("apostrophe", 0x27), ("doublequote", 0x22), ("quotedbl", 0x22),
    ("grave", 0x60), ("backtick", 0x60), ("backquote", 0x60), ("tilde", 0x7e), ("exclamation", 0x21),
    ("exclamationmark", 0x21), ("question", 0x3f), ("questionmark", 0x3f), ("at", 0x40), ("hash", 0x23),
    ("pound", 0x23), ("dollar", 0x24), ("percent", 0x25), ("caret", 0x5e), ("ampersand", 0x26),
    ("asterisk", 0x2a), ("star", 0x2a), ("pipe", 0x7c), ("bar", 0x7c), ("less", 0x3c), ("greater", 0x3e),
    ("bracketleft", 0x5b), ("leftbracket", 0x5b), ("openbracket", 0x5b), ("bracketright", 0x5d),
    ("rightbracket", 0x5d), ("closebracket", 0x5d), ("leftbrace", 0x7b), ("rightbrace", 0x7d),
    ("leftparen", 0x28), ("rightparen", 0x29),
    ("volumeup", 0x1008_ff13), ("volumedown", 0x1008_ff11), ("volumemute", 0x1008_ff12), ("mute", 0x1008_ff12),
    ("playpause", 0x1008_ff14), ("play", 0x1008_ff14), ("stop", 0x1008_ff15), ("nexttrack", 0x1008_ff17),
    ("prevtrack", 0x1008_ff16), ("previoustrack", 0x1008_ff16), ("browserback", 0x1008_ff26),
    ("browserforward", 0x1008_ff27), ("browserrefresh", 0x1008_ff29), ("browserstop", 0x1008_ff28),
    ("browsersearch", 0x1008_ff1b), ("browserfavorites", 0x1008_ff30), ("browserhome", 0x1008_ff18),
    ("launchmail", 0x1008_ff19), ("launchmediaselect", 0x1008_ff32), ("launchapp1", 0x1008_ff33),
    ("launchapp2", 0x1008_ff1d), ("sleep", 0x1008_ff2f),
    ("convert", 0xff23), ("nonconvert", 0xff22), ("kana", 0xff27), ("kanji", 0xff21), ("hangul", 0xff31),
    ("hanguel", 0xff31), ("hanja", 0xff34), ("junja", 0xff38), ("modechange", 0xff7e),
];

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
        .find(|(name, _)| *name == bare)
        .map(|(_, keysym)| *keysym)
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
        .map(|(name, _)| (far(name), *name))
        .min_by_key(|(distance, name)| (*distance, name.len()))
        .filter(|(distance, name)| *distance <= 2 && *distance < name.len().min(word.len()))
        .map(|(_, name)| name.to_owned());
    DesktopError::NoSuchKey { wanted, nearest }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
