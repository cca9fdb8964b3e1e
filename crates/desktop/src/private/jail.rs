//! How bubblewrap is called for an X server and its window manager. They hold no secrets but their
//! own cookie, and talk to hostile clients: so they see programs, fonts and their socket, nothing else.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use agon_sandbox::local::{FILTER_AT, hand_filter};

use crate::config::DesktopConfig;
use crate::desktop::Desktop;
use crate::error::DesktopError;

/// Below the users of sandboxes, which no distribution hands out either.
const USER: u32 = 1_899_999_999;

/// Where the files of the desktop are found inside.
pub(super) const INSIDE: &str = "/agon";

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Folders of the root that are links into `/usr` on most systems, and folders on some.
const ROOTS: [&str; 4] = ["bin", "lib", "lib32", "lib64"];

/// The server says its number on standard output when it is ready. The window manager starts at
/// the first line of our words. Everything ends when there are no more, also when we are killed, and when the
/// server ends.
const SCRIPT: &str = r#"
ulimit -v "$memory"
exec 3<&0
"$@" 3<&- &
server=$!
exec >/dev/null
read go
DISPLAY=":$number" XAUTHORITY=/agon/authority openbox --sm-disable --config-file /agon/openbox.xml \
    3<&- 2>/dev/null &
{ read end; kill -9 $server; } <&3 3<&- &
exec <&- 3<&-
wait $server
"#;

/// What the server may take for the pictures of its clients, in KiB of addresses: they must not take
/// the machine's memory through it. Its libraries need about 300 MiB of them, for OpenGL 1 GiB more.
const MEMORY: u64 = 1 << 20;
const MEMORY_WITH_GL: u64 = 4 << 20;

/// The number of every private display, which has its own folder of sockets. Not one that a display of
/// the host's could have: X clients look for a socket by its number in the network's namespace first.
pub(super) const NUMBER: u32 = Desktop::PRIVATE_NUMBER;

/// The user that the server runs as: one of its own when we are root.
pub(super) fn user() -> Option<u32> {
    rustix::process::geteuid().is_root().then_some(USER)
}

/// A program that must be there, and how to get it.
pub(super) fn find(program: &str, package: &str) -> Result<PathBuf, DesktopError> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| PATH.into());
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .ok_or_else(|| {
            DesktopError::Missing(format!(
                "{program} is not installed: run `apt-get install {package}`"
            ))
        })
}

/// Everything but standard streams. `folder` holds `x` (for the socket), `authority` and
/// `openbox.xml`.
pub(super) fn command(folder: &Path, config: &DesktopConfig) -> Result<Command, DesktopError> {
    let bubblewrap = find("bwrap", "bubblewrap")?;
    find("Xvfb", "xvfb")?;
    find("openbox", "openbox")?;
    let mut words: Vec<OsString> = Vec::new();
    let mut add = |parts: &[&str]| words.extend(parts.iter().map(OsString::from));
    add(&[
        "--unshare-all",
        "--unshare-user",
        "--as-pid-1",
        "--die-with-parent",
        "--new-session",
        "--disable-userns",
    ]);
    add(&[
        "--cap-drop",
        "ALL",
        "--uid",
        "1000",
        "--gid",
        "1000",
        "--hostname",
        "agon",
    ]);
    add(&["--seccomp", &FILTER_AT.to_string()]);
    add(&["--ro-bind", "/usr", "/usr"]);
    for name in ROOTS {
        let path = format!("/{name}");
        match fs::read_link(&path) {
            Ok(target) => add(&["--symlink", &target.to_string_lossy(), &path]),
            Err(_) => add(&["--ro-bind-try", &path, &path]),
        }
    }
    // Without its cache, fontconfig reads all fonts anew: seconds for a window manager.
    for shown in [
        "/etc/fonts",
        "/var/cache/fontconfig",
        "/etc/ld.so.cache",
        "/etc/alternatives",
    ] {
        add(&["--ro-bind-try", shown, shown]);
    }
    add(&["--proc", "/proc", "--dev", "/dev"]);
    add(&["--size", "16777216", "--perms", "1777", "--tmpfs", "/tmp"]);
    let folder = folder.to_string_lossy();
    add(&["--bind", &format!("{folder}/x"), "/tmp/.X11-unix"]);
    for name in ["authority", "openbox.xml"] {
        add(&[
            "--ro-bind",
            &format!("{folder}/{name}"),
            &format!("{INSIDE}/{name}"),
        ]);
    }
    add(&["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"]);
    add(&["--", "/bin/sh", "-c", SCRIPT, "display"]);
    let screen = format!("{}x24", config.size);
    add(&[
        "Xvfb",
        &format!(":{NUMBER}"),
        "-displayfd",
        "1",
        "-screen",
        "0",
        &screen,
        "-noreset",
    ]);
    add(&["-nolisten", "tcp", "-auth", "/agon/authority"]);
    // No screen saver: it would draw over what agents see. No beeps.
    add(&["-s", "0", "-dpms", "-br"]);
    if !config.gl {
        add(&["-extension", "GLX"]);
    }
    let mut command = Command::new(bubblewrap);
    command
        .args(words)
        .env_clear()
        .env("PATH", PATH)
        .env(
            "memory",
            if config.gl { MEMORY_WITH_GL } else { MEMORY }.to_string(),
        )
        .env("number", NUMBER.to_string())
        .env("HOME", "/tmp")
        .env("LANG", "C.UTF-8")
        .current_dir("/");
    if let Some(user) = user() {
        command.uid(user).gid(user);
    }
    hand_filter(&mut command).map_err(DesktopError::io("can't filter system calls"))?;
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desktop::Desktop;

    #[test]
    fn the_name_of_a_private_display_has_its_number() {
        assert_eq!(Desktop::PRIVATE_NAME, format!(":{NUMBER}"));
    }
}
