//! Symbolic links of what an agent left that lead to where a check's own words can be read: its folder, its
//! command line under `/proc`, its descriptors. A check that opens a file of the agent's must not open those.
//! Links are followed by their names alone; nothing is opened.

use std::collections::{HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufReader, Seek};
use std::path::{Component, Path, PathBuf};

use tar::EntryType;

use crate::changes::LAID;
use crate::contract::WORK;
use crate::index::normal;

/// A system gives up after as many.
const MOST_LINKS: usize = 40;

/// Names are no longer, together.
const MOST_PARTS: usize = 4096;

/// What belongs to the system or the image, and knows nothing of a check.
const SYSTEM: [&str; 9] = [
    "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "opt",
];

/// Devices that are the same for everybody.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// Where things of a check are, or a process can look at itself.
const GUARDED: [&str; 6] = ["proc", "sys", "dev", "tests", "logs", "solution"];

/// Folders of scripts have names that begin like this.
const SCRIPTS: &str = "verify";

/// The first link of a working folder, or of what was changed beside it, that leads there, and what it names.
pub fn treacherous(work: &File, changes: Option<&File>) -> io::Result<Option<(PathBuf, PathBuf)>> {
    let mut links = Links::new();
    let inside = |path: &Path| Some(Path::new(WORK).join(normal(path)));
    read(work, inside, &mut links)?;
    if let Some(changes) = changes {
        let inside = |path: &Path| Some(Path::new("/").join(path.strip_prefix(LAID).ok()?));
        read(changes, inside, &mut links)?;
    }
    let mut names: Vec<&PathBuf> = links.keys().collect();
    names.sort();
    let found = names.into_iter().find(|name| is_treacherous(&links, name));
    Ok(found.map(|name| {
        let shown = name.strip_prefix(WORK).unwrap_or(name);
        (shown.to_owned(), links[name].clone())
    }))
}

/// By their whole names.
type Links = HashMap<PathBuf, PathBuf>;

/// Of several entries with the same name the last counts.
fn read(
    archive: &File,
    inside: impl Fn(&Path) -> Option<PathBuf>,
    links: &mut Links,
) -> io::Result<()> {
    let mut start = archive;
    start.rewind()?;
    for entry in tar::Archive::new(BufReader::new(archive)).entries()? {
        let entry = entry?;
        let Some(path) = inside(&entry.path()?) else {
            continue;
        };
        match entry.link_name()? {
            Some(target) if entry.header().entry_type() == EntryType::Symlink => {
                links.insert(path, target.into_owned());
            }
            _ => {
                links.remove(&path);
            }
        }
    }
    Ok(())
}

fn is_treacherous(links: &Links, name: &Path) -> bool {
    let of_work = name.starts_with(WORK);
    let mut at = Vec::new();
    let mut ahead: VecDeque<Component<'_>> = name.components().collect();
    let (mut followed, mut parts, mut unsure) = (0, 0, false);
    while let Some(next) = ahead.pop_front() {
        parts += 1;
        if parts > MOST_PARTS {
            return true;
        }
        match next {
            Component::RootDir | Component::Prefix(_) => at.clear(),
            Component::CurDir => {}
            // What is above a folder of the system depends on links of its own.
            Component::ParentDir if !at.is_empty() && !is_work(&at) && of_work => return true,
            Component::ParentDir => {
                unsure |= !is_work(&at);
                at.pop();
            }
            Component::Normal(name) => {
                at.push(part(name));
                let here = Path::new("/").join(at.iter().collect::<PathBuf>());
                if let Some(target) = links.get(&here) {
                    followed += 1;
                    if followed > MOST_LINKS {
                        return false;
                    }
                    at.pop();
                    for part in target.components().rev() {
                        ahead.push_front(part);
                    }
                }
            }
        }
    }
    match of_work {
        true => is_guarded(&at),
        // A link to all there is shows a check nothing by a name that it asks for.
        false => {
            (!at.is_empty() && is_guarded(&at))
                || (unsure && at.iter().any(|it| shows_processes(it)))
        }
    }
}

fn shows_processes(name: &OsStr) -> bool {
    ["proc", "dev"].iter().any(|it| name == OsStr::new(it))
}

fn part(name: &OsStr) -> OsString {
    name.to_owned()
}

fn is_work(at: &[OsString]) -> bool {
    at.first()
        .is_some_and(|first| Path::new("/").join(first) == Path::new(WORK))
}

fn is_guarded(at: &[OsString]) -> bool {
    let name = |n: usize| at.get(n).and_then(|name| name.to_str()).unwrap_or_default();
    match (name(0), name(1)) {
        // All there is, by other names.
        ("", _) => true,
        (first, _) if SYSTEM.contains(&first) => false,
        ("dev", device) if DEVICES.contains(&device) => false,
        ("tmp", folder) => folder.starts_with(SCRIPTS),
        (first, _) => GUARDED.contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tar::{Builder, Header};

    fn found(entries: &[(&str, &str)]) -> Option<String> {
        let mut tar = Builder::new(tempfile::tempfile().unwrap());
        for (path, target) in entries {
            let mut header = Header::new_gnu();
            header.set_mode(0o644);
            header.set_size(0);
            if target.is_empty() {
                header.set_entry_type(EntryType::Regular);
                tar.append_data(&mut header, path, io::empty()).unwrap();
            } else {
                header.set_entry_type(EntryType::Symlink);
                tar.append_link(&mut header, path, target).unwrap();
            }
        }
        let found = treacherous(&tar.into_inner().unwrap(), None).unwrap();
        found.map(|(name, _)| name.to_string_lossy().into_owned())
    }

    #[test]
    fn links_to_what_a_check_says_are_found() {
        for target in [
            "/tmp/verify/expected.txt",
            "/tmp/verify-0123/expected.txt",
            "../tmp/verify",
            "/proc/self/cmdline",
            "../proc/self/environ",
            "../../../proc/self/fd/0",
            "/dev/stdin",
            "/dev/fd/3",
            "/",
            "..",
            "/tests/answer.txt",
            "/usr/../proc/self/cmdline",
            "/work/../proc/self/cmdline",
        ] {
            assert_eq!(
                found(&[("out", target)]).as_deref(),
                Some("out"),
                "{target}"
            );
        }
    }

    #[test]
    fn links_of_programs_and_within_the_folder_are_not() {
        for target in [
            "other.txt",
            "sub/../other.txt",
            "/work/other.txt",
            "/usr/bin/python3",
            "../usr/bin/python3",
            "/etc/hosts",
            "/dev/null",
            "/tmp/build",
            "/home/somebody/x",
            "out",
        ] {
            assert_eq!(found(&[("out", target)]), None, "{target}");
        }
    }

    #[test]
    fn a_way_over_other_links_is_followed() {
        let over = [
            ("d/e/lib", "/usr/lib"),
            ("out", "d/e/lib/../../proc/self/cmdline"),
        ];
        assert_eq!(found(&over).as_deref(), Some("out"));
        let up = [("d/up", ".."), ("out", "d/up/other")];
        assert_eq!(found(&up), None);
        let circle = [("a", "b"), ("b", "a")];
        assert_eq!(found(&circle), None);
    }

    #[test]
    fn links_beside_the_folder_are_followed_too() {
        let beside = |target: &str, way: &str| {
            let mut tar = Builder::new(tempfile::tempfile().unwrap());
            for (path, target) in [
                ("laid/config/Desktop/out.txt", target),
                // Nothing that is installed is read by a check's own words.
                ("installed/usr/bin/x", "/proc/self/exe"),
            ] {
                let mut header = Header::new_gnu();
                header.set_size(0);
                header.set_entry_type(EntryType::Symlink);
                tar.append_link(&mut header, path, target).unwrap();
            }
            let changes = tar.into_inner().unwrap();
            let mut work = Builder::new(tempfile::tempfile().unwrap());
            let mut header = Header::new_gnu();
            header.set_size(0);
            header.set_entry_type(EntryType::Symlink);
            work.append_link(&mut header, "a", way).unwrap();
            let work = work.into_inner().unwrap();
            let found = treacherous(&work, Some(&changes)).unwrap();
            found.map(|(name, _)| name.to_string_lossy().into_owned())
        };
        for target in ["/proc/self/cmdline", "../../var/run/../proc/self/cmdline"] {
            let found = beside(target, "/config/Desktop/out.txt");
            assert!(found.is_some(), "{target}");
        }
        assert_eq!(
            beside("/dev/stdin", "b").as_deref(),
            Some("/config/Desktop/out.txt")
        );
        for target in [
            "other.txt",
            "/work/a.txt",
            "../notes/a.txt",
            "/",
            "/dev/null",
        ] {
            assert_eq!(beside(target, "b"), None, "{target}");
        }
    }

    #[test]
    fn the_last_entry_of_a_name_counts() {
        assert_eq!(found(&[("out", "/proc/self/cmdline"), ("./out", "")]), None);
    }
}
