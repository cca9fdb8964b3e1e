//! What all trials of a run share: where results go, where sandboxes and agents come from, who looks
//! on. Nothing here changes while the run goes on.

use std::path::PathBuf;
use std::sync::Arc;

use agon_agent::AgentFactory;
use agon_agent::user::Users;
use agon_core::{Clock, Environment, EnvironmentKind};
use agon_grade::Judge;
use agon_llm::Account;
use agon_sandbox::Provider;
use agon_store::RunWriter;

use crate::desktops::Desktops;
use crate::programs::Shelf;
use crate::removals::Removals;
use crate::watch::Watch;

#[derive(Debug)]
pub struct Table {
    /// The run's name, for labels.
    pub run: String,
    pub clock: Arc<dyn Clock>,
    pub writer: RunWriter,
    pub providers: Providers,
    pub agents: AgentFactory,
    pub users: Users,
    /// Whom to ask about prose.
    pub judge: Option<Judge>,
    pub watch: Arc<dyn Watch>,
    /// A frozen working folder larger than this is graded but not kept.
    pub keep_work: u64,
    pub removals: Removals,
    pub programs: Shelf,
    /// Of all models that the run's trials ask, and of what earlier commands spent.
    pub account: Arc<Account>,
}

/// Where sandboxes come from, by kind of environment.
#[derive(Debug, Clone)]
pub struct Providers {
    pub local: Arc<dyn Provider>,
    pub container: Arc<dyn Provider>,
    pub desktops: Arc<Desktops>,
    /// What no sandbox of these shows, and no agent is given.
    pub hidden: Vec<PathBuf>,
}

impl Providers {
    /// Waits until everything that trials left to be removed is gone.
    pub async fn settle(&self) {
        self.desktops.in_containers().close().await;
        self.local.settle().await;
        self.container.settle().await;
        let desktops = Arc::clone(&self.desktops);
        // Ends some processes, which takes a moment for each.
        tokio::task::spawn_blocking(move || desktops.close())
            .await
            .ok();
    }

    /// Where the sandbox of such an environment comes from; a conversation needs none.
    pub fn of(&self, environment: &Environment) -> Option<&Arc<dyn Provider>> {
        match (environment.kind, &environment.image) {
            (EnvironmentKind::None, _) => None,
            (EnvironmentKind::Local, _) | (EnvironmentKind::Desktop, None) => Some(&self.local),
            (EnvironmentKind::Container, _) | (EnvironmentKind::Desktop, Some(_)) => {
                Some(&self.container)
            }
        }
    }
}
