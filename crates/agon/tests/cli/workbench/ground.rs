//! What every test here stands on: a sandbox, and one agent's tools for it.

use std::time::Duration;

use agon::core::{Action, ByteSize, Environment, EnvironmentKind, Limits, Observation};
use agon::engine::{Tools, Workbench};
use agon::sandbox::container::ContainerProvider;
use agon::sandbox::{Exec, LocalConfig, LocalProvider, Owner, Provider, Request, Sandbox};
use tokio::time::Instant;

/// A sandbox with the provider that it needs to live, and tools for it.
pub(crate) struct Ground {
    sandbox: Box<dyn Sandbox>,
    workbench: Workbench,
    _provider: Box<dyn Provider>,
    logs: tempfile::TempDir,
}

impl Ground {
    async fn new(provider: Box<dyn Provider>, environment: Environment) -> Self {
        let request = Request {
            environment,
            owner: Owner {
                run: "tests".to_owned(),
                trial: format!("{:x}", rand::random::<u64>()),
            },
            read_only: Vec::new(),
            display: None,
            work: None,
            start: Duration::from_secs(60),
        };
        let sandbox = provider.prepare(&request).await.unwrap();
        let logs = tempfile::tempdir().unwrap();
        Self {
            sandbox,
            workbench: workbench(None, &logs),
            _provider: provider,
            logs,
        }
    }

    pub(crate) async fn local() -> Self {
        let provider = LocalProvider::new(LocalConfig {
            init: env!("CARGO_BIN_EXE_agon").into(),
            init_args: vec![agon::sandbox::init::ARGUMENT.to_owned()],
            hidden: Vec::new(),
        });
        let environment = Environment::of_kind(EnvironmentKind::Local);
        Self::new(Box::new(provider.unwrap()), environment).await
    }

    pub(crate) async fn container() -> Self {
        let mut environment = Environment::of_kind(EnvironmentKind::Container);
        environment.image = Some("agon-test:latest".to_owned());
        environment.disk = ByteSize::mib(64);
        let provider = ContainerProvider::connect().await.unwrap();
        Self::new(Box::new(provider), environment).await
    }

    /// New tools that start in this folder.
    pub(crate) fn move_to(&mut self, folder: &str) {
        self.workbench = workbench(Some(folder), &self.logs);
    }

    pub(crate) async fn perform(&mut self, action: &Action, within: Duration) -> Observation {
        let deadline = Instant::now() + within;
        let seen = self
            .workbench
            .perform(self.sandbox.as_ref(), action, deadline);
        seen.await.unwrap()
    }

    /// With a time of its own for what can't be left running.
    pub(crate) async fn perform_at_most(&mut self, action: &Action, most: Duration) -> Observation {
        let deadline = Instant::now() + Duration::from_secs(600);
        let sandbox = self.sandbox.as_ref();
        let seen = self
            .workbench
            .perform_within(sandbox, action, most, deadline);
        seen.await.unwrap()
    }

    pub(crate) async fn write(&self, path: &str, content: &str) {
        self.sandbox.write(path, content.as_bytes()).await.unwrap();
    }

    pub(crate) async fn sh(&self, command: &str) {
        let exec = Exec::shell(command, Duration::from_secs(30));
        let done = self.sandbox.exec(&exec).await.unwrap();
        assert!(done.exit.success(), "{command}: {done:?}");
    }
}

fn workbench(cwd: Option<&str>, logs: &tempfile::TempDir) -> Workbench {
    Workbench::new(Tools {
        limits: Limits {
            view: ByteSize(2_000),
            ..Limits::default()
        },
        cwd: cwd.map(str::to_owned),
        shell_log: logs.path().join("shell.log"),
        lint: false,
    })
}
