//! The `file` check: looks at one file of the frozen working folder, in its archive, on the host.
//! The archive is hostile: it is read, never unpacked, and no link in it is followed.

use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use agon_core::check::FileTest;
use agon_core::digest::Hasher;
use agon_core::files::stays_inside;
use agon_core::{ByteSize, Digest, Fault, FaultClass};
use agon_sandbox::archive::Entry;
use agon_sandbox::{WORK, WorkArchive};

use crate::finding::{Finding, bad_check};
use crate::text::{self, Surround};

/// Most bytes of a file that tests of its content look at.
const CONTENT: ByteSize = ByteSize::mib(16);

pub(crate) fn check(path: &str, test: &FileTest, work: &WorkArchive) -> Result<Finding, Fault> {
    let inside = inside(path)?;
    let limit = match test {
        FileTest::Content(_) => CONTENT.0,
        FileTest::Exists(_) | FileTest::Sha256(_) => 0,
    };
    let entry = find(work, &inside, limit)?;
    match (test, entry) {
        (FileTest::Exists(wanted), entry) => Ok(exists(*wanted, path, entry.as_ref())),
        (_, None) => Ok(Finding::fail(missing(work, path, &inside)?)),
        (FileTest::Sha256(wanted), Some(Entry::File { .. })) => {
            let found = digest(work, Path::new(&inside)).map_err(unreadable)?;
            let wrong = (found != *wanted).then(|| format!("expected {wanted}; found {found}"));
            Ok(Finding::unless(wrong, || format!("found {found}")))
        }
        (FileTest::Content(tests), Some(Entry::File { content, size })) if size <= CONTENT.0 => {
            text::run(tests, &content, Surround::Counts)
        }
        (FileTest::Content(_), Some(Entry::File { size, .. })) => Ok(Finding::fail(format!(
            "`{path}` has {}; the content of at most {CONTENT} is looked at",
            ByteSize(size)
        ))),
        (_, Some(other)) => Ok(Finding::fail(format!("`{path}` is {}", describe(&other)))),
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

fn exists(wanted: bool, path: &str, entry: Option<&Entry>) -> Finding {
    match (entry, wanted) {
        (None, true) => Finding::fail(format!("`{path}` does not exist")),
        (None, false) => Finding::pass(format!("`{path}` does not exist")),
        (Some(entry @ (Entry::File { .. } | Entry::Folder)), true) => {
            Finding::pass(format!("`{path}` is {}", describe(entry)))
        }
        (Some(entry), _) => Finding::fail(format!("`{path}` is {}", describe(entry))),
    }
}

fn describe(entry: &Entry) -> String {
    match entry {
        Entry::File { size, .. } => format!("a file of {size} bytes"),
        Entry::Folder => "a folder".to_owned(),
        Entry::Link { target } => format!("a link to {target:?}, and links are not followed"),
        Entry::Other => "neither a file nor a folder (a pipe, a device or a hard link)".to_owned(),
    }
}

/// Why there is nothing at a path: the path may lead through a link.
fn missing(work: &WorkArchive, path: &str, inside: &str) -> Result<String, Fault> {
    for parent in Path::new(inside).ancestors().skip(1) {
        let Some(parent) = parent.to_str().filter(|parent| !parent.is_empty()) else {
            continue;
        };
        if let Some(link @ Entry::Link { .. }) = find(work, parent, 0)? {
            return Ok(format!(
                "`{path}` does not exist: `{parent}` is {}",
                describe(&link)
            ));
        }
    }
    Ok(format!("`{path}` does not exist"))
}

fn find(work: &WorkArchive, path: &str, limit: u64) -> Result<Option<Entry>, Fault> {
    work.find(path, limit).map_err(unreadable)
}

/// The digest of a file of any size; of several entries of that name the last counts.
fn digest(work: &WorkArchive, wanted: &Path) -> io::Result<Digest> {
    let mut found = Digest::of(&[]);
    for entry in tar::Archive::new(BufReader::new(work.open()?)).entries()? {
        let mut entry = entry?;
        let path: PathBuf = (entry.path()?.components())
            .filter(|part| *part != Component::CurDir)
            .collect();
        if path == wanted {
            found = digest_of(&mut entry)?;
        }
    }
    Ok(found)
}

fn digest_of(content: &mut impl Read) -> io::Result<Digest> {
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match content.read(&mut buffer)? {
            0 => return Ok(hasher.finish()),
            count => hasher.update(&buffer[..count]),
        }
    }
}

fn unreadable(error: io::Error) -> Fault {
    let message = format!("the frozen working folder can't be read: {error}");
    Fault::new(FaultClass::Evidence, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn no_accepted_path_leaves_the_folder(path in "[a./]{0,12}|/work[a./]{0,8}") {
            if let Ok(inside) = inside(&path) {
                prop_assert!(stays_inside(Path::new(&inside)));
            }
        }
    }
}
