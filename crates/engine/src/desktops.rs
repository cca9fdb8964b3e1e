//! Where desktops come from in a run: the first of a kind is started when it is needed; from then on
//! some are held warm. Private ones here, those in containers in `warm`. Knows nothing of tasks.

use std::sync::{Arc, Mutex, PoisonError};

use agon_desktop::{Desktop, DesktopConfig, DesktopError, WarmPool};

use crate::warm::Warm;

/// Kinds of desktops (sizes) for which some are held warm at the same time.
const KINDS: usize = 4;

#[derive(Debug)]
pub struct Desktops {
    /// How many of each kind are held warm.
    warm: usize,
    kinds: Mutex<Vec<Kind>>,
    containers: Arc<Warm>,
}

#[derive(Debug)]
struct Kind {
    config: DesktopConfig,
    /// Made when a second one is asked for: a run with one desktop starts one.
    pool: Option<Arc<WarmPool>>,
}

impl Desktops {
    pub fn new(warm: usize) -> Arc<Self> {
        Arc::new(Self {
            warm,
            kinds: Mutex::default(),
            containers: Warm::new(warm),
        })
    }

    /// A desktop that nobody has used. Blocks.
    pub fn take(&self, config: &DesktopConfig) -> Result<Desktop, DesktopError> {
        match self.pool(config)? {
            Some(pool) => pool.take(),
            None => Desktop::start(config),
        }
    }

    /// Those in containers.
    pub(crate) fn in_containers(&self) -> &Arc<Warm> {
        &self.containers
    }

    /// Ends the private ones that are held warm. Blocks.
    pub fn close(&self) {
        let kinds = std::mem::take(&mut *self.lock());
        drop(kinds);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Kind>> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pool(&self, config: &DesktopConfig) -> Result<Option<Arc<WarmPool>>, DesktopError> {
        let mut kinds = self.lock();
        let Some(kind) = kinds.iter_mut().find(|kind| kind.config == *config) else {
            if kinds.len() < KINDS {
                kinds.push(Kind {
                    config: config.clone(),
                    pool: None,
                });
            }
            return Ok(None);
        };
        if kind.pool.is_none() && self.warm > 0 {
            kind.pool = Some(Arc::new(WarmPool::new(config.clone(), self.warm)?));
        }
        Ok(kind.pool.clone())
    }
}
