//! The programs that private desktops are made of, for manifests and `doctor`.

use std::process::{Command, Output, Stdio};

use super::jail::find;
use crate::error::DesktopError;

/// Names them, or says what to install. Xvfb has no way to tell its version without being started.
pub fn describe() -> Result<String, DesktopError> {
    find("bwrap", "bubblewrap")?;
    find("Xvfb", "xvfb")?;
    let mut manager = Command::new(find("openbox", "openbox")?);
    let said = manager.arg("--version").stdin(Stdio::null()).output();
    let said = said.map_err(DesktopError::io("can't ask openbox for its version"))?;
    Ok(format!("Xvfb with openbox {}", version(&said)))
}

/// The first word of what a program says that looks like one.
fn version(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout);
    said.split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
        .map_or("(unknown version)", |word| {
            word.trim_end_matches([',', ')'])
        })
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_manager_has_a_version() {
        let text = describe().unwrap();
        let (_, version) = text.rsplit_once(' ').unwrap();
        assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{text}");
    }
}
