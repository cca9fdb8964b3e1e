//! What a frozen working folder holds at given paths, found in one pass over its archive. Symbolic
//! links are not followed; a hard link is the file itself.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};

use tar::EntryType;

use crate::contract::WORK;

#[derive(Debug)]
pub struct ArchiveIndex {
    archive: File,
    held: HashMap<PathBuf, Held>,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// Its content stands in the archive from `at` on.
    File {
        at: u64,
        size: u64,
    },
    Folder,
    Link {
        target: String,
    },
    Other,
}

impl ArchiveIndex {
    /// Looks for paths relative to the working folder. Of several entries with the same name the
    /// last counts, as it would after unpacking.
    pub fn of(archive: File, paths: impl IntoIterator<Item = PathBuf>) -> io::Result<Self> {
        let wanted: BTreeSet<PathBuf> = paths.into_iter().map(|path| normal(&path)).collect();
        let (mut held, links) = scan(&archive, &wanted)?;
        let targets: BTreeSet<PathBuf> = links.values().cloned().collect();
        if !targets.is_empty() {
            // Once: an archive could name links in a circle.
            let (files, _) = scan(&archive, &targets)?;
            for (path, target) in links {
                if let Some(file @ Held::File { .. }) = files.get(&target) {
                    held.insert(path, file.clone());
                }
            }
        }
        Ok(Self { archive, held })
    }

    /// Only for paths that were looked for.
    pub fn get(&self, path: &str) -> Option<&Held> {
        self.held.get(&normal(Path::new(path)))
    }

    /// The content of a [`Held::File`].
    pub fn content(&self, at: u64, size: u64) -> impl Read {
        Content {
            archive: &self.archive,
            at,
            left: size,
        }
    }
}

type Links = HashMap<PathBuf, PathBuf>;

/// What there is of the wanted paths; hard links also with the paths they are the same as.
fn scan(archive: &File, wanted: &BTreeSet<PathBuf>) -> io::Result<(HashMap<PathBuf, Held>, Links)> {
    let (mut held, mut links) = (HashMap::new(), Links::new());
    let mut start = archive;
    start.rewind()?;
    for entry in tar::Archive::new(BufReader::new(archive)).entries()? {
        let entry = entry?;
        let path = normal(&entry.path()?);
        if !wanted.contains(&path) {
            continue;
        }
        links.remove(&path);
        let found = match entry.header().entry_type() {
            EntryType::Regular | EntryType::Continuous => Held::File {
                at: entry.raw_file_position(),
                size: entry.size(),
            },
            EntryType::Directory => Held::Folder,
            EntryType::Symlink => Held::Link {
                target: entry
                    .link_name()?
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
            },
            EntryType::Link => {
                if let Some(target) = entry.link_name()? {
                    links.insert(path.clone(), normal(&target));
                }
                Held::Other
            }
            _ => Held::Other,
        };
        held.insert(path, found);
    }
    Ok((held, links))
}

/// `./a//b` and `a/b` are the same entry; `/work/a` is `a`.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let path = path.strip_prefix(WORK).unwrap_or(path);
    path.components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .collect()
}

/// A part of the archive. Does not move the place at which others read it.
struct Content<'a> {
    archive: &'a File,
    at: u64,
    left: u64,
}

impl Read for Content<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        let most = most.min(buffer.len());
        let count = self.archive.read_at(&mut buffer[..most], self.at)?;
        if count == 0 && most > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += count as u64;
        self.left -= count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tar::{Builder, Header};

    fn archive(entries: &[(&str, EntryType, &str)]) -> File {
        let mut tar = Builder::new(tempfile::tempfile().unwrap());
        for (path, kind, text) in entries {
            let mut header = Header::new_gnu();
            header.set_entry_type(*kind);
            header.set_mode(0o644);
            if kind.is_file() {
                header.set_size(text.len() as u64);
                tar.append_data(&mut header, path, text.as_bytes()).unwrap();
            } else {
                header.set_size(0);
                tar.append_link(&mut header, path, text).unwrap();
            }
        }
        tar.into_inner().unwrap()
    }

    fn text(index: &ArchiveIndex, path: &str) -> Option<String> {
        let Some(Held::File { at, size }) = index.get(path) else {
            return None;
        };
        let mut text = String::new();
        index.content(*at, *size).read_to_string(&mut text).unwrap();
        Some(text)
    }

    #[test]
    fn the_last_entry_of_a_name_counts() {
        let archive = archive(&[
            ("a", EntryType::Regular, "old"),
            ("b", EntryType::Regular, "other"),
            ("./a", EntryType::Regular, "newer"),
        ]);
        let index = ArchiveIndex::of(archive, ["a".into(), "none".into()]).unwrap();
        assert_eq!(text(&index, "/work/a").unwrap(), "newer");
        assert_eq!(index.get("none"), None);
        assert_eq!(index.get("b"), None, "nobody looked for it");
    }

    #[test]
    fn a_hard_link_is_the_file_itself_and_a_circle_is_nothing() {
        let long = "long".repeat(60);
        let archive = archive(&[
            (&long, EntryType::Regular, "content"),
            ("same", EntryType::Link, &long),
            ("one", EntryType::Link, "other"),
            ("other", EntryType::Link, "one"),
            ("lost", EntryType::Link, "nowhere"),
            ("soft", EntryType::Symlink, "same"),
        ]);
        let paths = ["same", "one", "lost", "soft"].map(PathBuf::from);
        let index = ArchiveIndex::of(archive, paths).unwrap();
        assert_eq!(text(&index, "same").unwrap(), "content");
        assert_eq!(index.get("one"), Some(&Held::Other));
        assert_eq!(index.get("lost"), Some(&Held::Other));
        let target = "same".to_owned();
        assert_eq!(index.get("soft"), Some(&Held::Link { target }));
    }

    #[test]
    fn an_archive_that_was_cut_is_an_error() {
        let archive = archive(&[("a", EntryType::Regular, &"x".repeat(2000))]);
        let index = ArchiveIndex::of(archive.try_clone().unwrap(), ["a".into()]).unwrap();
        archive.set_len(1000).unwrap();
        let Some(&Held::File { at, size }) = index.get("a") else {
            panic!("not found");
        };
        assert!(
            index
                .content(at, size)
                .read_to_end(&mut Vec::new())
                .is_err()
        );
    }
}
