//! How a held key repeats, told in seconds or as Windows counts it.

use serde_json::{Value, json};
use x11rb::protocol::xkb::{ConnectionExt as _, ID};

use crate::desktop::Desktop;
use crate::error::DesktopError;

pub(super) fn get(desktop: &Desktop, in_seconds: bool) -> Result<Value, DesktopError> {
    let x = desktop.x().x();
    x.xkb_use_extension(1, 0)?.reply()?;
    let controls = x.xkb_get_controls(ID::USE_CORE_KBD.into())?.reply()?;
    let seconds = |milliseconds: u16| f64::from(milliseconds) / 1000.0;
    let (delay, rate) = (
        seconds(controls.repeat_delay),
        seconds(controls.repeat_interval),
    );
    Ok(if in_seconds {
        json!({ "keyboard_delay_seconds": delay, "keyboard_rate_seconds": rate })
    } else {
        json!({ "keyboard_delay": delay_step(delay), "keyboard_speed": speed_step(rate) })
    })
}

/// Windows knows four delays: a quarter of a second and three times as much more.
fn delay_step(seconds: f64) -> u8 {
    nearest((seconds - 0.25) / 0.25, 3)
}

/// And 32 speeds, from 2.5 to 30 repetitions per second.
fn speed_step(seconds: f64) -> u8 {
    nearest((1.0 / seconds - 2.5) * 31.0 / 27.5, 31)
}

fn nearest(step: f64, last: u8) -> u8 {
    let step = step.clamp(0.0, f64::from(last));
    (0..=last)
        .min_by(|a, b| {
            let far = |step_at: u8| (f64::from(step_at) - step).abs();
            far(*a).total_cmp(&far(*b))
        })
        .unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_windows() {
        assert_eq!(
            [0.1, 0.25, 0.5, 0.66, 1.0, 9.0].map(delay_step),
            [0, 0, 1, 2, 3, 3]
        );
        assert_eq!(
            [0.4, 1.0 / 30.0, 0.001, 10.0, 0.04].map(speed_step),
            [0, 31, 31, 0, 25]
        );
        assert_eq!(speed_step(0.0), 31);
    }
}
