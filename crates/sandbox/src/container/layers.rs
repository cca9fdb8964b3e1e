//! What was changed in a container that is dead, read from the engine's own layers where this process may: an
//! engine that is asked compares every file of the image. Layers are looked at, never followed: no link of
//! theirs is taken, and nothing in them is opened but folders.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use bollard::models::ContainerInspectResponse;

use super::changes::Change;
use super::engine::Address;
use super::program_paths::Kind;

/// More are left to the engine.
const MOST: usize = 1 << 20;

/// The folders that an overlay is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layers {
    upper: PathBuf,
    /// The topmost first.
    lower: Vec<PathBuf>,
}

impl Layers {
    /// Of an engine on this machine.
    pub(super) fn of(container: &ContainerInspectResponse, engine: &Address) -> Option<Self> {
        let driver = container.graph_driver.as_ref()?;
        let known = matches!(engine, Address::Unix(_)) && driver.name.starts_with("overlay");
        let upper = driver.data.get("UpperDir").filter(|_| known)?;
        let lower = driver.data.get("LowerDir")?;
        Some(Self {
            upper: upper.into(),
            lower: lower.split(':').map(PathBuf::from).collect(),
        })
    }

    /// All changes, as the engine would list them; nothing where only the engine can tell.
    pub(super) fn changes(&self) -> Option<Vec<Change>> {
        self.walk().ok().flatten()
    }

    fn walk(&self) -> io::Result<Option<Vec<Change>>> {
        let mut changes = Vec::new();
        // Folders below which nothing of the image is left are known by their second part.
        let mut waiting = vec![(PathBuf::new(), false)];
        while let Some((folder, is_new)) = waiting.pop() {
            let here = self.upper.join(&folder);
            let mut names = HashSet::new();
            for entry in fs::read_dir(&here)? {
                let entry = entry?;
                let (name, about) = (entry.file_name(), entry.metadata()?);
                let path = folder.join(&name);
                names.insert(name);
                if changes.len() >= MOST || path.to_str().is_none() {
                    return Ok(None);
                }
                let known = !is_new && self.brought(&path)?;
                let kind = match known {
                    _ if is_whiteout(&about) => Kind::Deleted,
                    true => Kind::Modified,
                    false => Kind::Added,
                };
                changes.push(Change::new(&path, kind));
                if about.is_dir() {
                    let Some(opaque) = opaque(&self.upper.join(&path))? else {
                        return Ok(None);
                    };
                    if known && opaque {
                        self.removed(&path, &mut changes)?;
                    }
                    waiting.push((path, !known || opaque));
                }
            }
        }
        Ok(Some(changes))
    }

    /// What the image has in a folder that was made anew, unless it is there again.
    fn removed(&self, folder: &Path, changes: &mut Vec<Change>) -> io::Result<()> {
        let mut seen = HashSet::new();
        for lower in &self.lower {
            let names: Vec<OsString> = match fs::read_dir(lower.join(folder)) {
                Ok(entries) => entries
                    .map(|entry| entry.map(|entry| entry.file_name()))
                    .collect::<io::Result<_>>()?,
                Err(_) => continue,
            };
            for name in names {
                let path = folder.join(&name);
                let is_there = found(&self.upper.join(&path))?.is_some();
                if seen.insert(name) && !is_there && self.brought(&path)? {
                    changes.push(Change::new(&path, Kind::Deleted));
                }
            }
        }
        Ok(())
    }

    /// Whether the image has it.
    fn brought(&self, path: &Path) -> io::Result<bool> {
        for lower in &self.lower {
            let mut here = lower.clone();
            let mut parts = path.components().peekable();
            let mut ends_here = false;
            while let Some(Component::Normal(part)) = parts.next() {
                here.push(part);
                match found(&here)? {
                    None => break,
                    Some(about) if is_whiteout(&about) => return Ok(false),
                    Some(_) if parts.peek().is_none() => return Ok(true),
                    // A link or a file: what is below it comes from no other layer.
                    Some(about) if !about.is_dir() => return Ok(false),
                    Some(_) => ends_here |= opaque(&here)?.unwrap_or(true),
                }
            }
            if ends_here {
                return Ok(false);
            }
        }
        Ok(false)
    }
}

fn found(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(about) => Ok(Some(about)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
        Err(error) => Err(error),
    }
}

/// What stands for something that was removed.
fn is_whiteout(about: &Metadata) -> bool {
    about.file_type().is_char_device() && about.rdev() == 0
}

/// Whether a folder shows nothing of those below it; nothing where it shows one of another name, or where
/// that can't be told.
fn opaque(folder: &Path) -> io::Result<Option<bool>> {
    let mut value = [0; 1];
    let mut read = |name: &str| rustix::fs::lgetxattr(folder, name, &mut value);
    match read("trusted.overlay.redirect") {
        Err(rustix::io::Errno::NODATA) => {}
        _ => return Ok(None),
    }
    match read("trusted.overlay.opaque") {
        Ok(_) => Ok(Some(value[0] == b'y')),
        Err(rustix::io::Errno::NODATA) => Ok(Some(false)),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, write};

    use super::*;

    #[test]
    fn what_the_image_has_is_modified_and_all_else_is_new() {
        let folder = tempfile::tempdir().unwrap();
        let layer = |name: &str| folder.path().join(name);
        for file in [
            "one/etc/passwd",
            "two/etc/issue",
            "upper/etc/passwd",
            "upper/srv/a/b",
        ] {
            create_dir_all(layer(file).parent().unwrap()).unwrap();
            write(layer(file), "").unwrap();
        }
        let layers = Layers {
            upper: layer("upper"),
            lower: vec![layer("two"), layer("one")],
        };
        // Only root is told about other folders, and only then are layers read at all.
        let Some(mut changes) = layers.changes() else {
            assert!(!rustix::process::geteuid().is_root());
            return;
        };
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        let found: Vec<_> = changes
            .iter()
            .map(|change| (change.path.as_str(), change.kind()))
            .collect();
        let expected = [
            ("/etc", Kind::Modified),
            ("/etc/passwd", Kind::Modified),
            ("/srv", Kind::Added),
            ("/srv/a", Kind::Added),
            ("/srv/a/b", Kind::Added),
        ];
        assert_eq!(found, expected);
        assert!(layers.brought(Path::new("etc/issue")).unwrap());
        assert!(!layers.brought(Path::new("etc/issue/x")).unwrap());
    }

    #[test]
    fn an_engine_elsewhere_has_its_layers_elsewhere() {
        let container = ContainerInspectResponse {
            graph_driver: Some(bollard::models::DriverData {
                name: "overlay2".to_owned(),
                data: [("UpperDir", "/u"), ("LowerDir", "/a:/b")]
                    .map(|(key, value)| (key.to_owned(), value.to_owned()))
                    .into(),
            }),
            ..ContainerInspectResponse::default()
        };
        let here = Layers::of(&container, &Address::Unix("/run/docker.sock".into())).unwrap();
        assert_eq!(here.lower, [Path::new("/a"), Path::new("/b")]);
        assert_eq!(here.changes(), None, "there are none");
        let there = Address::Tcp("other:2375".to_owned());
        assert_eq!(Layers::of(&container, &there), None);
    }
}
