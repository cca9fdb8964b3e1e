//! How a `cmd:` command looks inside of its sandbox: which folder is the agent's own, where the
//! program is found, and what its paths are called there. Looks at the disk, changes nothing.

use std::path::{Path, PathBuf};

use crate::error::SetupError;

/// Where the agent's folder is inside of its sandbox.
pub(crate) const AGENT: &str = "/agent";

/// What every local sandbox shows of the host, so far as programs go.
pub(crate) const SHOWN: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];

/// The host's own: never an agent's folder.
const SYSTEM: &[&str] = &["/etc", "/proc", "/sys", "/dev", "/boot", "/run"];

/// Where programs without a path are looked up: the sandbox's own PATH.
const PATH: &[&str] = &[
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
];

/// A command as it looks inside of the sandbox, and the host's folder shown there.
#[derive(Debug, PartialEq)]
pub(crate) struct Layout {
    pub(crate) argv: Vec<String>,
    pub(crate) folder: Option<PathBuf>,
    /// What the command names in that folder, relative to it.
    pub(crate) named: Vec<PathBuf>,
}

impl Layout {
    /// The agent's folder is that of the first argument that is a file, or else of the program, if
    /// it is given by path. Relative paths start at `base`.
    pub(crate) fn of(words: &[String], base: &Path) -> Result<Self, SetupError> {
        let (program, arguments) = words.split_first().ok_or_else(|| SetupError::NoProgram {
            program: String::new(),
            searched: "nothing".to_owned(),
        })?;
        let script = arguments.iter().find_map(|word| {
            let file = base.join(word).canonicalize().ok()?;
            (file.is_file() && !within(&file, SHOWN) && !within(&file, SYSTEM)).then_some(file)
        });
        if script.is_none()
            && let Some(missing) = arguments.iter().find(|word| names_a_script(word, base))
        {
            return Err(SetupError::NoScript {
                script: missing.clone(),
            });
        }
        let by_path = program.contains('/');
        let own = || entry(&base.join(program)).filter(|file| by_path && !within(file, SHOWN));
        let folder = script
            .or_else(own)
            .and_then(|file| file.parent().map(Path::to_owned));
        let inside = |word: &String| inside(&base.join(word), folder.as_deref()?);
        let found = if by_path {
            inside(program).or_else(|| shown(&base.join(program)))
        } else {
            let mut places = PATH.iter().map(|place| Path::new(place).join(program));
            places.find_map(|place| shown(&place))
        };
        let found = found.ok_or_else(|| SetupError::NoProgram {
            program: program.clone(),
            searched: searched(by_path, folder.as_deref()),
        })?;
        let named = words.iter().filter_map(inside);
        let named = named
            .filter_map(|path| Some(Path::new(&path).strip_prefix(AGENT).ok()?.to_owned()))
            .filter(|path| !path.as_os_str().is_empty());
        let named = named.collect();
        let mut argv = vec![found];
        argv.extend(
            arguments
                .iter()
                .map(|word| inside(word).unwrap_or_else(|| word.clone())),
        );
        Ok(Self {
            argv,
            folder,
            named,
        })
    }
}

/// Whether an argument can only mean a program text, and there is none.
fn names_a_script(word: &str, base: &Path) -> bool {
    let path = Path::new(word);
    let ending = path.extension().and_then(|ending| ending.to_str());
    !word.starts_with('-')
        && matches!(
            ending,
            Some("py" | "sh" | "js" | "mjs" | "ts" | "rb" | "pl")
        )
        && !base.join(path).exists()
}

fn within(path: &Path, roots: &[&str]) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}

/// Where a name is, with links resolved up to its folder but not itself: a link to a program
/// elsewhere belongs to the folder it lies in.
fn entry(path: &Path) -> Option<PathBuf> {
    path.symlink_metadata().ok()?;
    match path.file_name() {
        Some(name) => Some(path.parent()?.canonicalize().ok()?.join(name)),
        None => path.canonicalize().ok(),
    }
}

/// What a path of the agent's folder is called inside.
fn inside(path: &Path, folder: &Path) -> Option<String> {
    let places = [path.canonicalize().ok(), entry(path)];
    let relative = places
        .iter()
        .flatten()
        .find_map(|place| place.strip_prefix(folder).ok())?;
    let inside = Path::new(AGENT).join(relative);
    Some(inside.to_str()?.trim_end_matches('/').to_owned())
}

/// A program that the sandbox shows anyway.
fn shown(path: &Path) -> Option<String> {
    let fits = path.is_file() && within(&entry(path)?, SHOWN);
    fits.then(|| path.to_str().map(str::to_owned)).flatten()
}

fn searched(by_path: bool, folder: Option<&Path>) -> String {
    let mut places: Vec<String> = if by_path { SHOWN } else { PATH }
        .iter()
        .map(ToString::to_string)
        .collect();
    if let (true, Some(folder)) = (by_path, folder) {
        places.push(format!("the agent's folder {}", folder.display()));
    }
    places.join(", ")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;
    use crate::words;

    /// `agents/agent.py`, `agents/conf/a.toml`, `agents/venv/bin/python -> /usr/bin/env`, `run.sh`.
    fn home() -> (TempDir, PathBuf) {
        let temp = TempDir::new().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for file in ["agents/agent.py", "agents/conf/a.toml", "run.sh"] {
            let file = base.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        fs::create_dir_all(base.join("agents/venv/bin")).unwrap();
        symlink("/usr/bin/env", base.join("agents/venv/bin/python")).unwrap();
        (temp, base)
    }

    fn layout(line: &str, base: &Path) -> Result<(String, Option<PathBuf>), String> {
        Layout::of(&words::split(line).unwrap(), base)
            .map(|layout| (layout.argv.join(" "), layout.folder))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_script_brings_its_folder_and_paths_in_it_are_renamed() {
        let (_temp, base) = home();
        let agents = base.join("agents");
        for (line, argv) in [
            ("env agents/agent.py", "/usr/bin/env /agent/agent.py"),
            (
                "/usr/bin/env -u agents/agent.py agents/conf/a.toml agents run.sh x",
                "/usr/bin/env -u /agent/agent.py /agent/conf/a.toml /agent run.sh x",
            ),
            (
                "agents/venv/bin/python agents/agent.py",
                "/agent/venv/bin/python /agent/agent.py",
            ),
        ] {
            assert_eq!(
                layout(line, &base),
                Ok((argv.to_owned(), Some(agents.clone()))),
                "{line}"
            );
        }
    }

    #[test]
    fn a_program_given_by_path_brings_its_own_folder() {
        let (_temp, base) = home();
        assert_eq!(
            layout("./run.sh now", &base),
            Ok(("/agent/run.sh now".to_owned(), Some(base.clone())))
        );
        let absolute = format!("{}/agents/../run.sh", base.display());
        assert_eq!(
            layout(&absolute, &base),
            Ok(("/agent/run.sh".to_owned(), Some(base)))
        );
    }

    #[test]
    fn programs_and_files_of_the_system_bring_nothing() {
        let (_temp, base) = home();
        for line in [
            "/usr/bin/env",
            "/bin/sh -c 'exit 0'",
            "sh /etc/passwd",
            "sh /usr/bin/env",
        ] {
            let (argv, folder) = layout(line, &base).unwrap();
            assert_eq!(folder, None, "{line}: {argv}");
        }
    }

    #[test]
    fn a_program_that_the_sandbox_does_not_show_is_refused() {
        let (_temp, base) = home();
        let bare = layout("no-such-program agents/agent.py", &base).unwrap_err();
        assert!(bare.contains("/usr/bin, /sbin, /bin"), "{bare}");
        assert!(bare.contains("`cmd-host:`"), "{bare}");
        assert!(layout("run.sh", &base).is_err());
        let outside = layout("./run.sh agents/agent.py", &base).unwrap_err();
        assert!(outside.contains("agents"), "{outside}");
        assert!(layout("./absent", &base).is_err());
        assert!(layout("/etc/../usr/bin/absent", &base).is_err());
    }
}
