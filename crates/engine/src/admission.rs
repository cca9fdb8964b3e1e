//! Who may start now: a trial needs a worker, its share of memory, and its group to itself. Pure
//! bookkeeping; the dispatcher owns it.

use std::collections::HashSet;

use agon_core::{Environment, EnvironmentKind};

/// What a trial takes while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) memory: u64,
    pub(crate) group: Option<String>,
}

impl Need {
    pub(crate) fn of(environment: &Environment) -> Self {
        let memory = match environment.kind {
            EnvironmentKind::None => 0,
            // The working folder is memory, too.
            _ => environment.memory.0.saturating_add(environment.disk.0),
        };
        Self {
            memory,
            group: environment.group.clone(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Admission {
    workers: usize,
    memory: u64,
    running: usize,
    memory_taken: u64,
    groups: HashSet<String>,
}

impl Admission {
    pub(crate) fn new(workers: usize, memory: u64) -> Self {
        Self {
            workers: workers.max(1),
            memory,
            running: 0,
            memory_taken: 0,
            groups: HashSet::new(),
        }
    }

    pub(crate) fn has_worker(&self) -> bool {
        self.running < self.workers
    }

    /// Takes what the trial needs, or nothing. A trial that needs more memory than there is runs
    /// alone rather than never.
    pub(crate) fn admit(&mut self, need: &Need) -> bool {
        let fits = self.memory_taken.saturating_add(need.memory) <= self.memory
            || self.memory_taken == 0
            || need.memory == 0;
        let group_free = need
            .group
            .as_ref()
            .is_none_or(|group| !self.groups.contains(group));
        if !self.has_worker() || !fits || !group_free {
            return false;
        }
        self.running += 1;
        self.memory_taken = self.memory_taken.saturating_add(need.memory);
        self.groups.extend(need.group.clone());
        true
    }

    pub(crate) fn release(&mut self, need: &Need) {
        self.running = self.running.saturating_sub(1);
        self.memory_taken = self.memory_taken.saturating_sub(need.memory);
        if let Some(group) = &need.group {
            self.groups.remove(group);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn need() -> impl Strategy<Value = Need> {
        (0u64..50, proptest::option::of(0u8..3)).prop_map(|(memory, group)| Need {
            memory,
            group: group.map(|g| g.to_string()),
        })
    }

    proptest! {
        /// Any order of starts and ends: limits hold, groups exclude, and nothing waits for ever.
        #[test]
        fn limits_hold_and_everything_gets_its_turn(
            needs in proptest::collection::vec(need(), 1..60), workers in 1usize..6, pick in any::<u64>(),
        ) {
            let memory = 30;
            let mut admission = Admission::new(workers, memory);
            let mut waiting = needs;
            let mut running: Vec<Need> = Vec::new();
            let mut pick = pick;
            while !waiting.is_empty() || !running.is_empty() {
                if let Some(at) = waiting.iter().position(|need| admission.admit(need)) {
                    running.push(waiting.remove(at));
                } else {
                    prop_assert!(!running.is_empty(), "idle, yet nothing may start");
                    pick = pick.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let ended = running.swap_remove((pick >> 33) as usize % running.len());
                    admission.release(&ended);
                }
                prop_assert!(running.len() <= workers);
                let taken: u64 = running.iter().map(|n| n.memory).sum();
                let big = running.iter().filter(|n| n.memory > 0).count();
                prop_assert!(taken <= memory || big == 1);
                let groups: Vec<_> = running.iter().filter_map(|n| n.group.as_ref()).collect();
                let distinct: HashSet<_> = groups.iter().collect();
                prop_assert_eq!(groups.len(), distinct.len());
            }
        }
    }
}
