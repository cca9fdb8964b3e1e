//! The keyboard. Keys are names, characters, or numbers of Windows' virtual keys.

use std::time::Duration;

use serde_json::{Value, json};

use super::bind::callable;
use super::clock::now_ns;
use super::repeat_timing;
use crate::error::DesktopError;
use crate::key::{Key, KeyCombination};
use crate::registry::callable::Callable;
use crate::registry::shelf::Registry;

/// As Windows has it.
const INITIAL_DELAY: f64 = 0.5;
const REPEAT_DELAY: f64 = 0.033;

pub(super) fn put(registry: &Registry<Callable>) {
    callable!(
        registry, "desktop/keyboard.press", "Press a key and hold it: Right, a, 0x27.", (key: Key),
        |context| context.desktop()?.keyboard().press(key)
    );
    callable!(
        registry, "desktop/keyboard.release", "Release a key.", (key: Key),
        |context| context.desktop()?.keyboard().release(key)
    );
    callable!(
        registry, "desktop/keyboard.type", "Type a text, any characters.", (text: String),
        |context| context.desktop()?.keyboard().type_text(&text)
    );
    callable!(
        registry,
        "desktop/keyboard.get_state",
        "What is down, as virtual keys, buttons of the mouse included.",
        (),
        |context| {
            let state = context.desktop()?.keyboard().state()?;
            Ok(json!({ "buttons": state.buttons, "timestamp": now_ns() }))
        }
    );
    callable!(
        registry, "desktop/keyboard.press_repeat",
        "Hold a key for so many seconds, repeating as keyboards do.",
        (key: Key, press_time: f64; initial_delay: f64, repeat_delay: f64),
        |context| {
            let press_time = seconds(press_time)?;
            let initial_delay = seconds(initial_delay.unwrap_or(INITIAL_DELAY))?;
            let repeat_delay = seconds(repeat_delay.unwrap_or(REPEAT_DELAY))?;
            context.desktop()?.keyboard().hold(key, press_time, initial_delay, repeat_delay)
        }
    );
    callable!(
        registry,
        "desktop/keyboard.release_all_keys",
        "Release all that was pressed and not released.",
        (),
        |context| context.desktop()?.keyboard().release_all()
    );
    callable!(
        registry, "desktop/keyboard.get_keyboard_repeat_timing",
        "How a held key repeats, in seconds, or in the steps of Windows.",
        (; return_seconds: bool),
        |context| repeat_timing::get(&*context.desktop()?, return_seconds.unwrap_or(true))
    );
    callable!(
        registry, "desktop/keyboard.tap",
        "Press and release a key or a combination.", (key: Value),
        |context| context.desktop()?.keyboard().combination(&combination(key)?)
    );
    callable!(
        registry, "desktop/keyboard.hotkey",
        "Press combinations and release them: ctrl+shift+t, or several with blanks between.",
        (keys: String),
        |context| {
            let combinations = KeyCombination::sequence(&keys)?;
            let desktop = context.desktop()?;
            for combination in &combinations {
                desktop.keyboard().combination(combination)?;
            }
            Ok(())
        }
    );
}

/// Numbers are virtual keys; texts may be several keys.
fn combination(key: Value) -> Result<KeyCombination, DesktopError> {
    if let Value::String(keys) = &key {
        return keys.parse();
    }
    let key: Key = serde_json::from_value(key)
        .map_err(|error| DesktopError::Invalid(format!("this is no key: {error}")))?;
    Ok(key.into())
}

fn seconds(seconds: f64) -> Result<Duration, DesktopError> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| DesktopError::Invalid(format!("{seconds} is no number of seconds")))
}
