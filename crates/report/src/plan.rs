//! Which recorded lines belong to a run: its tasks times its epochs, each with one final line. Where a trial
//! has two, the later one counts.

use std::collections::{HashMap, HashSet};

use agon_core::TaskId;
use agon_store::{Manifest, TaskStamp, TrialLine};

#[derive(Debug)]
pub(crate) struct Plan<'a> {
    manifest: &'a Manifest,
    places: HashMap<&'a TaskId, usize>,
    seen: HashSet<(usize, u32)>,
}

/// What a line is to its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The result of the task at this place.
    Final(usize),
    /// An attempt that was retried or rerun.
    Earlier(usize),
    /// Not planned, or a second result of a trial from somebody who should show one.
    Stray,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(manifest: &'a Manifest) -> Self {
        let places = manifest.tasks.iter().enumerate();
        Self {
            manifest,
            places: places.map(|(place, stamp)| (&stamp.task, place)).collect(),
            seen: HashSet::new(),
        }
    }

    pub(crate) fn place(&mut self, line: &TrialLine) -> Part {
        match self.places.get(&line.task) {
            Some(place) if (1..=self.manifest.epochs).contains(&line.epoch) => {
                if !line.is_final {
                    Part::Earlier(*place)
                } else if self.seen.insert((*place, line.epoch)) {
                    Part::Final(*place)
                } else {
                    Part::Stray
                }
            }
            _ => Part::Stray,
        }
    }

    /// The planned trials that had no final line so far.
    pub(crate) fn missing(&self) -> impl Iterator<Item = (&'a TaskStamp, u32)> {
        let tasks = self.manifest.tasks.iter().enumerate();
        tasks.flat_map(move |(place, stamp)| {
            (1..=self.manifest.epochs)
                .filter(move |epoch| !self.seen.contains(&(place, *epoch)))
                .map(move |epoch| (stamp, epoch))
        })
    }
}

/// Lines in the order in which they were written: of the final ones of a trial only the last one stays final. A
/// process that is killed after it wrote a result and before it took back the one before leaves two.
pub(crate) fn as_they_count(lines: &[TrialLine]) -> impl Iterator<Item = TrialLine> {
    let finals = lines.iter().enumerate().filter(|(_, line)| line.is_final);
    let last: HashMap<(&TaskId, u32), usize> = finals
        .map(|(at, line)| ((&line.task, line.epoch), at))
        .collect();
    lines.iter().enumerate().map(move |(at, line)| TrialLine {
        is_final: last.get(&(&line.task, line.epoch)) == Some(&at),
        ..line.clone()
    })
}
