//! What the events of an attempt say about its line in `trials.jsonl`: the verdict or the fault that they end with.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use agon_core::verdict::Outcome;
use agon_core::{Digest, Event, EventBody};

use crate::audit::told;
use crate::folder::RunFolder;
use crate::plain_file::open_plain;
use crate::reader::{events_file, kind_is, lines_of};
use crate::stored::TrialLine;

/// A verdict stands near the end: as much of the events is read at first.
const TAIL: u64 = 16 << 10;
/// Scores are written and read as decimals.
const NEARLY: f64 = 1e-9;

#[derive(Debug)]
pub(crate) struct Witness<'a> {
    folder: &'a RunFolder,
    /// The file that was asked last: many attempts share one.
    open: Option<(String, File)>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum EventsAgreement {
    /// Its events hold nothing that could be compared.
    Nothing,
    TheSame,
    /// Goes on with "the line ...".
    Otherwise(String),
}

impl<'a> Witness<'a> {
    pub(crate) fn of(folder: &'a RunFolder) -> Self {
        Self { folder, open: None }
    }

    pub(crate) fn ask(&mut self, line: &TrialLine) -> EventsAgreement {
        if line.events.bytes == 0 && line.events.verdict.is_none() {
            return EventsAgreement::Nothing;
        }
        match self.result(line) {
            Err(why) => {
                EventsAgreement::Otherwise(format!("has no events that can be read: {why}"))
            }
            Ok(None) => match line.events.verdict {
                Some(_) => EventsAgreement::Otherwise(
                    "had a result in its events, and has none now".to_owned(),
                ),
                None => EventsAgreement::Nothing,
            },
            Ok(Some(text)) => compared(line, &text),
        }
    }

    /// The last line of its events that holds a verdict or a fault.
    fn result(&mut self, line: &TrialLine) -> Result<Option<Vec<u8>>, String> {
        let path = events_file(self.folder, line)?;
        let file = match &mut self.open {
            Some((name, file)) if *name == line.events.file => file,
            open => {
                let file = open_plain(&path).map_err(|error| error.to_string())?;
                &mut open.insert((line.events.file.clone(), file)).1
            }
        };
        let failed = |error: io::Error| error.to_string();
        let bytes = line.events.bytes;
        for length in [bytes.min(TAIL), bytes] {
            let mut text = vec![0; length as usize];
            let from = line.events.at.saturating_add(bytes - length);
            let there = file.metadata().map_err(failed)?.len();
            if from.saturating_add(length) > there {
                return Err("they are missing at its end".to_owned());
            }
            file.read_exact_at(&mut text, from).map_err(failed)?;
            // The first line may be half a line.
            let whole = if length < bytes {
                let begins = text.iter().position(|byte| *byte == b'\n');
                &text[begins.map_or(text.len(), |at| at + 1)..]
            } else {
                &text[..]
            };
            let is_result = |line: &&[u8]| kind_is(line, "verdict") || kind_is(line, "fault");
            if let Some(found) = lines_of(whole).rev().find(is_result) {
                return Ok(Some(found.to_vec()));
            }
        }
        Ok(None)
    }
}

fn compared(line: &TrialLine, text: &[u8]) -> EventsAgreement {
    if line
        .events
        .verdict
        .is_some_and(|digest| digest != Digest::of(text))
    {
        return EventsAgreement::Otherwise("names another verdict than its events hold".to_owned());
    }
    let Ok(event) = serde_json::from_slice::<Event>(text) else {
        return EventsAgreement::Otherwise(
            "has a verdict in its events that can't be read".to_owned(),
        );
    };
    let same = match event.body {
        EventBody::Verdict(verdict) => line.clone().with_result(Ok(&verdict)),
        EventBody::Fault(fault) => line.clone().with_result(Err(&fault)),
        _ => return EventsAgreement::Nothing,
    };
    // Older versions wrote nothing behind a verdict that a fault has undone.
    if line.outcome == Outcome::Faulted && line.events.verdict.is_none() {
        return EventsAgreement::Nothing;
    }
    let near = |a: f64, b: f64| (a - b).abs() <= NEARLY;
    let nearly = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => near(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    if line.outcome != same.outcome || !near(line.score, same.score) {
        return EventsAgreement::Otherwise(format!(
            "says {}, and its events say {}",
            told(line.outcome, line.score),
            told(same.outcome, same.score)
        ));
    }
    if line.tainted != same.tainted
        || line.integrity != same.integrity
        || !nearly(line.measured, same.measured)
    {
        let what =
            "says something else than its events about tampering, taint or what was measured";
        return EventsAgreement::Otherwise(what.to_owned());
    }
    EventsAgreement::TheSame
}
