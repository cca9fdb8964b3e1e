//! Actions of every kind, for tests of dialects.

use agon_core::action::{Button, Point};
use agon_core::{Action, ScreenPoint, Seconds};
use proptest::prelude::*;

use super::frame::Frame;

pub(super) const WIDTH: i32 = 1280;
pub(super) const HEIGHT: i32 = 800;

/// A screen that is shown as it is, with the pointer at (7, 9).
pub(super) fn frame() -> Frame {
    let pointer = Some(ScreenPoint { x: 7, y: 9 });
    Frame::same(WIDTH as u32, HEIGHT as u32).with_cursor(pointer)
}

fn button() -> impl Strategy<Value = Button> {
    prop_oneof![
        Just(Button::Left),
        Just(Button::Middle),
        Just(Button::Right)
    ]
}

fn keys() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]",
        "(ctrl|alt|shift)\\+[a-z0-9]",
        "ctrl\\+shift\\+(Tab|F5|Page_Up)",
        Just("ctrl++".to_owned()),
        Just("ctrl+a Delete".to_owned()),
        Just(" ".to_owned()),
        Just(",".to_owned()),
    ]
}

/// What is done on a screen of [`WIDTH`] x [`HEIGHT`].
pub(super) fn actions() -> impl Strategy<Value = Action> {
    let at = || (0..WIDTH, 0..HEIGHT);
    prop_oneof![
        (at(), button(), 1..=3u8).prop_map(|((x, y), button, count)| Action::Click {
            x,
            y,
            button,
            count,
            hold: None
        }),
        at().prop_map(|(x, y)| Action::Move { x, y }),
        (prop::collection::vec(at(), 2..5), button()).prop_map(|(path, button)| Action::Drag {
            path: path.into_iter().map(|(x, y)| Point { x, y }).collect(),
            button,
            seconds: None,
        }),
        at().prop_map(|(x, y)| Action::Drag {
            path: vec![frame().cursor(), Point { x, y }],
            button: Button::Left,
            seconds: None,
        }),
        (at(), -20..20i32, -20..20i32).prop_map(|((x, y), dx, dy)| Action::Scroll { x, y, dx, dy }),
        (at(), -20..20i32).prop_map(|((x, y), dy)| Action::Scroll { x, y, dx: 0, dy }),
        "\\PC{0,40}".prop_map(|text| Action::Type { text }),
        keys().prop_map(|keys| Action::Key { keys, hold: None }),
        (0..600u32).prop_map(|tenths| Action::Wait {
            seconds: Seconds::millis(tenths * 100)
        }),
        Just(Action::Screenshot),
        "\\PC{1,40}".prop_map(|text| Action::Finish { result: Some(text) }),
        Just(Action::Finish { result: None }),
        "[a-z ./>]{1,20}".prop_map(Action::run),
        Just(Action::Think {
            thought: "hm".to_owned()
        }),
    ]
}
