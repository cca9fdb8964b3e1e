//! Which desktops there are: one small file per desktop, written by its owner when it is ready and
//! removed when it ends. Files of dead owners are removed by whoever finds them.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use agon_desktop::{Cookie, DisplayAddress};
use agon_sandbox::OwnerMark;
use serde::{Deserialize, Serialize};

use crate::cli::failure::Failure;

/// More than any file of ours has.
const LARGEST: u64 = 1 << 20;

const MOST: u32 = 100_000;

/// What is known of a desktop from outside.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Listed {
    #[serde(default)]
    pub(super) id: String,
    /// Mark of the process that it ends with.
    pub(super) owner: String,
    /// What `DISPLAY` and `XAUTHORITY` have to be.
    pub(super) display: String,
    pub(super) authority: PathBuf,
    /// The private socket behind that display.
    pub(super) socket: PathBuf,
    /// Where its owner takes calls by name.
    pub(super) calls: PathBuf,
    pub(super) screen: String,
    pub(super) started: String,
    pub(super) apps: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) log: Option<PathBuf>,
}

impl Listed {
    pub(super) fn address(&self) -> Result<DisplayAddress, Failure> {
        let cookie = Cookie::read(&self.authority).map_err(|error| {
            let authority = self.authority.display();
            Failure::new(format_args!("can't read {authority}: {error}"))
        })?;
        Ok(DisplayAddress::Socket {
            path: self.socket.clone(),
            cookie,
        })
    }

    fn mark(&self) -> Option<OwnerMark> {
        self.owner.parse().ok()
    }

    pub(super) fn is_dead(&self) -> bool {
        self.mark().is_none_or(|owner| owner.is_dead())
    }

    /// The process of its owner, as long as that lives.
    pub(super) fn process(&self) -> Option<u32> {
        self.mark()?;
        self.owner.split('-').next()?.parse().ok()
    }
}

/// The folder of those files, for its user alone.
#[derive(Debug)]
pub(in crate::cli) struct Desktops {
    folder: PathBuf,
    owner: OwnerMark,
}

impl Desktops {
    pub(in crate::cli) fn open() -> Result<Self, Failure> {
        let folder = place()?;
        let owner = OwnerMark::current()?;
        make_private(&folder).map_err(|error| {
            let folder = folder.display();
            Failure::new(format_args!("can't use the folder {folder}: {error}"))
        })?;
        Ok(Self { folder, owner })
    }

    /// A file of this process; the name says whose it is.
    pub(in crate::cli) fn own_file(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.owner))
    }

    pub(super) fn mark(&self) -> String {
        self.owner.to_string()
    }

    /// Those whose owner lives, in the order of their numbers. Files of dead ones are removed.
    pub(super) fn living(&self) -> Result<Vec<Listed>, Failure> {
        let (living, _) = self.sort()?;
        Ok(living)
    }

    /// Living ones, and the IDs of those that were removed.
    fn sort(&self) -> Result<(Vec<Listed>, Vec<String>), Failure> {
        let mut living = Vec::new();
        let mut removed = Vec::new();
        let mut rest = Vec::new();
        for entry in fs::read_dir(&self.folder)?.flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|ending| ending != "json") {
                rest.push(path);
                continue;
            }
            let id = path.file_stem().unwrap_or_default().to_string_lossy();
            // Who can't read now, for lack of descriptors or rights, knows nothing about it.
            let Ok(found) = read(&path) else {
                continue;
            };
            match found {
                Some(listed) if !listed.is_dead() => living.push(Listed {
                    id: id.into_owned(),
                    ..listed
                }),
                // They are put there whole, so one that makes no sense is not ours.
                _ => {
                    fs::remove_file(&path).ok();
                    removed.push(id.into_owned());
                }
            }
        }
        for path in rest {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let in_use = living
                .iter()
                .any(|listed| listed.log.as_ref() == Some(&path));
            let dead = name.parse::<OwnerMark>().is_ok_and(|owner| owner.is_dead());
            if dead && !in_use {
                fs::remove_file(path).ok();
            }
        }
        living.sort_by_key(|listed| (listed.id.len(), listed.id.clone()));
        Ok((living, removed))
    }

    /// Lists a desktop under the first free ID, until the returned value is dropped.
    pub(super) fn add(&self, listed: Listed) -> Result<Entry, Failure> {
        self.living()?;
        let mut file = tempfile::Builder::new()
            .prefix(&format!("{}.", self.owner))
            .tempfile_in(&self.folder)?;
        file.write_all(&serde_json::to_vec(&listed)?)?;
        for number in 1..MOST {
            let id = format!("d{number}");
            let path = self.folder.join(format!("{id}.json"));
            match file.persist_noclobber(&path) {
                Ok(_) => {
                    let listed = Listed { id, ..listed };
                    return Ok(Entry { path, listed });
                }
                Err(error) if error.error.kind() == ErrorKind::AlreadyExists => file = error.file,
                Err(error) => return Err(error.error.into()),
            }
        }
        Err(Failure::new("there are too many desktops: stop some"))
    }
}

/// A desktop of this process in the list.
#[derive(Debug)]
pub(super) struct Entry {
    path: PathBuf,
    pub(super) listed: Listed,
}

impl Drop for Entry {
    fn drop(&mut self) {
        fs::remove_file(&self.path).ok();
        if let Some(log) = &self.listed.log {
            fs::remove_file(log).ok();
        }
    }
}

/// Removes what dead owners of desktops left; says what it was.
pub(in crate::cli) fn sweep() -> Result<Vec<String>, Failure> {
    let removed = match place()?.is_dir() {
        true => Desktops::open()?.sort()?.1,
        false => Vec::new(),
    };
    let published = agon_desktop::published::reap_dead_owners();
    let published = published.iter().map(|path| path.display().to_string());
    let removed = removed.into_iter().map(|id| format!("desktop {id}"));
    Ok(removed.chain(published).collect())
}

/// Where the system keeps such things of a user, else the cache.
fn place() -> Result<PathBuf, Failure> {
    let folder = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        (path.is_absolute() && path.is_dir()).then_some(path)
    };
    let base = folder("XDG_RUNTIME_DIR").or_else(|| Some(folder("HOME")?.join(".cache")));
    let base = base.ok_or_else(|| {
        Failure::new("no place for the list of desktops: set XDG_RUNTIME_DIR or HOME to a folder")
    })?;
    Ok(base.join("agon/desktops"))
}

fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let about = fs::symlink_metadata(folder)?;
    if !about.is_dir() || about.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it is not yours"));
    }
    fs::set_permissions(folder, Permissions::from_mode(0o700))
}

/// `None`: what is there makes no sense.
fn read(path: &Path) -> io::Result<Option<Listed>> {
    let mut text = Vec::new();
    let file = fs::File::open(path)?;
    file.take(LARGEST).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text).ok())
}
