//! What looks at an agent that plays say about it: whether it has ended, and how, and when it is given
//! up. Pure: calls nobody and has no clock.

use std::time::Duration;

use tokio::time::Instant;

use super::round::By;
use crate::result::StopReason;
use crate::wire::{AgentFinished, PeerStatus};

/// What a look may take.
pub(super) const STATUS: Duration = Duration::from_millis(400);
/// Between two looks.
const POLL: Duration = Duration::from_millis(200);
/// An agent that gave no good answer for so long is lost.
const LOST: Duration = Duration::from_millis(900);
/// But one failed look is not enough: it may have been us who were held up.
const MISSES: u32 = 2;
/// With so many looks in a row an agent is at rest: before, it may be about to say that it has finished.
const AT_REST: u32 = 2;
/// So many may show it busy with another task: an original is RUNNING before it names the new one.
const ELSEWHERE: u32 = 3;

/// How an agent that plays was seen to have ended.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) reason: StopReason,
    pub(super) detail: String,
    pub(super) by: By,
}

/// How long an agent that does not answer is waited for.
#[derive(Debug)]
pub(super) struct Patience {
    answered: Instant,
    asked: Instant,
    misses: u32,
}

impl Patience {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            answered: now,
            asked: now,
            misses: 0,
        }
    }

    /// When the next look is due. One that took long is followed by the next at once.
    pub(super) fn next_look(&self) -> Instant {
        (self.asked + POLL).min(self.answered + LOST)
    }

    /// Begins a look; says how long it may take. The last one ends with the patience; one that begins
    /// after that, because we were held up, has its time all the same.
    pub(super) fn look(&mut self, now: Instant) -> Duration {
        self.asked = now;
        let left = (self.answered + LOST).saturating_duration_since(now);
        if left.is_zero() {
            STATUS
        } else {
            STATUS.min(left)
        }
    }

    pub(super) const fn answered(&mut self, now: Instant) {
        (self.answered, self.misses) = (now, 0);
    }

    /// A look has failed: whether it was one too many.
    pub(super) fn is_over(&mut self, now: Instant) -> bool {
        self.misses += 1;
        self.misses >= MISSES && now >= self.answered + LOST
    }
}

/// What was seen of an agent, look by look.
#[derive(Debug, Default)]
pub(super) struct Looks {
    at_rest: u32,
    elsewhere: u32,
}

impl Looks {
    /// What a status says about the end of a task, if it has ended.
    pub(super) fn ended(&mut self, status: &PeerStatus, task_id: &str) -> Option<Seen> {
        if status.is_busy() {
            self.at_rest = 0;
            return self.busy(status, task_id);
        }
        self.elsewhere = 0;
        let own = |finished: &&AgentFinished| finished.task_id.as_deref() == Some(task_id);
        if let Some(finished) = status.ended.as_ref().filter(own) {
            let (reason, detail) = match (finished.reason, &finished.error) {
                // Had we asked, nobody would look any more.
                (None, None) => (
                    StopReason::Operator,
                    "the agent was told to stop by somebody else".to_owned(),
                ),
                _ => told(finished),
            };
            return Some(Seen {
                reason,
                detail,
                by: By::Agent(finished.stats.clone()),
            });
        }
        self.at_rest += 1;
        if self.at_rest < AT_REST {
            return None;
        }
        let (reason, detail) = if status.is("READY") {
            let detail = "the agent stopped playing without a word";
            (StopReason::AgentError, detail.to_owned())
        } else {
            let state: String = status.state.chars().take(40).collect();
            (
                StopReason::AgentLost,
                format!("the agent knows nothing of the task any more (its state is {state:?})"),
            )
        };
        Some(Seen {
            reason,
            detail,
            by: By::Agent(None),
        })
    }

    /// An agent that plays for somebody else is lost to us, and not ours to stop.
    fn busy(&mut self, status: &PeerStatus, task_id: &str) -> Option<Seen> {
        let other = status.task_id.as_deref().filter(|other| *other != task_id);
        let Some(other) = other else {
            self.elsewhere = 0;
            return None;
        };
        self.elsewhere += 1;
        (self.elsewhere > ELSEWHERE).then(|| {
            let other: String = other.chars().take(100).collect();
            Seen {
                reason: StopReason::AgentLost,
                detail: format!("the agent plays another task ({other:?})"),
                by: By::Agent(None),
            }
        })
    }
}

/// What an agent may say about itself. An agent can't know that time is up or that the environment has
/// ended, so claims of that are its own end.
pub(super) fn told(finished: &AgentFinished) -> (StopReason, String) {
    let reason = match finished.reason {
        Some(reason @ (StopReason::Operator | StopReason::AgentError | StopReason::AgentLost)) => {
            reason
        }
        _ => StopReason::Finished,
    };
    let detail = match (&finished.error, reason) {
        (Some(error), _) => format!("the agent says: {error}"),
        (None, StopReason::Finished) => "the agent says that it has finished".to_owned(),
        (None, StopReason::Operator) => "the operator stopped the agent".to_owned(),
        (None, _) => "the agent failed".to_owned(),
    };
    (reason, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time from the last good answer until an agent is given up whose looks fail after `takes`.
    fn lost_after(takes: Duration) -> Duration {
        let began = Instant::now();
        let mut patience = Patience::new(began);
        loop {
            let asked = patience.next_look();
            let within = patience.look(asked);
            let failed = asked + within.min(takes);
            if patience.is_over(failed) {
                return failed - began;
            }
        }
    }

    #[test]
    fn an_agent_that_is_gone_or_frozen_is_lost_within_a_second() {
        assert_eq!(lost_after(Duration::MAX), LOST);
        assert_eq!(lost_after(Duration::ZERO), LOST);
        assert_eq!(lost_after(Duration::from_millis(350)), LOST);
        assert!(LOST < Duration::from_secs(1));
    }

    #[test]
    fn who_was_held_up_looks_again_before_the_agent_is_lost() {
        let began = Instant::now();
        let mut patience = Patience::new(began);
        let late = began + Duration::from_secs(20);
        assert_eq!(patience.look(late), STATUS);
        assert!(!patience.is_over(late + STATUS));
        patience.answered(late + STATUS);
        assert!(!patience.is_over(late + LOST * 3));
    }

    fn status(state: &str, task_id: &str, ended: Option<AgentFinished>) -> PeerStatus {
        PeerStatus {
            state: state.to_owned(),
            task_id: Some(task_id.to_owned()),
            ended,
        }
    }

    #[test]
    fn an_agent_that_names_the_new_task_late_is_not_lost_but_one_that_never_does_is() {
        let mut looks = Looks::default();
        let other = status("RUNNING", "other", None);
        for _ in 0..ELSEWHERE {
            assert!(looks.ended(&other, "ours").is_none());
        }
        assert!(
            looks
                .ended(&status("RUNNING", "ours", None), "ours")
                .is_none()
        );
        for _ in 0..ELSEWHERE {
            assert!(looks.ended(&other, "ours").is_none());
        }
        let seen = looks.ended(&other, "ours").unwrap();
        assert_eq!(seen.reason, StopReason::AgentLost);
        assert!(matches!(seen.by, By::Agent(None)), "it is not ours to stop");
    }

    #[test]
    fn an_agent_that_was_asked_to_stop_but_not_by_us_was_stopped_by_somebody_else() {
        let ended = |task_id: &str| AgentFinished {
            task_id: Some(task_id.to_owned()),
            ..AgentFinished::default()
        };
        let mut looks = Looks::default();
        let before = status("READY", "ours", Some(ended("before")));
        assert!(looks.ended(&before, "ours").is_none());
        let seen = looks.ended(&status("READY", "ours", Some(ended("ours"))), "ours");
        let seen = seen.unwrap();
        assert_eq!(seen.reason, StopReason::Operator);
        assert!(seen.detail.contains("somebody else"));
    }
}
