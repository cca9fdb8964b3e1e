//! The steps of an attempt and where their events are in its record. Taken in line by line, so that a record
//! that is still being written is gone on with where it was left. Keeps no events. Knows no files.

use agon_core::{Digest, Usage};

use super::brief;
use super::peek::Peek;

/// A record whose outline takes more memory is shown up to there.
const MOST_WEIGHT: usize = 64 << 20;

/// Names and times of a record are short; longer ones are none.
const LONGEST_NAME: usize = 100;

/// Where an event is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    /// In the file.
    pub(super) at: u64,
    pub(super) bytes: u32,
    /// One of a stream, of which a step may have thousands.
    pub(super) streamed: bool,
    pub(super) seq: u64,
    pub(super) t: f64,
}

/// A screen that was recorded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sight {
    /// Number of its event in the outline.
    pub(super) event: u32,
    pub(super) blob: Digest,
}

/// What the agent did at once, with what led to it.
#[derive(Debug)]
pub(super) struct Mark {
    /// First event.
    pub(super) first: u32,
    /// The action's own number; none before the first action.
    seq: Option<u64>,
    pub(super) t: f64,
    pub(super) kind: Box<str>,
    pub(super) brief: Box<str>,
    pub(super) failed: bool,
    /// Screens by their number in the outline.
    pub(super) before: Option<u32>,
    pub(super) after: Option<u32>,
}

#[derive(Debug)]
pub(super) struct Outline {
    pub(super) events: Vec<Spot>,
    pub(super) sights: Vec<Sight>,
    /// What came before the first action, and every action.
    pub(super) marks: Vec<Mark>,
    /// First event of the next step, which may become the last one.
    pending: Option<u32>,
    /// First event after the agent's turn.
    closing: Option<u32>,
    /// The set-up began, and the agent's turn did not.
    pub(super) only_set_up: bool,
    /// The observation of the step that is going on was seen, with its screen.
    settled: bool,
    pub(super) size: Option<(u32, u32)>,
    pub(super) realtime: bool,
    /// Steps that a player took by itself, as it was told last.
    reacted: u32,
    /// The latest time of any event.
    pub(super) duration: f64,
    /// When the first event was written, and how long after the beginning.
    pub(super) first_at: Option<(String, f64)>,
    pub(super) end: Option<String>,
    pub(super) phase: Option<String>,
    /// Of calls of models other than judges'.
    pub(super) usage: Usage,
    /// Numbers of single events that the head of the page is made of.
    pub(super) instruction: Option<u32>,
    pub(super) answer: Option<u32>,
    pub(super) verdict: Option<u32>,
    pub(super) checks: Vec<u32>,
    pub(super) fault: Option<u32>,
    /// Lines that are no events, and where the first of them is.
    pub(super) unread: u64,
    pub(super) unread_at: Option<u64>,
    /// Events that are left out because there are too many.
    pub(super) omitted: u64,
    /// Bytes of kinds and briefs.
    words: usize,
}

impl Outline {
    pub(super) fn new() -> Self {
        Self {
            events: Vec::new(),
            sights: Vec::new(),
            marks: vec![Mark {
                first: 0,
                seq: None,
                t: 0.0,
                kind: "setup".into(),
                brief: "before the first action".into(),
                failed: false,
                before: None,
                after: None,
            }],
            pending: None,
            closing: None,
            only_set_up: false,
            settled: false,
            size: None,
            realtime: false,
            reacted: 0,
            duration: 0.0,
            first_at: None,
            end: None,
            phase: None,
            usage: Usage::default(),
            instruction: None,
            answer: None,
            verdict: None,
            checks: Vec::new(),
            fault: None,
            unread: 0,
            unread_at: None,
            omitted: 0,
            words: 0,
        }
    }

    /// Actions of the agent that are on record, one by one.
    pub(super) fn acted(&self) -> u32 {
        number(self.marks.len().saturating_sub(1))
    }

    /// Steps of the agent so far, also those of one that plays by itself.
    pub(super) fn steps(&self) -> u32 {
        self.acted().max(self.reacted)
    }

    /// First event after the last step of the agent.
    pub(super) fn rest(&self) -> u32 {
        let rest = self.closing.or(self.pending);
        rest.unwrap_or_else(|| number(self.events.len()))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closing.is_some()
    }

    /// Memory that it takes, roughly.
    pub(super) fn weight(&self) -> usize {
        self.events.capacity() * size_of::<Spot>()
            + self.sights.capacity() * size_of::<Sight>()
            + self.marks.capacity() * size_of::<Mark>()
            + self.checks.capacity() * size_of::<u32>()
            + self.words
    }

    /// A whole line, without its end.
    pub(super) fn take(&mut self, at: u64, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        if self.weight() >= MOST_WEIGHT {
            self.omitted += 1;
            return;
        }
        let Some(peek) = Peek::of(line) else {
            self.cannot_read(at);
            return;
        };
        let Ok(bytes) = u32::try_from(line.len()) else {
            self.cannot_read(at);
            return;
        };
        let event = number(self.events.len());
        self.events.push(Spot {
            at,
            bytes,
            streamed: peek.is_frame() || matches!(peek.kind.as_ref(), "input" | "look" | "reacted"),
            seq: peek.seq,
            t: peek.t,
        });
        self.duration = self.duration.max(peek.t);
        if self.first_at.is_none() && (1..=LONGEST_NAME).contains(&peek.at.len()) {
            self.first_at = Some((peek.at.as_ref().to_owned(), peek.t));
        }
        self.take_event(event, peek);
    }

    pub(super) fn cannot_read(&mut self, at: u64) {
        self.unread += 1;
        self.unread_at.get_or_insert(at);
    }

    fn take_event(&mut self, event: u32, mut peek: Peek<'_>) {
        let by_agent = peek.source == "agent";
        match peek.kind.as_ref() {
            "action" if by_agent => {
                let action = peek.action.take().unwrap_or_default();
                let kind = brief::kind(&action);
                if kind == "finish" {
                    self.answer = Some(event);
                }
                self.begin(event, &peek, kind, &brief::brief(&action), false);
            }
            "refused" if by_agent => {
                let text = peek.refused.take().unwrap_or_default();
                let told = brief::clip(&format!("refused: {}", brief::words(&text)));
                self.begin(event, &peek, "refused", &told, true);
            }
            "thought" | "model" | "called" | "condensed" | "usage" if by_agent => {
                self.pend(event);
            }
            "phase" => {
                let phase = short(peek.phase.take());
                if matches!(phase.as_deref(), Some("frozen" | "graded")) {
                    self.close(event);
                }
                match phase.as_deref() {
                    Some("setup") => self.only_set_up = true,
                    Some("running") => self.only_set_up = false,
                    _ => {}
                }
                self.phase = phase.or(self.phase.take());
            }
            "end" => {
                self.only_set_up = false;
                self.end = short(peek.end.take());
                self.close(event);
            }
            "ran" | "play" => self.close(event),
            "check" => {
                self.checks.push(event);
                self.close(event);
            }
            "verdict" => {
                self.verdict = Some(event);
                self.close(event);
            }
            "fault" => {
                self.fault = Some(event);
                self.close(event);
            }
            "screen" if peek.screen.as_ref().is_some_and(|s| s.what == "final") => {
                self.close(event);
            }
            "instruction" => self.instruction = self.instruction.or(Some(event)),
            _ => {}
        }
        if let Some(model) = peek.model.as_ref().filter(|_| peek.source != "grader") {
            self.usage += &model.usage;
        }
        if let Some(reacted) = &peek.reacted {
            self.reacted = u32::try_from(reacted.steps).unwrap_or(u32::MAX);
        }
        self.realtime |= matches!(peek.kind.as_ref(), "play" | "reacted") || peek.is_frame();
        self.see(event, &peek);
    }

    /// The agent did something.
    fn begin(&mut self, event: u32, peek: &Peek<'_>, kind: &str, brief: &str, failed: bool) {
        self.only_set_up = false;
        let pending = self.pending.take();
        // A turn that has ended and goes on all the same has not ended.
        let first = self.closing.take().or(pending).unwrap_or(event);
        self.settled = false;
        self.words += kind.len() + brief.len();
        self.marks.push(Mark {
            first,
            seq: Some(peek.seq),
            t: peek.t,
            kind: kind.into(),
            brief: brief.into(),
            failed,
            before: self.sights.len().checked_sub(1).map(number),
            after: None,
        });
    }

    /// The agent thinks about its next action.
    fn pend(&mut self, event: u32) {
        if self.closing.is_none() {
            self.pending.get_or_insert(event);
        }
    }

    /// The agent's turn is over.
    fn close(&mut self, event: u32) {
        if self.closing.is_none() {
            self.closing = Some(self.pending.take().unwrap_or(event));
        }
    }

    /// What came of the last action.
    fn see(&mut self, event: u32, peek: &Peek<'_>) {
        let sight = peek.sight();
        if let Some(screen) = sight {
            self.size.get_or_insert((screen.width, screen.height));
            let blob = screen.picture.blob;
            self.sights.push(Sight { event, blob });
        }
        let shown = sight.map(|_| number(self.sights.len().saturating_sub(1)));
        let is_open = self.closing.is_none();
        let Some(mark) = self.marks.last_mut() else {
            return;
        };
        let Some(seq) = mark.seq else {
            // Before the first action the last screen is the one that the agent begins with.
            if is_open {
                mark.after = shown.or(mark.after);
            }
            return;
        };
        let answers = peek.cause.is_none_or(|cause| cause == seq);
        match &peek.observation {
            Some(seen) if answers => {
                mark.failed |= matches!(seen.kind.as_ref(), "error" | "refused");
                if !self.settled && shown.is_some() {
                    mark.after = shown;
                    self.settled = true;
                }
            }
            _ if is_open => mark.after = mark.after.or(shown),
            _ => {}
        }
    }
}

fn short(name: Option<String>) -> Option<String> {
    name.filter(|name| name.len() <= LONGEST_NAME)
}

pub(super) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each event with words and a screen, and nothing but such.
    #[test]
    fn a_record_of_any_length_takes_bounded_memory() {
        let mut outline = Outline::new();
        let words = "ü".repeat(200);
        let blob = Digest::of(b"x").to_hex();
        let line = format!(
            r#"{{"seq":1,"t":1,"kind":"action","source":"agent","action":{{"action":"type","text":"{words}"}},"#
        ) + &format!(
            r#""observation":{{"screen":{{"width":1,"height":1,"picture":{{"blob":"{blob}"}}}}}}}}"#
        );
        let mut taken = 0;
        while outline.omitted == 0 {
            outline.take(taken, line.as_bytes());
            taken += 1;
            assert!(taken < 1_000_000, "it has no end");
        }
        assert!(taken > 50_000, "{taken}");
        // A list that has just grown is twice as long as it must be.
        assert!(outline.weight() < 2 * MOST_WEIGHT);
        outline.take(taken, line.as_bytes());
        assert_eq!(outline.omitted, 2);
    }

    #[test]
    fn long_names_are_none() {
        let mut outline = Outline::new();
        let long = "x".repeat(1 << 20);
        let line = format!(r#"{{"seq":1,"t":1,"at":"{long}","kind":"end","end":"{long}"}}"#);
        outline.take(0, line.as_bytes());
        assert!(outline.is_closed());
        assert_eq!((outline.end, outline.first_at), (None, None));
    }
}
