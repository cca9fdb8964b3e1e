//! Programs that run on a desktop of ours as the user himself: started with its address, each in a
//! process namespace that ends with the desktop, and with us however we end.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_desktop::Published;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cli::output;

/// What a program may take to end in order.
const ENDING: Duration = Duration::from_secs(2);

/// The first process in the namespace: passes on that the program is to end, and ends with it. What a
/// shell says about the end of its child is not heard.
const FIRST: &str =
    r#"trap 'kill -TERM -1' TERM; /bin/sh -c "$1" & exec 2>/dev/null; wait $!; wait $!"#;

/// Each in a process group of its own; those that live are given as well. What they say goes to our standard error.
pub(in crate::cli) fn start(
    commands: &[String],
    published: &Published,
    stop: &CancellationToken,
) -> io::Result<(JoinSet<()>, Groups)> {
    let mut apps = JoinSet::new();
    let groups = Groups::default();
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
            .env("PATH", path())
            .env("DISPLAY", published.display())
            .env("XAUTHORITY", published.authority())
            .stdin(Stdio::null())
            .stdout(Stdio::from(said.try_clone()?))
            .stderr(Stdio::from(said))
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let member = groups.add(&child);
        apps.spawn(attend(command.clone(), child, stop.clone(), member));
    }
    Ok((apps, groups))
}

/// Programs that stand beside this one, such as games that come with it, are found by name; the user's
/// own come first.
fn path() -> OsString {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let beside = std::env::current_exe().ok();
    let beside = beside.as_deref().and_then(Path::parent);
    let folders = std::env::split_paths(&own).chain(beside.map(Path::to_path_buf));
    match std::env::join_paths(folders) {
        Ok(path) => path,
        // A folder with a colon in its name can't be in it.
        Err(_) => own,
    }
}

async fn attend(command: String, mut child: Child, stop: CancellationToken, _member: Member) {
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

/// The process groups of programs that live. A number that is nobody's any more may soon be a stranger's.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Groups(Arc<Mutex<Vec<Pid>>>);

/// Leaves the list when it is dropped.
struct Member(Groups, Option<Pid>);

impl Groups {
    fn add(&self, child: &Child) -> Member {
        let group = group(child);
        self.lock().extend(group);
        Member(self.clone(), group)
    }

    /// To all of all groups.
    pub(in crate::cli) fn signal(&self, signal: Signal) -> io::Result<()> {
        for group in self.lock().iter() {
            match kill_process_group(*group, signal) {
                Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Pid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.0.lock().retain(|group| Some(*group) != self.1);
    }
}

/// To the whole group; nobody else has its number while the child was not waited for.
fn signal(child: &Child, signal: Signal) {
    if let Some(group) = group(child) {
        kill_process_group(group, signal).ok();
    }
}

fn group(child: &Child) -> Option<Pid> {
    child.id().and_then(|pid| Pid::from_raw(pid.cast_signed()))
}
