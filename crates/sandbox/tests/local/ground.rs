//! What every test here stands on.

use std::path::PathBuf;
use std::time::Duration;

use agon_core::Environment;
use agon_core::environment::EnvironmentKind;
use agon_core::quantity::ByteSize;
use agon_sandbox::{
    Exec, ExecOutput, LocalConfig, LocalProvider, Owner, Provider, Request, Sandbox,
};

/// Names another init where the tests' own folder cannot be read.
pub(crate) const INIT: &str = "AGON_TEST_INIT";

pub(crate) fn init() -> PathBuf {
    let init = std::env::var_os(INIT);
    init.map_or_else(
        || env!("CARGO_BIN_EXE_agon-sandbox-init").into(),
        Into::into,
    )
}

pub(crate) fn provider() -> LocalProvider {
    LocalProvider::new(config()).expect("bubblewrap must be installed")
}

pub(crate) fn config() -> LocalConfig {
    LocalConfig {
        init: init(),
        init_args: Vec::new(),
        hidden: Vec::new(),
    }
}

pub(crate) fn request() -> Request {
    let mut environment = Environment::of_kind(EnvironmentKind::Local);
    environment.memory = ByteSize::mib(256);
    environment.disk = ByteSize::mib(32);
    environment.processes = 64;
    Request {
        environment,
        owner: Owner {
            run: "test".to_owned(),
            trial: "test".to_owned(),
        },
        read_only: Vec::new(),
        display: None,
        work: None,
        start: Duration::from_secs(30),
    }
}

/// A sandbox with the provider that it needs to live.
pub(crate) struct Ground {
    pub(crate) sandbox: Box<dyn Sandbox>,
    pub(crate) provider: LocalProvider,
}

pub(crate) async fn ground() -> Ground {
    let provider = provider();
    let sandbox = provider.prepare(&request()).await.unwrap();
    Ground { sandbox, provider }
}

impl Ground {
    pub(crate) async fn sh(&self, command: &str) -> ExecOutput {
        sh(self.sandbox.as_ref(), command).await
    }
}

pub(crate) async fn sh(sandbox: &dyn Sandbox, command: &str) -> ExecOutput {
    let exec = Exec::shell(command, Duration::from_secs(30));
    sandbox.exec(&exec).await.unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
