//! The end of a file of lines that somebody else appends to: gives each line once, when it is whole. Knows
//! nothing of what the lines say.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

/// A line longer than this is passed over: nothing that is told of a running trial is that long.
const LONGEST: usize = 8 << 20;
/// What is read in one go, so that other files get their turn.
const MOST: u64 = 16 << 20;
/// By how many of its first bytes a file is known again.
const HEAD: usize = 256;

/// Device and inode.
pub(super) type Identity = (u64, u64);

#[derive(Debug)]
pub(super) struct Tail {
    path: PathBuf,
    identity: Option<Identity>,
    /// When it was last changed, as far as that was looked at.
    changed: Option<(i64, i64)>,
    head: Vec<u8>,
    /// Bytes that were read.
    at: u64,
    /// The beginning of a line whose end is not written yet.
    part: Vec<u8>,
    /// In the middle of a line that is too long.
    skipping: bool,
    /// What all of that has cost.
    #[cfg(test)]
    pub(super) bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    Nothing,
    /// There is more to read.
    Grown,
    /// It is another file, or begins anew: what was read before holds no more.
    Anew,
}

impl Tail {
    pub(super) fn of(path: PathBuf) -> Self {
        Self {
            path,
            identity: None,
            changed: None,
            head: Vec::new(),
            at: 0,
            part: Vec::new(),
            skipping: false,
            #[cfg(test)]
            bytes: 0,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of whole lines that were read.
    pub(super) fn taken(&self) -> u64 {
        self.at - self.part.len() as u64
    }

    /// None of a file that is not there.
    pub(super) fn identity(&self) -> Option<Identity> {
        self.identity
    }

    /// Passes over what is there: only what is appended from now on is given.
    pub(super) fn skip(&mut self) {
        if let Ok(now) = fs::symlink_metadata(&self.path) {
            self.identity = Some(identity(&now));
            self.changed = Some(changed(&now));
            self.at = now.len();
            // What can't be opened is not waited for either.
            self.begin_at(now.len());
        }
    }

    /// Passes over the first bytes of the file, which are known from elsewhere. One that has fewer is another
    /// file: nothing of it is known.
    pub(super) fn begin_at(&mut self, at: u64) {
        let mut head = vec![0; usize::try_from(at).map_or(HEAD, |at| at.min(HEAD))];
        let Ok(file) = open(&self.path) else {
            return;
        };
        if let (Ok(()), Ok(now)) = (file.read_exact_at(&mut head, 0), file.metadata())
            && now.len() >= at
        {
            self.identity = Some(identity(&now));
            (self.head, self.at) = (head, at);
        }
    }

    /// Whether there is anything to read. A file that is not there is an empty one.
    pub(super) fn look(&mut self) -> News {
        let Ok(now) = fs::symlink_metadata(&self.path) else {
            return self.shrunk_to_nothing();
        };
        let identity = Some(identity(&now));
        let same = identity == self.identity && now.len() >= self.at;
        let changed = Some(changed(&now));
        let touched = std::mem::replace(&mut self.changed, changed) != changed;
        // One that was emptied may be as long again as it was.
        if same && now.len() == self.at && !(touched && self.head_is_another()) {
            return News::Nothing;
        }
        let begun = self.at > 0;
        if begun && (!same || !self.head_is_the_same()) {
            *self = Self::of(std::mem::take(&mut self.path));
            (self.identity, self.changed) = (identity, changed);
            return News::Anew;
        }
        self.identity = identity;
        if now.len() > 0 {
            News::Grown
        } else {
            News::Nothing
        }
    }

    fn shrunk_to_nothing(&mut self) -> News {
        let begun = self.at > 0;
        *self = Self::of(std::mem::take(&mut self.path));
        if begun { News::Anew } else { News::Nothing }
    }

    /// A file that was cut off may have grown past where it was read to.
    fn head_is_the_same(&self) -> bool {
        self.first_bytes().is_some_and(|head| head == self.head)
    }

    fn head_is_another(&self) -> bool {
        self.first_bytes().is_some_and(|head| head != self.head)
    }

    /// None where they can't be read.
    fn first_bytes(&self) -> Option<Vec<u8>> {
        let mut head = vec![0; self.head.len()];
        open(&self.path).ok()?.read_exact_at(&mut head, 0).ok()?;
        Some(head)
    }

    /// Gives every line that has become whole. Returns whether there is still more.
    pub(super) fn read(&mut self, mut each: impl FnMut(&[u8])) -> io::Result<bool> {
        let file = match open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            file => file?,
        };
        let length = file.metadata()?.len();
        let end = length.min(self.at.saturating_add(MOST));
        let mut block = vec![0; (1 << 18).min(end.saturating_sub(self.at) as usize)];
        while self.at < end {
            let most = block.len().min((end - self.at) as usize);
            let read = match file.read_at(&mut block[..most], self.at) {
                Ok(0) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            #[cfg(test)]
            {
                self.bytes += read as u64;
            }
            self.keep_head(&block[..read]);
            self.at += read as u64;
            self.split(&block[..read], &mut each);
        }
        Ok(self.at < length)
    }

    fn keep_head(&mut self, block: &[u8]) {
        if self.at < HEAD as u64 {
            let rest = (HEAD - self.head.len()).min(block.len());
            self.head.extend_from_slice(&block[..rest]);
        }
    }

    fn split(&mut self, block: &[u8], each: &mut impl FnMut(&[u8])) {
        for piece in block.split_inclusive(|byte| *byte == b'\n') {
            let whole = piece.last() == Some(&b'\n');
            let line = piece.strip_suffix(b"\n").unwrap_or(piece);
            if self.part.len() + line.len() > LONGEST {
                self.part = Vec::new();
                self.skipping = true;
            }
            match (whole, self.skipping) {
                (true, true) => self.skipping = false,
                (true, false) if self.part.is_empty() => each(line),
                (true, false) => {
                    self.part.extend_from_slice(line);
                    each(&self.part);
                    self.part.clear();
                }
                (false, true) => {}
                (false, false) => self.part.extend_from_slice(line),
            }
        }
    }
}

fn identity(file: &Metadata) -> Identity {
    (file.dev(), file.ino())
}

fn changed(file: &Metadata) -> (i64, i64) {
    (file.mtime(), file.mtime_nsec())
}

/// A plain file only: a run folder may come from anywhere, and a pipe or a device would never end.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, path, flags, Mode::empty())?);
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("is no plain file"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use super::*;

    struct Growing {
        _folder: tempfile::TempDir,
        tail: Tail,
    }

    impl Growing {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let tail = Tail::of(folder.path().join("x.jsonl"));
            Self {
                _folder: folder,
                tail,
            }
        }

        fn append(&self, text: &str) {
            let file = OpenOptions::new()
                .create(true)
                .append(true)
                .open(self.tail.path());
            file.unwrap().write_all(text.as_bytes()).unwrap();
        }

        fn read(&mut self) -> (News, Vec<String>) {
            let news = self.tail.look();
            let mut lines = Vec::new();
            while self
                .tail
                .read(|line| lines.push(String::from_utf8(line.to_vec()).unwrap()))
                .unwrap()
            {}
            (news, lines)
        }
    }

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    /// Later than the last time, however quick the test is.
    fn rewritten(file: &Growing, text: &str) {
        let before = fs::metadata(file.tail.path()).unwrap().modified().unwrap();
        fs::write(file.tail.path(), text).unwrap();
        let same = File::options().write(true).open(file.tail.path()).unwrap();
        let later = before + std::time::Duration::from_secs(1);
        same.set_modified(later).unwrap();
    }

    #[test]
    fn every_line_is_given_once_and_whole() {
        let mut file = Growing::new();
        assert_eq!(file.read(), (News::Nothing, Vec::new()));
        file.append("one\ntw");
        assert_eq!(file.read(), (News::Grown, lines(&["one"])));
        assert_eq!(file.tail.taken(), 4);
        assert_eq!(file.read(), (News::Nothing, Vec::new()));
        file.append("o");
        assert_eq!(file.read(), (News::Grown, Vec::new()));
        file.append("\n\nthree\n");
        assert_eq!(file.read(), (News::Grown, lines(&["two", "", "three"])));
        assert_eq!(file.tail.taken(), 15);
    }

    #[test]
    fn what_was_there_before_can_be_passed_over() {
        let mut file = Growing::new();
        file.tail.skip();
        file.append("one\n");
        assert_eq!(file.read(), (News::Grown, lines(&["one"])));
        file.append("two\n");
        file.tail.skip();
        assert_eq!(file.read(), (News::Nothing, Vec::new()));
        file.append("three\n");
        assert_eq!(file.read(), (News::Grown, lines(&["three"])));
        file.append("four\n");
        assert_eq!(file.read(), (News::Grown, lines(&["four"])));
        fs::write(file.tail.path(), "new\n").unwrap();
        assert_eq!(file.read(), (News::Anew, lines(&["new"])));
    }

    #[test]
    fn it_begins_where_somebody_else_stopped_unless_it_is_another_file() {
        let mut file = Growing::new();
        file.append("one\ntwo\nthr");
        file.tail.begin_at(4);
        assert_eq!(file.read(), (News::Grown, lines(&["two"])));
        file.append("ee\n");
        assert_eq!(file.read(), (News::Grown, lines(&["three"])));
        assert_eq!(file.tail.bytes, 10);
        let mut other = Growing::new();
        other.tail.begin_at(4);
        other.append("one\n");
        assert_eq!(other.read(), (News::Grown, lines(&["one"])));
        let mut shorter = Growing::new();
        shorter.append("one\n");
        shorter.tail.begin_at(100);
        assert_eq!(shorter.read(), (News::Grown, lines(&["one"])));
    }

    #[test]
    fn a_file_that_is_cut_off_begins_anew() {
        let mut file = Growing::new();
        file.append("one\ntwo\n");
        file.read();
        fs::write(file.tail.path(), "new\n").unwrap();
        assert_eq!(file.read(), (News::Anew, lines(&["new"])));
        // As long as before and longer, but not the same.
        fs::write(file.tail.path(), "other\n").unwrap();
        assert_eq!(file.read(), (News::Anew, lines(&["other"])));
        rewritten(&file, "again\n");
        assert_eq!(file.read(), (News::Anew, lines(&["again"])));
        rewritten(&file, "again\n");
        assert_eq!(file.read(), (News::Nothing, Vec::new()));
        fs::remove_file(file.tail.path()).unwrap();
        assert_eq!(file.read(), (News::Anew, Vec::new()));
        assert_eq!(file.read(), (News::Nothing, Vec::new()));
    }

    #[test]
    fn a_line_that_never_ends_takes_no_memory_and_hides_nothing_after_it() {
        let mut file = Growing::new();
        file.append("one\n");
        file.append(&"x".repeat(LONGEST + (20 << 20)));
        assert_eq!(file.read().1, lines(&["one"]));
        assert!(file.tail.part.is_empty());
        file.append("\ntwo\n");
        assert_eq!(file.read().1, lines(&["two"]));
    }

    #[test]
    fn what_is_no_plain_file_is_not_read() {
        let mut file = Growing::new();
        std::os::unix::fs::symlink("/dev/zero", file.tail.path()).unwrap();
        file.tail.look();
        assert!(file.tail.read(|_| ()).is_err());
    }

    proptest::proptest! {
        #[test]
        fn however_it_is_written_the_lines_are_the_same(
            text in proptest::collection::vec("[a-z]{0,8}\n", 0..20),
            cuts in proptest::collection::vec(0usize..200, 0..8),
        ) {
            let text = text.concat();
            let mut file = Growing::new();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.push(text.len());
            cuts.sort_unstable();
            let mut seen = Vec::new();
            let mut from = 0;
            for cut in cuts {
                file.append(&text[from..cut]);
                from = cut;
                seen.extend(file.read().1);
            }
            let expected: Vec<String> = text.lines().map(str::to_owned).collect();
            proptest::prop_assert_eq!(seen, expected);
        }
    }
}
