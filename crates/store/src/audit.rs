//! Whether a run folder agrees with itself: the digests of `run.json` and of the lines of `trials.jsonl`, the
//! verdicts in lines and in events, and the attempts that were begun and that ended. Says what does not fit; what
//! counts is decided elsewhere. A forger who writes all of it anew leaves nothing to be found here.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use agon_core::Digest;
use agon_core::verdict::Outcome;
use schemars::JsonSchema;
use serde::Serialize;

use crate::begun::{self, BegunAttempt};
use crate::chain::{Fit, Link};
use crate::error::StoreError;
use crate::finals::{Finals, LineHead};
use crate::folder::RunFolder;
use crate::lines;
use crate::plain_file::open_plain;
use crate::stored::{Manifest, TrialLine};
use crate::witness::{EventsAgreement, Witness};

/// Runs of at most so many trials are compared with their events line by line.
const ALL_COMPARED: usize = 10_000;
/// Of a larger one, so many lines are.
const SAMPLE: usize = 1_000;
/// What does not agree is told in words up to this many times.
const MOST_TOLD: usize = 20;
/// Attempts that were begun and never ended, as far as they are named.
const MOST_NAMED: usize = 100_000;
/// The `checkers` of runs whose plan older versions did not make from their tasks.
const IMPORTED: &str = "imported";

/// How a run folder agrees with itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Audit {
    /// Lines of `trials.jsonl`.
    pub lines: u64,
    /// Lines that were written before lines had digests: whether they were changed can't be told.
    pub without_digest: u64,
    /// Lines that were compared with the verdicts in their events: all of them up to 10,000 trials, a sample of
    /// larger runs.
    pub compared: u64,
    /// How often something does not agree.
    pub disagreements: u64,
    /// The first of these, in words.
    pub findings: Vec<String>,
    /// Attempts that were begun and never ended: their process was killed or stopped. Not those that are being
    /// played.
    #[serde(skip)]
    pub never_ended: Vec<BegunAttempt>,
}

impl Audit {
    fn say(&mut self, finding: impl FnOnce() -> String) {
        self.disagreements += 1;
        if self.findings.len() < MOST_TOLD {
            self.findings.push(finding());
        }
    }
}

/// The folder as it is now. `all`: every line is compared with its events, however many there are.
pub(crate) fn audit(
    folder: &RunFolder,
    manifest: &Manifest,
    all: bool,
) -> Result<(Finals, Audit), StoreError> {
    let mut audit = Audit::default();
    plan(folder, manifest, &mut audit)?;
    let path = folder.trials_file();
    let unread = |error| StoreError::io("can't read", &path)(error);
    let chain = Chain::read(folder, &mut audit).map_err(unread)?;
    attempts(folder, &chain, &mut audit)?;
    if !chain.places.is_empty() {
        let file = open_plain(&path).map_err(unread)?;
        compare(folder, &file, &chain, all, &mut audit).map_err(unread)?;
    }
    Ok((chain.finals, audit))
}

/// The digests of the manifest.
fn plan(folder: &RunFolder, manifest: &Manifest, audit: &mut Audit) -> Result<(), StoreError> {
    let fits = folder.manifest_fits()?;
    if fits == Some(false) {
        audit.say(|| "run.json was changed after it was written".to_owned());
    }
    // Of older versions, only those that played a plan made its digest from what is in the manifest.
    let known = fits.is_some() || !manifest.checkers.starts_with(IMPORTED);
    if known && manifest.plan_digest() != manifest.plan {
        audit.say(|| {
            "run.json holds another plan than the one that was begun: its suites, agent, seed, epochs or \
             tasks do not give the digest in `plan`"
                .to_owned()
        });
    }
    Ok(())
}

/// What one pass over the lines finds.
#[derive(Debug, Default)]
struct Chain {
    finals: Finals,
    /// Where each line is.
    places: Vec<(u64, usize)>,
    last: Option<Digest>,
    /// Lines that were final once: what they are called, their trial, and where they begin.
    withdrawn: Vec<(String, u64, u64)>,
}

impl Chain {
    fn read(folder: &RunFolder, audit: &mut Audit) -> io::Result<Self> {
        let mut chain = Self::default();
        let torn = lines::for_each(&folder.trials_file(), |at, line| {
            chain.take(at, line, audit);
        })?;
        chain.finals.torn = torn;
        chain.finals.settle();
        for (name, trial, at) in &chain.withdrawn {
            if chain
                .finals
                .last_final(*trial)
                .is_none_or(|last| last <= *at)
            {
                audit.say(|| format!("{name} was the result, and no other took its place"));
            }
        }
        Ok(chain)
    }

    fn take(&mut self, at: u64, line: &[u8], audit: &mut Audit) {
        audit.lines += 1;
        let number = audit.lines;
        self.places.push((at, line.len()));
        self.finals.take(at, line.len() as u64);
        let peek = LineHead::read(line);
        let name = || match &peek {
            Some(peek) => format!(
                "line {number} of trials.jsonl ({}#{}, attempt {})",
                peek.task, peek.epoch, peek.attempt
            ),
            None => format!("line {number} of trials.jsonl"),
        };
        let mut withdrawn = false;
        match Link::of(line) {
            Some(link) => {
                match link.fits(self.last) {
                    Fit::AsWritten => {}
                    Fit::Withdrawn => withdrawn = true,
                    Fit::Changed => audit.say(|| {
                        format!(
                            "{} was changed, or does not follow the line before it",
                            name()
                        )
                    }),
                }
                self.last = Some(link.digest);
            }
            None if self.last.is_none() => audit.without_digest += 1,
            None => audit.say(|| format!("{} has no digest, though the one before it has", name())),
        }
        if let Some(peek) = &peek {
            let trial = self.finals.add(at, peek);
            if withdrawn {
                self.withdrawn.push((name(), trial, at));
            }
        }
    }
}

/// Attempts that were begun, against those that ended.
fn attempts(folder: &RunFolder, chain: &Chain, audit: &mut Audit) -> Result<(), StoreError> {
    let mut open: Vec<BegunAttempt> = Vec::new();
    let mut last = 0;
    // By trial: begun and never ended, and the highest number that was begun.
    let mut counts: HashMap<u64, (u32, u32)> = HashMap::new();
    let read = begun::for_each(folder, |begun, line| {
        last = last.max(begun.process);
        let trial = chain.finals.hash(&begun.task, begun.epoch);
        if chain.finals.has(trial, begun.attempt) {
            return;
        }
        let (count, highest) = counts.entry(trial).or_default();
        *count += 1;
        *highest = begun.attempt.max(*highest);
        if open.len() < MOST_NAMED {
            open.extend(begun::parse(line));
        }
    });
    read.map_err(StoreError::io("can't read", &folder.begun_file()))?;
    if !open.is_empty() && folder.is_written() {
        open.retain(|begun| begun.process != last);
    }
    audit.never_ended = open;
    // Numbers of attempts go on from what was begun, so that one that is missing was taken out.
    if audit.without_digest == 0 {
        let missing = chain.finals.missing(&counts);
        if missing > 0 {
            let attempts = if missing == 1 {
                "attempt is"
            } else {
                "attempts are"
            };
            audit.say(|| {
                format!("{missing} {attempts} named neither as begun nor as ended, though later ones are")
            });
        }
    }
    Ok(())
}

/// Lines against the verdicts in their events.
fn compare(
    folder: &RunFolder,
    file: &File,
    chain: &Chain,
    all: bool,
    audit: &mut Audit,
) -> io::Result<()> {
    let mut witness = Witness::of(folder);
    let many = chain.finals.trials() > ALL_COMPARED && !all;
    let picked = many.then(|| sample(chain.places.len(), chain.last));
    let mut text = Vec::new();
    for (number, (at, length)) in chain.places.iter().enumerate() {
        if picked
            .as_ref()
            .is_some_and(|picked| !picked.contains(&number))
        {
            continue;
        }
        text.resize(*length, 0);
        file.read_exact_at(&mut text, *at)?;
        // Who reads it wholly says that it can't be read.
        let Ok(line) = serde_json::from_slice::<TrialLine>(&text) else {
            continue;
        };
        match witness.ask(&line) {
            EventsAgreement::Nothing => {}
            EventsAgreement::TheSame => audit.compared += 1,
            EventsAgreement::Otherwise(what) => {
                audit.compared += 1;
                audit.say(|| {
                    format!(
                        "line {} of trials.jsonl ({}#{}, attempt {}) {what}",
                        number + 1,
                        line.task,
                        line.epoch,
                        line.attempt
                    )
                });
            }
        }
    }
    Ok(())
}

/// Which of `count` lines are looked at: the same ones of the same record, others once any line was changed.
fn sample(count: usize, last: Option<Digest>) -> HashSet<usize> {
    let seed = last.unwrap_or_else(|| Digest::of(&count.to_le_bytes()));
    let mut picked = HashSet::new();
    let mut round = 0_u64;
    while picked.len() < SAMPLE.min(count) {
        let drawn = Digest::of_parts([seed.bytes().as_slice(), &round.to_le_bytes()]);
        for part in drawn.bytes().chunks_exact(8) {
            let number = part
                .iter()
                .fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
            picked.insert((number % count as u64) as usize);
        }
        round += 1;
    }
    picked
}

/// What a line says of its outcome, for people.
pub(crate) fn told(outcome: Outcome, score: f64) -> String {
    match outcome {
        Outcome::Faulted => "faulted".to_owned(),
        graded => format!("{graded} with score {score}"),
    }
}
