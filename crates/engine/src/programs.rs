//! The programs of this machine and of the suite that an environment shows, gathered in one folder that
//! sandboxes can be shown. Knows nothing of what they do.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use agon_core::{Digest, Environment, Fault, FaultClass, Task};
use agon_sandbox::{OwnedFolder, ReadOnlyFolder};

/// A folder with the programs of a task; it is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Programs {
    folder: OwnedFolder,
}

/// The folder within the owned one, which others may not list.
const BIN: &str = "bin";

impl Programs {
    /// `None` where a task names none. Blocks: it copies files.
    pub(crate) fn gather(task: &Task) -> Result<Option<Self>, Fault> {
        let names = &task.environment.programs;
        if names.is_empty() {
            return Ok(None);
        }
        let lost = |error: io::Error| {
            let message = format_args!("can't gather the task's programs: {error}");
            Fault::new(FaultClass::Setup, message)
        };
        let folder = OwnedFolder::new().map_err(lost)?;
        let bin = folder.path().join(BIN);
        fs::create_dir(&bin).map_err(lost)?;
        for name in names {
            let file = name.rsplit('/').next().unwrap_or(name);
            let target = bin.join(file);
            if name.contains('/') {
                let brought = task.programs.show().find(Path::new(name));
                let brought = brought.ok_or_else(|| changed(name))?;
                let content = fs::read(&brought.source).map_err(lost)?;
                if Digest::of(&content) != brought.digest {
                    return Err(changed(name));
                }
                fs::write(&target, content).map_err(lost)?;
            } else {
                let found = find(name)?;
                fs::copy(found, &target).map_err(lost)?;
            }
            fs::set_permissions(&target, Permissions::from_mode(0o755)).map_err(lost)?;
        }
        fs::set_permissions(&bin, Permissions::from_mode(0o755)).map_err(lost)?;
        Ok(Some(Self { folder }))
    }

    pub(crate) fn shown(&self) -> ReadOnlyFolder {
        ReadOnlyFolder {
            host: self.folder.path().join(BIN),
            inside: Environment::PROGRAMS.to_owned(),
        }
    }
}

fn changed(name: &str) -> Fault {
    let message = format_args!("the program `{name}` of the suite has changed since it was loaded");
    Fault::new(FaultClass::Setup, message)
}

/// Beside our own executable, or on `PATH`.
fn find(name: &str) -> Result<PathBuf, Fault> {
    let own = std::env::current_exe().ok();
    let beside = own.as_deref().and_then(Path::parent).map(Path::to_owned);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = beside.iter().cloned().chain(std::env::split_paths(&path));
    let found = folders.map(|folder| folder.join(name)).find(|file| {
        let runs = |meta: fs::Metadata| meta.is_file() && meta.permissions().mode() & 0o111 != 0;
        fs::metadata(file).is_ok_and(runs)
    });
    found.ok_or_else(|| {
        let beside = beside.unwrap_or_default();
        Fault::new(
            FaultClass::Setup,
            format_args!(
                "there is no program `{name}` in {} or on PATH: build it first (`cargo build \
                 --workspace` builds those of Agon's own suites), or install it",
                beside.display()
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_this_machine_is_found_on_path() {
        let found = find("sh").unwrap();
        assert!(found.is_absolute() && found.ends_with("sh"), "{found:?}");
    }

    #[test]
    fn who_misses_one_is_told_what_to_build() {
        let fault = find("agon-no-such-game").unwrap_err();
        assert_eq!(fault.class, FaultClass::Setup);
        for part in ["`agon-no-such-game`", "cargo build", "PATH"] {
            assert!(fault.message.contains(part), "{}", fault.message);
        }
    }
}
