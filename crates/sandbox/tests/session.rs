//! The shell session in the local sandbox.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "scenarios/session.rs"]
mod scenarios;

use std::time::Duration;

use agon_core::{Environment, EnvironmentKind};
use agon_sandbox::local::{LocalConfig, LocalProvider};
use agon_sandbox::{Owner, Provider, Request, Sandbox};

async fn sandbox() -> Box<dyn Sandbox> {
    let config = LocalConfig {
        init: env!("CARGO_BIN_EXE_agon-sandbox-init").into(),
        init_args: Vec::new(),
        hidden: Vec::new(),
    };
    let request = Request {
        environment: Environment::of_kind(EnvironmentKind::Local),
        owner: Owner {
            run: "tests".to_owned(),
            trial: "session".to_owned(),
        },
        read_only: Vec::new(),
        display: None,
        work: None,
        start: Duration::from_secs(60),
    };
    let provider = LocalProvider::new(config).unwrap();
    provider.prepare(&request).await.unwrap()
}

session_scenarios!(sandbox);
