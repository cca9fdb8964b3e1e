//! The mouse. Where `owa` is broken, this does what its documentation says: `mouse.move` is absolute,
//! buttons are given by name, and `mouse.scroll` takes four numbers.

use std::time::Duration;

use agon_core::action::Button;
use serde_json::json;

use super::bind::callable;
use super::clock::now_ns;
use crate::error::DesktopError;
use crate::geometry::Point;
use crate::input::MouseState;
use crate::registry::callable::Callable;
use crate::registry::shelf::Registry;

pub(super) fn put(registry: &Registry<Callable>) {
    of_owa(registry);
    callable!(
        registry, "desktop/mouse.move_by", "Move the pointer from where it is.",
        (dx: i32, dy: i32),
        |context| context.desktop()?.mouse().move_by(dx, dy)
    );
    callable!(
        registry, "desktop/mouse.click_at", "Click at a place: left and once, unless said.",
        (x: i32, y: i32; button: Button, count: u8),
        |context| {
            let (button, count) = (button.unwrap_or_default(), count.unwrap_or(1));
            context.desktop()?.mouse().click_at(x, y, button, count)
        }
    );
    callable!(
        registry, "desktop/mouse.drag",
        "Press at the first point, move through all, release at the last.",
        (path: Vec<Point>; button: Button, seconds: f64),
        |context| {
            let seconds = seconds.unwrap_or_default();
            let duration = Duration::try_from_secs_f64(seconds).map_err(|_| {
                DesktopError::Invalid(format!("a drag can't take {seconds} s"))
            })?;
            context.desktop()?.mouse().drag(&path, button.unwrap_or_default(), duration)
        }
    );
}

fn of_owa(registry: &Registry<Callable>) {
    callable!(
        registry, "desktop/mouse.click", "Click where the pointer is: left and once, unless said.",
        (; button: Button, count: u8),
        |context| {
            let (button, count) = (button.unwrap_or_default(), count.unwrap_or(1));
            context.desktop()?.mouse().click(button, count)
        }
    );
    callable!(
        registry, "desktop/mouse.move", "Move the pointer to a place.", (x: i32, y: i32),
        |context| context.desktop()?.mouse().move_to(x, y)
    );
    callable!(
        registry,
        "desktop/mouse.position",
        "Where the pointer is, as [x, y].",
        (),
        |context| {
            let Point { x, y } = context.desktop()?.mouse().position()?;
            Ok((x, y))
        }
    );
    callable!(
        registry, "desktop/mouse.press", "Press a button and hold it.", (; button: Button),
        |context| context.desktop()?.mouse().press(button.unwrap_or_default())
    );
    callable!(
        registry, "desktop/mouse.release", "Release a button.", (; button: Button),
        |context| context.desktop()?.mouse().release(button.unwrap_or_default())
    );
    callable!(
        registry, "desktop/mouse.scroll",
        "Turn the wheel at a place: notches to the right and up, as mouse events tell of them.",
        (x: i32, y: i32, dx: i32, dy: i32),
        |context| context.desktop()?.mouse().scroll_at(x, y, dx, dy.saturating_neg())
    );
    callable!(
        registry,
        "desktop/mouse.get_state",
        "Where the pointer is and what is pressed.",
        (),
        |context| {
            let MouseState { position, buttons } = context.desktop()?.mouse().state()?;
            Ok(json!({
                "x": position.x,
                "y": position.y,
                "buttons": buttons,
                "timestamp": now_ns(),
            }))
        }
    );
    callable!(
        registry,
        "desktop/mouse.get_pointer_ballistics_config",
        "What Windows has where nobody changed it; here the pointer goes as far as it is told.",
        (),
        |_context| Ok(json!({
            "MouseThreshold1": 6,
            "MouseThreshold2": 10,
            "MouseSpeed": 1,
            "MouseSensitivity": 10,
            "SmoothMouseXCurve": X_CURVE,
            "SmoothMouseYCurve": Y_CURVE,
        }))
    );
}

const X_CURVE: &str =
    "0000000000000000156e000000000000004001000000000029dc0300000000000000280000000000";
const Y_CURVE: &str =
    "0000000000000000fd11010000000000002404000000000000fc12000000000000c0bb0100000000";
