//! What is measured while somebody plays. Takes the same memory however long that is.

use std::time::Duration;

use agon_core::realtime::{Percentiles, PlayStats};

/// Done so much after it was due, a scheduled action is late.
pub(super) const LATE: Duration = Duration::from_millis(5);

/// Answers that are kept for whoever asks for them: more than anybody gives between two looks.
const MOST_ANSWERS: usize = 4096;

/// Steps between two powers of two: values are known to within 3 %.
const FINE: u32 = 5;

/// Microseconds of 40 bits are twelve days.
const OCTAVES: u32 = 40;

/// Times, counted by size.
#[derive(Debug, Clone)]
pub(super) struct Histogram {
    counts: Vec<u64>,
    total: u64,
    max: Duration,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; index(1 << OCTAVES) + 1],
            total: 0,
            max: Duration::ZERO,
        }
    }
}

fn index(micros: u64) -> usize {
    let octave = (u64::BITS - 1 - micros.max(1).leading_zeros()).saturating_sub(FINE);
    (u64::from(octave) << FINE) as usize + (micros >> octave) as usize
}

/// The largest time that is counted there, in microseconds.
fn largest(index: usize) -> u64 {
    let octave = (index >> FINE).saturating_sub(1);
    let steps = (index - (octave << FINE)) as u64;
    ((steps + 1) << octave) - 1
}

impl Histogram {
    pub(super) fn add(&mut self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.counts[index(micros.min(1 << OCTAVES))] += 1;
        self.total += 1;
        self.max = self.max.max(time);
    }

    fn at(&self, share: f64) -> f64 {
        let wanted = (self.total as f64 * share).ceil() as u64;
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted.max(1)
        });
        let max = self.max.as_secs_f64();
        found.map_or(max, |index| (largest(index) as f64 / 1e6).min(max))
    }

    /// `None` when nothing was counted.
    pub(super) fn percentiles(&self) -> Option<Percentiles> {
        (self.total > 0).then(|| Percentiles {
            p50: self.at(0.50),
            p90: self.at(0.90),
            p99: self.at(0.99),
            max: self.max.as_secs_f64(),
        })
    }
}

/// A frame was answered by an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// When the action was done, on the clock of [`agon_desktop::monotonic`].
    pub at: Duration,
    /// Since the last frame that the player was given.
    pub latency: Duration,
}

/// Counted by all who take part in a play.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) steps: u64,
    pub(super) actions: u64,
    pub(super) frames_seen: u64,
    pub(super) frames_missed: u64,
    pub(super) scheduled: u64,
    pub(super) scheduled_late: u64,
    pub(super) scheduled_dropped: u64,
    /// The longest that the world ran on after it was to stand still.
    overrun: Duration,
    latency: Histogram,
    /// Those that nobody has asked for.
    answers: Vec<Answer>,
    /// The last frame that was given out, on the desktop's clock.
    seen: Option<Duration>,
    /// It has been answered by an action.
    answered: bool,
}

impl Tally {
    /// The player is given a frame, taken at `at`. The same one again is not counted.
    pub(super) fn sees(&mut self, at: Duration) {
        if self.seen.is_none_or(|last| at > last) {
            self.seen = Some(at);
            self.answered = false;
            self.frames_seen += 1;
        }
    }

    /// Frames passed the player by: so many of which nothing else is known, and these.
    pub(super) fn misses(&mut self, unknown: u64, skipped: &[Duration]) {
        let unseen = skipped
            .iter()
            .filter(|at| self.seen.is_none_or(|last| **at > last));
        self.frames_missed += unknown + unseen.count() as u64;
    }

    /// The player acts at `now`, on the same clock, of its own accord.
    pub(super) fn acts(&mut self, now: Duration) {
        self.actions += 1;
        // What follows the first action belongs to it, as the release of a key does.
        if let Some(seen) = self.seen
            && !std::mem::replace(&mut self.answered, true)
        {
            let latency = now.saturating_sub(seen);
            self.latency.add(latency);
            if self.answers.len() < MOST_ANSWERS {
                self.answers.push(Answer { at: now, latency });
            }
        }
    }

    /// Each is given once.
    pub(super) fn take_answers(&mut self) -> Vec<Answer> {
        std::mem::take(&mut self.answers)
    }

    /// A scheduled action is done, so much after it was due.
    pub(super) fn keeps_appointment(&mut self, late: Duration) {
        self.actions += 1;
        if late > LATE {
            self.scheduled_late += 1;
        }
    }

    /// The world stands still, so much after it was to.
    pub(super) fn stands_still(&mut self, late: Duration) {
        self.overrun = self.overrun.max(late);
    }

    pub(super) fn stats(&self, played: Duration, hidden: Duration) -> PlayStats {
        let played = played.as_secs_f64();
        PlayStats {
            played,
            steps: self.steps,
            actions: self.actions,
            actions_per_second: if played > 0.0 {
                self.actions as f64 / played
            } else {
                0.0
            },
            frames_seen: self.frames_seen,
            frames_missed: self.frames_missed,
            latency: self.latency.percentiles(),
            scheduled: self.scheduled,
            scheduled_late: self.scheduled_late,
            scheduled_dropped: self.scheduled_dropped,
            hidden: hidden.as_secs_f64(),
            overrun: self.overrun.as_secs_f64(),
            world: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn percentiles_are_those_of_the_times() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentiles(), None);
        for ms in 1..=100 {
            histogram.add(Duration::from_millis(ms));
        }
        let found = histogram.percentiles().unwrap();
        for (found, wanted) in [(found.p50, 0.050), (found.p90, 0.090), (found.p99, 0.099)] {
            assert!((wanted..wanted * 1.04).contains(&found), "{found} {wanted}");
        }
        assert_eq!(found.max.to_bits(), 0.1_f64.to_bits());
    }

    #[test]
    fn only_the_first_action_answers_a_frame() {
        let ms = Duration::from_millis;
        let mut tally = Tally::default();
        tally.acts(ms(1));
        tally.sees(ms(10));
        tally.sees(ms(10));
        tally.acts(ms(12));
        tally.acts(ms(500));
        tally.misses(1, &[ms(10), ms(11), ms(12)]);
        tally.sees(ms(600));
        tally.acts(ms(604));
        let answer = |at, latency| Answer {
            at: ms(at),
            latency: ms(latency),
        };
        assert_eq!(tally.take_answers(), [answer(12, 2), answer(604, 4)]);
        assert_eq!(tally.take_answers(), []);
        let stats = tally.stats(Duration::from_secs(2), Duration::ZERO);
        assert_eq!((stats.frames_seen, stats.actions), (2, 4));
        assert_eq!(stats.frames_missed, 3, "one of them was seen before");
        assert_eq!(stats.actions_per_second.to_bits(), 2.0_f64.to_bits());
        let latency = stats.latency.unwrap();
        assert!(latency.p50 < 0.003 && latency.max > 0.0039, "{latency:?}");
        assert!(latency.max < 0.0041, "{latency:?}");
    }

    #[test]
    fn the_longest_overrun_is_told_and_answers_that_nobody_asks_for_are_bounded() {
        let mut tally = Tally::default();
        for ms in [3, 40, 7] {
            tally.stands_still(Duration::from_millis(ms));
        }
        for n in 0..2 * MOST_ANSWERS as u64 {
            tally.sees(Duration::from_micros(10 * n + 1));
            tally.acts(Duration::from_micros(10 * n + 2));
        }
        let stats = tally.stats(Duration::from_secs(1), Duration::ZERO);
        assert_eq!(stats.overrun.to_string(), "0.04");
        assert_eq!(tally.take_answers().len(), MOST_ANSWERS);
    }

    #[test]
    fn a_little_late_is_not_late() {
        let mut tally = Tally::default();
        for late in [0, 5, 6, 400] {
            tally.keeps_appointment(Duration::from_millis(late));
        }
        assert_eq!((tally.actions, tally.scheduled_late), (4, 2));
    }

    proptest! {
        #[test]
        fn every_time_has_its_place(micros in 0_u64..=1 << OCTAVES) {
            let place = index(micros);
            prop_assert!(largest(place) >= micros);
            prop_assert!(place == 0 || largest(place - 1) < micros);
        }

        #[test]
        fn no_time_is_too_long(seconds: u64, nanos in 0_u32..1_000_000_000) {
            let mut histogram = Histogram::default();
            histogram.add(Duration::new(seconds, nanos));
            prop_assert!(histogram.percentiles().is_some());
        }
    }
}
