//! A window as it looks now, as text that model services take: PNG in base64.

use agon_desktop::registry::current_desktop;
use agon_desktop::screen::PictureFormat;
use agon_desktop::{Desktop, DesktopError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The window with this in its title, on the desktop that calls by name act on: inside of a hook of an
/// agent or evaluator that is theirs, elsewhere that of `$DISPLAY`.
pub fn get_current_frame_base64(window_name: &str) -> Result<String, DesktopError> {
    window_base64(&*current_desktop()?, window_name)
}

pub(crate) fn window_base64(desktop: &Desktop, window_name: &str) -> Result<String, DesktopError> {
    let window = desktop.windows().find(window_name)?;
    let frame = desktop.screen().capture_window(window.id)?;
    Ok(STANDARD.encode(frame.encode(PictureFormat::Png)?))
}
