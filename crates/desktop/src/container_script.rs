//! The shell code that starts the display of a container. Knows nothing of how it gets there or how
//! the host reaches the display.

use crate::authority::Cookie;
use crate::config::DesktopConfig;

const SCRIPT: &str = include_str!("start-display.sh");

/// Openbox works as on private desktops, and is there sooner than with menus to read. Has no quotes that
/// a shell would end a word at.
const OPENBOX: &str = include_str!("private/openbox.xml");

/// The file inside with the cookie: the value of `XAUTHORITY` for programs there.
pub(crate) const AUTHORITY: &str = "/tmp/.agon-xauthority";

/// What [`agon_sandbox::DisplayMount::start`] has to be. The display is `:0`; when there will be
/// none, the file `agon-error` beside its socket says why.
pub(crate) fn start_display(config: &DesktopConfig, cookie: &Cookie) -> String {
    let gl = if config.gl { '+' } else { '-' };
    let escape = |byte: &u8| format!("\\0{byte:03o}");
    let cookie: String = cookie.authority_file().iter().map(escape).collect();
    format!(
        "screen={}x24 glx={gl} authority={AUTHORITY} cookie='{cookie}' openbox='{OPENBOX}'\n{SCRIPT}",
        config.size
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;
    use crate::geometry::Size;

    /// Runs the script to its end where these files are empty, as if in a container.
    fn said_without(missing: &[&str], config: &DesktopConfig) -> String {
        let folder = tempfile::tempdir().unwrap();
        let mut jail = Command::new("bwrap");
        jail.args(["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/"]);
        jail.args([
            "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind",
        ]);
        jail.arg(folder.path()).arg("/tmp/.X11-unix");
        for program in missing {
            jail.args(["--ro-bind", "/dev/null", &format!("/usr/bin/{program}")]);
        }
        jail.args(["sh", "-c", &start_display(config, &Cookie::random())]);
        let ended = jail.output().unwrap();
        assert!(!ended.status.success(), "{ended:?}");
        std::fs::read_to_string(folder.path().join("agon-error")).unwrap()
    }

    #[test]
    fn the_configuration_is_one_word_for_a_shell() {
        assert!(!OPENBOX.contains('\''));
    }

    #[test]
    fn an_image_without_the_programs_is_told_what_it_lacks() {
        let config = DesktopConfig::default();
        let said = said_without(&["Xvfb"], &config);
        assert!(said.contains("needs the program Xvfb"), "{said}");
        let managers = ["openbox", "xfwm4", "fluxbox", "icewm", "metacity", "twm"];
        let there = managers
            .into_iter()
            .filter(|name| Path::new("/usr/bin").join(name).exists());
        let said = said_without(&there.collect::<Vec<_>>(), &config);
        assert!(said.contains("needs openbox"), "{said}");
    }

    #[test]
    fn a_server_that_does_not_start_says_why() {
        let config = DesktopConfig {
            size: Size::new(0, 0),
            ..DesktopConfig::default()
        };
        let said = said_without(&[], &config);
        // Versions of it differ in their words, not in that there are some.
        let words = said.strip_prefix("Xvfb ended: ").unwrap();
        assert!(!words.trim().is_empty());
    }
}
