//! Which recorded lines belong to a run: its tasks times its epochs, each with one final line. Where a trial
//! has two, the later one counts.

use std::collections::{HashMap, HashSet};

use agon_core::TaskId;
use agon_core::verdict::Outcome;
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

    /// The place of a planned trial's task.
    pub(crate) fn planned(&self, task: &TaskId, epoch: u32) -> Option<usize> {
        let place = self.places.get(task).copied()?;
        (1..=self.manifest.epochs).contains(&epoch).then_some(place)
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

/// Lines in the order in which they were written, as they count: of the final ones of a trial the last one, where a
/// draw after the first verdict never is. A process that is killed after it wrote a result and before it took back
/// the one before leaves two; older versions marked the last draw as final, and not the first verdict.
pub(crate) fn as_they_count(lines: &[TrialLine]) -> impl Iterator<Item = TrialLine> {
    #[derive(Default)]
    struct Seen {
        last_final: Option<usize>,
        first_verdict: Option<usize>,
        final_draw: Option<usize>,
    }
    let mut trials: HashMap<(&TaskId, u32), Seen> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        let seen = trials.entry((&line.task, line.epoch)).or_default();
        let is_draw = line.is_further_draw();
        match (line.is_final, is_draw) {
            (true, true) => seen.final_draw = Some(at),
            (true, false) => seen.last_final = Some(at),
            (false, _) => {}
        }
        if !is_draw && line.outcome != Outcome::Faulted && seen.final_draw.is_none() {
            seen.first_verdict.get_or_insert(at);
        }
    }
    let counts = trials.into_values().filter_map(|seen| {
        let drawn = seen
            .final_draw
            .map(|draw| seen.first_verdict.unwrap_or(draw));
        seen.last_final.or(drawn)
    });
    let counts: HashSet<usize> = counts.collect();
    lines.iter().enumerate().map(move |(at, line)| TrialLine {
        is_final: counts.contains(&at),
        ..line.clone()
    })
}
