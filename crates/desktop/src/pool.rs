//! Warm desktops: started ahead, so that taking one costs next to nothing. A desktop leaves the pool
//! for good; a used one never comes back.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::config::DesktopConfig;
use crate::desktop::Desktop;
use crate::error::DesktopError;

#[derive(Debug)]
pub struct WarmPool {
    shared: Arc<Shared>,
    filler: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    config: DesktopConfig,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    warm: VecDeque<Desktop>,
    /// How many to hold ready.
    wanted: usize,
    /// Starting failed: whoever takes next finds out why by himself.
    tired: bool,
    ended: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WarmPool {
    /// Holds up to `wanted` desktops ready from now on.
    pub fn new(config: DesktopConfig, wanted: usize) -> Result<Self, DesktopError> {
        let shared = Arc::new(Shared {
            config,
            state: Mutex::new(State {
                wanted,
                ..State::default()
            }),
            changed: Condvar::new(),
        });
        let filler = std::thread::Builder::new()
            .name("agon-warm-desktops".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || fill(&shared)
            })
            .map_err(DesktopError::io("can't start a thread"))?;
        Ok(Self {
            shared,
            filler: Some(filler),
        })
    }

    pub fn config(&self) -> &DesktopConfig {
        &self.shared.config
    }

    /// A warm one that still answers, or else one started now.
    pub fn take(&self) -> Result<Desktop, DesktopError> {
        loop {
            let warm = {
                let mut state = self.shared.lock();
                state.tired = false;
                state.warm.pop_front()
            };
            self.shared.changed.notify_all();
            match warm {
                None => return Desktop::start(&self.shared.config),
                Some(desktop) if desktop.answers() => return Ok(desktop),
                Some(dead) => drop(dead),
            }
        }
    }

    /// From now on holds no more than `wanted`; those that are too many end now.
    pub fn hold(&self, wanted: usize) {
        let surplus = {
            let mut state = self.shared.lock();
            state.wanted = wanted;
            let keep = state.warm.len().min(wanted);
            state.warm.split_off(keep)
        };
        self.shared.changed.notify_all();
        drop(surplus);
    }

    /// How many are ready now.
    pub fn ready(&self) -> usize {
        self.shared.lock().warm.len()
    }

    /// Waits until as many are ready as are wanted, or starting them has failed.
    pub fn wait_until_full(&self) {
        let state = self.shared.lock();
        let unfinished = |state: &mut State| !state.tired && state.warm.len() < state.wanted;
        drop(self.shared.changed.wait_while(state, unfinished));
    }
}

fn fill(shared: &Shared) {
    let mut state = shared.lock();
    loop {
        while !state.ended && (state.tired || state.warm.len() >= state.wanted) {
            state = shared
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.ended {
            return;
        }
        drop(state);
        let started = Desktop::start(&shared.config);
        state = shared.lock();
        match started {
            Ok(desktop) => state.warm.push_back(desktop),
            Err(_) => state.tired = true,
        }
        shared.changed.notify_all();
    }
}

impl Drop for WarmPool {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
        if let Some(filler) = self.filler.take() {
            // It has nothing to tell.
            let _ = filler.join();
        }
    }
}
