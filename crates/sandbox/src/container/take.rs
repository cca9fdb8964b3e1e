//! Taking what was changed in a killed container beside its working folder: the engine says what that is, and
//! gives the files. What belongs to the image's own programs stays behind.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::io::{self, BufWriter, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use bollard::models::ContainerInspectResponse;
use tar::EntryType;
use tempfile::NamedTempFile;
use tokio::task::spawn_blocking;

use super::changes::{self, Change};
use super::engine::failed;
use super::freeze::download;
use super::layers::Layers;
use super::program_paths::{Kind, Part, ProgramPaths, is_within};
use super::sandbox::Container;
use crate::changes::{About, Changes, INSTALLED, LAID};
use crate::error::SandboxError;

/// Most bytes of all that is taken.
const MOST: u64 = 4 << 30;
/// What an entry costs beside its content.
const ENTRY: u64 = 1024;
/// More files and folders than these are not asked for one by one, but by the folders that they are in.
const SINGLE: usize = 16;
/// Folders at this depth are the first to be asked for instead.
const DEEPEST: usize = 6;
/// More folders are not asked for at all.
const MOST_FOLDERS: usize = 256;

/// What there is to take.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    parts: HashMap<String, (Kind, Part)>,
    /// Whole: an engine does not say what is changed in volumes.
    volumes: Vec<String>,
    about: About,
}

/// What was taken.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) changes: Option<Changes>,
    /// The image has no working folder.
    pub(super) new_folder: bool,
}

pub(super) async fn take(container: &Container) -> Result<Taken, SandboxError> {
    let docker = &container.engine.docker;
    let found = docker.inspect_container(&container.name, None).await;
    let found = found.map_err(failed("could not look at the container"))?;
    let program_paths = ProgramPaths::of(&changes::path_of(&found));
    let work = container.folder.path();
    let mut new_folder = false;
    let seen = match Layers::of(&found, &container.engine.address) {
        Some(layers) => spawn_blocking(move || layers.changes())
            .await
            .ok()
            .flatten(),
        None => None,
    };
    let list = match seen {
        Some(list) => Some(list),
        None => changes::list(container).await?,
    };
    let wanted = match list {
        Some(list) => {
            let is_it = |change: &Change| change.path == work && change.kind() == Kind::Added;
            new_folder = list.iter().any(is_it);
            Wanted::of(&list, volumes(found), work, &program_paths)
        }
        // More than an engine can list: that anything is missing is enough to know.
        None => Wanted {
            about: About {
                left_out: 1,
                ..About::default()
            },
            ..Wanted::default()
        },
    };
    if wanted == Wanted::default() {
        return Ok(Taken {
            changes: None,
            new_folder,
        });
    }
    let roots = wanted.roots();
    let cannot = || SandboxError::io("could not make an archive");
    let mut filter = ChangeFilter::new(wanted, work, program_paths).map_err(cannot())?;
    if roots.len() > MOST_FOLDERS {
        filter.wanted.about.left_out += 1;
    } else {
        for root in roots {
            let from = root.clone();
            filter = download(container, root, move |chunks| filter.sift(chunks, &from)).await?;
        }
    }
    Ok(Taken {
        changes: Some(filter.finish().map_err(cannot())?),
        new_folder,
    })
}

/// Where volumes are seen: what an image declares as such is no part of its container's changes.
fn volumes(container: ContainerInspectResponse) -> Vec<String> {
    let mounts = container.mounts.into_iter().flatten();
    mounts
        .filter(|mount| mount.typ.as_deref() == Some("volume"))
        .filter_map(|mount| mount.destination)
        .map(|path| path.trim_end_matches('/').to_owned())
        .filter(|path| path.starts_with('/'))
        .collect()
}

impl Wanted {
    fn of(list: &[Change], volumes: Vec<String>, work: &str, program_paths: &ProgramPaths) -> Self {
        // The working folder is taken by itself, and all that leads there stays what it is.
        let is_work = |path: &str| is_within(path, work) || is_within(work, path);
        let holders: HashSet<&str> = list
            .iter()
            .filter_map(|change| parent(&change.path))
            .collect();
        let mut wanted = Self::default();
        let mut names = BTreeSet::new();
        for change in list {
            let (path, kind) = (&change.path, change.kind());
            // A folder changes with what comes and goes in it.
            if is_work(path) || (kind == Kind::Modified && holders.contains(path.as_str())) {
                continue;
            }
            match program_paths.part(path, kind) {
                Part::Ignored => {}
                Part::Withheld => wanted.about.kept_back.push(path.clone()),
                Part::Data if kind == Kind::Deleted => wanted.about.removed.push(path.clone()),
                part @ (Part::Data | Part::Installed) => {
                    if part == Part::Installed {
                        let name = program_paths.name(path).unwrap_or_default();
                        let stem = name.split('.').next().unwrap_or_default();
                        names.extend([name, stem].map(str::to_owned));
                    }
                    wanted.parts.insert(path.clone(), (kind, part));
                }
            }
        }
        names.remove("");
        wanted.about.names = names.into_iter().collect();
        wanted.volumes = volumes
            .into_iter()
            .filter(|path| !is_within(path, work))
            .collect();
        let emptied = wanted.volumes.iter().map(|path| format!("{path}/"));
        wanted.about.removed.extend(emptied);
        wanted
    }

    /// What the engine is asked for.
    fn roots(&self) -> Vec<String> {
        let is_new = |path: &str| matches!(self.parts.get(path), Some((Kind::Added, _)));
        let comes_along = |path: &str| ancestors(path).any(is_new);
        let mut tops: BTreeSet<&str> = self
            .parts
            .keys()
            .map(String::as_str)
            .filter(|path| !comes_along(path))
            .collect();
        let mut depth = DEEPEST;
        while tops.len() > SINGLE && depth > 0 {
            tops = tops.into_iter().map(|path| upper(path, depth)).collect();
            depth -= 1;
        }
        let volumes = self.volumes.iter().map(String::as_str);
        let single = |path: &&str| !self.volumes.iter().any(|volume| is_within(path, volume));
        let tops = tops.into_iter().filter(single).chain(volumes);
        tops.map(str::to_owned).collect()
    }
}

/// Passes on what is wanted of archives.
struct ChangeFilter {
    wanted: Wanted,
    work: String,
    program_paths: ProgramPaths,
    builder: tar::Builder<BufWriter<NamedTempFile>>,
    room: u64,
}

impl ChangeFilter {
    fn new(wanted: Wanted, work: &str, program_paths: ProgramPaths) -> io::Result<Self> {
        Ok(Self {
            wanted,
            work: work.to_owned(),
            program_paths,
            builder: tar::Builder::new(BufWriter::new(NamedTempFile::new()?)),
            room: MOST,
        })
    }

    /// Reads the archive of one file or folder of the container.
    fn sift(mut self, archive: impl Read, root: &str) -> io::Result<Self> {
        let above = parent(root).unwrap_or_default();
        // A folder of the image that was given to another owner, say: what is in it has not changed.
        let alone = matches!(self.wanted.parts.get(root), Some((Kind::Modified, _)));
        for entry in tar::Archive::new(archive).entries()? {
            let mut entry = entry?;
            let inside = plain(&entry.path_bytes());
            let path = Path::new("/")
                .join(above.trim_start_matches('/'))
                .join(inside);
            if let Some(folder) = self.folder(&path) {
                let cost = entry.size().saturating_add(ENTRY);
                let Some(left) = self.room.checked_sub(cost) else {
                    // The rest is not looked at.
                    self.room = 0;
                    self.wanted.about.left_out += 1;
                    break;
                };
                self.room = left;
                self.pass(&mut entry, folder, &path, above)?;
            }
            if alone {
                break;
            }
        }
        Ok(self)
    }

    fn pass(
        &mut self,
        entry: &mut tar::Entry<'_, impl Read>,
        folder: &'static str,
        path: &Path,
        above: &str,
    ) -> io::Result<()> {
        let mut header = entry.header().clone();
        let name = below(folder, path);
        match header.entry_type() {
            EntryType::Link => {
                let target = plain(&entry.link_name_bytes().unwrap_or_default());
                let target = Path::new("/")
                    .join(above.trim_start_matches('/'))
                    .join(target);
                match self.folder(&target) {
                    // What it is linked to comes by another way, or not at all.
                    Some(other) if other != folder => self.wanted.about.left_out += 1,
                    _ => {
                        let target = below(folder, &target);
                        self.builder.append_link(&mut header, name, target)?;
                    }
                }
            }
            EntryType::Symlink => {
                let target = entry.link_name_bytes().unwrap_or_default();
                let target = OsStr::from_bytes(&target);
                self.builder.append_link(&mut header, name, target)?;
            }
            EntryType::Regular | EntryType::Continuous | EntryType::Directory | EntryType::Fifo => {
                self.builder.append_data(&mut header, name, entry)?;
            }
            // Devices and what tar has no name for.
            _ => self.wanted.about.left_out += 1,
        }
        Ok(())
    }

    /// Where it goes, if it is wanted.
    fn folder(&self, path: &Path) -> Option<&'static str> {
        let path = path.to_string_lossy();
        let of_volume = || {
            self.wanted
                .volumes
                .iter()
                .any(|volume| is_within(&path, volume))
        };
        let part = match self.wanted.parts.get(&*path) {
            Some((_, part)) => *part,
            None if is_within(&path, &self.work) => return None,
            None if of_volume() || self.is_in_new(&path) => {
                self.program_paths.part(&path, Kind::Added)
            }
            None => return None,
        };
        match part {
            Part::Data => Some(LAID),
            Part::Installed => Some(INSTALLED),
            Part::Ignored | Part::Withheld => None,
        }
    }

    /// Names that an engine can't say are known by the folders that they are in.
    fn is_in_new(&self, path: &str) -> bool {
        let is_new = |path: &str| matches!(self.wanted.parts.get(path), Some((Kind::Added, _)));
        ancestors(path).any(is_new)
    }

    fn finish(self) -> io::Result<Changes> {
        let about = About {
            whole: true,
            ..self.wanted.about
        };
        Changes::write(self.builder, about)
    }
}

/// Without anything that leads elsewhere.
fn plain(path: &[u8]) -> PathBuf {
    Path::new(OsStr::from_bytes(path))
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .collect()
}

fn below(folder: &str, path: &Path) -> PathBuf {
    Path::new(folder).join(path.strip_prefix("/").unwrap_or(path))
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(folder, _)| folder)
}

/// The folders that it is in, the nearest first.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(parent(path), |folder| parent(folder)).filter(|folder| !folder.is_empty())
}

/// No more than so many of its parts.
fn upper(path: &str, depth: usize) -> &str {
    match path.match_indices('/').nth(depth) {
        Some((at, _)) => &path[..at],
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(changes: &[(&str, u8)]) -> Vec<Change> {
        let json: Vec<_> = changes
            .iter()
            .map(|(path, kind)| serde_json::json!({ "Path": path, "Kind": kind }))
            .collect();
        serde_json::from_value(json.into()).unwrap()
    }

    fn wanted(changes: &[(&str, u8)], volumes: &[&str]) -> Wanted {
        let volumes = volumes.iter().map(|&path| path.to_owned()).collect();
        let program_paths = ProgramPaths::of("/usr/local/bin:/usr/bin:/bin");
        Wanted::of(&list(changes), volumes, "/work", &program_paths)
    }

    #[test]
    fn the_working_folder_and_folders_that_only_hold_changes_are_not_asked_for() {
        let wanted = wanted(
            &[
                ("/work", 1),
                ("/work/a", 1),
                ("/config", 0),
                ("/config/Desktop", 1),
                ("/config/Desktop/a.txt", 1),
                ("/etc", 0),
                ("/etc/passwd", 0),
                ("/etc/issue", 2),
                ("/usr", 0),
                ("/usr/bin", 0),
                ("/usr/bin/python3", 0),
                ("/usr/bin/convert", 1),
            ],
            &[],
        );
        let roots = ["/config/Desktop", "/etc/passwd", "/usr/bin/convert"];
        assert_eq!(wanted.roots(), roots);
        assert_eq!(wanted.about.removed, ["/etc/issue"]);
        assert_eq!(wanted.about.kept_back, ["/usr/bin/python3"]);
        assert_eq!(wanted.about.names, ["convert"]);
    }

    #[test]
    fn volumes_are_taken_whole() {
        let wanted = wanted(&[], &["/config", "/work/cache"]);
        assert_eq!(wanted.roots(), ["/config"]);
        assert_eq!(wanted.about.removed, ["/config/"]);
    }

    #[test]
    fn many_changes_are_asked_for_by_their_folders() {
        let paths: Vec<String> = (0..500)
            .map(|n| format!("/var/lib/{}/f{n}", ["a", "b"][n % 2]))
            .collect();
        let changes: Vec<_> = paths.iter().map(|path| (path.as_str(), 1)).collect();
        assert_eq!(wanted(&changes, &[]).roots(), ["/var/lib/a", "/var/lib/b"]);
    }

    #[test]
    fn only_what_is_wanted_passes() {
        let wanted = wanted(&[("/var/x", 1), ("/var/y", 0), ("/usr/bin/jq", 1)], &[]);
        let program_paths = ProgramPaths::of("/usr/bin");
        let mut tar = tar::Builder::new(Vec::new());
        let mut file = |path: &str, kind: EntryType, target: &str| {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_mode(0o644);
            header.set_size(0);
            match kind {
                EntryType::Regular => tar.append_data(&mut header, path, io::empty()),
                _ => tar.append_link(&mut header, path, target),
            }
            .unwrap();
        };
        file("var/x", EntryType::Regular, "");
        file("var/unchanged", EntryType::Regular, "");
        file("var/y", EntryType::Link, "var/x");
        file("./var/y", EntryType::Symlink, "/etc/passwd");
        let archive = tar.into_inner().unwrap();
        let filter = ChangeFilter::new(wanted, "/work", program_paths).unwrap();
        let changes = filter.sift(&archive[..], "/var").unwrap().finish().unwrap();
        let mut kept = tar::Archive::new(changes.file().unwrap());
        let paths: Vec<_> = kept
            .entries()
            .unwrap()
            .map(|entry| entry.unwrap().path().unwrap().display().to_string())
            .collect();
        assert_eq!(
            paths,
            ["laid/var/x", "laid/var/y", "laid/var/y", "about.json"]
        );
    }
}
