//! Watches one run: waits until something is written, looks at what it is, tells those who listen.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::doorbell::{Doorbell, Notices, wait_for};
use super::listeners::Listeners;
use super::playing::Playing;
use super::results::Results;
use crate::library::Run;
use crate::shape::{Feed, Progress};

/// From one look to the next at least: what is written meanwhile is told together, so that nobody is told
/// of a trial more than ten times a second.
const GAP: Duration = Duration::from_millis(100);
/// How often it is asked whether somebody writes: nothing rings for that.
const PULSE: Duration = Duration::from_secs(1);

/// Until the last one who listens has gone.
pub(super) fn start(run: Arc<Run>, notices: Notices, listeners: Arc<Listeners>) {
    let for_thread = Arc::clone(&listeners);
    let thread = thread::Builder::new().name("watch a run".to_owned());
    let started = thread.spawn(move || watch(&run, notices, &for_thread));
    if started.is_err() {
        listeners.end();
    }
}

/// The state of a run as it is. Reads files.
pub(crate) fn progress(run: &Run) -> Progress {
    let mut doorbell = Doorbell::at(run.folder().path(), Notices::Polling);
    let mut watching = Watching::new(run);
    while watching.look(run, &mut doorbell).unread {}
    watching.progress()
}

fn watch(run: &Run, notices: Notices, listeners: &Listeners) {
    let mut doorbell = Doorbell::at(run.folder().path(), notices);
    let mut watching = Watching::new(run);
    let mut rang = true;
    loop {
        let began = Instant::now();
        let looked = watching.look(run, &mut doorbell);
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
            false => watching.until(doorbell.round(began)),
        };
        match doorbell.descriptor() {
            Some(descriptor) => wait_for(descriptor, until),
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
    results: Results,
    live: bool,
    pulse: Instant,
    told: Option<Progress>,
}

struct Looked {
    feeds: Vec<Feed>,
    /// A file has changed.
    changed: bool,
    /// There is more to read right away.
    unread: bool,
}

impl Watching {
    fn new(run: &Run) -> Self {
        let now = Instant::now();
        Self {
            playing: Playing::new(run.folder()),
            results: Results::new(run.folder(), now),
            live: false,
            pulse: now,
            told: None,
        }
    }

    fn until(&self, round: Instant) -> Instant {
        self.results.due().map_or(round, |due| due.min(round))
    }

    fn look(&mut self, run: &Run, doorbell: &mut Doorbell) -> Looked {
        self.feel_pulse(run);
        let changes = self.playing.look(self.live, doorbell);
        let fresh = self.results.look(run, changes.results);
        let mut feeds: Vec<Feed> = Vec::new();
        feeds.extend(fresh.rows.into_iter().map(|row| Feed::Trial(Box::new(row))));
        feeds.extend(changes.stopping.into_iter().map(Feed::Stopping));
        feeds.extend(fresh.reviewed.into_iter().map(Feed::Review));
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
            changed: changes.seen.changed || fresh.changed,
            unread: changes.seen.more,
        }
    }

    fn feel_pulse(&mut self, run: &Run) {
        let now = Instant::now();
        if now < self.pulse {
            return;
        }
        self.pulse = now + PULSE;
        let live = run.folder().is_written();
        if live && !self.live {
            // Whoever writes now may have changed the plan.
            if let Ok(manifest) = run.manifest() {
                self.playing.plan(&manifest);
            }
        }
        self.live = live;
    }

    fn progress(&self) -> Progress {
        let counts = self.results.counts();
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
