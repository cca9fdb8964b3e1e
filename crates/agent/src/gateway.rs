//! The way to models of a program that brings its own client: a gateway, opened when the program starts
//! and closed when its turn is over. Knows nothing of what is said through it.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_llm::gateway::{At, Gateway, GatewayOptions};
use agon_llm::{Account, Model};
use agon_sandbox::Sandbox;

use crate::contract::AgentError;

/// Where a program in a sandbox finds its gateway: the same for all, since each has a loopback of its
/// own.
const PORT: u16 = 4141;

/// Calls of one program at the same time.
const MOST_IN_FLIGHT: usize = 16;

/// A run without models has no gateways.
#[derive(Debug)]
pub(crate) struct WayToModels {
    models: Vec<Model>,
    account: Arc<Account>,
    gateway: Option<Gateway>,
}

/// Variables for the program.
type Variables = BTreeMap<String, String>;

impl WayToModels {
    pub(crate) fn new(models: &[Model], account: &Arc<Account>) -> Self {
        Self {
            models: models.to_vec(),
            account: Arc::clone(account),
            gateway: None,
        }
    }

    /// For the programs of a sandbox, and for nobody else.
    pub(crate) async fn open_inside(
        &mut self,
        sandbox: &dyn Sandbox,
    ) -> Result<Variables, AgentError> {
        if self.models.is_empty() {
            return Ok(Variables::new());
        }
        let listener = sandbox.listen(PORT).await.map_err(not_opened)?;
        self.open(At::Sandbox(listener))
    }

    /// For a program of the host.
    pub(crate) fn open_outside(&mut self) -> Result<Variables, AgentError> {
        if self.models.is_empty() {
            return Ok(Variables::new());
        }
        self.open(At::Loopback)
    }

    fn open(&mut self, at: At) -> Result<Variables, AgentError> {
        let gateway = Gateway::open(GatewayOptions {
            models: self.models.clone(),
            account: Arc::clone(&self.account),
            at,
            most_in_flight: MOST_IN_FLIGHT,
        });
        let gateway = self.gateway.insert(gateway.map_err(not_opened)?);
        Ok(gateway.environment())
    }

    /// From here on nothing is answered, and nothing more is booked.
    pub(crate) async fn close(&mut self) {
        if let Some(gateway) = self.gateway.take() {
            gateway.close().await;
        }
    }
}

fn not_opened(error: impl std::fmt::Display) -> AgentError {
    AgentError::Unreachable(format!("there is no way to its models: {error}"))
}
