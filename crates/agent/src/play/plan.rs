//! The plan of a play: the time of its world, and what is to be done at which moment of it. Has no
//! thread and no clock: every moment is given by who asks.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use agon_desktop::Key;

use super::act::Act;
use super::agenda::Agenda;
use super::world::Timeline;

/// Why an action is done later than it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Its player wants it so.
    Appointed,
    /// The clock of the task has a latency.
    Delayed,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Planned {
    pub(super) act: Act,
    pub(super) wait: Wait,
}

#[derive(Debug)]
pub(super) struct Plan {
    time: Timeline,
    agenda: Agenda<Planned>,
    /// What the player has pressed, by itself or on time.
    down: BTreeSet<Key>,
    /// When the first step began, by the world's time.
    first_step: Option<Duration>,
    /// When the play was cut.
    end: Option<(Duration, Duration)>,
}

/// What there is to do.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// So much after it was due.
    Now(Planned, Duration),
    In(Duration),
    /// Until something changes.
    Nothing,
    /// For ever.
    Closed,
}

/// What comes of the rest of a plan when the world's time is up.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Rest {
    /// Keys that are down and would stay so.
    pub(super) releases: Vec<Key>,
    /// How many appointments are not kept.
    pub(super) dropped: u64,
}

impl Plan {
    pub(super) fn begin(now: Instant) -> Self {
        Self {
            time: Timeline::begin(now),
            agenda: Agenda::default(),
            down: BTreeSet::new(),
            first_step: None,
            end: None,
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.end.is_some()
    }

    pub(super) fn is_frozen(&self) -> bool {
        self.time.is_frozen()
    }

    pub(super) fn freeze(&mut self, now: Instant) {
        self.time.freeze(now);
    }

    pub(super) fn resume(&mut self, now: Instant) {
        self.time.resume(now);
    }

    pub(super) fn step(&mut self, now: Instant) {
        let time = self.time.now(now);
        self.first_step.get_or_insert(time);
    }

    /// `false` when there is too much to do already.
    pub(super) fn add(&mut self, now: Instant, after: Duration, planned: Planned) -> bool {
        let due = self.time.now(now).saturating_add(after);
        self.agenda.add(due, planned)
    }

    pub(super) fn next(&mut self, now: Instant) -> Next {
        if self.is_closed() {
            return Next::Closed;
        }
        if self.time.is_frozen() {
            return Next::Nothing;
        }
        let time = self.time.now(now);
        if let Some((planned, late)) = self.agenda.take_due(time) {
            return Next::Now(planned, late);
        }
        match self.agenda.next_due() {
            Some(due) => Next::In(due.saturating_sub(time)),
            None => Next::Nothing,
        }
    }

    /// Remembers what is down.
    pub(super) fn done(&mut self, act: &Act) {
        match act {
            Act::Press(key) => drop(self.down.insert(*key)),
            Act::Release(key) => drop(self.down.remove(key)),
            Act::ReleaseAll => self.down.clear(),
            _ => {}
        }
    }

    /// The time of a slice is up: what is planned for later is not done. Keys whose release is part of
    /// it are released now, so that they don't stay down.
    pub(super) fn clear(&mut self) -> Rest {
        let mut rest = Rest::default();
        for planned in self.agenda.drain() {
            match planned.act {
                Act::Release(key) if self.down.remove(&key) => rest.releases.push(key),
                _ => rest.dropped += u64::from(planned.wait == Wait::Appointed),
            }
        }
        rest
    }

    /// Nothing is done any more; gives how many appointments are not kept.
    pub(super) fn close(&mut self, now: Instant) -> u64 {
        if self.is_closed() {
            return 0;
        }
        self.end = Some((self.time.now(now), self.time.hidden(now)));
        let appointed = |planned: &Planned| planned.wait == Wait::Appointed;
        let rest = self.agenda.drain();
        rest.iter().filter(|planned| appointed(planned)).count() as u64
    }

    /// Time of the world since the first step, until the end if there is one.
    pub(super) fn elapsed(&self, now: Instant) -> Duration {
        let now = self.end.map_or_else(|| self.time.now(now), |(end, _)| end);
        self.first_step
            .map_or(Duration::ZERO, |first| now.saturating_sub(first))
    }

    pub(super) fn hidden(&self, now: Instant) -> Duration {
        self.end
            .map_or_else(|| self.time.hidden(now), |(_, hidden)| hidden)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn appointed(act: Act) -> Planned {
        Planned {
            act,
            wait: Wait::Appointed,
        }
    }

    #[test]
    fn an_appointment_is_never_early_and_how_late_it_is_is_told() {
        let began = Instant::now();
        let mut plan = Plan::begin(began);
        let press = appointed(Act::Press(Key::Right));
        assert_eq!(plan.next(began), Next::Nothing);
        assert!(plan.add(began + ms(100), ms(350), press.clone()));
        assert_eq!(plan.next(began + ms(400)), Next::In(ms(50)));
        assert_eq!(plan.next(began + ms(457)), Next::Now(press, ms(7)));
        assert_eq!(plan.next(began + ms(460)), Next::Nothing);
    }

    #[test]
    fn appointments_stand_still_with_the_world() {
        let began = Instant::now();
        let mut plan = Plan::begin(began);
        plan.freeze(began);
        let press = appointed(Act::Press(Key::Right));
        plan.add(began + ms(1000), ms(100), press.clone());
        assert_eq!(plan.next(began + ms(5000)), Next::Nothing);
        plan.resume(began + ms(5000));
        assert_eq!(plan.next(began + ms(5040)), Next::In(ms(60)));
        assert_eq!(plan.next(began + ms(5100)), Next::Now(press, ms(0)));
    }

    #[test]
    fn what_is_outside_of_a_slice_is_dropped_but_no_key_stays_down() {
        let began = Instant::now();
        let mut plan = Plan::begin(began);
        for act in [
            Act::Release(Key::Right),
            Act::Press(Key::Left),
            Act::Release(Key::Left),
        ] {
            plan.add(began, ms(300), appointed(act));
        }
        plan.add(
            began,
            ms(300),
            Planned {
                act: Act::Type("x".to_owned()),
                wait: Wait::Delayed,
            },
        );
        plan.done(&Act::Press(Key::Right));
        let rest = plan.clear();
        assert_eq!((rest.releases, rest.dropped), (vec![Key::Right], 2));
        assert_eq!(plan.clear(), Rest::default());
    }

    #[test]
    fn a_closed_plan_does_nothing_and_its_time_stands() {
        let began = Instant::now();
        let mut plan = Plan::begin(began);
        plan.step(began + ms(10));
        plan.step(began + ms(20));
        plan.add(began, ms(20), appointed(Act::Press(Key::Right)));
        assert_eq!(plan.elapsed(began + ms(15)), ms(5));
        assert_eq!(plan.close(began + ms(60)), 1);
        assert_eq!(plan.close(began + ms(70)), 0);
        assert_eq!(plan.next(began + ms(100)), Next::Closed);
        assert_eq!(plan.elapsed(began + ms(100)), ms(50));
    }
}
