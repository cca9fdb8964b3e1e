//! Wakes whoever watches a run when one of its files may have changed. Says neither which nor how: looking
//! at all of them costs less than keeping track. Where the kernel tells nothing (network file systems, too
//! many watches), time does.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init, remove_watch};

use super::tail::Identity;

/// How often files are looked at although nothing rang.
const ROUND: Duration = Duration::from_secs(1);
/// The same where nothing ever rings.
const POLLING: Duration = Duration::from_millis(250);
/// So many changes that did not ring are no coincidence.
const DEAF: u32 = 2;

/// How changes are noticed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Notices {
    #[default]
    Inotify,
    Polling,
}

#[derive(Debug)]
pub(super) struct Doorbell {
    news: Option<OwnedFd>,
    missed: u32,
    /// Files that ring: which one was meant, and what the kernel calls it.
    watched: HashMap<PathBuf, (Identity, i32)>,
}

impl Doorbell {
    /// Rings for files right inside of `folder`.
    pub(super) fn at(folder: &Path, notices: Notices) -> Self {
        let news = match notices {
            Notices::Inotify => init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok(),
            Notices::Polling => None,
        };
        let inside = WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::MOVED_TO;
        Self {
            news: news.filter(|news| add_watch(news, folder, inside).is_ok()),
            missed: 0,
            watched: HashMap::new(),
        }
    }

    /// Rings for this file too; says whether that is new. Where it can't be, the file is looked at anyway, later.
    pub(super) fn watch(&mut self, file: &Path, identity: Identity) -> bool {
        let Some(news) = &self.news else {
            return false;
        };
        let known = self.watched.get(file).copied();
        if known.is_some_and(|(known, _)| known == identity) {
            return false;
        }
        let flags = WatchFlags::MODIFY | WatchFlags::DONT_FOLLOW;
        match add_watch(news, file, flags) {
            Ok(watch) => {
                if let Some((_, old)) = known.filter(|(_, old)| *old != watch) {
                    // It is gone by itself where the file is.
                    remove_watch(news, old).ok();
                }
                self.watched.insert(file.to_owned(), (identity, watch));
                true
            }
            Err(rustix::io::Errno::NOSPC | rustix::io::Errno::NOMEM) => {
                self.news = None;
                false
            }
            Err(_) => false,
        }
    }

    /// No other file rings any more.
    pub(super) fn keep(&mut self, wanted: impl Fn(&Path) -> bool) {
        let news = self.news.as_ref();
        self.watched.retain(|file, (_, watch)| {
            let stays = wanted(file);
            if let Some(news) = news.filter(|_| !stays) {
                remove_watch(news, *watch).ok();
            }
            stays
        });
    }

    /// When files are to be looked at next, whatever rings.
    pub(super) fn round(&self, from: Instant) -> Instant {
        from + if self.news.is_some() { ROUND } else { POLLING }
    }

    pub(super) fn descriptor(&self) -> Option<&OwnedFd> {
        self.news.as_ref()
    }

    /// Forgets what rang so far; says whether anything did.
    pub(super) fn rang(&self) -> bool {
        let Some(news) = &self.news else {
            return false;
        };
        let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(news, &mut buffer);
        let mut rang = false;
        while reader.next().is_ok() {
            rang = true;
        }
        rang
    }

    /// Something has changed that did not ring.
    pub(super) fn missed(&mut self) {
        self.missed += 1;
        if self.missed >= DEAF {
            self.news = None;
        }
    }
}

/// Until one of the descriptors has something to tell, or the time is over.
pub(super) fn wait_for(descriptors: [&impl AsFd; 2], until: Instant) {
    let left = until.saturating_duration_since(Instant::now());
    let Ok(timeout) = Timespec::try_from(left) else {
        return;
    };
    let mut polled = descriptors.map(|one| PollFd::new(one, PollFlags::IN));
    // Interrupted or not: the files are looked at anyway.
    poll(&mut polled, Some(&timeout)).ok();
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn it_rings_for_files_of_the_folder_and_for_those_that_are_watched() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("inner")).unwrap();
        let deep = folder.path().join("inner/events.jsonl");
        let mut doorbell = Doorbell::at(folder.path(), Notices::Inotify);
        assert!(!doorbell.rang());
        fs::write(folder.path().join("trials.jsonl"), "{}\n").unwrap();
        assert!(doorbell.rang() && !doorbell.rang());
        assert!(!doorbell.watch(&deep, (1, 1)));
        fs::write(&deep, "{}\n").unwrap();
        assert!(!doorbell.rang());
        assert!(doorbell.watch(&deep, (1, 1)));
        assert!(!doorbell.watch(&deep, (1, 1)));
        fs::write(&deep, "{}\n{}\n").unwrap();
        assert!(doorbell.rang());
        // Another file in its place.
        let other = folder.path().join("inner/other");
        fs::write(&other, "{}\n").unwrap();
        fs::rename(&other, &deep).unwrap();
        assert!(doorbell.watch(&deep, (1, 2)));
        doorbell.rang();
        fs::write(&deep, "{}\n{}\n").unwrap();
        assert!(doorbell.rang());
        doorbell.keep(|file| file == deep);
        fs::write(&deep, "{}\n").unwrap();
        assert!(doorbell.rang());
        doorbell.keep(|_| false);
        doorbell.rang();
        fs::write(&deep, "{}\n").unwrap();
        assert!(!doorbell.rang());
    }

    #[test]
    fn one_that_stays_silent_is_not_relied_on() {
        let folder = tempfile::tempdir().unwrap();
        let now = Instant::now();
        let mut doorbell = Doorbell::at(folder.path(), Notices::Inotify);
        doorbell.missed();
        assert_eq!(doorbell.round(now), now + ROUND);
        doorbell.missed();
        assert_eq!(doorbell.round(now), now + POLLING);
        assert!(doorbell.descriptor().is_none());
        let none = Doorbell::at(&folder.path().join("nothing"), Notices::Inotify);
        assert_eq!(none.round(now), now + POLLING);
    }
}
