//! Goes through an agent's folder and decides about everything in it. Changes nothing.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use super::rule::Rule;
use super::why::Why;
use crate::error::SetupError;

/// More entries than this are no agent's folder, whatever of it would go in.
const MOST_SEEN: u32 = 200_000;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    Link,
    File,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// In the folder.
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
}

#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// Folders before what is in them; by name, so that the digest does not depend on the disk.
    pub(crate) taken: Vec<Taken>,
    pub(crate) left_out: Vec<(PathBuf, Why)>,
}

/// How the entries of a folder are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mood {
    /// By the rule.
    Usual,
    /// All of it was asked for.
    Asked,
    /// It was left out, but for what the command names.
    OnlyNamed,
}

struct Walk<'a> {
    rule: &'a Rule<'a>,
    walked: Walked,
    seen: u32,
}

pub(crate) fn walk(rule: &Rule<'_>) -> Result<Walked, SetupError> {
    let mut walk = Walk {
        rule,
        walked: Walked::default(),
        seen: 0,
    };
    walk.folder(Path::new(""), Mood::Usual)?;
    Ok(walk.walked)
}

impl Walk<'_> {
    fn folder(&mut self, relative: &Path, mood: Mood) -> Result<(), SetupError> {
        let from = self.rule.folder().join(relative);
        let mut entries = fs::read_dir(&from)
            .and_then(Iterator::collect::<io::Result<Vec<DirEntry>>>)
            .map_err(SetupError::copy(format!("can't list {}", from.display())))?;
        entries.sort_by_key(DirEntry::file_name);
        self.seen = self
            .seen
            .saturating_add(entries.len().try_into().unwrap_or(u32::MAX));
        if self.seen > MOST_SEEN {
            return Err(SetupError::Folder {
                folder: self.rule.folder().to_owned(),
                why: format!(
                    "it holds more than {MOST_SEEN} files; put the agent into a folder of its own"
                ),
            });
        }
        for entry in entries {
            self.entry(&entry, relative.join(entry.file_name()), mood)?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &DirEntry, relative: PathBuf, mood: Mood) -> Result<(), SetupError> {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        // Of the entry itself, not of what a link leads to.
        let about = entry.metadata().map_err(SetupError::copy(format!(
            "can't look at {}",
            path.display()
        )))?;
        let named = self.rule.is_named(&relative);
        let asked = named || mood == Mood::Asked || self.rule.is_asked_for(&relative);
        if let Some(why) = self.rule.refuses(&path, &about) {
            // An argument may be the name of a folder by chance; that of a file is meant.
            if named && !about.is_dir() {
                return Err(SetupError::Withheld {
                    name: relative.display().to_string(),
                    why: why.to_string(),
                });
            }
            self.walked.left_out.push((relative, why));
            return Ok(());
        }
        let leaves_out = match (asked, mood) {
            (true, _) => None,
            (false, Mood::OnlyNamed) => Some(Why::Cache),
            (false, _) => self.rule.leaves_out(&path, &name, &about),
        };
        if about.is_dir() {
            let library = self.rule.is_library(&path, &name, &relative);
            let mood = match leaves_out {
                _ if asked || library => Mood::Asked,
                Some(_) if self.rule.leads_to_named(&relative) => Mood::OnlyNamed,
                Some(why) => {
                    self.walked.left_out.push((relative, why));
                    return Ok(());
                }
                None => Mood::Usual,
            };
            return self.below(relative, mood);
        }
        match leaves_out {
            // What lies beside a named file in a cache is a part of the cache.
            Some(_) if mood == Mood::OnlyNamed => {}
            Some(why) => self.walked.left_out.push((relative, why)),
            None => {
                let kind = match about.is_symlink() {
                    true => Kind::Link,
                    false => Kind::File,
                };
                self.walked.taken.push(Taken {
                    path: relative,
                    kind,
                });
            }
        }
        Ok(())
    }

    fn below(&mut self, relative: PathBuf, mood: Mood) -> Result<(), SetupError> {
        let (taken, left_out) = (self.walked.taken.len(), self.walked.left_out.len());
        self.walked.taken.push(Taken {
            path: relative.clone(),
            kind: Kind::Folder,
        });
        self.folder(&relative, mood)?;
        // Of a folder in which nothing is the agent's, nothing need be shown, and one line says it all.
        let nothing = self.walked.taken.len() == taken + 1;
        let partial = self.rule.is_shared() || mood == Mood::OnlyNamed;
        if nothing && partial && mood != Mood::Asked {
            self.walked.taken.truncate(taken);
            let below = &self.walked.left_out[left_out..];
            let same = match below {
                [] => None,
                [(_, first), rest @ ..] => {
                    rest.iter().all(|(_, why)| why == first).then_some(*first)
                }
            };
            if let Some(why) = same.filter(|_| mood == Mood::Usual) {
                self.walked.left_out.truncate(left_out);
                self.walked.left_out.push((relative, why));
            }
        }
        Ok(())
    }
}
