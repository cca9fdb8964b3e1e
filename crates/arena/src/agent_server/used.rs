//! The ids of tasks that were played already. Bounded: whoever sends tasks for ever fills no memory.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};

/// The oldest are forgotten.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct UsedIds {
    hasher: RandomState,
    known: HashSet<u64>,
    order: VecDeque<u64>,
}

impl UsedIds {
    /// Says whether it was new.
    pub(super) fn take(&mut self, id: &str) -> bool {
        // An id may be as long as a body; its hash is not.
        let hash = self.hasher.hash_one(id);
        if !self.known.insert(hash) {
            return false;
        }
        self.order.push_back(hash);
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_new_once_and_only_so_many_are_kept() {
        let mut used = UsedIds::default();
        assert!(used.take("first"));
        assert!(!used.take("first"));
        for number in 0..MOST {
            assert!(used.take(&number.to_string()));
        }
        assert_eq!(used.known.len(), MOST);
        assert_eq!(used.order.len(), MOST);
        assert!(used.take("first"), "the oldest is forgotten");
    }
}
