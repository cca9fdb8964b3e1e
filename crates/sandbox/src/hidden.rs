//! Folders of the host that no sandbox may show, even where they lie below something that it shows:
//! suites with their checks, and the records of runs.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::mounted::Mounted;

/// Something hidden, where it would be seen inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) inside: PathBuf,
    pub(crate) folder: bool,
}

/// Absolute, without links.
#[derive(Debug, Default)]
pub(crate) struct Hidden(Vec<PathBuf>);

impl Hidden {
    /// What is not there yet is resolved as far as it is.
    pub(crate) fn new(paths: Vec<PathBuf>) -> Self {
        Self(paths.iter().filter_map(|path| resolve(path)).collect())
    }

    /// What would be seen if `host` were shown as `inside`. What is not
    /// there or cannot be reached needs no cover, and would be in bubblewrap's way. Whoever shows a
    /// hidden folder itself, or a part of one, means it.
    pub(crate) fn within(&self, host: &Path, inside: &Path) -> Vec<Seen> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let Ok(host) = host.canonicalize() else {
            return Vec::new();
        };
        self.below(&host, inside, |about| about.mode() & 0o001 != 0)
    }

    /// The same for a folder that is shown to its owner.
    pub(crate) fn within_reach_of(&self, work: &Mounted, inside: &Path) -> Vec<Seen> {
        self.below(&work.folder, inside, |about| {
            // An owner may open what is closed.
            about.uid() == work.user
                || (about.gid() == work.group && about.mode() & 0o010 != 0)
                || about.mode() & 0o001 != 0
        })
    }

    /// `open` says whether those inside may enter a folder.
    fn below(&self, host: &Path, inside: &Path, open: impl Fn(&Metadata) -> bool) -> Vec<Seen> {
        let seen = |hidden: &PathBuf| {
            let below = hidden.strip_prefix(host).ok()?;
            let shown = below.components().next().is_some() && reachable(hidden, host, &open);
            shown.then(|| Seen {
                inside: inside.join(below),
                folder: hidden.is_dir(),
            })
        };
        let mut covered: Vec<Seen> = self.0.iter().filter_map(seen).collect();
        // Whatever is named twice, or lies in something else that is hidden, is covered by one cover: a
        // second one has no place to be put in.
        covered.sort_by(|one, other| one.inside.cmp(&other.inside));
        covered.dedup_by(|next, kept| next.inside.starts_with(&kept.inside));
        covered
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

/// Sandboxes of root run under users of their own, which are strangers everywhere, or as the owner of
/// their working folder. All others run under ours.
fn reachable(hidden: &Path, host: &Path, open: impl Fn(&Metadata) -> bool) -> bool {
    let root = rustix::process::geteuid().is_root();
    let open = |folder: &Path| folder.metadata().is_ok_and(|about| !root || open(&about));
    let mut between = hidden
        .ancestors()
        .skip(1)
        .take_while(|up| up.starts_with(host));
    hidden.exists() && between.all(open)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn only_what_is_below_is_covered() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["shown/suite/agents", "elsewhere", "shown-not"] {
            fs::create_dir_all(at(name)).unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(0o755)).unwrap();
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

    #[test]
    fn one_cover_is_enough() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("runs/first")).unwrap();
        for file in ["config.toml", "runs/first/key", "runs.txt"] {
            fs::write(at(file), "").unwrap();
        }
        symlink(at("config.toml"), at("link")).unwrap();
        let named = [
            "runs.txt",
            "runs/first/key",
            "config.toml",
            "runs",
            "link",
            "config.toml",
        ];
        let hidden = Hidden::new(named.map(at).to_vec());
        let open = fs::Permissions::from_mode(0o755);
        for shown in ["", "runs", "runs/first"] {
            fs::set_permissions(at(shown), open.clone()).unwrap();
        }
        let within = |host: &str| {
            let seen = hidden.within(&at(host), Path::new("/inside"));
            Vec::from_iter(seen.into_iter().map(|seen| seen.inside))
        };
        assert_eq!(
            within(""),
            ["/inside/config.toml", "/inside/runs", "/inside/runs.txt"].map(PathBuf::from)
        );
        assert_eq!(
            within("runs"),
            [PathBuf::from("/inside/first/key")],
            "it is covered where what is around it is shown"
        );
    }
}
