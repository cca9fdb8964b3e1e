//! A search for the answers of tasks. What it finds is a sign for people, never a verdict: short and common texts
//! are no answers, and whoever wants to hide one can. It is told by its place, never by its words.

use std::collections::BTreeSet;
use std::io::{self, Read};

use agon_core::digest::Hasher;
use agon_core::{Task, TaskId};

use super::needles::{self, Needles};
use super::rolling::Rolling;

/// What of a task a file holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AnswerMatch {
    pub task: TaskId,
    /// `what a check expects`, `verify/check.py`, `its solution`.
    pub what: String,
}

/// Knows what gives the answers of tasks away.
#[derive(Debug)]
pub struct AnswerSearch {
    needles: Needles,
    rolling: Rolling,
}

impl AnswerSearch {
    /// Of tasks that are played together: what one of them shows is no secret of another.
    pub fn of<'t>(tasks: impl Iterator<Item = &'t Task> + Clone) -> Self {
        let mut needles = Needles::default();
        for task in tasks.clone() {
            needles.take(task);
        }
        needles.leave_out_common();
        let rolling = Rolling::new(needles.texts());
        let mut seen = BTreeSet::new();
        needles::show_all(&mut needles, tasks, |text| {
            // What can't be read is shown to nobody.
            let note = |found| {
                seen.insert(found);
            };
            rolling.all(text, note).ok();
        });
        for found in seen {
            needles.forget(found);
        }
        Self { needles, rolling }
    }

    /// What of the tasks a content holds. Reads it once, a piece at a time.
    pub fn look_into(&self, content: impl Read) -> io::Result<Vec<AnswerMatch>> {
        let mut hashed = Hashed {
            inner: content,
            hasher: Hasher::default(),
        };
        let mut found = BTreeSet::new();
        self.rolling.all(&mut hashed, |needle| {
            found.insert(needle);
        })?;
        let digest = hashed.hasher.finish();
        Ok(self.needles.meaning(&found, digest))
    }
}

/// Takes the digest of what is read.
struct Hashed<R> {
    inner: R,
    hasher: Hasher,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        self.hasher.update(&into[..count]);
        Ok(count)
    }
}
