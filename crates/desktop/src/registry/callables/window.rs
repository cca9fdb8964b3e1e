//! Windows. Those of `owa` take a part of a title and tell of a window as `owa` does; ours tell all
//! that is known.

use std::time::Duration;

use serde_json::Value;

use super::bind::callable;
use crate::error::DesktopError;
use crate::geometry::Size;
use crate::registry::callable::{CALLABLES, Callable};
use crate::registry::shelf::Registry;
use crate::windows::WindowInfo;

/// How long a window is waited for, where nothing else is said, and at most.
const WAIT: f64 = 10.0;
const LONGEST_WAIT: f64 = 3600.0;

pub(super) fn put(registry: &Registry<Callable>) {
    of_owa(registry);
    callable!(
        registry,
        "desktop/window.list",
        "All windows, the topmost first.",
        (),
        |context| context.desktop()?.windows().list()
    );
    callable!(
        registry, "desktop/window.close", "Close a window and wait until it is gone.",
        (title: String),
        |context| context.desktop()?.windows().close(&title)
    );
    callable!(
        registry, "desktop/window.move", "Move a window; tells where it is then.",
        (title: String, x: i32, y: i32),
        |context| context.desktop()?.windows().move_to(&title, x, y)
    );
    callable!(
        registry, "desktop/window.resize", "Resize a window; tells how large it is then.",
        (title: String, width: u32, height: u32),
        |context| context.desktop()?.windows().resize(&title, Size::new(width, height))
    );
    callable!(
        registry, "desktop/window.maximise", "Fill the screen with a window.", (title: String),
        |context| context.desktop()?.windows().maximise(&title)
    );
    callable!(
        registry, "desktop/window.minimise", "Hide a window.", (title: String),
        |context| context.desktop()?.windows().minimise(&title)
    );
    callable!(
        registry, "desktop/window.restore",
        "Show a window that is minimised or maximised as it was before.", (title: String),
        |context| context.desktop()?.windows().restore(&title)
    );
    callable!(
        registry, "desktop/window.wait_for",
        "Wait for a window with this in its title, 10 s where nothing else is said.",
        (title: String; seconds: f64),
        |context| {
            let seconds = seconds.unwrap_or(WAIT).clamp(0.0, LONGEST_WAIT);
            let within = Duration::try_from_secs_f64(seconds).unwrap_or_default();
            context.desktop()?.windows().wait_for(&title, within)
        }
    );
}

fn of_owa(registry: &Registry<Callable>) {
    callable!(
        registry,
        "desktop/window.get_active_window",
        "The active window, or null.",
        (),
        |context| {
            let active = context.desktop()?.windows().active()?;
            Ok(active.as_ref().map(WindowInfo::to_owa))
        }
    );
    callable!(
        registry, "desktop/window.get_window_by_title", "The window with this in its title.",
        (title: String),
        |context| Ok(context.desktop()?.windows().find(&title)?.to_owa())
    );
    callable!(
        registry, "desktop/window.get_pid_by_title", "The process of a window, as it says.",
        (title: String),
        |context| {
            let pid = context.desktop()?.windows().pid(&title)?;
            pid.ok_or_else(|| {
                DesktopError::Invalid(format!("the window `{title}` does not name its process"))
            })
        }
    );
    callable!(
        registry, "desktop/window.is_active", "Whether the active window has this in its title.",
        (title: String),
        |context| context.desktop()?.windows().is_active(&title)
    );
    callable!(
        registry, "desktop/window.make_active",
        "Bring a window to the front and give it the keyboard.", (title: String),
        |context| context.desktop()?.windows().make_active(&title).map(drop)
    );
    callable!(
        registry, "desktop/window.when_active",
        "Call another function by name if that window is active, else give null.",
        (title: String, name: String; arguments: Value),
        |context| {
            let desktop = context.desktop()?;
            if !desktop.windows().is_active(&title)? {
                return Ok(Value::Null);
            }
            // One that calls itself would never end.
            if CALLABLES.find(&name)?.0 == "desktop/window.when_active" {
                return Err(DesktopError::Invalid("name another function".to_owned()));
            }
            CALLABLES.call_on(&desktop, &name, arguments.unwrap_or_default())
        }
    );
}
