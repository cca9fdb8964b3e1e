//! A repository handed in as a patch. The patch is taken where the agent never was, by the task's own
//! repository over the agent's files, and applied where none of its files ever were.

use std::path::{Component, Path, PathBuf};

use agon_core::Fault;
use agon_core::hand_in::PatchRules;
use agon_sandbox::{ArchiveIndex, Exec, ExecOutput, Exit, Held, WorkArchive};
use tokio::task::spawn_blocking;

use super::fresh::{Room, Rooms, Stop, bad_task};
use super::git::Repository;
use crate::attempt::evidence_lost;
use crate::furnish::said;

/// Most bytes of a patch.
pub(super) const MOST: u64 = 10 << 20;

/// How many protected files are named that were changed.
const NAMED: usize = 5;

/// What was handed in.
#[derive(Debug)]
pub(super) struct Patch {
    pub(super) text: Vec<u8>,
    /// Changes that it does not hold: protected files, in words.
    pub(super) protected: Option<String>,
}

/// What the agent changed in the repository.
pub(super) async fn take(
    rooms: &Rooms<'_>,
    rules: &PatchRules,
    work: &WorkArchive,
) -> Result<Patch, Stop> {
    let path = inside(rules)?;
    let room = rooms.set_up().await?;
    let taken = take_in(&room, &path, rules, work).await;
    room.close().await;
    taken
}

/// The task's own files, set up, with the patch applied.
pub(super) async fn apply(
    rooms: &Rooms<'_>,
    rules: &PatchRules,
    patch: &[u8],
) -> Result<WorkArchive, Stop> {
    let path = inside(rules)?;
    let mut room = rooms.set_up().await?;
    let applied = apply_in(&mut room, &path, patch).await;
    room.close().await;
    applied
}

/// The repository's path without detours.
fn inside(rules: &PatchRules) -> Result<PathBuf, Fault> {
    let path = Path::new(&rules.repository);
    let outside = || {
        let named = &rules.repository;
        bad_task(format!(
            "hand_in: the repository `{named}` is not in the working folder"
        ))
    };
    path.components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| match part {
            Component::Normal(name) => Ok(name),
            _ => Err(outside()),
        })
        .collect()
}

async fn take_in(
    room: &Room<'_>,
    path: &Path,
    rules: &PatchRules,
    work: &WorkArchive,
) -> Result<Patch, Stop> {
    let repository = repository(room, path);
    ours(room, &repository.put_aside()).await?;
    let before = id(&ours(room, &repository.tree("HEAD")).await?)
        .ok_or_else(|| bad_task("hand_in: git names no tree of the repository that set-up made"))?;
    ours(
        room,
        &Exec::shell(
            "find . -mindepth 1 -maxdepth 1 -exec rm -rf -- {} +",
            room.limit(),
        ),
    )
    .await?;

    is_folder(path, work).await?;
    room.unpack(work).await?;
    let after = theirs(room, &repository.tree(&before)).await?;
    let after = id(&after).ok_or_else(|| Stop::Spoiled("git names no tree of it".to_owned()))?;
    let trees = [before.as_str(), after.as_str()];
    let protected = match rules.protected.is_empty() {
        true => None,
        false => named(&theirs(room, &repository.changed(trees, &rules.protected)).await?),
    };
    let mut exec = repository.patch(trees, &rules.protected);
    exec.keep = MOST;
    let output = theirs(room, &exec).await?;
    if output.stdout.omitted > 0 {
        return Err(Stop::Spoiled(format!(
            "the patch is larger than {} MiB",
            MOST >> 20
        )));
    }
    Ok(Patch {
        text: output.stdout.bytes,
        protected,
    })
}

async fn apply_in(room: &mut Room<'_>, path: &Path, patch: &[u8]) -> Result<WorkArchive, Stop> {
    if !patch.is_empty() {
        let repository = repository(room, path);
        ours(room, &repository.make_aside()).await?;
        theirs(room, &repository.apply(patch)).await?;
    }
    room.freeze().await
}

fn repository(room: &Room<'_>, path: &Path) -> Repository {
    let path = match path.as_os_str().is_empty() {
        true => ".".into(),
        false => path.to_string_lossy(),
    };
    Repository::new(&path, room.limit())
}

/// A step that no file of the agent has a part in.
async fn ours(room: &Room<'_>, exec: &Exec) -> Result<ExecOutput, Stop> {
    let why = match room.run(exec).await {
        Ok(output) if output.exit.success() => return Ok(output),
        Ok(output) => said(&output),
        Err(Stop::Spoiled(why)) => why,
        Err(stop) => return Err(stop),
    };
    let fault = bad_task(format!(
        "hand_in: the task's own repository can't be used ({why}): set-up must make it and commit to it, \
         and its environment needs git and find"
    ));
    Err(fault.into())
}

/// A step over the agent's files.
async fn theirs(room: &Room<'_>, exec: &Exec) -> Result<ExecOutput, Stop> {
    let output = room.run(exec).await?;
    match output.exit {
        Exit::Code(0) => Ok(output),
        _ => Err(Stop::Spoiled(said(&output))),
    }
}

/// Links on the way would lead to other files than the agent's, or to none.
async fn is_folder(path: &Path, work: &WorkArchive) -> Result<(), Stop> {
    let folders: Vec<PathBuf> = path.ancestors().map(Path::to_owned).collect();
    let archive = work.open().map_err(|error| evidence_lost(&error))?;
    let index = {
        let folders = folders.clone();
        spawn_blocking(move || ArchiveIndex::of(archive, folders)).await
    };
    let index = index
        .map_err(std::io::Error::other)
        .and_then(|index| index)
        .map_err(|error| evidence_lost(&error))?;
    for folder in folders
        .iter()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        let found = index.get(&folder.to_string_lossy());
        if !matches!(found, Some(Held::Folder)) {
            let shown = folder.display();
            return Err(Stop::Spoiled(format!("the agent left no folder `{shown}`")));
        }
    }
    Ok(())
}

/// The name of an object.
fn id(output: &ExecOutput) -> Option<String> {
    let text = std::str::from_utf8(&output.stdout.bytes).ok()?.trim();
    let hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (hex && matches!(text.len(), 40 | 64)).then(|| text.to_owned())
}

/// Paths with a zero byte behind each, in words.
fn named(output: &ExecOutput) -> Option<String> {
    let paths: Vec<_> = output.stdout.bytes.split(|byte| *byte == 0).collect();
    let paths: Vec<_> = paths.into_iter().filter(|path| !path.is_empty()).collect();
    let shown = |path: &&[u8]| -> String {
        String::from_utf8_lossy(path)
            .escape_debug()
            .take(100)
            .collect()
    };
    let shown: Vec<String> = paths.iter().take(NAMED).map(shown).collect();
    let more = paths.len().saturating_sub(NAMED);
    match (shown.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(shown.join(", ")),
        (false, more) => Some(format!("{} and {more} more", shown.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use agon_sandbox::Captured;

    use super::*;

    fn printed(bytes: &[u8]) -> ExecOutput {
        ExecOutput {
            exit: Exit::Code(0),
            stdout: Captured {
                bytes: bytes.to_vec(),
                omitted: 0,
            },
            stderr: Captured::default(),
            verdict: Vec::new(),
        }
    }

    #[test]
    fn a_repository_is_in_the_working_folder() {
        let inside = |path: &str| {
            inside(&PatchRules {
                repository: path.to_owned(),
                protected: Vec::new(),
            })
        };
        assert_eq!(inside(".").unwrap(), Path::new(""));
        assert_eq!(inside("./a/./b/").unwrap(), Path::new("a/b"));
        for path in ["/work/repo", "../repo", "a/../../b"] {
            assert!(inside(path).unwrap_err().message.contains(path));
        }
    }

    #[test]
    fn only_a_hash_names_a_tree() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(id(&printed(format!("{hash}\n").as_bytes())).unwrap(), hash);
        for other in ["", "0123", "--output=/x", &hash.replace('0', "g")] {
            assert_eq!(id(&printed(other.as_bytes())), None, "{other}");
        }
    }

    #[test]
    fn protected_files_are_named_tamely_and_not_all() {
        assert_eq!(named(&printed(b"")), None);
        assert_eq!(named(&printed(b"a\0b\n\0")).unwrap(), "a, b\\n");
        assert_eq!(
            named(&printed(b"1\x002\x003\x004\x005\x006\x007\0")).unwrap(),
            "1, 2, 3, 4, 5 and 2 more"
        );
    }
}
