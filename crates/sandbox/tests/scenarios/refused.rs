//! What a sandbox must refuse, tried by commands in it.

#[path = "probe.rs"]
mod probe;

use std::time::Duration;

use agon_sandbox::{Exec, Exit, Sandbox};

/// Tries a command, and gives what it said when it was refused.
pub(crate) async fn refused(sandbox: &dyn Sandbox, command: &str) -> String {
    let exec = Exec::new(
        ["bash".to_owned(), "-c".to_owned(), probe::watched(command)],
        Duration::from_secs(30),
    );
    let ended = sandbox.exec(&exec).await.unwrap();
    let status = match ended.exit {
        Exit::Code(status) => Some(status),
        Exit::Signal(_) | Exit::TimedOut => None,
    };
    let said = [ended.stdout.bytes, ended.stderr.bytes].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert_eq!(probe::refusal(command, status, &said, None), Ok(()));
    said
}
