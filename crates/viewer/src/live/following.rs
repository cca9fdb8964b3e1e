//! What is known of a run that goes on: one for all who look at it, so that each of them reads only what was
//! appended since anybody did.

use std::time::{Duration, Instant};

use super::doorbell::Doorbell;
use super::playing::Playing;
use crate::library::{Run, lock};
use crate::shape::Moment;

#[derive(Debug)]
pub(crate) struct Following {
    playing: Playing,
    live: bool,
    /// When it was last asked whether somebody writes: nothing rings for that.
    asked: Option<Instant>,
    changes: u64,
    results: u64,
}

/// The run as it is.
#[derive(Debug)]
pub(super) struct Sight {
    pub(super) live: bool,
    /// What is being played.
    pub(super) running: Vec<Moment>,
    /// How often a file had changed so far, and how often there were new results: whoever knows another number
    /// has not seen the last of it.
    pub(super) changes: u64,
    pub(super) results: u64,
    /// There is more to read right away.
    pub(super) unread: bool,
}

/// `rest`: whether somebody writes is not asked again before. `doorbell`: rings from then on for what is being
/// played.
pub(super) fn look(run: &Run, doorbell: &mut Doorbell, rest: Duration) -> Sight {
    let mut held = lock(&run.following);
    let following = held.get_or_insert_with(|| Following {
        playing: Playing::nothing(run.folder()),
        live: false,
        asked: None,
        changes: 0,
        results: 0,
    });
    following.ask(run, rest);
    let changes = following.playing.look(following.live, doorbell);
    following.changes += u64::from(changes.any);
    following.results += u64::from(changes.results);
    Sight {
        live: following.live,
        running: match following.live {
            true => following.playing.moments(),
            false => Vec::new(),
        },
        changes: following.changes,
        results: following.results,
        unread: changes.more,
    }
}

impl Following {
    fn ask(&mut self, run: &Run, rest: Duration) {
        let now = Instant::now();
        if self.asked.is_some_and(|asked| now < asked + rest) {
            return;
        }
        self.asked = Some(now);
        let live = run.folder().is_written();
        if live && !self.live {
            // Whoever writes now may have changed the plan, and plays others.
            self.playing = Playing::of(run);
        }
        self.live = live;
    }
}

#[cfg(test)]
#[path = "following_tests.rs"]
mod tests;
