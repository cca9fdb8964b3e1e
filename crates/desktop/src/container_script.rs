//! The shell code that starts the display of a container. Knows nothing of how it gets there or how
//! the host reaches the display.

use agon_sandbox::HOST;

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
    let cookie = cookie.authority_file_on(HOST, 0);
    let cookie: String = cookie.iter().map(escape).collect();
    format!(
        "screen={}x24 glx={gl} authority={AUTHORITY} cookie='{cookie}' openbox='{OPENBOX}'\n{SCRIPT}",
        config.size
    )
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::process::{Command, Output};

    use tempfile::TempDir;

    use super::*;
    use crate::geometry::Size;

    /// Runs the script to its end, as if in a container, with other programs (names, files) in place of
    /// the usual ones.
    fn run(with: &[(&str, &Path)], config: &DesktopConfig) -> (Output, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let mut jail = Command::new("timeout");
        jail.args(["60", "bwrap", "--unshare-all", "--die-with-parent"]);
        jail.args(["--ro-bind", "/", "/"]);
        jail.args([
            "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind",
        ]);
        jail.arg(folder.path()).arg("/tmp/.X11-unix");
        for (program, file) in with {
            jail.arg("--ro-bind").arg(file);
            jail.arg(format!("/usr/bin/{program}"));
        }
        jail.args(["sh", "-c", &start_display(config, &Cookie::random())]);
        (jail.output().unwrap(), folder)
    }

    /// What is told where these are no programs.
    fn said_without(missing: &[&str], config: &DesktopConfig) -> String {
        let nothing = Path::new("/dev/null");
        let without: Vec<_> = missing.iter().map(|name| (*name, nothing)).collect();
        let (ended, folder) = run(&without, config);
        assert!(!ended.status.success(), "{ended:?}");
        std::fs::read_to_string(folder.path().join("agon-error")).unwrap()
    }

    /// What stands in the file `told` of the socket's folder after a run with these programs.
    fn told_with(programs: &[(&str, &str)]) -> String {
        let scripts = tempfile::tempdir().unwrap();
        let files = programs.iter().map(|(name, script)| {
            let file = scripts.path().join(name);
            std::fs::write(&file, format!("#!/bin/sh\n{script}")).unwrap();
            std::fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
            (*name, file)
        });
        let files: Vec<_> = files.collect();
        let with: Vec<_> = files.iter().map(|(name, file)| (*name, &**file)).collect();
        let (_, folder) = run(&with, &DesktopConfig::default());
        std::fs::read_to_string(folder.path().join("told")).unwrap()
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

    #[test]
    fn a_window_manager_that_came_too_early_is_started_again() {
        let openbox = "if mkdir /tmp/early; then exit 1; fi
            [ -S /tmp/.X11-unix/X0 ] && echo again >>/tmp/.X11-unix/told
            kill -9 -1";
        assert_eq!(told_with(&[("openbox", openbox)]), "again\n");
    }

    #[test]
    fn a_window_manager_that_was_killed_is_not_started_again() {
        let server = "echo 0 >&4";
        let openbox = "echo started >>/tmp/.X11-unix/told; kill -9 $$";
        let told = told_with(&[("Xvfb", server), ("openbox", openbox)]);
        assert_eq!(told, "started\n");
    }
}
