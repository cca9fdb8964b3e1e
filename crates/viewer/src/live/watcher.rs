//! Watches one run: waits until something is written, looks at what it is, tells those who listen.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::counting::Counting;
use super::doorbell::{Doorbell, Notices, wait_for};
use super::following::{self, Sight};
use super::listeners::Listeners;
use super::results::{Counts, Fresh, Results};
use super::tail::{News, Tail};
use super::telling::Telling;
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
    let sight = loop {
        let sight = following::look(run, &mut doorbell, Duration::ZERO);
        if !sight.unread {
            break sight;
        }
    };
    let found = Results::new(Instant::now()).look(run);
    in_all(sight, found.counts.unwrap_or_default())
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
        listeners.tell(looked.progress, looked.feeds);
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
    reviews: Tail,
    counts: Counts,
    /// What was seen last of what others may see too.
    changes: u64,
    results: u64,
    telling: Telling,
}

struct Looked {
    progress: Progress,
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
        let mut reviews = Tail::of(run.folder().reviews_file());
        reviews.skip();
        Self {
            reviews,
            counts: Counts::default(),
            changes: 0,
            results: 0,
            telling: Telling::default(),
        }
    }

    /// `fresh`: what the index has said since the last look.
    fn look(&mut self, run: &Run, doorbell: &mut Doorbell, fresh: Fresh) -> Looked {
        let sight = following::look(run, doorbell, PULSE);
        let reviews = self.reviewed();
        self.counts = fresh.counts.unwrap_or(self.counts);
        let results = std::mem::replace(&mut self.results, sight.results) != sight.results;
        let changed = std::mem::replace(&mut self.changes, sight.changes) != sight.changes;
        let unread = sight.unread;
        let progress = in_all(sight, self.counts);
        let mut feeds: Vec<Feed> = Vec::new();
        feeds.extend(fresh.rows.into_iter().map(|row| Feed::Trial(Box::new(row))));
        feeds.extend(reviews.iter().flatten().cloned().map(Feed::Review));
        feeds.extend(self.telling.news(&progress));
        Looked {
            progress,
            feeds,
            results: results || reviews.is_some(),
            changed: changed || reviews.is_some(),
            unread,
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
}

fn in_all(sight: Sight, counts: Counts) -> Progress {
    Progress {
        live: sight.live,
        planned: counts.planned,
        passed: counts.passed,
        failed: counts.failed,
        faulted: counts.faulted,
        missing: counts.missing,
        running: sight.running,
        revision: counts.revision,
    }
}
