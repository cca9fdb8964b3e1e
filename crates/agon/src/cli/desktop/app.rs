//! Programs that run on a desktop of ours as the user himself: started with its address, each in a
//! process namespace that ends with the desktop, and with us however we end.

use std::io;
use std::os::fd::AsFd;
use std::process::Stdio;
use std::time::Duration;

use agon_desktop::Published;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cli::output;

/// What a program may take to end in order.
const ENDING: Duration = Duration::from_secs(2);

/// The first process in the namespace: passes on that the program is to end, and ends with it.
const FIRST: &str = r#"trap 'kill -TERM -1' TERM; /bin/sh -c "$1" & wait $!; wait $!"#;

/// Each in a process group of its own. What they say goes to our standard error.
pub(super) fn start(
    commands: &[String],
    published: &Published,
    stop: &CancellationToken,
) -> io::Result<JoinSet<()>> {
    let mut apps = JoinSet::new();
    for command in commands {
        let said = io::stderr().as_fd().try_clone_to_owned()?;
        let child = Command::new("bwrap")
            // All of the user's own, but for the numbers of processes.
            .args(["--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid"])
            .args([
                "--as-pid-1",
                "--die-with-parent",
                "--",
                "/bin/sh",
                "-c",
                FIRST,
            ])
            .args(["app", command])
            .env("DISPLAY", published.display())
            .env("XAUTHORITY", published.authority())
            .stdin(Stdio::null())
            .stdout(Stdio::from(said.try_clone()?))
            .stderr(Stdio::from(said))
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        apps.spawn(attend(command.clone(), child, stop.clone()));
    }
    Ok(apps)
}

async fn attend(command: String, mut child: Child, stop: CancellationToken) {
    tokio::select! {
        ended = child.wait() => {
            let how = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
            output::say(&format!("`{}` has ended: {how}", output::plain(&command)));
        }
        () = stop.cancelled() => {
            signal(&child, Signal::TERM);
            if tokio::time::timeout(ENDING, child.wait()).await.is_err() {
                signal(&child, Signal::KILL);
                child.wait().await.ok();
            }
        }
    }
}

/// To the whole group; nobody else has its number while the child was not waited for.
fn signal(child: &Child, signal: Signal) {
    let group = child.id().and_then(|pid| Pid::from_raw(pid.cast_signed()));
    if let Some(group) = group {
        kill_process_group(group, signal).ok();
    }
}
