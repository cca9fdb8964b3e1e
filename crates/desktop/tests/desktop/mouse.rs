//! What the mouse does arrives on the pixel it was meant for, and nowhere else.

use std::time::{Duration, Instant};

use agon_core::action::Button;
use agon_desktop::{Desktop, DesktopConfig, DesktopError, Point};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt as _, KEY_PRESS_EVENT, KEY_RELEASE_EVENT};
use x11rb::protocol::xtest::ConnectionExt as _;

use super::probe::{Probe, Seen, connect};

const SHIFT: u16 = 1;
const CONTROL: u16 = 4;
const LEFT_DOWN: u16 = 1 << 8;
const RIGHT_DOWN: u16 = 1 << 10;

fn desktop() -> Desktop {
    Desktop::start(&DesktopConfig::default()).unwrap()
}

/// Presses, releases and motions; buttons without their time.
fn mouse(seen: Vec<Seen>) -> Vec<Seen> {
    let seen = seen.into_iter().filter_map(|seen| match seen {
        Seen::Press {
            button,
            x,
            y,
            state,
            ..
        } => Some(Seen::Press {
            button,
            x,
            y,
            state,
            time: 0,
        }),
        Seen::Release {
            button,
            x,
            y,
            state,
            ..
        } => Some(Seen::Release {
            button,
            x,
            y,
            state,
            time: 0,
        }),
        Seen::Motion { .. } => Some(seen),
        _ => None,
    });
    seen.collect()
}

fn press(button: u8, x: i16, y: i16, state: u16) -> Seen {
    Seen::Press {
        button,
        x,
        y,
        state,
        time: 0,
    }
}

fn release(button: u8, x: i16, y: i16, state: u16) -> Seen {
    Seen::Release {
        button,
        x,
        y,
        state,
        time: 0,
    }
}

/// The keycode of a keysym on the layout of the server.
fn keycode(x: &impl Connection, keysym: u32) -> u8 {
    let setup = x.setup();
    let (first, count) = (setup.min_keycode, setup.max_keycode - setup.min_keycode + 1);
    let map = x
        .get_keyboard_mapping(first, count)
        .unwrap()
        .reply()
        .unwrap();
    let per = usize::from(map.keysyms_per_keycode);
    let mut codes = map.keysyms.chunks(per).zip(first..);
    codes
        .find(|(symbols, _)| symbols.contains(&keysym))
        .unwrap()
        .1
}

#[test]
fn a_click_lands_on_its_pixel_on_corners_edges_and_between() {
    let desktop = desktop();
    let probe = Probe::cover(&desktop);
    probe.events();
    let (right, bottom) = (1279, 799);
    let places = [
        (640, 400),
        (0, 0),
        (right, 0),
        (0, bottom),
        (right, bottom),
        (0, 300),
        (right, 300),
        (300, 0),
        (300, bottom),
        (1, 1),
    ];
    for (x, y) in places {
        for (button, number, down) in [
            (Button::Left, 1, LEFT_DOWN),
            (Button::Middle, 2, 1 << 9),
            (Button::Right, 3, RIGHT_DOWN),
        ] {
            desktop.mouse().click_at(x, y, button, 1).unwrap();
            let (x, y) = (i16::try_from(x).unwrap(), i16::try_from(y).unwrap());
            let mut seen = mouse(probe.events());
            seen.retain(|seen| !matches!(seen, Seen::Motion { .. }));
            assert_eq!(seen, [press(number, x, y, 0), release(number, x, y, down)]);
        }
        assert_eq!(desktop.mouse().position().unwrap(), Point { x, y });
    }
}

#[test]
fn coordinates_outside_of_the_screen_are_an_error_and_move_nothing() {
    let desktop = desktop();
    let mouse = desktop.mouse();
    mouse.move_to(5, 6).unwrap();
    for (x, y) in [
        (-1, 0),
        (1280, 0),
        (0, 800),
        (0, -1),
        (65_536, 0),
        (i32::MAX, i32::MIN),
    ] {
        let inside = Point { x: 10, y: 10 };
        for error in [
            mouse.move_to(x, y),
            mouse.click_at(x, y, Button::Left, 1),
            mouse.scroll_at(x, y, 0, 1),
            mouse.drag(&[inside, Point { x, y }], Button::Left, Duration::ZERO),
        ] {
            let error = error.unwrap_err();
            assert!(matches!(error, DesktopError::Outside { .. }), "{error}");
            assert!(error.is_callers());
        }
    }
    let state = mouse.state().unwrap();
    assert_eq!(state.position, Point { x: 5, y: 6 });
    assert_eq!(state.buttons, []);
}

#[test]
fn moves_are_absolute_and_relative_and_stop_at_the_edge() {
    let desktop = desktop();
    let mouse = desktop.mouse();
    let at = |x, y| assert_eq!(mouse.position().unwrap(), Point { x, y });
    mouse.move_to(100, 200).unwrap();
    at(100, 200);
    mouse.move_by(-30, 7).unwrap();
    at(70, 207);
    mouse.move_by(500, -1).unwrap();
    at(570, 206);
    mouse.move_by(5000, -5000).unwrap();
    at(1279, 0);
    mouse.move_by(-5000, 5000).unwrap();
    at(0, 799);
    assert!(mouse.move_by(40_000, 0).unwrap_err().is_callers());
}

#[test]
fn several_clicks_follow_each_other_in_time_for_a_double_click() {
    let desktop = desktop();
    let probe = Probe::cover(&desktop);
    for count in [2, 3] {
        desktop.mouse().move_to(7, 9).unwrap();
        probe.events();
        desktop.mouse().click(Button::Left, count).unwrap();
        let seen = probe.events();
        let mut times = Vec::new();
        for seen in &seen {
            if let Seen::Press { time, .. } = seen {
                times.push(*time);
            }
        }
        // The shortest double-click time of any toolkit is 250 ms.
        assert!(times.last().unwrap() - times[0] < 250);
        let one = [press(1, 7, 9, 0), release(1, 7, 9, LEFT_DOWN)];
        assert_eq!(mouse(seen), one.repeat(count.into()));
    }
    for count in [0, 4] {
        assert!(
            desktop
                .mouse()
                .click(Button::Left, count)
                .unwrap_err()
                .is_callers()
        );
    }
}

#[test]
fn clicks_carry_the_modifiers_that_are_held() {
    let desktop = desktop();
    let probe = Probe::cover(&desktop);
    let keys = connect(&desktop);
    let fake = |event, keysym| {
        let code = keycode(&keys, keysym);
        let sent = keys
            .xtest_fake_input(event, code, 0, x11rb::NONE, 0, 0, 0)
            .unwrap();
        sent.check().unwrap();
    };
    let (shift, control) = (0xffe1, 0xffe3);
    desktop.mouse().move_to(50, 60).unwrap();
    fake(KEY_PRESS_EVENT, shift);
    probe.until(|seen| matches!(seen, Seen::KeyPress { .. }));
    desktop.mouse().click(Button::Left, 1).unwrap();
    fake(KEY_PRESS_EVENT, control);
    desktop.mouse().click(Button::Right, 1).unwrap();
    fake(KEY_RELEASE_EVENT, control);
    fake(KEY_RELEASE_EVENT, shift);
    desktop.mouse().click(Button::Left, 1).unwrap();
    let both = SHIFT | CONTROL;
    assert_eq!(
        mouse(probe.events()),
        [
            press(1, 50, 60, SHIFT),
            release(1, 50, 60, SHIFT | LEFT_DOWN),
            press(3, 50, 60, both),
            release(3, 50, 60, both | RIGHT_DOWN),
            press(1, 50, 60, 0),
            release(1, 50, 60, LEFT_DOWN),
        ]
    );
}

#[test]
fn a_drag_goes_along_its_path_with_the_button_down() {
    let desktop = desktop();
    let probe = Probe::cover(&desktop);
    let path = [(0, 0), (200, 100), (200, 799), (1279, 799)];
    let path = path.map(|(x, y)| Point { x, y });
    for duration in [Duration::ZERO, Duration::from_millis(150)] {
        desktop.mouse().move_to(30, 30).unwrap();
        probe.events();
        let began = Instant::now();
        desktop
            .mouse()
            .drag(&path, Button::Right, duration)
            .unwrap();
        assert!(began.elapsed() >= duration);
        let seen = mouse(probe.events());
        let from = seen
            .iter()
            .position(|seen| matches!(seen, Seen::Press { .. }))
            .unwrap();
        assert_eq!(seen[from], press(3, 0, 0, 0));
        assert_eq!(seen.last(), Some(&release(3, 1279, 799, RIGHT_DOWN)));
        let moves: Vec<(i16, i16)> = seen[from + 1..seen.len() - 1]
            .iter()
            .map(|seen| match *seen {
                Seen::Motion {
                    x,
                    y,
                    state: RIGHT_DOWN,
                } => (x, y),
                other => panic!("{other:?} in the middle of a drag"),
            })
            .collect();
        let mut corners = [(200, 100), (200, 799), (1279, 799)].iter().peekable();
        let mut before = (0_i16, 0_i16);
        for step in &moves {
            assert!(before.0.abs_diff(step.0) <= 4 && before.1.abs_diff(step.1) <= 4);
            corners.next_if_eq(&step);
            before = *step;
        }
        assert_eq!(corners.next(), None, "a corner was cut");
    }
    assert_eq!(desktop.mouse().state().unwrap().buttons, []);
    for path in [&path[..0], &path[..1]] {
        let error = desktop.mouse().drag(path, Button::Left, Duration::ZERO);
        assert!(error.unwrap_err().is_callers());
    }
}

#[test]
fn the_wheel_turns_in_all_directions_at_its_point() {
    let desktop = desktop();
    let probe = Probe::cover(&desktop);
    for (dx, dy, button) in [(0, -2, 4), (0, 2, 5), (-2, 0, 6), (2, 0, 7)] {
        desktop.mouse().move_to(1, 1).unwrap();
        probe.events();
        desktop.mouse().scroll_at(0, 799, dx, dy).unwrap();
        let mut seen = mouse(probe.events());
        seen.retain(|seen| !matches!(seen, Seen::Motion { .. }));
        // The state has no bits for the wheel to the side.
        let down = if button < 6 { 1 << (7 + button) } else { 0 };
        let one = [press(button, 0, 799, 0), release(button, 0, 799, down)];
        assert_eq!(seen, one.repeat(2));
    }
    desktop.mouse().scroll(0, 0).unwrap();
    assert_eq!(mouse(probe.events()), []);
    for (dx, dy) in [(101, 0), (0, -101), (i32::MIN, i32::MAX)] {
        assert!(desktop.mouse().scroll(dx, dy).unwrap_err().is_callers());
    }
}

#[test]
fn the_state_tells_the_buttons_that_are_down() {
    let desktop = desktop();
    let mouse = desktop.mouse();
    mouse.press(Button::Left).unwrap();
    mouse.press(Button::Right).unwrap();
    assert_eq!(
        mouse.state().unwrap().buttons,
        [Button::Left, Button::Right]
    );
    mouse.release(Button::Left).unwrap();
    assert_eq!(mouse.state().unwrap().buttons, [Button::Right]);
    mouse.release(Button::Right).unwrap();
    assert_eq!(mouse.state().unwrap().buttons, []);
}

#[test]
fn buttons_are_released_when_their_user_goes_away() {
    let desktop = desktop();
    let probe = Probe::cover(&desktop);
    let user = Desktop::connect(desktop.address()).unwrap();
    user.mouse().press(Button::Left).unwrap();
    user.mouse().press(Button::Right).unwrap();
    user.mouse().release(Button::Right).unwrap();
    assert_eq!(desktop.mouse().state().unwrap().buttons, [Button::Left]);
    drop(user);
    probe.until(|seen| matches!(seen, Seen::Release { button: 1, .. }));
    assert_eq!(desktop.mouse().state().unwrap().buttons, []);
}

#[test]
fn what_is_done_on_one_desktop_never_reaches_another() {
    let (here, there) = (desktop(), desktop());
    let (seen_here, seen_there) = (Probe::cover(&here), Probe::cover(&there));
    there.mouse().move_to(3, 4).unwrap();
    seen_here.events();
    seen_there.events();
    here.mouse().click_at(100, 100, Button::Left, 2).unwrap();
    here.mouse().scroll(3, 3).unwrap();
    let path = [Point { x: 0, y: 0 }, Point { x: 500, y: 500 }];
    here.mouse()
        .drag(&path, Button::Left, Duration::ZERO)
        .unwrap();
    here.clipboard().set("here").unwrap();
    assert_ne!(seen_here.events(), []);
    assert_eq!(seen_there.events(), []);
    assert_eq!(there.mouse().position().unwrap(), Point { x: 3, y: 4 });
    assert_eq!(there.clipboard().get().unwrap(), "");
    assert_eq!(here.clipboard().get().unwrap(), "here");
}

#[test]
fn a_server_that_is_gone_is_an_error() {
    let desktop = desktop();
    let user = Desktop::connect(desktop.address()).unwrap();
    drop(desktop);
    assert!(matches!(
        user.mouse().click(Button::Left, 1),
        Err(DesktopError::Gone(_))
    ));
    assert!(user.mouse().position().is_err());
    assert!(user.windows().list().is_err());
    assert!(user.windows().make_active("any").is_err());
    assert!(user.clipboard().get().is_err());
    assert!(user.clipboard().set("text").is_err());
}
