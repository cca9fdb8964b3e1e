//! Interpreters for programs that keep a secret. A process whose executable it may not read is
//! closed from its first instruction on: others of the same user can neither trace it nor open its
//! memory, its descriptors or its environment. So these are copies that everybody may execute and
//! nobody may read; that the folder is shown read-only keeps their owner from changing it.

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::bubblewrap::shows;
use crate::error::SandboxError;

/// Where a local sandbox shows sealed interpreters: `bash`, `dash`, `python3` and `sh`, as far as the
/// machine has them.
pub const SEALED: &str = "/.agon/sealed";

const INTERPRETERS: [&str; 4] = ["bash", "dash", "python3", "sh"];

/// Says what the kernel makes of an executable that can't be read; at 1 it would make nothing of it.
const SWITCH: &str = "/proc/sys/fs/suid_dumpable";

pub(super) fn must_hold() -> Result<(), SandboxError> {
    match fs::read_to_string(SWITCH) {
        Ok(value) if value.trim() == "1" => Err(SandboxError::Missing(
            "fs.suid_dumpable is 1, so that every program could look into the checks: run \
             `sysctl -w fs.suid_dumpable=0`"
                .to_owned(),
        )),
        _ => Ok(()),
    }
}

/// Fills a folder with the interpreters that a program finds along `path`.
pub(super) fn fill(folder: &Path, path: &str) -> io::Result<()> {
    for name in INTERPRETERS {
        if let Some(program) = find(name, path) {
            let copy = folder.join(name);
            fs::copy(program, &copy)?;
            fs::set_permissions(copy, Permissions::from_mode(0o111))?;
        }
    }
    Ok(())
}

/// A script in place of the interpreter (a version switcher, say) could not be sealed, and one from
/// elsewhere, by a link, would not find its libraries inside.
fn find(name: &str, path: &str) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter_map(|folder| folder.join(name).canonicalize().ok())
        .find(|program| shows(program) && is_binary(program).unwrap_or(false))
}

fn is_binary(program: &Path) -> io::Result<bool> {
    let mut magic = [0; 4];
    File::open(program)?.read_exact(&mut magic)?;
    Ok(magic == *b"\x7fELF")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::local::bubblewrap::PATH;

    #[test]
    fn only_programs_that_are_shown_inside_are_sealed() {
        let shell = find("sh", PATH).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let at = |name: &str| elsewhere.path().join(name);
        fs::copy(&shell, at("sh")).unwrap();
        fs::write(at("dash"), "#!/bin/sh").unwrap();
        symlink(&shell, at("linked")).unwrap();

        let first = elsewhere.path().display();
        assert_eq!(
            find("sh", &format!("{first}:{PATH}")).as_ref(),
            Some(&shell)
        );
        assert_eq!(find("linked", &first.to_string()), Some(shell));
        for name in ["sh", "dash", "none"] {
            assert_eq!(find(name, &first.to_string()), None, "{name}");
        }
    }
}
