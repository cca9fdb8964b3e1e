//! What files held before the agent's actions changed them, so that it can take changes back. Bounded
//! in versions, files and bytes: what is oldest goes first.

use std::collections::VecDeque;

/// Versions of one file.
const PER_FILE: usize = 10;
const FILES: usize = 50;
/// One version.
pub(super) const LARGEST: usize = 1 << 20;
/// All together.
const BYTES: usize = 32 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Version {
    /// There was no file.
    Absent,
    Content(Vec<u8>),
}

impl Version {
    fn bytes(&self) -> usize {
        match self {
            Self::Absent => 0,
            Self::Content(content) => content.len(),
        }
    }
}

/// In order of time.
#[derive(Debug, Default)]
pub(super) struct History {
    kept: VecDeque<(String, Version)>,
    bytes: usize,
}

impl History {
    /// Remembers what a file held before it was changed. `None` is something that can't be kept: then
    /// nothing from before can be brought back, for that would be more than one change.
    pub(super) fn remember(&mut self, path: &str, before: Option<Version>) {
        match before.filter(|version| version.bytes() <= LARGEST) {
            Some(version) => {
                self.bytes += version.bytes();
                self.kept.push_back((path.to_owned(), version));
            }
            None => while self.forget_oldest(|of| of == path) {},
        }
        while self.of(path) > PER_FILE && self.forget_oldest(|of| of == path) {}
        while (self.files() > FILES || self.bytes > BYTES) && self.forget_oldest(|_| true) {}
    }

    /// What the file held before its last change.
    pub(super) fn take(&mut self, path: &str) -> Option<Version> {
        let at = self.kept.iter().rposition(|(of, _)| of == path)?;
        let (_, version) = self.kept.remove(at)?;
        self.bytes -= version.bytes();
        Some(version)
    }

    fn forget_oldest(&mut self, of: impl Fn(&str) -> bool) -> bool {
        let at = self.kept.iter().position(|(path, _)| of(path));
        let gone = at.and_then(|at| self.kept.remove(at));
        self.bytes -= gone.as_ref().map_or(0, |(_, version)| version.bytes());
        gone.is_some()
    }

    fn of(&self, path: &str) -> usize {
        self.kept.iter().filter(|(of, _)| of == path).count()
    }

    fn files(&self) -> usize {
        let paths = self.kept.iter().map(|(path, _)| path.as_str());
        paths.collect::<std::collections::BTreeSet<_>>().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        Version::Content(text.as_bytes().to_vec())
    }

    #[test]
    fn the_last_change_comes_back_first() {
        let mut history = History::default();
        history.remember("a", Some(Version::Absent));
        history.remember("b", Some(version("of b")));
        history.remember("a", Some(version("first")));
        assert_eq!(history.take("a"), Some(version("first")));
        assert_eq!(history.take("a"), Some(Version::Absent));
        assert_eq!(history.take("a"), None);
        assert_eq!(history.take("b"), Some(version("of b")));
        assert_eq!(history.bytes, 0);
    }

    #[test]
    fn only_the_last_versions_of_the_last_files_are_kept() {
        let mut history = History::default();
        for number in 0..12 {
            history.remember("a", Some(version(&number.to_string())));
        }
        for number in (2..12).rev() {
            assert_eq!(history.take("a"), Some(version(&number.to_string())));
        }
        assert_eq!(history.take("a"), None);
        for number in 0..=FILES {
            history.remember(&number.to_string(), Some(version("x")));
        }
        assert_eq!(history.take("0"), None);
        assert_eq!(history.take("1"), Some(version("x")));
    }

    #[test]
    fn bytes_are_bounded() {
        let mut history = History::default();
        let large = Version::Content(vec![0; LARGEST]);
        for number in 0..40 {
            history.remember(&number.to_string(), Some(large.clone()));
            assert!(history.bytes <= BYTES);
        }
        assert_eq!(history.kept.len(), BYTES / LARGEST);
    }

    #[test]
    fn a_version_that_can_not_be_kept_bars_those_before() {
        let mut history = History::default();
        for lost in [None, Some(Version::Content(vec![0; LARGEST + 1]))] {
            history.remember("a", Some(version("old")));
            history.remember("b", Some(version("other")));
            history.remember("a", lost);
            assert_eq!(history.take("a"), None);
            assert_eq!(history.take("b"), Some(version("other")));
        }
    }
}
