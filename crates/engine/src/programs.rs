//! The programs of this machine and of the suite that an environment shows, gathered in one folder that
//! sandboxes can be shown. Knows nothing of what they do.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_core::{Digest, Environment, Fault, FaultClass, Task};
use agon_sandbox::{OwnedFolder, ReadOnlyFolder};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

/// What the programs of this machine are that tasks name, by name: what is not there is left out, and
/// told when it is needed. Blocks: it reads them.
pub fn digests<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> BTreeMap<String, Digest> {
    let mut digests = BTreeMap::new();
    let names = tasks
        .into_iter()
        .flat_map(|task| &task.environment.programs);
    for name in names.filter(|name| !name.contains('/')) {
        if digests.contains_key(name) {
            continue;
        }
        let content = find(name).ok().and_then(|file| fs::read(file).ok());
        if let Some(content) = content {
            digests.insert(name.clone(), Digest::of(&content));
        }
    }
    digests
}

/// The programs of a run: gathered once for all trials that need the same.
#[derive(Debug, Default)]
pub struct Shelf {
    /// What the run began with, of this machine.
    known: BTreeMap<String, Digest>,
    gathered: Mutex<HashMap<Key, Arc<Programs>>>,
}

/// Names, and what the suite brought.
type Key = Vec<(String, Option<Digest>)>;

impl Shelf {
    pub fn new(known: BTreeMap<String, Digest>) -> Self {
        Self {
            known,
            gathered: Mutex::default(),
        }
    }

    /// `None` where a task names none.
    pub(crate) async fn of(&self, task: &Arc<Task>) -> Result<Option<Arc<Programs>>, Fault> {
        if task.environment.programs.is_empty() {
            return Ok(None);
        }
        let brought = |name: &String| {
            let entry = task.programs.show().find(Path::new(name));
            (name.clone(), entry.map(|entry| entry.digest))
        };
        let key: Key = task.environment.programs.iter().map(brought).collect();
        let mut gathered = self.gathered.lock().await;
        if let Some(programs) = gathered.get(&key) {
            return Ok(Some(Arc::clone(programs)));
        }
        let (task, known) = (Arc::clone(task), self.known.clone());
        let programs = spawn_blocking(move || Programs::gather(&task, &known)).await;
        let programs =
            Arc::new(programs.map_err(|error| Fault::new(FaultClass::Internal, error))??);
        gathered.insert(key, Arc::clone(&programs));
        Ok(Some(programs))
    }
}

/// A folder with the programs of a task; it is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Programs {
    folder: OwnedFolder,
}

/// The folder within the owned one, which others may not list.
const BIN: &str = "bin";

impl Programs {
    /// Blocks: it copies files.
    fn gather(task: &Task, known: &BTreeMap<String, Digest>) -> Result<Self, Fault> {
        let names = &task.environment.programs;
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
            let (source, expected) = if name.contains('/') {
                let brought = task.programs.show().find(Path::new(name));
                let brought = brought.ok_or_else(|| changed(name))?;
                (brought.source.clone(), Some(&brought.digest))
            } else {
                (find(name)?, known.get(name))
            };
            let content = fs::read(source).map_err(lost)?;
            if expected.is_some_and(|expected| Digest::of(&content) != *expected) {
                return Err(changed(name));
            }
            fs::write(&target, content).map_err(lost)?;
            fs::set_permissions(&target, Permissions::from_mode(0o755)).map_err(lost)?;
        }
        fs::set_permissions(&bin, Permissions::from_mode(0o755)).map_err(lost)?;
        Ok(Self { folder })
    }

    pub(crate) fn shown(&self) -> ReadOnlyFolder {
        ReadOnlyFolder {
            host: self.folder.path().join(BIN),
            inside: Environment::PROGRAMS.to_owned(),
        }
    }
}

fn changed(name: &str) -> Fault {
    let message = format_args!("the program `{name}` has changed since the run began");
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
