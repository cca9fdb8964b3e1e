//! The folder in which this process keeps what its sandboxes are made of: the init's executable,
//! sealed interpreters and a small `/etc`. It must be open to everybody (sandboxes run under users of their own), and
//! its name carries its owner, so that a leftover is known as such.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{StatVfsMountFlags, statvfs};
use tempfile::TempPath;

use super::bubblewrap::PATH;
use super::seal;
use crate::error::SandboxError;
use crate::reaper::OwnerMark;

/// What of the host's `/etc` is shown: how programs are found, linked, localised and certified.
/// Nothing that names people, hosts or keys.
const ETC: &[&str] = &[
    "bash.bashrc",
    "debian_version",
    "gai.conf",
    "host.conf",
    "inputrc",
    "java-17-openjdk",
    "java-21-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "magic",
    "mime.types",
    "os-release",
    "perl",
    "profile",
    "protocols",
    "python3",
    "python3.11",
    "python3.12",
    "python3.13",
    "services",
    "shells",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
];

/// Folders of the same kind that hold hundreds of links: shown as they are instead of copied.
pub(super) const ETC_FOLDERS: &[&str] = &["alternatives", "ssl/certs"];

/// What programs with windows look for besides: fonts, and how their widgets look.
pub(super) const ETC_OF_DISPLAYS: &[&str] = &["X11", "fonts", "gtk-3.0", "xdg"];

const OWN: &[(&str, &str)] = &[
    ("passwd", "agent:x:1000:1000:agent:/home/agent:/bin/bash\n"),
    ("group", "agent:x:1000:\n"),
    ("hosts", "127.0.0.1 localhost\n::1 localhost\n"),
    ("hostname", "agon\n"),
    (
        "nsswitch.conf",
        "passwd: files\ngroup: files\nhosts: files dns\n",
    ),
    // A place for another one where a task has the network.
    ("resolv.conf", ""),
];

/// Where scratch folders may be, best first.
pub(crate) fn places() -> Vec<PathBuf> {
    let mut places = vec![std::env::temp_dir()];
    for other in ["/tmp", "/var/tmp"] {
        if !places.iter().any(|place| place == Path::new(other)) {
            places.push(other.into());
        }
    }
    places
}

/// Removed when dropped.
#[derive(Debug)]
pub(super) struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    pub(super) fn new(owner: OwnerMark, init: &Path) -> Result<Self, SandboxError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        seal::must_hold()?;
        let name = owner.name(NUMBER.fetch_add(1, Ordering::Relaxed));
        let place = places()
            .into_iter()
            .filter_map(|place| place.canonicalize().ok())
            .find(|place| suits(place))
            .ok_or_else(|| {
                SandboxError::Missing(
                    "no folder for temporary executables: /tmp or $TMPDIR must be open to all \
                     users and not mounted noexec"
                        .to_owned(),
                )
            })?;
        let folder = place.join(name);
        let cannot = || format!("cannot make {}", folder.display());
        make_folder(&folder, 0o711).map_err(SandboxError::io(cannot()))?;
        let context = cannot();
        let scratch = Self { folder };
        scratch.fill(init).map_err(SandboxError::io(context))?;
        Ok(scratch)
    }

    fn fill(&self, init: &Path) -> io::Result<()> {
        bring_executable(init, &self.init())?;
        make_folder(&self.sealed(), 0o755)?;
        seal::fill(&self.sealed(), PATH)?;
        let etc = self.etc();
        make_folder(&etc, 0o755)?;
        for name in ETC {
            copy_public(&Path::new("/etc").join(name), &etc.join(name))?;
        }
        for name in ETC_FOLDERS.iter().chain(ETC_OF_DISPLAYS) {
            make_folders(&etc.join(name))?;
        }
        for (name, content) in OWN {
            make_file(&etc.join(name), content)?;
        }
        Ok(())
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn init(&self) -> PathBuf {
        self.folder.join("init")
    }

    pub(super) fn sealed(&self) -> PathBuf {
        self.folder.join("sealed")
    }

    /// What programs with an open network look names up by, once [`Scratch::open_network`] has made it.
    pub(super) fn resolver(&self) -> PathBuf {
        self.folder.join("resolv.conf")
    }

    pub(super) fn open_network(&self, resolver: &str) -> io::Result<()> {
        make_file(&self.resolver(), resolver)
    }

    pub(super) fn etc(&self) -> PathBuf {
        self.folder.join("etc")
    }

    /// A file for a frozen working folder: here, so that a killed owner leaves none behind.
    pub(super) fn archive(&self) -> io::Result<(fs::File, TempPath)> {
        let file = tempfile::Builder::new()
            .prefix("work-")
            .suffix(".tar")
            .tempfile_in(&self.folder)?;
        Ok(file.into_parts())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What remains is removed by the next start.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Everybody can reach it, and executables run from it.
fn suits(place: &Path) -> bool {
    let no_exec = statvfs(place).is_ok_and(|fs| fs.f_flag.contains(StatVfsMountFlags::NOEXEC));
    is_open(place) && !no_exec
}

/// Everybody can reach it.
pub(crate) fn is_open(place: &Path) -> bool {
    place.ancestors().all(|folder| {
        folder
            .metadata()
            .is_ok_and(|about| about.mode() & 0o001 != 0)
    })
}

fn make_file(path: &Path, content: &str) -> io::Result<()> {
    fs::write(path, content)?;
    fs::set_permissions(path, Permissions::from_mode(0o644))
}

fn make_folder(path: &Path, mode: u32) -> io::Result<()> {
    fs::DirBuilder::new().mode(mode).create(path)?;
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Also those above it; open to all, whatever our own umask is.
fn make_folders(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        make_folders(parent)?;
    }
    make_folder(path, 0o755)
}

/// Another name of the same file where that will do, since executables can be large: everybody must
/// be able to run it as it is, on the same file system, and the kernel may refuse to give names to
/// files of others.
fn bring_executable(from: &Path, to: &Path) -> io::Result<()> {
    const RUN_BY_ALL: u32 = 0o555;
    const SPECIAL: u32 = 0o7022;
    // The file itself, not a link to it.
    let from = from.canonicalize()?;
    let mode = from.metadata()?.mode();
    let as_it_is = mode & RUN_BY_ALL == RUN_BY_ALL && mode & SPECIAL == 0;
    if as_it_is && fs::hard_link(&from, to).is_ok() {
        return Ok(());
    }
    fs::copy(&from, to)?;
    fs::set_permissions(to, Permissions::from_mode(0o755))
}

/// Copies a file, link or folder as far as everybody may read it. What is not there is no error.
fn copy_public(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(about) = from.symlink_metadata() else {
        return Ok(());
    };
    if let Some(parent) = to.parent() {
        make_folders(parent)?;
    }
    if about.is_symlink() {
        symlink(fs::read_link(from)?, to)
    } else if about.mode() & 0o004 == 0 {
        Ok(())
    } else if about.is_dir() {
        make_folder(to, 0o755)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy_public(&entry.path(), &to.join(entry.file_name()))?;
        }
        Ok(())
    } else if about.is_file() {
        fs::copy(from, to).map(drop)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executable_for_all_is_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let about = |name: &str| at(name).metadata().unwrap();
        for (name, mode) in [("open", 0o755), ("private", 0o700), ("shared", 0o775)] {
            fs::write(at(name), name).unwrap();
            fs::set_permissions(at(name), Permissions::from_mode(mode)).unwrap();
            let brought = format!("{name}-brought");
            bring_executable(&at(name), &at(&brought)).unwrap();
            assert_eq!(about(name).ino() == about(&brought).ino(), name == "open");
            assert_eq!(about(&brought).mode() & 0o7777, 0o755);
            assert_eq!(about(name).mode() & 0o7777, mode);
        }
    }
}
