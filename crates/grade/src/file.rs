//! The `file` check: looks at one file of the frozen working folder, in its archive, on the host.
//! The archive is hostile: it is read, never unpacked, and no link in it is followed.

use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use agon_core::check::{Check, CheckKind, FileTest};
use agon_core::digest::Hasher;
use agon_core::files::stays_inside;
use agon_core::office::{DocumentCheck, SheetCheck};
use agon_core::{ByteSize, Digest, Fault, FaultClass};
use agon_sandbox::{ArchiveIndex, Held, WORK};

use crate::finding::{Finding, bad_check};
use crate::text::{self, Surround};

/// Most bytes of a file that tests of its content look at.
const CONTENT: ByteSize = ByteSize::mib(16);

/// Every path that checks will ask for, so that one pass over the archive finds them all: that of
/// each file, and those of the folders it is in.
pub(crate) fn paths(checks: &[Check]) -> Vec<PathBuf> {
    let of = |check: &Check| match &check.kind {
        CheckKind::File { path, .. }
        | CheckKind::Spreadsheet(SheetCheck { path, .. })
        | CheckKind::Document(DocumentCheck { path, .. }) => {
            let inside = inside(path).unwrap_or_default();
            let all = Path::new(&inside).ancestors();
            all.map(Path::to_owned).collect()
        }
        CheckKind::All { checks, .. } | CheckKind::Any { checks } => paths(checks),
        _ => Vec::new(),
    };
    checks.iter().flat_map(of).collect()
}

pub(crate) fn check(
    path: &str,
    test: &FileTest,
    work: &ArchiveIndex,
    deadline: Instant,
) -> Result<Finding, Fault> {
    let inside = inside(path)?;
    let held = work.get(&inside);
    match (test, held) {
        (FileTest::Exists(false), None) => Ok(absent(work, path, &inside)),
        (_, None) => Ok(Finding::fail(missing(work, path, &inside))),
        (FileTest::Exists(wanted), Some(held)) => Ok(exists(*wanted, path, held)),
        (FileTest::Sha256(wanted), Some(&Held::File { at, size })) => {
            let found = digest_of(&mut work.content(at, size), deadline).map_err(unreadable)?;
            let Some(found) = found else {
                return Ok(Finding::fail(format!(
                    "`{path}` is too large to be read in time"
                )));
            };
            let wrong = (found != *wanted).then(|| format!("expected {wanted}; found {found}"));
            Ok(Finding::unless(wrong, || format!("found {found}")))
        }
        (FileTest::Content(tests), Some(_)) => content(path, work, |content| {
            text::run(tests, content, Surround::Counts)
        }),
        (_, Some(other)) => Ok(Finding::fail(format!("`{path}` is {}", describe(other)))),
    }
}

/// Hands the content of a file over; one that is not there, or too large, has failed.
pub(crate) fn content(
    path: &str,
    work: &ArchiveIndex,
    look: impl FnOnce(&[u8]) -> Result<Finding, Fault>,
) -> Result<Finding, Fault> {
    let inside = inside(path)?;
    match work.get(&inside) {
        Some(&Held::File { at, size }) if size <= CONTENT.0 => {
            let mut content = Vec::new();
            let read = work.content(at, size).read_to_end(&mut content);
            read.map_err(unreadable)?;
            look(&content)
        }
        Some(&Held::File { size, .. }) => Ok(Finding::fail(format!(
            "`{path}` has {}; the content of at most {CONTENT} is looked at",
            ByteSize(size)
        ))),
        Some(other) => Ok(Finding::fail(format!("`{path}` is {}", describe(other)))),
        None => Ok(Finding::fail(missing(work, path, &inside))),
    }
}

/// The path relative to the working folder. Anything outside of it is gone when checks run.
fn inside(path: &str) -> Result<String, Fault> {
    let relative = match path.strip_prefix(WORK) {
        Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/'),
        _ => path,
    };
    let relative: PathBuf = Path::new(relative)
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect();
    match relative.to_str() {
        Some(text) if stays_inside(&relative) => Ok(text.to_owned()),
        _ => Err(bad_check(format!(
            "`{path}` is not in the working folder: name a file by a relative path or one below \
             {WORK}, without `..`"
        ))),
    }
}

fn exists(wanted: bool, path: &str, held: &Held) -> Finding {
    let reason = format!("`{path}` is {}", describe(held));
    if wanted && matches!(held, Held::File { .. } | Held::Folder) {
        Finding::pass(reason)
    } else {
        Finding::fail(reason)
    }
}

/// Only what no link leads to is surely not there.
fn absent(work: &ArchiveIndex, path: &str, inside: &str) -> Finding {
    match detour(work, inside) {
        Some(detour) => Finding::fail(format!("`{path}` may exist elsewhere: {detour}")),
        None => Finding::pass(format!("`{path}` does not exist")),
    }
}

fn describe(held: &Held) -> String {
    match held {
        Held::File { size, .. } => format!("a file of {size} bytes"),
        Held::Folder => "a folder".to_owned(),
        Held::Link { target } => format!("a link to {target:?}, and links are not followed"),
        Held::Other => "neither a file nor a folder (a pipe or a device, say)".to_owned(),
    }
}

/// Why there is nothing at a path.
fn missing(work: &ArchiveIndex, path: &str, inside: &str) -> String {
    match detour(work, inside) {
        Some(detour) => format!("`{path}` does not exist: {detour}"),
        None => format!("`{path}` does not exist"),
    }
}

/// A link on the way to a path, or what may be one: a hard link to a link is something other.
fn detour(work: &ArchiveIndex, inside: &str) -> Option<String> {
    let parents = Path::new(inside).ancestors().skip(1);
    parents.filter_map(Path::to_str).find_map(|parent| {
        let held = work.get(parent)?;
        matches!(held, Held::Link { .. } | Held::Other)
            .then(|| format!("`{parent}` is {}", describe(held)))
    })
}

/// `None`: the deadline came first.
fn digest_of(content: &mut impl Read, deadline: Instant) -> io::Result<Option<Digest>> {
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; 64 << 10];
    while Instant::now() < deadline {
        match content.read(&mut buffer)? {
            0 => return Ok(Some(hasher.finish())),
            count => hasher.update(&buffer[..count]),
        }
    }
    Ok(None)
}

pub(crate) fn unreadable(error: io::Error) -> Fault {
    let message = format!("the frozen working folder can't be read: {error}");
    Fault::new(FaultClass::Evidence, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canned::{Left, archive};
    use agon_core::check::TextTest;
    use proptest::prelude::*;
    use std::time::Duration;

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(600)
    }

    #[test]
    fn an_endless_file_is_read_until_the_deadline() {
        let deadline = Instant::now() + Duration::from_millis(20);
        assert_eq!(digest_of(&mut io::repeat(7), deadline).unwrap(), None);
        let read = digest_of(&mut &b"first"[..], later()).unwrap();
        assert_eq!(read, Some(Digest::of(b"first")));
    }

    #[test]
    fn paths_in_the_working_folder() {
        for (path, expected) in [
            ("a/b.txt", "a/b.txt"),
            ("./a//b.txt", "a/b.txt"),
            ("/work/a", "a"),
            ("work/a", "work/a"),
        ] {
            assert_eq!(inside(path).unwrap(), expected);
        }
    }

    #[test]
    fn other_paths_are_refused() {
        for path in [
            "",
            ".",
            "/work",
            "/etc/passwd",
            "/work/../etc",
            "a/../../b",
            "/workshop/a",
        ] {
            let fault = inside(path).unwrap_err();
            assert_eq!(fault.class, FaultClass::Check, "{path}");
        }
    }

    #[test]
    fn a_digest_and_a_content_are_of_the_same_file() {
        let work = archive(
            &[
                Left::File("a", b"first".to_vec()),
                Left::Same("b", "a"),
                Left::File("c", b"other".to_vec()),
            ],
            0,
        );
        let index = ArchiveIndex::of(work.open().unwrap(), ["b".into()]).unwrap();
        for test in [
            FileTest::Sha256(Digest::of(b"first")),
            FileTest::Content(vec![TextTest::Equals("first".into())]),
            FileTest::Exists(true),
        ] {
            let finding = check("b", &test, &index, later()).unwrap();
            assert!(finding.passed, "{test:?}: {}", finding.reason);
        }
    }

    #[test]
    fn a_file_is_not_gone_when_a_link_leads_to_it() {
        let work = archive(
            &[
                Left::Folder("other"),
                Left::File("other/secret", b"x".to_vec()),
                Left::Link("link", "other"),
                Left::Same("same", "link"),
                Left::File("file", vec![]),
            ],
            0,
        );
        let gone = |path: &str| {
            let parents = Path::new(path).ancestors().map(Path::to_owned);
            let index = ArchiveIndex::of(work.open().unwrap(), parents).unwrap();
            check(path, &FileTest::Exists(false), &index, later()).unwrap()
        };
        for path in ["other/none", "none/secret", "file/secret"] {
            assert!(gone(path).passed, "{path}");
        }
        for path in ["link/secret", "link/none", "link/a/b", "same/secret"] {
            let finding = gone(path);
            assert!(!finding.passed, "{path}");
            let (on_the_way, _) = path.split_once('/').unwrap();
            let named = format!("`{on_the_way}` is ");
            assert!(finding.reason.contains(&named), "{}", finding.reason);
        }
        assert!(!gone("link").passed && !gone("other/secret").passed);
    }

    proptest! {
        #[test]
        fn no_accepted_path_leaves_the_folder(path in "[a./]{0,12}|/work[a./]{0,8}") {
            if let Ok(inside) = inside(&path) {
                prop_assert!(stays_inside(Path::new(&inside)));
            }
        }
    }
}
