//! Places for sandboxes. Each has a user of its own (when we are root) and a control group that
//! is used again by the next sandbox in the same place.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::limits::{Enforcement, Group};
use crate::reaper::OwnerMark;

/// Above the ranges that distributions hand out to people, services and containers.
pub(crate) const FIRST_USER: u32 = 1_900_000_000;

#[derive(Debug)]
pub(super) struct Slots {
    owner: OwnerMark,
    enforcement: Enforcement,
    free: Mutex<Vec<Place>>,
}

#[derive(Debug)]
struct Place {
    number: u32,
    group: Option<Group>,
}

/// One place, taken; given back when dropped.
#[derive(Debug)]
pub(super) struct Slot {
    place: Option<Place>,
    slots: Arc<Slots>,
    /// Somebody in it can't be ended.
    haunted: AtomicBool,
}

impl Slots {
    pub(super) fn new(owner: OwnerMark, enforcement: Enforcement) -> Arc<Self> {
        Arc::new(Self {
            owner,
            enforcement,
            free: Mutex::default(),
        })
    }

    pub(super) fn enforcement(&self) -> &Enforcement {
        &self.enforcement
    }

    pub(super) fn take(self: &Arc<Self>) -> io::Result<Slot> {
        /// Counted over the whole process: groups and users are too.
        static MADE: AtomicU32 = AtomicU32::new(0);
        let free = self
            .free
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let place = match free {
            Some(place) => place,
            None => {
                let number = MADE.fetch_add(1, Ordering::Relaxed);
                Place {
                    number,
                    group: self.enforcement.group(&self.owner.name(number))?,
                }
            }
        };
        Ok(Slot {
            place: Some(place),
            slots: Arc::clone(self),
            haunted: AtomicBool::new(false),
        })
    }
}

impl Slot {
    /// The user to run under: one of its own when we are root, ourselves otherwise.
    pub(super) fn user(&self) -> Option<u32> {
        let place = self.place.as_ref()?;
        rustix::process::geteuid()
            .is_root()
            .then(|| FIRST_USER.saturating_add(place.number))
    }

    /// Nobody gets this place again: whoever is left in it would share its user and its limits.
    pub(super) fn give_up(&self) {
        self.haunted.store(true, Ordering::Relaxed);
    }

    pub(super) fn group(&self) -> Option<&Group> {
        self.place.as_ref()?.group.as_ref()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if self.haunted.load(Ordering::Relaxed) {
            return;
        }
        let mut free = self
            .slots
            .free
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        free.extend(self.place.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_used_again_but_never_twice_at_once() {
        let slots = Slots::new(OwnerMark::current().unwrap(), Enforcement::Rlimits);
        let number = |slot: &Slot| slot.place.as_ref().unwrap().number;
        let first = slots.take().unwrap();
        let second = slots.take().unwrap();
        assert_ne!(number(&first), number(&second));
        let freed = number(&first);
        drop(first);
        let again = slots.take().unwrap();
        assert_eq!(number(&again), freed);
        again.give_up();
        drop(again);
        assert_ne!(number(&slots.take().unwrap()), freed);
    }
}
