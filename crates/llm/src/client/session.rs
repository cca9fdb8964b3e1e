//! What all calls of a process share: connections, limits per provider and key, prices, the tape.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};

use agon_core::ModelFault;
use agon_core::clock::{Clock, SystemClock};
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use super::limiter::Limiter;
use super::model::{Inner, Model, Route};
use super::pace::{Bounds, Pace, RealPace};
use super::transport::Transport;
use super::unsupported::Learnt;
use crate::error::LlmError;
use crate::local::{self, LocalServers};
use crate::mock::Mock;
use crate::price::Prices;
use crate::spec::{ModelSpec, Provider};
use crate::tape::{Recording, Tape};

/// Requests whose pictures are scaled at the same time.
const DRAWING: usize = 2;

#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// Answers come from here and from nowhere else.
    pub replay: Option<PathBuf>,
    /// Every call is written here.
    pub record: Option<PathBuf>,
    /// Beside the built-in ones.
    pub prices: Option<PathBuf>,
    /// Where local models are started. `None`: a place of its own, that tells nothing.
    pub local: Option<Arc<LocalServers>>,
    /// `None`: real time.
    pub pace: Option<Arc<dyn Pace>>,
    pub bounds: Bounds,
}

#[derive(Debug)]
pub struct Session {
    pub(super) prices: Prices,
    pub(super) replay: Option<Tape>,
    pub(super) record: Option<Recording>,
    pub(super) local: Arc<LocalServers>,
    pub(super) transport: Transport,
    pub(super) pace: Arc<dyn Pace>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) bounds: Bounds,
    /// Places for the scaling of pictures: what many agents send must not take the whole machine.
    pub(super) drawing: Arc<Semaphore>,
    lanes: Mutex<HashMap<Lane, Arc<Limiter>>>,
    /// By address and model.
    learnt: Mutex<HashMap<(String, String), Arc<Learnt>>>,
}

/// Whoever has the same of these counts towards the same limit of a service.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Lane {
    provider: Provider,
    base_url: String,
    /// A digest, never the key.
    key: Option<[u8; 32]>,
}

impl Session {
    pub fn open(options: &SessionOptions) -> Result<Arc<Self>, LlmError> {
        Ok(Arc::new(Self {
            prices: Prices::open(options.prices.as_deref())?,
            replay: options.replay.as_deref().map(Tape::open).transpose()?,
            record: options
                .record
                .as_deref()
                .map(Recording::create)
                .transpose()?,
            local: options.local.clone().unwrap_or_default(),
            transport: Transport::new(options.bounds.connect),
            pace: options.pace.clone().unwrap_or_else(|| Arc::new(RealPace)),
            clock: Arc::new(SystemClock::default()),
            bounds: options.bounds.clone(),
            drawing: Arc::new(Semaphore::new(DRAWING)),
            lanes: Mutex::default(),
            learnt: Mutex::default(),
        }))
    }

    pub fn prices(&self) -> &Prices {
        &self.prices
    }

    /// The tape that answers, if one does.
    pub fn tape(&self) -> Option<&Tape> {
        self.replay.as_ref()
    }

    /// Looks at what can be known without asking: a key that is missing, weights that are not there.
    pub fn model(self: &Arc<Self>, spec: ModelSpec) -> Result<Model, LlmError> {
        let replays = self.replay.is_some();
        let route = match spec.provider {
            Provider::Mock => Route::Mock(Mock::open(&spec.model)?),
            Provider::Local => {
                if !replays {
                    local::check(&spec.model)?;
                }
                Route::Local
            }
            Provider::OpenAi | Provider::Anthropic | Provider::Gemini | Provider::Compatible => {
                Route::Http
            }
        };
        if let Some(why) = spec.settings.not_ready.as_ref().filter(|_| !replays) {
            let text = format!("{} can't be asked: {why}", spec.name);
            return Err(LlmError::new(ModelFault::Setup, text));
        }
        let limiter = self.limiter(&spec);
        let learnt = self.learnt(&spec);
        let inner = Inner {
            spec,
            route,
            limiter,
            learnt,
            turns: AtomicUsize::new(0),
        };
        Ok(Model::new(Arc::clone(self), inner))
    }

    fn limiter(&self, spec: &ModelSpec) -> Arc<Limiter> {
        let lane = Lane {
            provider: spec.provider,
            base_url: spec.base_url.clone(),
            key: spec
                .key
                .as_ref()
                .map(|key| Sha256::digest(key.reveal()).into()),
        };
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let make = match spec.provider {
            Provider::Local => Limiter::one_by_one,
            _ => Limiter::new,
        };
        Arc::clone(lanes.entry(lane).or_insert_with(make))
    }

    fn learnt(&self, spec: &ModelSpec) -> Arc<Learnt> {
        let name = (spec.base_url.clone(), spec.model.clone());
        let mut learnt = self.learnt.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(learnt.entry(name).or_default())
    }
}
