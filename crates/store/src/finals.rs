//! Which lines of `trials.jsonl` count: of each trial the last final one, where a draw after the first verdict
//! never is. A process that is killed after it wrote a result and before it took back the one before leaves two;
//! versions before this one marked the last draw instead of the first.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;
use std::io;
use std::path::Path;

use agon_core::verdict::Outcome;
use serde::Deserialize;

use crate::lines;

/// The file as it was at one moment, whatever is written to it meanwhile. Trials are known by a hash with a secret
/// key: names would take many times the memory, and nobody can make two alike.
#[derive(Debug, Default)]
pub(crate) struct Finals {
    trials: HashMap<u64, Seen>,
    /// Attempts that are further draws, of trials that have any.
    draws: HashMap<u64, Vec<u32>>,
    /// Where lines begin that say they are final and are not: hardly ever any.
    replaced: HashSet<u64>,
    /// Where lines begin that count though they do not say so: of older versions alone.
    restored: HashSet<u64>,
    /// Where the last whole line ended.
    pub(crate) end: u64,
    /// There was more behind it.
    pub(crate) torn: bool,
}

/// What a trial has so far.
#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    last_final: Option<u64>,
    first_graded: Option<u64>,
    /// The last draw that says it is final.
    final_draw: Option<u64>,
    lines: u32,
    highest: u32,
}

/// As much of a line as decides whether it counts.
#[derive(Deserialize)]
pub(crate) struct LineHead<'a> {
    #[serde(borrow)]
    pub(crate) task: Cow<'a, str>,
    pub(crate) epoch: u32,
    #[serde(default)]
    pub(crate) attempt: u32,
    #[serde(rename = "final")]
    pub(crate) is_final: bool,
    pub(crate) outcome: Outcome,
    #[serde(default)]
    rerun: bool,
    #[serde(default)]
    regraded: bool,
    #[serde(default)]
    played_in: Option<u32>,
}

impl Finals {
    /// Lines that can't be read are passed over: whoever reads them wholly says so.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let mut finals = Self::default();
        finals.torn = lines::for_each(path, |at, line| {
            finals.take(at, line.len() as u64);
            if let Ok(peek) = serde_json::from_slice::<LineHead<'_>>(line) {
                finals.add(at, &peek);
            }
        })?;
        finals.settle();
        Ok(finals)
    }

    /// A line was read there, whatever it says.
    pub(crate) fn take(&mut self, at: u64, length: u64) {
        self.end = at + length + 1;
    }

    pub(crate) fn add(&mut self, at: u64, peek: &LineHead<'_>) {
        let trial = self.hash(&peek.task, peek.epoch);
        let draws = self.draws.get(&trial);
        // What an older version graded again may have been a draw.
        let of_draw = peek.played_in.is_some_and(|played| {
            peek.regraded && draws.is_some_and(|draws| draws.contains(&played))
        });
        let is_draw = (peek.rerun && !peek.regraded) || of_draw;
        if is_draw && !peek.regraded {
            self.draws.entry(trial).or_default().push(peek.attempt);
        }
        let seen = self.trials.entry(trial).or_default();
        seen.lines += 1;
        seen.highest = seen.highest.max(peek.attempt);
        match (peek.is_final, is_draw) {
            (true, false) => self.replaced.extend(seen.last_final.replace(at)),
            (true, true) => {
                self.replaced.insert(at);
                seen.final_draw = Some(at);
            }
            (false, _) => {}
        }
        if !is_draw && peek.outcome != Outcome::Faulted && seen.final_draw.is_none() {
            seen.first_graded.get_or_insert(at);
        }
    }

    /// After the last line. Where only draws say that they are final, the first verdict counts.
    pub(crate) fn settle(&mut self) {
        for trial in self.draws.keys() {
            let Some(Seen {
                last_final: None,
                final_draw: Some(draw),
                first_graded,
                ..
            }) = self.trials.get(trial)
            else {
                continue;
            };
            match first_graded {
                Some(first) => drop(self.restored.insert(*first)),
                None => drop(self.replaced.remove(draw)),
            }
        }
    }

    /// Whether the line that begins there counts, as it says of itself.
    pub(crate) fn count(&self, at: u64, is_final: bool) -> bool {
        match is_final {
            true => !self.replaced.contains(&at),
            false => self.restored.contains(&at),
        }
    }

    /// How many trials have a line.
    pub(crate) fn trials(&self) -> usize {
        self.trials.len()
    }

    /// Where the last line of a trial begins that says it is final, and is no draw.
    pub(crate) fn last_final(&self, trial: u64) -> Option<u64> {
        self.trials.get(&trial)?.last_final
    }

    /// How many numbers of attempts no line has. `open`, by trial: those that were begun and have no line, and
    /// the highest number among them.
    pub(crate) fn missing(&self, open: &HashMap<u64, (u32, u32)>) -> u64 {
        let known = self.trials.iter().map(|(trial, seen)| {
            let (count, highest) = open.get(trial).copied().unwrap_or_default();
            (seen.lines.saturating_add(count), seen.highest.max(highest))
        });
        let unknown = open
            .iter()
            .filter(|(trial, _)| !self.trials.contains_key(trial));
        let all = known.chain(unknown.map(|(_, open)| *open));
        all.map(|(named, highest)| u64::from(highest.saturating_sub(named)))
            .sum()
    }

    pub(crate) fn hash(&self, task: &str, epoch: u32) -> u64 {
        self.trials.hasher().hash_one((task, epoch))
    }
}
