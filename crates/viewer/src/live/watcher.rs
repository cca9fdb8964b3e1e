//! Watches one run: waits until something is written, looks at what it is, tells those who listen.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::counting::Counting;
use super::doorbell::{Doorbell, Notices, wait_for};
use super::listeners::Listeners;
use super::playing::Playing;
use super::results::{Counts, Fresh, Results};
use super::tail::{News, Tail};
use crate::library::Run;
use crate::shape::{Feed, Progress, TrialKey};

/// From one look to the next at least: what is written meanwhile is told together, so that nobody is told
/// of a trial more than ten times a second.
const GAP: Duration = Duration::from_millis(100);
/// How often it is asked whether anybody still listens, while the first answer is waited for.
const PATIENCE: Duration = Duration::from_millis(100);
/// How often it is asked whether somebody writes: nothing rings for that.
const PULSE: Duration = Duration::from_secs(1);

/// Until the last one who listens has gone.
pub(super) fn start(run: Arc<Run>, notices: Notices, listeners: Arc<Listeners>) {
    let for_thread = Arc::clone(&listeners);
    let thread = thread::Builder::new().name("watch a run".to_owned());
    let counting = Counting::start(Arc::clone(&run));
    let started = counting
        .and_then(|counting| thread.spawn(move || watch(&run, &counting, notices, &for_thread)));
    if started.is_err() {
        listeners.end();
    }
}

/// The state of a run as it is. Reads files.
pub(crate) fn progress(run: &Run) -> Progress {
    let mut doorbell = Doorbell::at(run.folder().path(), Notices::Polling);
    let mut watching = Watching::new(run);
    while watching.look(run, &mut doorbell, Fresh::default()).unread {}
    let found = Results::new(Instant::now()).look(run);
    watching.counts = found.counts.unwrap_or_default();
    watching.progress()
}

fn watch(run: &Run, counting: &Counting, notices: Notices, listeners: &Listeners) {
    // Who listens is told the counts first.
    while !counting.is_answered(PATIENCE) {
        if listeners.has_ended() {
            return;
        }
    }
    let mut doorbell = Doorbell::at(run.folder().path(), notices);
    let mut watching = Watching::new(run);
    // What was written between the first answer and now.
    counting.ask();
    let mut rang = true;
    loop {
        let began = Instant::now();
        let looked = watching.look(run, &mut doorbell, counting.take());
        if looked.results {
            counting.ask();
        }
        // Once more: it may have rung while the files were looked at.
        if looked.changed && !rang && !doorbell.rang() {
            doorbell.missed();
        }
        listeners.tell(watching.progress(), looked.feeds);
        if listeners.wait_until(began + GAP) {
            return;
        }
        let until = match looked.unread {
            true => began,
            false => doorbell.round(began),
        };
        match doorbell.descriptor() {
            Some(descriptor) => wait_for([descriptor, counting.bell()], until),
            None => {
                listeners.wait_until(until);
            }
        }
        if listeners.has_ended() {
            return;
        }
        rang = doorbell.rang();
    }
}

struct Watching {
    playing: Playing,
    reviews: Tail,
    counts: Counts,
    live: bool,
    pulse: Instant,
    told: Option<Progress>,
}

struct Looked {
    feeds: Vec<Feed>,
    /// The index is to be asked about what was written.
    results: bool,
    /// A file has changed.
    changed: bool,
    /// There is more to read right away.
    unread: bool,
}

impl Watching {
    fn new(run: &Run) -> Self {
        let now = Instant::now();
        let mut reviews = Tail::of(run.folder().reviews_file());
        reviews.skip();
        Self {
            playing: Playing::new(run.folder(), false),
            reviews,
            counts: Counts::default(),
            live: false,
            pulse: now,
            told: None,
        }
    }

    /// `fresh`: what the index has said since the last look.
    fn look(&mut self, run: &Run, doorbell: &mut Doorbell, fresh: Fresh) -> Looked {
        self.feel_pulse(run, doorbell);
        let changes = self.playing.look(self.live, doorbell);
        let reviews = self.reviewed();
        self.counts = fresh.counts.unwrap_or(self.counts);
        let mut feeds: Vec<Feed> = Vec::new();
        feeds.extend(fresh.rows.into_iter().map(|row| Feed::Trial(Box::new(row))));
        feeds.extend(changes.stopping.into_iter().map(Feed::Stopping));
        feeds.extend(reviews.iter().flatten().cloned().map(Feed::Review));
        let now = self.progress();
        let same = |told: &Progress| is_same(told, &now);
        if changes.others || !self.told.as_ref().is_some_and(same) {
            feeds.push(Feed::Progress(now.clone()));
        } else {
            feeds.extend(changes.moments.into_iter().map(Feed::Moment));
        }
        self.told = Some(now);
        Looked {
            feeds,
            results: changes.results || reviews.is_some(),
            changed: changes.seen.changed || reviews.is_some(),
            unread: changes.seen.more,
        }
    }

    /// Trials that somebody has reviewed since the last look; none where the file is as it was.
    fn reviewed(&mut self) -> Option<Vec<TrialKey>> {
        if self.reviews.look() == News::Nothing {
            return None;
        }
        let mut trials = Vec::new();
        let each = |line: &[u8]| trials.extend(serde_json::from_slice::<TrialKey>(line).ok());
        // What can't be read is tried again when it changes.
        self.reviews.read(each).ok();
        Some(trials)
    }

    fn feel_pulse(&mut self, run: &Run, doorbell: &Doorbell) {
        let now = Instant::now();
        if now < self.pulse {
            return;
        }
        self.pulse = now + PULSE;
        let live = run.folder().is_written();
        if live && !self.live {
            // Whoever writes now may have changed the plan, and plays others.
            self.playing.leave(doorbell);
            self.playing = Playing::new(run.folder(), live);
            if let Ok(manifest) = run.manifest() {
                self.playing.plan(&manifest);
            }
        }
        self.live = live;
    }

    fn progress(&self) -> Progress {
        let counts = self.counts;
        Progress {
            live: self.live,
            planned: counts.planned,
            passed: counts.passed,
            failed: counts.failed,
            faulted: counts.faulted,
            missing: counts.missing,
            running: match self.live {
                true => self.playing.moments(),
                false => Vec::new(),
            },
            revision: counts.revision,
        }
    }
}

/// But for what is told as moments.
fn is_same(one: &Progress, other: &Progress) -> bool {
    let counts = |of: &Progress| {
        let results = (of.planned, of.passed, of.failed, of.faulted, of.missing);
        (of.live, results, of.running.len(), of.revision)
    };
    counts(one) == counts(other)
}
