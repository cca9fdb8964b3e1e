//! Files from this machine into a runtime and back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use agon_core::files::stays_inside;
use agon_sandbox::{Captured, Exec, ExecOutput, Sandbox};

use super::create::{Connected, Runtime};
use super::error::RuntimeError;
use crate::events::{Action, CmdRunAction};

/// A file that is larger is no part of a benchmark.
const LARGEST: u64 = 256 << 20;
/// Files that are copied at once.
const MOST_FILES: usize = 20_000;
/// Bytes that are copied out at once.
const MOST_BYTES: u64 = 1 << 30;
/// Names of files that are looked at.
const NAMES: u64 = 8 << 20;

impl Runtime {
    /// Copies a file, or with `recursive` a folder, into the folder `into`.
    pub async fn copy_to(
        &mut self,
        host: &Path,
        into: &str,
        recursive: bool,
    ) -> Result<(), RuntimeError> {
        let files = listed(host, recursive)?;
        let Connected { sandbox, .. } = self.connected_mut()?;
        for (relative, path) in files {
            let context = || format!("can't read {}", path.display());
            let content = fs::read(&path).map_err(RuntimeError::io(context()))?;
            let inside = Path::new(into).join(&relative);
            sandbox.write(&inside.to_string_lossy(), &content).await?;
        }
        Ok(())
    }

    /// Copies a file, or a folder with all that is in it, to a folder of this machine: everything or, with
    /// an error, a part of it. More than 20,000 files or 1 GiB are an error, and so is a file of more than
    /// 256 MiB.
    pub async fn copy_from(&mut self, path: &str, into: &Path) -> Result<(), RuntimeError> {
        let timeout = self.command_time();
        let Connected { sandbox, .. } = self.connected_mut()?;
        let find = r#"if [ -d "$1" ]; then cd "$1" && find . -type f -print0; else [ -f "$1" ] && printf '%s\0' .; fi"#;
        let mut exec = Exec::new(["sh", "-c", find, "sh", path], timeout);
        exec.keep = NAMES;
        let output = sandbox.exec(&exec).await?;
        if !output.exit.success() {
            return Err(missing(path, &output));
        }
        let names = names(path, &output.stdout)?;
        let mut room = Room(MOST_BYTES);
        for name in names {
            copy_one(&**sandbox, path, &name, into, &mut room).await?;
        }
        Ok(())
    }

    /// The names in a folder: folders first, with a slash.
    pub async fn list_files(&mut self, path: Option<&str>) -> Result<Vec<String>, RuntimeError> {
        let timeout = self.command_time();
        let path = path.unwrap_or(agon_sandbox::WORK);
        let Connected { sandbox, .. } = self.connected_mut()?;
        let list = r#"cd "$1" || exit 1; for f in * .[!.]*; do [ -d "$f" ] && printf '%s/\0' "$f"; done; for f in * .[!.]*; do [ -f "$f" ] && printf '%s\0' "$f"; done; true"#;
        let mut exec = Exec::new(["sh", "-c", list, "sh", path], timeout);
        exec.keep = NAMES;
        let output = sandbox.exec(&exec).await?;
        if !output.exit.success() {
            return Err(missing(path, &output));
        }
        names(path, &output.stdout)
    }

    /// Sets variables in the shell, for all commands that follow, also in later shells.
    pub async fn add_env_vars(
        &mut self,
        variables: &BTreeMap<String, String>,
    ) -> Result<(), RuntimeError> {
        let mut command = String::new();
        for (name, value) in variables {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(plain) {
                return Err(RuntimeError::Action(format!("`{name}` is no variable")));
            }
            let value = value.replace('\'', r"'\''");
            command += &format!("export {}='{value}'\n", name.to_uppercase());
        }
        let done = self
            .run_action(Action::from(CmdRunAction::new(command)))
            .await?;
        match done.success() {
            Some(true) => {
                let new = variables.iter();
                let new = new.map(|(name, value)| (name.clone(), value.clone()));
                self.variables.extend(new);
                Ok(())
            }
            _ => Err(RuntimeError::Action(
                "the variables were not set".to_owned(),
            )),
        }
    }
}

/// The files below a path, by the names that they get.
fn listed(host: &Path, recursive: bool) -> Result<Vec<(PathBuf, PathBuf)>, RuntimeError> {
    let context = |path: &Path| format!("can't read {}", path.display());
    let about = fs::metadata(host).map_err(RuntimeError::io(context(host)))?;
    let name = PathBuf::from(host.file_name().unwrap_or_default());
    if about.is_file() {
        return match about.len() <= LARGEST {
            true => Ok(vec![(name, host.to_owned())]),
            false => Err(RuntimeError::Action(format!(
                "{} is too large",
                host.display()
            ))),
        };
    }
    if !recursive {
        return Err(RuntimeError::Action(format!(
            "{} is a folder: copy it with recursive",
            host.display()
        )));
    }
    let mut files = Vec::new();
    let mut folders = vec![(name, host.to_owned())];
    while let Some((inside, folder)) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(RuntimeError::io(context(&folder)))? {
            let entry = entry.map_err(RuntimeError::io(context(&folder)))?;
            let kind = entry
                .file_type()
                .map_err(RuntimeError::io(context(&folder)))?;
            let place = (inside.join(entry.file_name()), entry.path());
            if kind.is_dir() {
                folders.push(place);
            } else if kind.is_file() {
                files.push(place);
            }
            if files.len() > MOST_FILES {
                let why = format!("{} holds more than {MOST_FILES} files", host.display());
                return Err(RuntimeError::Action(why));
            }
        }
    }
    files.sort();
    Ok(files)
}

fn missing(path: &str, output: &ExecOutput) -> RuntimeError {
    let said = String::from_utf8_lossy(&output.stderr.bytes);
    let said: String = said.trim().chars().take(200).collect();
    let why = if said.is_empty() {
        String::new()
    } else {
        format!(": {said}")
    };
    RuntimeError::Unusable(format!("{path} in the runtime can't be looked at{why}"))
}

/// All of them, or an error.
fn names(path: &str, listed: &Captured) -> Result<Vec<String>, RuntimeError> {
    let unusable = |why: &str| RuntimeError::Unusable(format!("{path} in the runtime {why}"));
    if listed.omitted > 0 {
        return Err(unusable("holds too many names"));
    }
    let names = listed.bytes.split(|byte| *byte == 0);
    let names = names.filter(|name| !name.is_empty());
    if names.clone().count() > MOST_FILES {
        return Err(unusable(&format!("holds more than {MOST_FILES} files")));
    }
    let text = |name: &[u8]| {
        let name = String::from_utf8(name.to_vec());
        name.map_err(|_| unusable("holds a name that is no text"))
    };
    names.map(text).collect()
}

/// Bytes that may still be copied.
struct Room(u64);

impl Room {
    fn take(&mut self, name: &str, bytes: u64) -> Result<(), RuntimeError> {
        let unusable = |why: String| Err(RuntimeError::Unusable(format!("`{name}` {why}")));
        if bytes > LARGEST {
            return unusable(format!("is larger than {LARGEST} bytes"));
        }
        match self.0.checked_sub(bytes) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => unusable(format!(
                "and those before it are more than {MOST_BYTES} bytes"
            )),
        }
    }
}

/// What the runtime says about its files is the agent's: no name leads out of `into`.
async fn copy_one(
    sandbox: &dyn Sandbox,
    path: &str,
    name: &str,
    into: &Path,
    room: &mut Room,
) -> Result<(), RuntimeError> {
    let relative = match name.trim_start_matches("./") {
        "." | "" => PathBuf::from(Path::new(path).file_name().unwrap_or_default()),
        name => PathBuf::from(name),
    };
    if !stays_inside(&relative) {
        return Err(RuntimeError::Unusable(format!("`{name}` is no file name")));
    }
    let inside = match name {
        "." => path.to_owned(),
        name => format!("{path}/{name}"),
    };
    // One byte more than is taken: a longer file is not cut.
    let content = sandbox.read(&inside, LARGEST + 1).await?;
    room.take(&inside, content.len() as u64)?;
    let to = into.join(relative);
    let context = || format!("can't write {}", to.display());
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(RuntimeError::io(context()))?;
    }
    fs::write(&to, content).map_err(RuntimeError::io(context()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_copied_as_long_as_there_is_room() {
        let mut room = Room(MOST_BYTES);
        for _ in 0..4 {
            room.take("whole", LARGEST).unwrap();
        }
        let error = room.take("last", 1).unwrap_err();
        assert!(error.to_string().contains("`last`"), "{error}");
        assert!(error.of_agent());
        let error = Room(MOST_BYTES).take("large", LARGEST + 1).unwrap_err();
        assert!(error.to_string().contains("is larger"), "{error}");
    }

    #[test]
    fn names_that_were_cut_or_are_no_text_are_an_error() {
        let listed = |bytes: &[u8], omitted| Captured {
            bytes: bytes.to_vec(),
            omitted,
        };
        assert_eq!(names("x", &listed(b"a\0b c\0", 0)).unwrap(), ["a", "b c"]);
        names("x", &listed(b"a\0", 1)).unwrap_err();
        names("x", &listed(b"\xff\0", 0)).unwrap_err();
        names("x", &listed(&b"a\0".repeat(MOST_FILES + 1), 0)).unwrap_err();
    }
}
