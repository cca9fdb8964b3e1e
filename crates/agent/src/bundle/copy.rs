//! The copy of an agent's files, taken once per run: what the agent is stays the same for every trial, its
//! digest names it, and nothing else of the disk is shown to it.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use agon_core::Digest;
use agon_core::digest::Hasher;
use agon_llm::KeySearch;
use agon_sandbox::OwnerMark;
use agon_store::{AgentFiles, LeftOut};
use tempfile::TempDir;

use super::needed::needed;
use super::rule::Rule;
use super::walk::{Kind, Walked, walk};
use super::why::Why;
use crate::error::SetupError;

/// Larger than this is not an agent's folder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) files: u32,
    pub(crate) bytes: u64,
}

pub(crate) const BOUNDS: Bounds = Bounds {
    files: 20_000,
    bytes: 512 << 20,
};

/// How many names the record holds of those that went in, and of those that did not.
const MOST_NAMES: usize = 1_000;

/// How many names are told to people.
const MOST_TOLD: usize = 5;

/// The files of an agent. A copy is removed from disk when dropped; its name carries its owner, so that what
/// a killed process leaves is removed by the next.
#[derive(Debug)]
pub struct Bundle {
    /// `None`: they are where they were.
    copy: Option<TempDir>,
    digest: Digest,
    /// Below the copy, or anywhere.
    files: Vec<PathBuf>,
    about: AgentFiles,
    notes: Vec<String>,
}

impl Bundle {
    /// Of a program that runs without a copy: only the files that its command names are known. `None`: it names
    /// none.
    pub fn of_command(argv: &[String]) -> io::Result<Option<Self>> {
        let files: Vec<PathBuf> = argv
            .iter()
            .map(PathBuf::from)
            .filter(|path| path.is_file())
            .collect();
        if files.is_empty() {
            return Ok(None);
        }
        let mut hasher = Hasher::default();
        for file in &files {
            let mut content = Hasher::default();
            let mut reader = File::open(file)?;
            hash_copy(&mut reader, &mut io::sink(), &mut content, u64::MAX, |_| {})?;
            hasher.part(content.finish().bytes());
        }
        Ok(Some(Self {
            copy: None,
            digest: hasher.finish(),
            about: AgentFiles {
                count: files.len() as u64,
                taken: files.iter().take(MOST_NAMES).map(shown).collect(),
                ..AgentFiles::default()
            },
            files,
            notes: Vec::new(),
        }))
    }

    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// The folder with the copy.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.copy.as_ref().map(TempDir::path)
    }

    /// Every file, by the name that the record has for it and where it is.
    pub fn files(&self) -> impl Iterator<Item = (String, PathBuf)> {
        let root = self.path().unwrap_or(Path::new(""));
        self.files
            .iter()
            .map(move |file| (shown(file), root.join(file)))
    }

    /// For the record.
    pub const fn about(&self) -> &AgentFiles {
        &self.about
    }

    /// What its user should know before it is started.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

fn shown(path: impl AsRef<Path>) -> String {
    path.as_ref().display().to_string()
}

/// Copies what `rule` takes to below `scratch`, readable by everybody. Links are copied as links and never
/// followed, so nothing from outside of the folder gets in.
pub(crate) fn stage(rule: &Rule<'_>, scratch: &Path, bounds: Bounds) -> Result<Bundle, SetupError> {
    let walked = walk(rule)?;
    let failed = || SetupError::copy(format!("can't write to {}", scratch.display()));
    let owner = OwnerMark::current().map_err(failed())?;
    let copy = tempfile::Builder::new()
        .prefix(&format!("agon-{owner}-agent"))
        .tempdir_in(scratch)
        .map_err(failed())?;
    fs::set_permissions(copy.path(), Permissions::from_mode(0o755)).map_err(failed())?;
    let mut stage = Stage {
        rule,
        to: copy.path(),
        bounds,
        files: 0,
        bytes: 0,
        hasher: Hasher::default(),
        keys: KeySearch::of_process(),
        taken: Vec::new(),
        linked: Vec::new(),
        left_out: Vec::new(),
    };
    stage.all(walked)?;
    let Stage {
        hasher,
        taken,
        linked,
        left_out,
        ..
    } = stage;
    let mut notes = told(rule, &left_out, taken.len() + linked.len());
    notes.extend(needed(copy.path(), &taken, &left_out));
    let names = taken.iter().chain(&linked).take(MOST_NAMES);
    let told = left_out.iter().take(MOST_NAMES).map(|(path, why)| LeftOut {
        name: shown(path),
        why: why.to_string(),
    });
    let about = AgentFiles {
        shared: rule.is_shared(),
        count: (taken.len() + linked.len()) as u64,
        taken: names.map(shown).collect(),
        left_out: told.collect(),
        more_left_out: left_out.len().saturating_sub(MOST_NAMES) as u64,
        ..AgentFiles::default()
    };
    Ok(Bundle {
        digest: hasher.finish(),
        copy: Some(copy),
        files: taken,
        about,
        notes,
    })
}

/// What is said about files that stay outside and may have been meant.
fn told(rule: &Rule<'_>, left_out: &[(PathBuf, Why)], taken: usize) -> Vec<String> {
    let mut notes = Vec::new();
    let folder = rule.folder().display();
    let of = |wanted: &[Why]| -> Vec<String> {
        let those = left_out.iter().filter(|(_, why)| wanted.contains(why));
        those.map(|(path, _)| shown(path)).collect()
    };
    let secret = of(&[Why::Key, Why::PrivateKey]);
    if !secret.is_empty() {
        notes.push(format!(
            "the agent is not given {}: a key stands in it",
            listed(&secret)
        ));
    }
    let others = of(&[Why::NotProgram]);
    if !others.is_empty() {
        let files = if taken == 1 { "file" } else { "files" };
        notes.push(format!(
            "{folder} holds files of this run, so only program text goes to the agent ({taken} {files}), and not \
             {}: name what belongs to it with --agent-files, or put it into a folder of its own",
            listed(&others)
        ));
    }
    notes
}

fn listed(names: &[String]) -> String {
    let some = names.iter().take(MOST_TOLD);
    let some: Vec<&str> = some.map(String::as_str).collect();
    match names.len().saturating_sub(MOST_TOLD) {
        0 => some.join(", "),
        more => format!("{} and {more} more", some.join(", ")),
    }
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

struct Stage<'a> {
    rule: &'a Rule<'a>,
    to: &'a Path,
    bounds: Bounds,
    files: u32,
    bytes: u64,
    hasher: Hasher,
    keys: KeySearch,
    taken: Vec<PathBuf>,
    linked: Vec<PathBuf>,
    left_out: Vec<(PathBuf, Why)>,
}

impl Stage<'_> {
    fn all(&mut self, walked: Walked) -> Result<(), SetupError> {
        self.left_out = walked.left_out;
        for entry in walked.taken {
            let from = self.rule.folder().join(&entry.path);
            let to = self.to.join(&entry.path);
            let failed = || SetupError::copy(format!("can't copy {}", from.display()));
            match entry.kind {
                Kind::Folder => {
                    self.count(0)?;
                    self.note(b"folder", &entry.path, &[]);
                    fs::create_dir(&to)
                        .and_then(|()| fs::set_permissions(&to, Permissions::from_mode(0o755)))
                        .map_err(failed())?;
                }
                Kind::Link => {
                    self.count(0)?;
                    let target = fs::read_link(&from).map_err(failed())?;
                    let text = target.as_os_str().as_encoded_bytes();
                    self.note(b"link", &entry.path, text);
                    symlink(&target, &to).map_err(failed())?;
                    self.linked.push(entry.path);
                }
                Kind::File => self.file(&from, &to, entry.path)?,
            }
        }
        Ok(())
    }

    fn file(&mut self, from: &Path, to: &Path, relative: PathBuf) -> Result<(), SetupError> {
        let failed = || SetupError::copy(format!("can't copy {}", from.display()));
        let left = self.bounds.bytes - self.bytes;
        let mut source = File::open(from).map_err(failed())?;
        let executable = source.metadata().map_err(failed())?.permissions().mode() & 0o111 != 0;
        let mut content = Hasher::default();
        let mut copy = File::create_new(to).map_err(failed())?;
        let mut holds_key = false;
        self.keys.restart();
        let look = |piece: &[u8]| holds_key |= self.keys.finds(piece);
        // One byte more than there is room for, so that a file that grows is noticed.
        let copied = hash_copy(&mut source, &mut copy, &mut content, left + 1, look);
        let size = copied.map_err(failed())?;
        if holds_key {
            fs::remove_file(to).map_err(failed())?;
            return self.withhold(relative);
        }
        let mode = if executable { 0o755 } else { 0o644 };
        copy.set_permissions(Permissions::from_mode(mode))
            .map_err(failed())?;
        self.count(size)?;
        let kind: &[u8] = if executable { b"program" } else { b"file" };
        self.note(kind, &relative, content.finish().bytes());
        self.taken.push(relative);
        Ok(())
    }

    /// A file with a key. It is the program itself, so the agent can not run without it.
    fn withhold(&mut self, relative: PathBuf) -> Result<(), SetupError> {
        if self.rule.is_named(&relative) {
            return Err(SetupError::Withheld {
                name: shown(&relative),
                why: Why::Key.to_string(),
            });
        }
        self.left_out.push((relative, Why::Key));
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
            folder: self.rule.folder().to_owned(),
            why: format!(
                "it holds more than {} files or {} MiB; put the agent into a folder of its own, or \
                 run it unconfined with `cmd-host:`",
                self.bounds.files,
                self.bounds.bytes >> 20
            ),
        })
    }
}

/// Copies at most `most` bytes, takes their digest on the way and shows each piece to `look`.
fn hash_copy(
    from: &mut impl Read,
    to: &mut impl Write,
    hasher: &mut Hasher,
    most: u64,
    mut look: impl FnMut(&[u8]),
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
        look(&chunk[..count]);
        to.write_all(&chunk[..count])?;
        size += count as u64;
    }
}

#[cfg(test)]
mod tests;
