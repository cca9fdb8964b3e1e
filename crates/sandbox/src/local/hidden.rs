//! Folders of the host that no sandbox may show, even where they lie below something that it shows:
//! suites with their checks, and the records of runs.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Something hidden, where it would be seen inside.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) inside: PathBuf,
    pub(super) folder: bool,
}

/// Absolute, without links.
#[derive(Debug, Default)]
pub(super) struct Hidden(Vec<PathBuf>);

impl Hidden {
    /// What is not there yet is resolved as far as it is.
    pub(super) fn new(paths: Vec<PathBuf>) -> Self {
        Self(paths.iter().filter_map(|path| resolve(path)).collect())
    }

    /// What would be seen if `host` were shown as `inside`. What is not
    /// there or cannot be reached needs no cover, and would be in bubblewrap's way. Whoever shows a
    /// hidden folder itself, or a part of one, means it.
    pub(super) fn within(&self, host: &Path, inside: &Path) -> Vec<Seen> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let Ok(host) = host.canonicalize() else {
            return Vec::new();
        };
        let seen = |hidden: &PathBuf| {
            let below = hidden.strip_prefix(&host).ok()?;
            let shown = below.components().next().is_some() && reachable(hidden, &host);
            shown.then(|| Seen {
                inside: inside.join(below),
                folder: hidden.is_dir(),
            })
        };
        self.0.iter().filter_map(seen).collect()
    }
}

fn resolve(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let (there, resolved) = path
        .ancestors()
        .find_map(|up| Some((up, up.canonicalize().ok()?)))?;
    let rest = path.strip_prefix(there).ok()?;
    // An empty rest would end the path with a slash.
    Some(if rest.as_os_str().is_empty() {
        resolved
    } else {
        resolved.join(rest)
    })
}

/// Sandboxes of root run under users of their own, which are strangers everywhere. All others run
/// under ours.
fn reachable(hidden: &Path, host: &Path) -> bool {
    let root = rustix::process::geteuid().is_root();
    let open = |folder: &Path| {
        folder
            .metadata()
            .is_ok_and(|about| !root || about.mode() & 0o001 != 0)
    };
    let mut between = hidden
        .ancestors()
        .skip(1)
        .take_while(|up| up.starts_with(host));
    hidden.exists() && between.all(open)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_what_is_below_is_covered() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["shown/suite/agents", "elsewhere", "shown-not"] {
            fs::create_dir_all(at(name)).unwrap();
            fs::set_permissions(
                at(name),
                std::os::unix::fs::PermissionsExt::from_mode(0o755),
            )
            .unwrap();
        }
        symlink(at("shown/suite"), at("link")).unwrap();
        let hidden = Hidden::new(vec![
            at("link"),
            at("elsewhere"),
            at("shown-not"),
            at("shown/later/runs"),
        ]);
        let within = |host: &str| hidden.within(&at(host), Path::new("/inside"));
        let suite = Seen {
            inside: "/inside/suite".into(),
            folder: true,
        };
        assert_eq!(within("shown"), [suite]);
        assert!(within("shown/suite").is_empty());
        assert!(within("shown/suite/agents").is_empty());
        fs::create_dir_all(at("shown/later/runs")).unwrap();
        assert_eq!(within("shown").len(), 2);
    }
}
