//! Listeners hear what really happens on a desktop: keys, mouse, windows, states; and end as they
//! should, whatever ends them.

mod endings;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use agon_core::InputKind;
use agon_core::action::Button;
use agon_desktop::listen::{Event, WindowEventKind};
use agon_desktop::{
    Desktop, DesktopConfig, InputEvent, Key, ListenConfig, Listener, PanicKey, Rect, Vk, monotonic,
};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, GrabMode, GrabStatus};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

use super::probe::{PATIENCE, Probe, Program, connect};

const PRESS: InputKind = InputKind::KeyPress;
const RELEASE: InputKind = InputKind::KeyRelease;

fn desktop() -> Desktop {
    Desktop::start(&DesktopConfig::default()).unwrap()
}

fn next(listener: &Listener) -> Event {
    listener.next(PATIENCE).unwrap().unwrap()
}

fn input(listener: &Listener) -> InputEvent {
    match next(listener) {
        Event::Input(event) => event,
        other => panic!("{other:?} is no input"),
    }
}

fn inputs(listener: &Listener, count: usize) -> Vec<InputEvent> {
    (0..count).map(|_| input(listener)).collect()
}

/// Nothing else came: the next thing that happens is the next that is told.
fn nothing_else(desktop: &Desktop, listener: &Listener) {
    desktop.keyboard().tap(Key::F12).unwrap();
    let told = inputs(listener, 2);
    assert!(
        told.iter().all(|event| event.key.as_deref() == Some("F12")),
        "{told:?}"
    );
}

/// What the mouse did, where, and with what: a button, or notches.
type Did = (InputKind, (i32, i32), Option<u8>, Option<(i32, i32)>);

fn mouse(event: &InputEvent) -> Did {
    let place = (event.x.unwrap(), event.y.unwrap());
    (event.kind, place, event.button, event.dx.zip(event.dy))
}

/// Several things that keyboard and mouse do, sent at once.
fn fake(x: &RustConnection, all: &[(u8, u8, i16, i16)]) {
    let root = x.setup().roots[0].root;
    for &(kind, detail, at_x, at_y) in all {
        x.xtest_fake_input(kind, detail, 0, root, at_x, at_y, 0)
            .unwrap();
    }
    x.get_input_focus().unwrap().reply().unwrap();
}

#[test]
fn keys_are_told_with_name_number_order_and_time() {
    let desktop = desktop();
    let listener = desktop.listen(&ListenConfig::keyboard()).unwrap();
    let before = monotonic();
    desktop.keyboard().tap(Key::Right).unwrap();
    desktop
        .keyboard()
        .combination(&"ctrl+shift+t".parse().unwrap())
        .unwrap();
    desktop
        .keyboard()
        .tap(Key::from_vk(Vk::F10).unwrap())
        .unwrap();
    desktop.mouse().move_to(5, 5).unwrap();
    desktop.keyboard().tap("space".parse().unwrap()).unwrap();
    let told = inputs(&listener, 12);
    let short: Vec<(InputKind, &str, u16)> = told
        .iter()
        .map(|event| (event.kind, event.key.as_deref().unwrap(), event.vk.unwrap()))
        .collect();
    assert_eq!(
        short,
        [
            (PRESS, "Right", Vk::RIGHT),
            (RELEASE, "Right", Vk::RIGHT),
            (PRESS, "Control_L", Vk::LCONTROL),
            (PRESS, "Shift_L", Vk::LSHIFT),
            (PRESS, "t", Vk::T),
            (RELEASE, "t", Vk::T),
            (RELEASE, "Shift_L", Vk::LSHIFT),
            (RELEASE, "Control_L", Vk::LCONTROL),
            (PRESS, "F10", Vk::F10),
            (RELEASE, "F10", Vk::F10),
            (PRESS, "space", Vk::SPACE),
            (RELEASE, "space", Vk::SPACE),
        ]
    );
    let times: Vec<Duration> = told.iter().map(|event| event.t).collect();
    assert!(times.is_sorted() && times[0] >= before && times[11] <= monotonic());
    let codes: BTreeMap<u16, u8> = told
        .iter()
        .map(|event| (event.vk.unwrap(), event.keycode.unwrap()))
        .collect();
    assert_eq!(codes.len(), 6);
    assert!(
        told.iter()
            .all(|event| codes[&event.vk.unwrap()] == event.keycode.unwrap())
    );
    nothing_else(&desktop, &listener);
}

#[test]
fn keys_are_told_whoever_has_the_focus() {
    let desktop = desktop();
    let _xterm = Program::xterm(&desktop, "has the focus");
    desktop
        .windows()
        .wait_for("has the focus", PATIENCE)
        .unwrap();
    desktop.windows().make_active("has the focus").unwrap();
    let listener = desktop.listen(&ListenConfig::keyboard()).unwrap();
    desktop.keyboard().type_text("hi").unwrap();
    let keys: Vec<Option<String>> = inputs(&listener, 4).into_iter().map(|e| e.key).collect();
    assert_eq!(keys, ["h", "h", "i", "i"].map(|key| Some(key.to_owned())));
}

#[test]
fn the_mouse_is_told_with_its_place_button_and_wheel() {
    use InputKind::{ButtonPress, ButtonRelease, Motion, Scroll};
    let desktop = desktop();
    let listener = desktop.listen(&ListenConfig::mouse()).unwrap();
    desktop.mouse().move_to(0, 799).unwrap();
    desktop.mouse().click(Button::Right, 1).unwrap();
    desktop.mouse().scroll_at(30, 40, -1, 2).unwrap();
    desktop.keyboard().tap(Key::Right).unwrap();
    desktop.mouse().press(Button::Middle).unwrap();
    desktop.mouse().move_to(1279, 0).unwrap();
    desktop.mouse().release(Button::Middle).unwrap();
    let told: Vec<_> = inputs(&listener, 10).iter().map(mouse).collect();
    assert_eq!(
        told,
        [
            (Motion, (0, 799), None, None),
            (ButtonPress, (0, 799), Some(3), None),
            (ButtonRelease, (0, 799), Some(3), None),
            (Motion, (30, 40), None, None),
            (Scroll, (30, 40), None, Some((-1, 0))),
            (Scroll, (30, 40), None, Some((0, 1))),
            (Scroll, (30, 40), None, Some((0, 1))),
            (ButtonPress, (30, 40), Some(2), None),
            (Motion, (1279, 0), None, None),
            (ButtonRelease, (1279, 0), Some(2), None),
        ]
    );
}

#[test]
fn places_are_right_when_all_comes_at_once() {
    use InputKind::{ButtonPress, ButtonRelease, Motion};
    let desktop = desktop();
    let program = connect(&desktop);
    let listener = desktop.listen(&ListenConfig::mouse()).unwrap();
    let click = [(4, 1, 0, 0), (5, 1, 0, 0)];
    let mut all = Vec::new();
    for at in 1..=20 {
        all.push((6, 0, at * 10, at * 7));
        all.extend(click);
    }
    fake(&program, &all);
    for at in 1..=20 {
        let place = (at * 10, at * 7);
        let told: Vec<_> = inputs(&listener, 3).iter().map(mouse).collect();
        assert_eq!(
            told,
            [
                (Motion, place, None, None),
                (ButtonPress, place, Some(1), None),
                (ButtonRelease, place, Some(1), None),
            ]
        );
    }
    // By so much, after a place.
    fake(
        &program,
        &[
            (6, 0, 300, 300),
            (4, 1, 0, 0),
            (5, 1, 0, 0),
            (6, 1, -7, 9),
            (6, 1, 1, 1),
        ],
    );
    let places: Vec<_> = inputs(&listener, 5)
        .iter()
        .map(|event| mouse(event).1)
        .collect();
    assert_eq!(
        places,
        [(300, 300), (300, 300), (300, 300), (293, 309), (294, 310)]
    );
}

#[test]
fn keys_lent_to_other_characters_are_never_told_by_a_wrong_name() {
    let desktop = desktop();
    let log = desktop.input_log().unwrap();
    let text: String = ('а'..='я')
        .chain('一'..='丯')
        .chain('가'..='갟')
        .chain('ぁ'..='ん')
        .collect();
    for _ in 0..2 {
        desktop.keyboard().type_text(&text).unwrap();
        log.sync(PATIENCE).unwrap();
        let (told, dropped) = log.take();
        assert_eq!(dropped, 0);
        let pressed = told.iter().filter(|event| event.kind == PRESS);
        let keys: Vec<Option<Key>> = pressed
            .map(|event| event.key.as_ref().map(|key| key.parse::<Key>().unwrap()))
            .filter(|key| !key.is_some_and(Key::is_modifier))
            .collect();
        let typed: Vec<Option<Key>> = text.chars().map(Key::from_char).collect();
        assert_eq!(keys.len(), typed.len());
        for (told, typed) in keys.iter().zip(&typed) {
            assert!(told.is_none() || told == typed, "{told:?} for {typed:?}");
        }
    }
    // Nothing changes around one that is typed alone.
    for character in ['漢', 'ж', 'a'] {
        desktop
            .keyboard()
            .type_text(&character.to_string())
            .unwrap();
        log.sync(PATIENCE).unwrap();
        let (told, _) = log.take();
        let key = Key::from_char(character).unwrap();
        let named = |event: &InputEvent| event.key.as_deref() == Some(&*key.name());
        assert_eq!(
            told.iter().filter(|event| named(event)).count(),
            2,
            "{told:?}"
        );
    }
}

#[test]
fn windows_that_come_and_go_are_told() {
    let desktop = desktop();
    let listener = desktop.listen(&ListenConfig::windows()).unwrap();
    // All until the one that is waited for.
    let until = |wanted: WindowEventKind, title: &str| {
        let mut told = Vec::new();
        loop {
            let Event::Window(event) = next(&listener) else {
                panic!("no other events");
            };
            let of = event.window.as_ref().map(|window| window.title.clone());
            let is_last = event.kind == wanted && of.as_deref() == Some(title);
            told.push((event.kind, of));
            if is_last {
                return (told, event.window.unwrap());
            }
        }
    };
    let mut first = Program::xterm(&desktop, "first");
    let (told, window) = until(WindowEventKind::Focus, "first");
    assert!(
        told.contains(&(WindowEventKind::Created, Some("first".to_owned()))),
        "{told:?}"
    );
    assert_eq!(window.class, "XTerm");
    assert!(window.pid.is_some());
    let _second = Program::xterm(&desktop, "second");
    until(WindowEventKind::Focus, "second");
    desktop.windows().make_active("first").unwrap();
    let (told, _) = until(WindowEventKind::Focus, "first");
    assert!(
        !told
            .iter()
            .any(|(kind, _)| *kind == WindowEventKind::Created),
        "{told:?}"
    );
    desktop.windows().close("first").unwrap();
    first.wait();
    let (_, closed) = until(WindowEventKind::Closed, "first");
    assert_eq!(closed.id, window.id);
}

#[test]
fn titles_that_change_are_told_once() {
    let desktop = desktop();
    let rect = Rect {
        x: 10,
        y: 20,
        width: 200,
        height: 100,
    };
    let probe = Probe::titled(&desktop, "before", rect);
    desktop.windows().wait_for("before", PATIENCE).unwrap();
    let listener = desktop.listen(&ListenConfig::windows()).unwrap();
    for title in ["after", "after", "at last"] {
        probe.title(AtomEnum::STRING.into(), title.as_bytes());
    }
    let mut titles = Vec::new();
    while titles.last().is_none_or(|last| last != "at last") {
        match next(&listener) {
            Event::Window(event) if event.kind == WindowEventKind::Title => {
                titles.push(event.window.unwrap().title);
            }
            // It may become active only now.
            Event::Window(event) => assert_eq!(event.kind, WindowEventKind::Focus),
            other => panic!("{other:?}"),
        }
    }
    // What changed twice between two looks is told once.
    assert!(
        titles == ["after", "at last"] || titles == ["at last"],
        "{titles:?}"
    );
}

#[test]
fn states_say_what_is_down() {
    let desktop = desktop();
    let often = Some(Duration::from_millis(2));
    let config = ListenConfig {
        keyboard_state: often,
        mouse_state: often,
        ..ListenConfig::NOTHING
    };
    let listener = desktop.listen(&config).unwrap();
    let until = |wanted: &dyn Fn(&Event) -> bool| {
        let deadline = Instant::now() + PATIENCE;
        while !wanted(&next(&listener)) {
            assert!(Instant::now() < deadline, "it is never told");
        }
    };
    let keys = |wanted: &'static [u16]| move |event: &Event| matches!(event, Event::KeyboardState(state) if state.vks == wanted);
    let buttons = |wanted: &'static [u8]| {
        move |event: &Event| {
            matches!(event, Event::MouseState(state)
                if state.buttons == wanted && (state.x, state.y) == (7, 8))
        }
    };
    until(&keys(&[]));
    desktop.keyboard().press(Key::Right).unwrap();
    desktop.keyboard().press(Key::Shift).unwrap();
    until(&keys(&[Vk::RIGHT, Vk::LSHIFT]));
    desktop.mouse().move_to(7, 8).unwrap();
    desktop.mouse().press(Button::Left).unwrap();
    desktop.mouse().press(Button::Right).unwrap();
    until(&buttons(&[1, 3]));
    desktop.keyboard().release_all().unwrap();
    until(&keys(&[]));
    until(&buttons(&[]));
}

#[test]
fn a_panic_key_works_whatever_has_grabbed_the_keyboard() {
    let desktop = desktop();
    let program = connect(&desktop);
    let root = program.setup().roots[0].root;
    for mode in [GrabMode::ASYNC, GrabMode::SYNC] {
        let key = desktop.panic_key(PanicKey::DEFAULT).unwrap();
        let grab = program
            .grab_keyboard(true, root, x11rb::CURRENT_TIME, mode, mode)
            .unwrap();
        assert_eq!(grab.reply().unwrap().status, GrabStatus::SUCCESS);
        desktop.keyboard().tap(Key::F9).unwrap();
        assert!(!key.signal().is_set());
        desktop.keyboard().tap(Key::F10).unwrap();
        assert!(key.signal().wait(PATIENCE), "{mode:?}");
        program
            .ungrab_keyboard(x11rb::CURRENT_TIME)
            .unwrap()
            .check()
            .unwrap();
    }
}

#[test]
fn a_panic_key_is_one_that_the_keyboard_has() {
    let desktop = desktop();
    let key = desktop.panic_key(Key::Pause).unwrap();
    desktop.keyboard().tap(Key::F10).unwrap();
    desktop.keyboard().press(Key::Pause).unwrap();
    assert!(key.signal().wait(PATIENCE));
    let error = desktop
        .panic_key(Key::from_char('漢').unwrap())
        .unwrap_err();
    assert!(error.is_callers(), "{error}");
}

#[test]
fn a_log_has_everything_after_sync() {
    let desktop = desktop();
    let log = desktop.input_log().unwrap();
    for round in 1..=50 {
        for _ in 0..round % 5 {
            desktop.keyboard().tap(Key::Right).unwrap();
        }
        desktop.mouse().move_to(round, 1).unwrap();
        desktop.mouse().move_to(round, 2).unwrap();
        desktop.mouse().click(Button::Left, 1).unwrap();
        log.sync(PATIENCE).unwrap();
        let (told, dropped) = log.take();
        let keys = usize::try_from(round % 5).unwrap() * 2;
        assert_eq!((told.len(), dropped), (keys + 4, 0), "{told:?}");
        for (motion, y) in told[keys..].iter().zip(1..=2) {
            assert_eq!(mouse(motion), (InputKind::Motion, (round, y), None, None));
        }
    }
    assert_eq!(log.take(), (Vec::new(), 0));
}

#[test]
fn one_desktop_hears_nothing_of_another() {
    let (here, there) = (desktop(), desktop());
    let (log, other) = (here.input_log().unwrap(), there.input_log().unwrap());
    here.keyboard().tap(Key::Right).unwrap();
    here.mouse().click_at(9, 9, Button::Left, 1).unwrap();
    log.sync(PATIENCE).unwrap();
    other.sync(PATIENCE).unwrap();
    assert_eq!(log.take().0.len(), 5);
    assert_eq!(other.take(), (Vec::new(), 0));
}
