//! Names of keys as people of many tools write them.

use super::*;

fn key(text: &str) -> Key {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn what_people_write_is_understood() {
    let same: &[(Key, &[&str])] = &[
        (
            Key::Return,
            &[
                "enter",
                "Return",
                "ENTER",
                "\n",
                "VK_RETURN",
                "0x0D",
                "13",
                "vk.return",
            ],
        ),
        (Key::Escape, &["esc", "Escape", "ESCAPE", "0x1b", "27"]),
        (
            Key::Space,
            &["space", " ", "Space", "spacebar", "VK_SPACE", "32"],
        ),
        (Key::Backspace, &["backspace", "BackSpace", "back", "0x8"]),
        (Key::Delete, &["del", "Delete"]),
        (
            Key::PageUp,
            &[
                "pageup", "page_up", "Page Up", "pgup", "prior", "Prior", "Page_Up", "PAGE-UP",
            ],
        ),
        (
            Key::PageDown,
            &["next", "Next", "Page_Down", "pgdn", "pagedown"],
        ),
        (
            Key::Left,
            &["left", "Left", "ArrowLeft", "arrow_left", "0x25"],
        ),
        (
            Key::Right,
            &["Right", "0x27", "39", "VK_RIGHT", "VK.RIGHT", "arrowright"],
        ),
        (
            Key::Control,
            &[
                "ctrl",
                "CTRL",
                "control",
                "ctrl_l",
                "Control_L",
                "ctrlleft",
                "VK_CONTROL",
                "VK_LCONTROL",
            ],
        ),
        (Key::ControlRight, &["ctrl_r", "ControlRight", "Control_R"]),
        (
            Key::Alt,
            &["alt", "option", "altleft", "Alt_L", "VK_MENU", "0x12"],
        ),
        (Key::Shift, &["shift", "Shift_L", "shiftleft"]),
        (
            Key::Super,
            &[
                "win", "super", "cmd", "command", "meta", "Super_L", "windows", "VK_LWIN",
            ],
        ),
        (Key::Menu, &["menu", "apps", "Menu", "VK_APPS"]),
        (
            Key::CapsLock,
            &["capslock", "Caps_Lock", "caps_lock", "VK_CAPITAL"],
        ),
        (Key::NumLock, &["numlock", "Num_Lock"]),
        (
            Key::PrintScreen,
            &["printscreen", "Print", "prtsc", "VK_SNAPSHOT"],
        ),
        (Key::F10, &["f10", "F10", "VK_F10", "0x79", "121"]),
        (Key::F24, &["f24", "F24"]),
        (
            Key::known(0xffb7),
            &["num7", "numpad7", "KP_7", "kp_7", "VK_NUMPAD7"],
        ),
        (Key::known(0xffab), &["add", "KP_Add", "VK_ADD"]),
        (Key::known(0xffaa), &["multiply", "KP_Multiply"]),
        (Key::known(0x2d), &["-", "minus", "dash", "hyphen"]),
        (Key::known(0x2b), &["+", "plus"]),
        (
            Key::known(0x61),
            &["a", "VK_A", "KeyA", "VK_KEY_A", "0x41", "65"],
        ),
        (Key::known(0x41), &["A"]),
        (Key::known(0x35), &["5", "VK_5", "Digit5", "0x35", "53"]),
        (Key::known(0xe4), &["ä", "adiaeresis", "U00E4", "U+00E4"]),
        (
            Key::known(0x1008_ff13),
            &["volumeup", "XF86AudioRaiseVolume", "xf86audioraisevolume"],
        ),
        (Key::known(0x0101_f600), &["😀", "U1F600"]),
    ];
    for (wanted, texts) in same {
        for text in *texts {
            assert_eq!(key(text), *wanted, "{text}");
        }
    }
}

#[test]
fn spoken_names_contradict_no_name_of_x() {
    for (name, keysym) in &KNOWN.exact {
        if let Some(spoken) = spoken(&bare(name)) {
            assert_eq!(spoken, *keysym, "{name}");
        }
    }
}

#[test]
fn spoken_names_are_bare_and_stand_once() {
    let names: Vec<&str> = SPOKEN
        .iter()
        .flat_map(|(_, names)| *names)
        .copied()
        .collect();
    for (at, name) in names.iter().enumerate() {
        assert_eq!(bare(name), *name);
        assert!(!names[..at].contains(name), "{name}");
    }
    for (at, (keysym, _)) in SPOKEN.iter().enumerate() {
        assert!(
            SPOKEN[..at].iter().all(|(other, _)| other != keysym),
            "{keysym:#x}"
        );
    }
}

#[test]
fn every_named_keysym_is_where_we_look() {
    // Beyond the ranges as well: a name outside of them could not be read back.
    let vendors = (0x1000_0000..0x1009_0000).filter(|n| matches!(n & 0xf000, 0 | 0x1000 | 0xf000));
    let all = (0..0x3000)
        .chain(0xf000..0x1_1000)
        .chain(0x0100_0000..0x0100_4000)
        .chain(vendors);
    for keysym in all {
        if let (Some(name), Some(key)) = (x_name(keysym), Key::from_keysym(keysym)) {
            assert_eq!(name.parse::<Key>().unwrap(), key, "{name} {keysym:#x}");
        }
    }
}

#[test]
fn names_that_nobody_knows_get_the_nearest() {
    let hint = |text: &str| match text.parse::<Key>() {
        Err(DesktopError::NoSuchKey { nearest, .. }) => nearest,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(hint("entr").as_deref(), Some("enter"));
    assert_eq!(hint("Page_Upp").as_deref(), Some("pageup"));
    assert_eq!(hint("xyzzy"), None);
    assert_eq!(hint(""), None);
    assert_eq!(hint("VK_NOTHING"), None);
    assert_eq!(hint("fn"), None);
    let error = "escpe".parse::<Key>().unwrap_err();
    assert!(error.is_callers());
    assert!(
        error
            .to_string()
            .starts_with("`escpe` is no key (did you mean `escape`?)"),
        "{error}"
    );
    let long = "x".repeat(100_000).parse::<Key>().unwrap_err();
    assert!(long.to_string().len() < 400);
}
