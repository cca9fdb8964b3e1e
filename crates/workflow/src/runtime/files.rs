//! Files from this machine into a runtime and back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use agon_core::files::stays_inside;
use agon_sandbox::{Exec, Sandbox};

use super::create::{Connected, Runtime};
use super::error::RuntimeError;
use crate::events::{Action, CmdRunAction};

/// A file that is larger is no part of a benchmark.
const LARGEST: u64 = 256 << 20;
/// Files that are copied at once.
const MOST_FILES: usize = 20_000;

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

    /// Copies a file, or a folder with all that is in it, to a folder of this machine.
    pub async fn copy_from(&mut self, path: &str, into: &Path) -> Result<(), RuntimeError> {
        let timeout = self.command_time();
        let Connected { sandbox, .. } = self.connected_mut()?;
        let find = r#"if [ -d "$1" ]; then cd "$1" && find . -type f -print0; else [ -f "$1" ] && printf '%s\0' .; fi"#;
        let mut exec = Exec::new(["sh", "-c", find, "sh", path], timeout);
        exec.keep = 8 << 20;
        let output = sandbox.exec(&exec).await?;
        if !output.exit.success() {
            let why = format!("there is no {path} in the runtime");
            return Err(RuntimeError::Action(why));
        }
        let names = output.stdout.bytes.split(|byte| *byte == 0);
        for name in names.filter(|name| !name.is_empty()).take(MOST_FILES) {
            let name = String::from_utf8_lossy(name);
            copy_one(&**sandbox, path, &name, into).await?;
        }
        Ok(())
    }

    /// The names in a folder: folders first, with a slash.
    pub async fn list_files(&mut self, path: Option<&str>) -> Result<Vec<String>, RuntimeError> {
        let timeout = self.command_time();
        let Connected { sandbox, .. } = self.connected_mut()?;
        let list = r#"cd "$1" && for f in * .[!.]*; do [ -d "$f" ] && printf '%s/\0' "$f"; done; for f in * .[!.]*; do [ -f "$f" ] && printf '%s\0' "$f"; done; true"#;
        let exec = Exec::new(
            ["sh", "-c", list, "sh", path.unwrap_or(agon_sandbox::WORK)],
            timeout,
        );
        let output = sandbox.exec(&exec).await?;
        let names = output.stdout.bytes.split(|byte| *byte == 0);
        Ok(names
            .filter(|name| !name.is_empty())
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect())
    }

    /// Sets variables in the shell, for all commands that follow.
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
            Some(true) => Ok(()),
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

/// What the runtime says about its files is the agent's: no name leads out of `into`.
async fn copy_one(
    sandbox: &dyn Sandbox,
    path: &str,
    name: &str,
    into: &Path,
) -> Result<(), RuntimeError> {
    let relative = match name.trim_start_matches("./") {
        "." | "" => PathBuf::from(Path::new(path).file_name().unwrap_or_default()),
        name => PathBuf::from(name),
    };
    if !stays_inside(&relative) {
        return Err(RuntimeError::Action(format!("`{name}` is no file name")));
    }
    let inside = match name {
        "." => path.to_owned(),
        name => format!("{path}/{name}"),
    };
    let content = sandbox.read(&inside, LARGEST).await?;
    let to = into.join(relative);
    let context = || format!("can't write {}", to.display());
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(RuntimeError::io(context()))?;
    }
    fs::write(&to, content).map_err(RuntimeError::io(context()))
}
