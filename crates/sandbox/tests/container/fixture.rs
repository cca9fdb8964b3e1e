//! Sandboxes on the engine and image that `cargo xtask test` provides.

use std::time::Duration;

use agon_core::{ByteSize, Environment, EnvironmentKind};
use agon_sandbox::container::ContainerProvider;
use agon_sandbox::{Exec, ExecOutput, Owner, Provider, Request, Sandbox};

pub(crate) const IMAGE: &str = "agon-test:latest";

pub(crate) async fn provider() -> ContainerProvider {
    std::env::var_os("DOCKER_HOST")
        .expect("DOCKER_HOST is not set: run these tests through `cargo xtask test`, which starts an engine");
    ContainerProvider::connect().await.unwrap()
}

pub(crate) fn request() -> Request {
    let mut environment = Environment::of_kind(EnvironmentKind::Container);
    environment.image = Some(IMAGE.to_owned());
    environment.memory = ByteSize::mib(256);
    environment.processes = 64;
    environment.disk = ByteSize::mib(64);
    Request {
        environment,
        owner: Owner {
            run: "tests".to_owned(),
            trial: format!("{:x}", rand::random::<u64>()),
        },
        read_only: Vec::new(),
        display: None,
        work: None,
        start: Duration::from_secs(60),
    }
}

pub(crate) async fn sandbox() -> Box<dyn Sandbox> {
    provider().await.prepare(&request()).await.unwrap()
}

pub(crate) fn shell(command: &str) -> Exec {
    Exec::shell(command, Duration::from_secs(60))
}

pub(crate) async fn run(sandbox: &dyn Sandbox, command: &str) -> ExecOutput {
    sandbox.exec(&shell(command)).await.unwrap()
}

/// Standard output of a command that must end well.
pub(crate) async fn text(sandbox: &dyn Sandbox, command: &str) -> String {
    let output = run(sandbox, command).await;
    assert!(output.exit.success(), "{command}: {output:?}");
    String::from_utf8(output.stdout.bytes).unwrap()
}
