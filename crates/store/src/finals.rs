//! Which lines of `trials.jsonl` count: of each trial the last final one, where a draw after the first verdict
//! never is. A process that is killed after it wrote a result and before it took back the one before leaves two;
//! versions before this one marked the last draw instead of the first.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;
use std::io;
use std::path::Path;

use agon_core::verdict::Outcome;
use memchr::memmem;
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
    /// Attempts with a line whose number has no place in [`Seen::attempts`]: hardly ever any.
    late: HashSet<(u64, u32)>,
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
    /// Which attempts have a line: bit 0 for the first.
    attempts: u64,
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

impl<'a> LineHead<'a> {
    /// `None` for a line that can't be read. Reports of large runs take a good part of their time for this, so lines as
    /// the writer makes them are not read to their end.
    pub(crate) fn read(line: &'a [u8]) -> Option<Self> {
        Self::read_plain(line).or_else(|| serde_json::from_slice(line).ok())
    }

    /// A line that begins as the writer has them all begin, of an attempt that is nothing special.
    fn read_plain(line: &'a [u8]) -> Option<Self> {
        const SPECIAL: [&[u8]; 3] = [b"\"rerun\":", b"\"regraded\":", b"\"played_in\":"];
        let rest = line.strip_prefix(b"{\"task\":\"")?;
        let (task, rest) = until(rest, b'"')?;
        let (epoch, rest) = number(rest.strip_prefix(b",\"epoch\":")?)?;
        let (attempt, rest) = number(rest.strip_prefix(b",\"attempt\":")?)?;
        let rest = rest.strip_prefix(b",\"final\":")?;
        let (is_final, rest) = match rest.strip_prefix(b"true") {
            Some(rest) => (true, rest.trim_ascii_start()),
            None => (false, rest.strip_prefix(b"false")?),
        };
        let rest = rest.strip_prefix(b",\"outcome\":\"")?;
        let (outcome, rest) = until(rest, b'"')?;
        let outcome = match outcome {
            b"passed" => Outcome::Passed,
            b"failed" => Outcome::Failed,
            b"faulted" => Outcome::Faulted,
            _ => return None,
        };
        let special = |key: &&[u8]| memmem::find(rest, key).is_some();
        // A name with an escape is longer than what stands here.
        if task.contains(&b'\\') || SPECIAL.iter().any(special) {
            return None;
        }
        Some(Self {
            task: Cow::Borrowed(std::str::from_utf8(task).ok()?),
            epoch,
            attempt,
            is_final,
            outcome,
            rerun: false,
            regraded: false,
            played_in: None,
        })
    }
}

/// What stands before the first such byte, and what behind it.
fn until(text: &[u8], end: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|byte| *byte == end)?;
    Some((&text[..at], &text[at + 1..]))
}

fn number(text: &[u8]) -> Option<(u32, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(digits);
    Some((std::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

/// The place of an attempt among the first 64.
fn bit(attempt: u32) -> Option<u64> {
    1_u64.checked_shl(attempt.checked_sub(1)?)
}

impl Finals {
    /// Lines that can't be read are passed over: whoever reads them wholly says so.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let mut finals = Self::default();
        finals.torn = lines::for_each(path, |at, line| {
            finals.take(at, line.len() as u64);
            if let Some(head) = LineHead::read(line) {
                finals.add(at, &head);
            }
        })?;
        finals.settle();
        Ok(finals)
    }

    /// A line was read there, whatever it says.
    pub(crate) fn take(&mut self, at: u64, length: u64) {
        self.end = at + length + 1;
    }

    /// Returns the trial that the line is of.
    pub(crate) fn add(&mut self, at: u64, peek: &LineHead<'_>) -> u64 {
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
        match bit(peek.attempt) {
            Some(bit) => seen.attempts |= bit,
            None => drop(self.late.insert((trial, peek.attempt))),
        }
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
        trial
    }

    /// Whether an attempt has a line.
    pub(crate) fn has(&self, trial: u64, attempt: u32) -> bool {
        match bit(attempt) {
            Some(bit) => self
                .trials
                .get(&trial)
                .is_some_and(|seen| seen.attempts & bit != 0),
            None => self.late.contains(&(trial, attempt)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Fields(String, u32, u32, bool, Outcome, bool, bool, Option<u32>);

    fn fields(head: LineHead<'_>) -> Fields {
        Fields(
            head.task.into_owned(),
            head.epoch,
            head.attempt,
            head.is_final,
            head.outcome,
            head.rerun,
            head.regraded,
            head.played_in,
        )
    }

    proptest::proptest! {
        #[test]
        fn lines_are_read_alike_by_both_ways(
            task in "[a-z]/[a-zé\"\\\\]{1,6}", epoch: u32, attempt: u32, is_final: bool,
            outcome in proptest::sample::select(vec!["passed", "failed", "faulted"]),
            rerun: bool, regraded: bool, played_in: Option<u32>, note in "[\":,a-z]{0,9}", text: bool,
        ) {
            let json = |text: &str| serde_json::to_string(text).unwrap();
            let note = if text { format!("\"rerun\":true{note}") } else { note };
            let is_final = if is_final { "true " } else { "false" };
            let mut line = format!(
                r#"{{"task":{},"epoch":{epoch},"attempt":{attempt},"final":{is_final},"outcome":"{outcome}","note":{}"#,
                json(&task), json(&note),
            );
            for (key, value) in [("rerun", rerun), ("regraded", regraded)] {
                if value {
                    line += &format!(r#","{key}":true"#);
                }
            }
            if let Some(played_in) = played_in {
                line += &format!(r#","played_in":{played_in}"#);
            }
            line.push('}');
            let whole: LineHead<'_> = serde_json::from_str(&line).unwrap();
            proptest::prop_assert_eq!(fields(LineHead::read(line.as_bytes()).unwrap()), fields(whole));
        }

        #[test]
        fn no_line_makes_it_panic(line: Vec<u8>) {
            let _ = LineHead::read(&line);
        }
    }

    #[test]
    fn a_line_of_the_writer_takes_the_short_way() {
        let line =
            br#"{"task":"a/b","epoch":2,"attempt":1,"final":true ,"outcome":"passed","score":1.0}"#;
        assert!(LineHead::read_plain(line).is_some());
    }

    #[test]
    fn attempts_are_known_whatever_their_number() {
        let mut finals = Finals::default();
        let mut trial = 0;
        for attempt in [1, 64, 65, 1000] {
            let line = format!(
                r#"{{"task":"a/b","epoch":1,"attempt":{attempt},"final":false,"outcome":"faulted"}}"#
            );
            trial = finals.add(0, &LineHead::read(line.as_bytes()).unwrap());
        }
        let known: Vec<u32> = (0..2000).filter(|it| finals.has(trial, *it)).collect();
        assert_eq!(known, [1, 64, 65, 1000]);
    }
}
