//! A copy of a `cmd:` agent's own folder, taken once per run: what the agent is stays the same for
//! every trial, its digest names it, and nothing else of the disk is shown to it. Knows nothing of
//! programs and sandboxes.

use std::fs::{self, DirEntry, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use agon_core::Digest;
use agon_core::digest::Hasher;
use agon_sandbox::OwnerMark;
use tempfile::TempDir;

use crate::error::SetupError;

/// More than this is no agent but a disk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) files: u32,
    pub(crate) bytes: u64,
}

pub(crate) const BOUNDS: Bounds = Bounds {
    files: 20_000,
    bytes: 512 << 20,
};

/// Removed from disk when dropped; its name carries its owner, so that what a killed process leaves
/// is removed by the next.
#[derive(Debug)]
pub(crate) struct Staged {
    folder: TempDir,
    digest: Digest,
}

impl Staged {
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn digest(&self) -> Digest {
        self.digest
    }
}

/// Copies `folder` (a canonical path) to below `scratch`, readable by everybody. Left out are names
/// that start with a dot (version control, keys), compiled Python, run folders, suites and
/// everything in `hidden`. Links are copied as links and never followed, so nothing from outside
/// of the folder gets in.
pub(crate) fn stage(
    folder: &Path,
    scratch: &Path,
    hidden: &[PathBuf],
    bounds: Bounds,
) -> Result<Staged, SetupError> {
    let hidden: Vec<PathBuf> = hidden
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    refuse_unfit(folder, &hidden)?;
    let failed = || SetupError::copy(format!("can't write to {}", scratch.display()));
    let owner = OwnerMark::current().map_err(failed())?;
    let copy = tempfile::Builder::new()
        .prefix(&format!("agon-{owner}-agent"))
        .tempdir_in(scratch)
        .map_err(failed())?;
    fs::set_permissions(copy.path(), Permissions::from_mode(0o755)).map_err(failed())?;
    let mut stage = Stage {
        from: folder,
        to: copy.path(),
        hidden: &hidden,
        bounds,
        files: 0,
        bytes: 0,
        hasher: Hasher::default(),
    };
    stage.folder(Path::new(""))?;
    let digest = stage.hasher.finish();
    Ok(Staged {
        folder: copy,
        digest,
    })
}

/// A folder for temporary files that everybody can enter, as an agent's unprivileged user has to.
pub(crate) fn scratch() -> Result<PathBuf, SetupError> {
    let open = |folder: &Path| {
        let mode = folder.metadata().map(|about| about.permissions().mode());
        mode.is_ok_and(|mode| mode & 0o001 != 0)
    };
    [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()]
        .iter()
        .filter_map(|place| place.canonicalize().ok())
        .find(|place| place.ancestors().all(open))
        .ok_or_else(|| SetupError::Copy {
            context: "no folder for a copy that all users can read".to_owned(),
            source: io::Error::other("neither $TMPDIR nor /tmp is open to all users"),
        })
}

fn refuse_unfit(folder: &Path, hidden: &[PathBuf]) -> Result<(), SetupError> {
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let why = if folder.parent().is_none() || home.as_deref() == Some(folder) {
        "it is a whole home or disk"
    } else if is_ours(folder) || hidden.iter().any(|path| folder.starts_with(path)) {
        "it belongs to a suite or a run"
    } else {
        return Ok(());
    };
    Err(SetupError::Folder {
        folder: folder.to_owned(),
        why: format!("{why}; put the agent into a folder of its own"),
    })
}

/// Suites and run folders may hold solutions, checks and other agents' work.
fn is_ours(folder: &Path) -> bool {
    folder.join("suite.toml").exists()
        || (folder.join("run.json").exists() && folder.join("trials.jsonl").exists())
}

struct Stage<'a> {
    from: &'a Path,
    to: &'a Path,
    hidden: &'a [PathBuf],
    bounds: Bounds,
    files: u32,
    bytes: u64,
    hasher: Hasher,
}

impl Stage<'_> {
    fn folder(&mut self, relative: &Path) -> Result<(), SetupError> {
        let from = self.from.join(relative);
        let mut entries = fs::read_dir(&from)
            .and_then(Iterator::collect::<io::Result<Vec<DirEntry>>>)
            .map_err(SetupError::copy(format!("can't list {}", from.display())))?;
        // By name, so that the digest does not depend on the disk.
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            self.entry(&entry, &relative.join(entry.file_name()))?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &DirEntry, relative: &Path) -> Result<(), SetupError> {
        let name = entry.file_name();
        let from = entry.path();
        if name.as_encoded_bytes().starts_with(b".")
            || name == "__pycache__"
            || self.hidden.contains(&from)
        {
            return Ok(());
        }
        let failed = || SetupError::copy(format!("can't copy {}", from.display()));
        let kind = entry.file_type().map_err(failed())?;
        let to = self.to.join(relative);
        if kind.is_dir() {
            if is_ours(&from) {
                return Ok(());
            }
            self.count(0)?;
            self.note(b"folder", relative, &[]);
            fs::create_dir(&to)
                .and_then(|()| fs::set_permissions(&to, Permissions::from_mode(0o755)))
                .map_err(failed())?;
            self.folder(relative)
        } else if kind.is_symlink() {
            self.count(0)?;
            let target = fs::read_link(&from).map_err(failed())?;
            self.note(b"link", relative, target.as_os_str().as_encoded_bytes());
            symlink(&target, &to).map_err(failed())
        } else if kind.is_file() {
            self.file(&from, &to, relative)
        } else {
            // Sockets, pipes and devices are no part of a program.
            Ok(())
        }
    }

    fn file(&mut self, from: &Path, to: &Path, relative: &Path) -> Result<(), SetupError> {
        let failed = || SetupError::copy(format!("can't copy {}", from.display()));
        let left = self.bounds.bytes - self.bytes;
        // One byte more than there is room for, so that a file that grows is noticed.
        let mut source = File::open(from).map_err(failed())?;
        let executable = source.metadata().map_err(failed())?.permissions().mode() & 0o111 != 0;
        let mut content = Hasher::default();
        let mut copy = File::create_new(to).map_err(failed())?;
        let size = hash_copy(&mut source, &mut copy, &mut content, left + 1).map_err(failed())?;
        let mode = if executable { 0o755 } else { 0o644 };
        copy.set_permissions(Permissions::from_mode(mode))
            .map_err(failed())?;
        self.count(size)?;
        let kind: &[u8] = if executable { b"program" } else { b"file" };
        self.note(kind, relative, content.finish().bytes());
        Ok(())
    }

    fn note(&mut self, kind: &[u8], relative: &Path, content: &[u8]) {
        self.hasher.part(kind);
        self.hasher.part(relative.as_os_str().as_encoded_bytes());
        self.hasher.part(content);
    }

    fn count(&mut self, bytes: u64) -> Result<(), SetupError> {
        self.files += 1;
        self.bytes += bytes;
        if self.files <= self.bounds.files && self.bytes <= self.bounds.bytes {
            return Ok(());
        }
        Err(SetupError::Folder {
            folder: self.from.to_owned(),
            why: format!(
                "it holds more than {} files or {} MiB; put the agent into a folder of its own, or \
                 run it unconfined with `cmd-host:`",
                self.bounds.files,
                self.bounds.bytes >> 20
            ),
        })
    }
}

/// Copies at most `most` bytes and takes their digest on the way.
pub(crate) fn hash_copy(
    from: &mut impl Read,
    to: &mut impl Write,
    hasher: &mut Hasher,
    most: u64,
) -> io::Result<u64> {
    let mut from = from.take(most);
    let mut chunk = vec![0; 64 << 10];
    let mut size = 0;
    loop {
        let count = from.read(&mut chunk)?;
        if count == 0 {
            return Ok(size);
        }
        hasher.update(&chunk[..count]);
        to.write_all(&chunk[..count])?;
        size += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A folder with an agent, and one for copies.
    fn folders() -> (TempDir, PathBuf, TempDir) {
        let home = TempDir::new().unwrap();
        let agent = home.path().canonicalize().unwrap().join("agent");
        write(agent.join("agent.py"), "print()");
        write(agent.join("lib/x.py"), "x = 1");
        (home, agent, TempDir::new().unwrap())
    }

    fn staged(agent: &Path, scratch: &TempDir, hidden: &[PathBuf]) -> Staged {
        stage(agent, scratch.path(), hidden, BOUNDS).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_copy_is_readable_by_everybody_and_goes_with_the_run() {
        let (_home, agent, scratch) = folders();
        fs::set_permissions(agent.join("agent.py"), Permissions::from_mode(0o700)).unwrap();
        fs::set_permissions(agent.join("lib"), Permissions::from_mode(0o700)).unwrap();
        let copy = staged(&agent, &scratch, &[]);
        let mode = |name: &str| {
            let meta = fs::metadata(copy.path().join(name)).unwrap();
            meta.permissions().mode() & 0o777
        };
        assert_eq!(
            [mode("."), mode("agent.py"), mode("lib"), mode("lib/x.py")],
            [0o755, 0o755, 0o755, 0o644]
        );
        drop(copy);
        assert!(names(scratch.path()).is_empty());
    }

    #[test]
    fn the_digest_names_content_names_and_modes() {
        let (_home, agent, scratch) = folders();
        let digest = || staged(&agent, &scratch, &[]).digest();
        let first = digest();
        assert_eq!(first, digest());
        write(agent.join(".git/HEAD"), "x");
        write(agent.join("__pycache__/x.pyc"), "x");
        assert_eq!(first, digest());
        fs::set_permissions(agent.join("lib/x.py"), Permissions::from_mode(0o755)).unwrap();
        let executable = digest();
        write(agent.join("lib/x.py"), "x = 2");
        let changed = digest();
        fs::rename(agent.join("lib/x.py"), agent.join("lib/y.py")).unwrap();
        let mut all = vec![first, executable, changed, digest()];
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn keys_suites_runs_and_the_hidden_stay_out() {
        let (_home, agent, scratch) = folders();
        write(agent.join(".env"), "KEY=1");
        write(agent.join("suites/mine/suite.toml"), "");
        write(agent.join("runs/1/run.json"), "{}");
        write(agent.join("runs/1/trials.jsonl"), "");
        write(agent.join("secret/task.yaml"), "");
        let copy = staged(
            &agent,
            &scratch,
            &[agent.join("secret"), agent.join("absent")],
        );
        assert_eq!(names(copy.path()), ["agent.py", "lib", "runs", "suites"]);
        assert!(names(&copy.path().join("runs")).is_empty());
        assert!(names(&copy.path().join("suites")).is_empty());
    }

    #[test]
    fn links_are_never_followed() {
        let (home, agent, scratch) = folders();
        write(home.path().join("outside/secret"), "s3cret");
        symlink("../outside/secret", agent.join("leak")).unwrap();
        symlink("../outside", agent.join("leaks")).unwrap();
        symlink("agent.py", agent.join("main.py")).unwrap();
        symlink(".", agent.join("loop")).unwrap();
        let copy = staged(&agent, &scratch, &[]);
        assert!(fs::read(copy.path().join("leak")).is_err());
        assert!(fs::read_dir(copy.path().join("leaks")).is_err());
        assert_eq!(fs::read(copy.path().join("main.py")).unwrap(), b"print()");
    }

    #[test]
    fn a_folder_that_is_too_much_is_refused_and_nothing_is_left() {
        let (_home, agent, scratch) = folders();
        for bounds in [
            Bounds {
                files: 2,
                bytes: 1000,
            },
            Bounds {
                files: 9,
                bytes: 11,
            },
        ] {
            let error = stage(&agent, scratch.path(), &[], bounds).unwrap_err();
            assert!(error.to_string().contains("cmd-host:"), "{error}");
        }
        assert!(
            stage(
                &agent,
                scratch.path(),
                &[],
                Bounds {
                    files: 3,
                    bytes: 12
                }
            )
            .is_ok()
        );
        assert!(names(scratch.path()).is_empty());
    }

    #[test]
    fn a_folder_of_a_suite_a_run_or_the_whole_disk_is_refused() {
        let (home, agent, scratch) = folders();
        let refused = |folder: &Path, hidden: &[PathBuf]| {
            stage(folder, scratch.path(), hidden, BOUNDS)
                .is_err_and(|error| matches!(error, SetupError::Folder { .. }))
        };
        assert!(refused(Path::new("/"), &[]));
        assert!(refused(&agent, &[home.path().to_owned()]));
        write(agent.join("suite.toml"), "");
        assert!(refused(&agent, &[]));
    }
}
