//! Keys go down and up as they are told to, and nothing stays pressed.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use agon_core::InputKind;
use agon_core::action::Button;
use agon_desktop::{
    Desktop, DesktopConfig, DesktopError, HOLD, Key, KeyCombination, Published, Vk,
};
use x11rb::protocol::xkb::ConnectionExt as _;
use x11rb::protocol::xproto::ConnectionExt as _;

use super::probe::{PATIENCE, Probe, Seen, connect};

fn desktop() -> Desktop {
    Desktop::start(&DesktopConfig::default()).unwrap()
}

/// Key events of a probe: code, whether it went down, and modifiers before it.
fn keys(seen: Vec<Seen>) -> Vec<(u8, bool, u16)> {
    let key = |seen| match seen {
        Seen::KeyPress { code, state } => Some((code, true, state)),
        Seen::KeyRelease { code, state } => Some((code, false, state)),
        _ => None,
    };
    seen.into_iter().filter_map(key).collect()
}

/// Codes on the layout that Xvfb starts with.
const SHIFT: u8 = 50;
const CONTROL: u8 = 37;
const LETTER_A: u8 = 38;
const EQUALS: u8 = 21;
const RIGHT: u8 = 114;
const KEYPAD_1: u8 = 87;
const NUM_LOCK: u8 = 77;

/// Programs that look at the keyboard once a frame see every press.
#[test]
fn keys_and_buttons_are_held_as_long_as_people_hold_them() {
    let desktop = desktop();
    let log = desktop.input_log().unwrap();
    let held = || {
        log.sync(PATIENCE).unwrap();
        let (events, _) = log.take();
        let at = |kinds: &[InputKind]| {
            let event = events.iter().find(|event| kinds.contains(&event.kind));
            event.unwrap_or_else(|| panic!("{events:?}")).t
        };
        at(&[InputKind::KeyRelease, InputKind::ButtonRelease])
            - at(&[InputKind::KeyPress, InputKind::ButtonPress])
    };
    // The server counts in whole milliseconds.
    let least = |hold: Duration| hold - Duration::from_millis(1);
    desktop
        .keyboard()
        .tap(Key::from_char('a').unwrap())
        .unwrap();
    assert!(held() >= least(HOLD));
    desktop.mouse().click(Button::Left, 1).unwrap();
    assert!(held() >= least(HOLD));
    let longer = Duration::from_millis(120);
    let combination: KeyCombination = "b".parse().unwrap();
    desktop
        .keyboard()
        .combination_held(&combination, longer)
        .unwrap();
    assert!(held() >= least(longer));
}

/// python-xlib, and with it pynput and pyautogui, looks for a display by the name of the machine.
#[test]
fn clients_in_python_open_a_published_desktop() {
    let desktop = desktop();
    let folder = tempfile::tempdir().unwrap();
    let published = Published::new(&desktop, &folder.path().join("authority")).unwrap();
    let script = "from Xlib.display import Display; print(Display().screen().width_in_pixels)";
    let output = Command::new("/usr/bin/python3")
        .args(["-c", script])
        .env("DISPLAY", published.display())
        .env("XAUTHORITY", published.authority())
        .output()
        .unwrap();
    let width = DesktopConfig::default().size.width.to_string();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.trim(), width, "{output:?}");
}

#[test]
fn keys_go_down_and_up_in_order() {
    let desktop = desktop();
    let probe = Probe::cover(&desktop);
    let keyboard = desktop.keyboard();
    let seen = |act: &dyn Fn()| {
        act();
        keyboard.state().unwrap();
        keys(probe.events())
    };
    let press = |key: Key| keyboard.press(key).unwrap();
    assert_eq!(seen(&|| press(Key::Right)), [(RIGHT, true, 0)]);
    assert_eq!(
        seen(&|| keyboard.release(Key::Right).unwrap()),
        [(RIGHT, false, 0)]
    );

    let combination = |text: &str| {
        let combination: KeyCombination = text.parse().unwrap();
        keyboard.combination(&combination).unwrap();
    };
    let all = seen(&|| combination("ctrl+shift+a"));
    let expected = [
        (CONTROL, true, 0),
        (SHIFT, true, 4),
        (LETTER_A, true, 5),
        (LETTER_A, false, 5),
        (SHIFT, false, 5),
        (CONTROL, false, 4),
    ];
    assert_eq!(all, expected);

    // Shift comes by itself where a key needs it, and goes with it.
    let all = seen(&|| combination("ctrl++"));
    let expected = [
        (CONTROL, true, 0),
        (SHIFT, true, 4),
        (EQUALS, true, 5),
        (EQUALS, false, 5),
        (SHIFT, false, 5),
        (CONTROL, false, 4),
    ];
    assert_eq!(all, expected);
    // But a Shift that somebody holds stays.
    let all = seen(&|| {
        press(Key::Shift);
        keyboard.tap("A".parse().unwrap()).unwrap();
    });
    assert_eq!(
        all,
        [(SHIFT, true, 0), (LETTER_A, true, 1), (LETTER_A, false, 1)]
    );
    assert_eq!(
        seen(&|| keyboard.release_all().unwrap()),
        [(SHIFT, false, 1)]
    );
}

#[test]
fn digits_of_the_keypad_are_digits_whatever_num_lock_says() {
    let desktop = desktop();
    let probe = Probe::cover(&desktop);
    let keyboard = desktop.keyboard();
    let one = Key::from_vk(Vk::NUMPAD1).unwrap();
    let tapped = || {
        keyboard.tap(one).unwrap();
        keyboard.state().unwrap();
        keys(probe.events())
    };
    let with_shift = [
        (SHIFT, true, 0),
        (KEYPAD_1, true, 1),
        (KEYPAD_1, false, 1),
        (SHIFT, false, 1),
    ];
    assert_eq!(tapped(), with_shift);
    keyboard.tap(Key::NumLock).unwrap();
    keyboard.state().unwrap();
    assert_eq!(keys(probe.events())[0].0, NUM_LOCK);
    assert_eq!(tapped(), [(KEYPAD_1, true, 16), (KEYPAD_1, false, 16)]);
    keyboard.press(one).unwrap();
    assert_eq!(
        keyboard.state().unwrap().buttons,
        BTreeSet::from([Vk::NUMPAD1])
    );
}

#[test]
fn the_state_tells_keys_and_buttons() {
    let desktop = desktop();
    let _probe = Probe::cover(&desktop);
    let keyboard = desktop.keyboard();
    assert!(keyboard.state().unwrap().buttons.is_empty());
    for vk in [Vk::LSHIFT, Vk::RIGHT, Vk::A, Vk::VOLUME_UP] {
        keyboard.press(Key::from_vk(vk).unwrap()).unwrap();
    }
    desktop
        .mouse()
        .press(agon_core::action::Button::Right)
        .unwrap();
    let expected = [
        Vk::SHIFT,
        Vk::LSHIFT,
        Vk::RIGHT,
        Vk::A,
        Vk::VOLUME_UP,
        Vk::RBUTTON,
    ];
    assert_eq!(keyboard.state().unwrap().buttons, BTreeSet::from(expected));
    keyboard.release(Key::Right).unwrap();
    keyboard.release("漢".parse().unwrap()).unwrap();
    assert_eq!(keyboard.state().unwrap().buttons.len(), 5);
    keyboard.release_all().unwrap();
    assert!(keyboard.state().unwrap().keys.is_empty());
}

#[test]
fn what_is_held_is_released_when_its_user_goes() {
    let desktop = desktop();
    let _probe = Probe::cover(&desktop);
    // Another user of the same display, as one of a display that is not ours.
    let user = Desktop::connect(desktop.address()).unwrap();
    let before = mapping(&desktop);
    for key in ["shift", "a", "Right", "漢", "!"] {
        user.keyboard().press(key.parse().unwrap()).unwrap();
    }
    // Up and down again: text is typed without what is held.
    user.keyboard().type_text("xЖ").unwrap();
    assert_eq!(desktop.keyboard().state().unwrap().keys.len(), 5);
    assert_ne!(mapping(&desktop), before);
    drop(user);
    assert_eq!(desktop.keyboard().state().unwrap().keys, []);
    assert_eq!(
        mapping(&desktop),
        before,
        "codes are given back on a display of somebody else"
    );
}

#[test]
fn who_is_cut_off_has_released_everything_and_does_nothing_more() {
    let desktop = desktop();
    let probe = Probe::cover(&desktop);
    let user = Desktop::connect(desktop.address()).unwrap();
    let before = mapping(&desktop);
    for key in ["shift", "a", "漢"] {
        user.keyboard().press(key.parse().unwrap()).unwrap();
    }
    user.mouse()
        .press(agon_core::action::Button::Right)
        .unwrap();
    user.clipboard().set("mine").unwrap();
    user.let_go();
    let state = desktop.keyboard().state().unwrap();
    assert_eq!((state.keys, state.buttons), (vec![], BTreeSet::new()));
    assert_eq!(mapping(&desktop), before, "codes are given back");
    probe.events();
    user.keyboard().press(Key::Right).unwrap_err();
    user.keyboard().type_text("x").unwrap_err();
    user.mouse().move_to(1, 1).unwrap_err();
    user.screen().capture().unwrap_err();
    let patience = Duration::from_secs(20);
    for gone in [
        user.windows().wait_for("any", patience).unwrap_err(),
        user.windows().make_active("any").unwrap_err(),
        user.windows().move_to("any", 1, 1).unwrap_err(),
        user.clipboard().set("theirs").unwrap_err(),
        user.clipboard().get().unwrap_err(),
    ] {
        assert!(matches!(gone, DesktopError::Gone(_)), "{gone}");
    }
    assert_eq!(probe.events(), []);
}

#[test]
fn who_waits_is_cut_off_too() {
    let desktop = desktop();
    let user = std::sync::Arc::new(Desktop::connect(desktop.address()).unwrap());
    let waiting = std::sync::Arc::clone(&user);
    let forever = Duration::from_secs(3600);
    let waiter = std::thread::spawn(move || waiting.windows().wait_for("no such", forever));
    // Before it waits or while it does.
    user.hang_up();
    waiter.join().unwrap().unwrap_err();
}

fn mapping(desktop: &Desktop) -> Vec<u32> {
    let x = connect(desktop);
    let map = x.get_keyboard_mapping(8, 248).unwrap().reply().unwrap();
    // How many columns there are depends on who asks when.
    let per = usize::from(map.keysyms_per_keycode);
    map.keysyms
        .chunks(per)
        .flat_map(|row| [row[0], row[1]])
        .collect()
}

#[test]
fn two_desktops_do_not_see_each_other() {
    let (one, other) = (desktop(), desktop());
    let (first, second) = (Probe::cover(&one), Probe::cover(&other));
    one.keyboard().press(Key::Control).unwrap();
    one.keyboard().type_text("only here: 漢字\n").unwrap();
    assert!(!keys(first.events()).is_empty());
    assert_eq!(keys(second.events()), []);
    assert_eq!(other.keyboard().state().unwrap().keys, []);
    other.keyboard().type_text("und nur da: äöü\n").unwrap();
    assert!(!keys(second.events()).is_empty());
    assert_eq!(keys(first.events()), []);
    assert_eq!(one.keyboard().state().unwrap().keys, [Key::Control]);
}

#[test]
fn a_held_key_repeats_and_the_times_are_as_before() {
    let desktop = desktop();
    let probe = Probe::cover(&desktop);
    let keyboard = desktop.keyboard();
    let before = repetition(&desktop);
    let ms = Duration::from_millis;
    keyboard.hold(Key::Right, ms(700), ms(100), ms(20)).unwrap();
    keyboard.state().unwrap();
    let all = keys(probe.events());
    let presses = all.iter().filter(|(_, down, _)| *down).count();
    assert!(all.iter().all(|(code, _, _)| *code == RIGHT));
    // With the times of the server there would be two at most.
    assert!(presses > 3, "{presses}");
    assert_eq!(all.last(), Some(&(RIGHT, false, 0)));
    assert_eq!(repetition(&desktop), before);
    let too_long = keyboard
        .hold(Key::Right, ms(601_000), ms(1), ms(1))
        .unwrap_err();
    assert!(too_long.is_callers());
}

/// Milliseconds before the first repetition, and between two.
fn repetition(desktop: &Desktop) -> (u16, u16) {
    let x = connect(desktop);
    x.xkb_use_extension(1, 0).unwrap().reply().unwrap();
    let controls = x.xkb_get_controls(0x0100).unwrap().reply().unwrap();
    (controls.repeat_delay, controls.repeat_interval)
}

#[test]
fn what_cannot_be_typed_is_refused_before_anything_is_sent() {
    let desktop = desktop();
    let probe = Probe::cover(&desktop);
    probe.events();
    for bad in ["abc\x07", "\x1b", "\u{fffe}"] {
        let error = desktop.keyboard().type_text(bad).unwrap_err();
        assert!(matches!(error, DesktopError::Invalid(_)), "{error}");
    }
    let long = "a".repeat(1_000_001);
    assert!(
        desktop
            .keyboard()
            .type_text(&long)
            .unwrap_err()
            .is_callers()
    );
    assert_eq!(keys(probe.events()), []);
    desktop.keyboard().type_text("").unwrap();
}
