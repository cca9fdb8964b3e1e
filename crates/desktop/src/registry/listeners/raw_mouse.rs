//! The mouse as Windows tells of it in raw form: how far it went, and a bit for everything that its
//! buttons did.

use agon_core::InputKind;
use serde_json::{Value, json};

use crate::geometry::Point;
use crate::listen::InputEvent;

const WHEEL: u16 = 0x400;
const SIDEWAYS_WHEEL: u16 = 0x800;

/// What Windows counts for one notch of a wheel.
const NOTCH: i32 = 120;

#[derive(Debug)]
pub(super) struct RawMouse {
    last: Point,
}

impl RawMouse {
    pub(super) const fn new(at: Point) -> Self {
        Self { last: at }
    }

    /// `None` for what is no doing of the mouse.
    pub(super) fn told(&mut self, event: &InputEvent, timestamp: i64) -> Option<Value> {
        let now = Point {
            x: event.x.unwrap_or(self.last.x),
            y: event.y.unwrap_or(self.last.y),
        };
        let (flags, data) = match event.kind {
            InputKind::Motion => (0, 0),
            InputKind::ButtonPress => (down(event.button?)?, 0),
            // The bit after the one for down.
            InputKind::ButtonRelease => (down(event.button?)? << 1, 0),
            InputKind::Scroll => match (event.dx.unwrap_or(0), event.dy.unwrap_or(0)) {
                // Windows counts upwards.
                (0, dy) => (WHEEL, dy.saturating_mul(-NOTCH)),
                (dx, _) => (SIDEWAYS_WHEEL, dx.saturating_mul(NOTCH)),
            },
            InputKind::KeyPress | InputKind::KeyRelease => return None,
        };
        let moved = (
            now.x.saturating_sub(self.last.x),
            now.y.saturating_sub(self.last.y),
        );
        self.last = now;
        Some(json!({
            "last_x": moved.0,
            "last_y": moved.1,
            "us_flags": 0,
            "button_flags": flags,
            "button_data": data,
            "timestamp": timestamp,
        }))
    }
}

fn down(button: u8) -> Option<u16> {
    Some(match button {
        1 => 0x001,
        3 => 0x004,
        2 => 0x010,
        8 => 0x040,
        9 => 0x100,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn moves_are_differences_and_buttons_are_bits() {
        let mut raw = RawMouse::new(Point { x: 10, y: 10 });
        let event = |kind| InputEvent::new(Duration::ZERO, kind);
        let moved = raw.told(
            &InputEvent {
                x: Some(7),
                y: Some(30),
                ..event(InputKind::Motion)
            },
            5,
        );
        assert_eq!(
            moved.unwrap(),
            json!({"last_x": -3, "last_y": 20, "us_flags": 0, "button_flags": 0, "button_data": 0, "timestamp": 5})
        );
        let mut flags = |event: InputEvent| {
            let told = raw.told(&event, 0).unwrap();
            (
                told["button_flags"].clone(),
                told["button_data"].clone(),
                told["last_x"].clone(),
            )
        };
        let button = |kind, button| InputEvent {
            button: Some(button),
            ..event(kind)
        };
        for (number, bit) in [(1, 1), (3, 4), (2, 0x10), (8, 0x40), (9, 0x100)] {
            let (down, up) = (InputKind::ButtonPress, InputKind::ButtonRelease);
            assert_eq!(
                flags(button(down, number)),
                (json!(bit), json!(0), json!(0))
            );
            assert_eq!(
                flags(button(up, number)),
                (json!(bit * 2), json!(0), json!(0))
            );
        }
        let scroll = |dx, dy| InputEvent {
            dx: Some(dx),
            dy: Some(dy),
            ..event(InputKind::Scroll)
        };
        assert_eq!(flags(scroll(0, 2)), (json!(0x400), json!(-240), json!(0)));
        assert_eq!(flags(scroll(-1, 0)), (json!(0x800), json!(-120), json!(0)));
        assert!(raw.told(&event(InputKind::KeyPress), 0).is_none());
    }
}
