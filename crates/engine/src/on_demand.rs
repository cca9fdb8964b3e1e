//! Where sandboxes come from in this program, which is its own init: made when the first trial needs one, so that a run
//! without sandboxes neither needs nor starts anything.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use agon_sandbox::container::ContainerProvider;
use agon_sandbox::local::{LocalConfig, LocalProvider};
use agon_sandbox::{Provider, Request, Sandbox, SandboxError};
use tokio::sync::OnceCell;

use crate::desktops::Desktops;
use crate::table::Providers;

/// Desktops of a kind that are held ready for the next trials.
const WARM_DESKTOPS: usize = 2;

/// `hidden` are suites and run folders: no sandbox shows any part of them.
pub fn providers(hidden: &[PathBuf]) -> Providers {
    Providers {
        local: Arc::new(OnDemand::new(Kind::Local(hidden.to_vec()))),
        container: Arc::new(OnDemand::new(Kind::Container(hidden.to_vec()))),
        desktops: Desktops::new(WARM_DESKTOPS),
        hidden: hidden.to_vec(),
    }
}

#[derive(Debug, Clone)]
enum Kind {
    Local(Vec<PathBuf>),
    Container(Vec<PathBuf>),
}

struct OnDemand {
    kind: Kind,
    made: OnceCell<Arc<dyn Provider>>,
}

impl OnDemand {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            made: OnceCell::new(),
        }
    }

    async fn get(&self) -> Result<&Arc<dyn Provider>, SandboxError> {
        self.made
            .get_or_try_init(|| async {
                Ok(match &self.kind {
                    Kind::Local(hidden) => Arc::new(local(hidden)?) as Arc<dyn Provider>,
                    Kind::Container(hidden) => {
                        let engine = ContainerProvider::connect().await?.hiding(hidden.clone());
                        // Best effort: a run must not fail for what others left behind.
                        engine.remove_dead_owners().await.ok();
                        Arc::new(engine)
                    }
                })
            })
            .await
    }
}

pub fn local(hidden: &[PathBuf]) -> Result<LocalProvider, SandboxError> {
    let config = LocalConfig::own_executable();
    let config = config.map_err(SandboxError::io("can't find the running program"))?;
    LocalProvider::new(config.hiding(hidden.iter().cloned()))
}

impl fmt::Debug for OnDemand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OnDemand({:?})", self.kind)
    }
}

#[async_trait::async_trait]
impl Provider for OnDemand {
    async fn prepare(&self, request: &Request) -> Result<Box<dyn Sandbox>, SandboxError> {
        self.get().await?.prepare(request).await
    }

    async fn settle(&self) {
        if let Some(made) = self.made.get() {
            made.settle().await;
        }
    }

    async fn describe(&self) -> Result<String, SandboxError> {
        self.get().await?.describe().await
    }
}
