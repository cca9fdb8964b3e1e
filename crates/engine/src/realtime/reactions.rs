//! Keeps on record what a player does by itself while it plays: how far it is, and when it answered which
//! frame. No more often than somebody looks.

use std::time::Duration;

use agon_agent::play::{Answer, Playing};
use agon_core::realtime::{Reaction, Reactions};
use agon_core::{EventBody, Fault, Source};
use tokio::time::Instant;

use crate::attempt::Attempt;

const EVERY: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(super) struct Reacting {
    /// When the trial began, on the desktop's clock.
    began: Duration,
    next: Instant,
    /// Steps and actions that are on record.
    told: (u64, u64),
}

impl Reacting {
    pub(super) fn new(attempt: &Attempt) -> Self {
        let elapsed = attempt.recorder.elapsed();
        Self {
            began: agon_desktop::monotonic().saturating_sub(elapsed),
            next: Instant::now() + EVERY,
            told: (0, 0),
        }
    }

    /// Records what is new, if it is time to.
    pub(super) fn look(&mut self, attempt: &mut Attempt, playing: &Playing) -> Result<(), Fault> {
        let now = Instant::now();
        if now < self.next {
            return Ok(());
        }
        self.next = now + EVERY;
        self.record(attempt, playing)
    }

    /// Records what is new.
    pub(super) fn record(&mut self, attempt: &mut Attempt, playing: &Playing) -> Result<(), Fault> {
        let stats = playing.stats();
        let answers = playing.answers().into_iter();
        let found = Reactions {
            steps: stats.steps,
            actions: stats.actions,
            answers: answers.map(|answer| reaction(self.began, answer)).collect(),
        };
        let is_new = !found.answers.is_empty() || (found.steps, found.actions) != self.told;
        if is_new {
            self.told = (found.steps, found.actions);
            attempt.record(Source::Agent, None, EventBody::Reacted(found))?;
        }
        Ok(())
    }
}

/// As exact as the times of events.
fn reaction(began: Duration, answer: Answer) -> Reaction {
    let exact = |time: Duration| (time.as_secs_f64() * 1e4).round() / 1e4;
    Reaction {
        t: exact(answer.at.saturating_sub(began)),
        latency: exact(answer.latency),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_told_in_the_time_of_the_trial() {
        let ms = Duration::from_millis;
        let answer = Answer {
            at: ms(10_500),
            latency: Duration::from_micros(12_345),
        };
        let told = |began| {
            let Reaction { t, latency } = reaction(ms(began), answer);
            (t.to_string(), latency.to_string())
        };
        let text = |t: &str| (t.to_owned(), "0.0123".to_owned());
        assert_eq!(told(10_000), text("0.5"));
        assert_eq!(told(11_000), text("0"));
    }
}
