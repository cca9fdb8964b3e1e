//! The programs that a task starts on its desktop: where their words and their ends are found. Both lie
//! in the sandbox, where the agent can change them.

use agon_core::sight::AppView;
use agon_sandbox::Sandbox;
use futures_util::future::join_all;

/// The longest that an exit status can be.
const STATUS: u64 = 16;

/// The file with what a program said; its status is beside it when it has ended.
pub(crate) fn log(number: usize) -> String {
    format!("/tmp/.agon-app-{number}")
}

/// The status with which a program has ended, if it has.
pub(crate) async fn status(sandbox: &dyn Sandbox, number: usize) -> Option<String> {
    let file = format!("{}.status", log(number));
    let status = sandbox.read(&file, STATUS).await.ok()?;
    Some(String::from_utf8_lossy(&status).trim().to_owned())
}

/// All programs as they are now.
pub(crate) async fn states(sandbox: &dyn Sandbox, apps: &[String]) -> Vec<AppView> {
    join_all(apps.iter().enumerate().map(|(number, app)| async move {
        let status = status(sandbox, number).await;
        AppView {
            command: app.clone(),
            exit: status.map(|status| status.parse().unwrap_or(-1)),
        }
    }))
    .await
}
