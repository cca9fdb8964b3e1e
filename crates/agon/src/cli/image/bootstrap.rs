//! A root file system of Debian's packages, as mmdebstrap writes it. Owns that process, which ends
//! when we die, and the folder that it works in.
//!
//! For root, mmdebstrap mounts /proc, /sys and /dev/shm of the host in that folder. It gets a mount
//! namespace of its own: what is removed here, or by whoever cleans up after us, is then never more
//! than the folder, and nothing stays mounted. For an ordinary user it makes files that belong to
//! others: only it can remove them, and does when it is told to end.

use std::collections::VecDeque;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agon_sandbox::OwnedFolder;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::recipe::{RELEASE, Recipe};
use crate::cli::failure::Failure;
use crate::cli::output;

/// For removing a half-made root file system.
const ENDING: Duration = Duration::from_secs(60);
/// How many of its last lines are told when it fails.
const TOLD: usize = 12;
const LONGEST_LINE: u64 = 2_000;

/// The last lines that were said.
type Said = Arc<Mutex<VecDeque<String>>>;

#[derive(Debug)]
pub(super) struct Bootstrap {
    stop: CancellationToken,
    ended: JoinHandle<Option<ExitStatus>>,
    said: Said,
    /// Where it works; removed after it has ended.
    folder: OwnedFolder,
}

/// How it ended.
#[derive(Debug)]
pub(super) struct End {
    /// By itself, and not well.
    pub(super) failed: Option<ExitStatus>,
    /// Its last lines.
    pub(super) said: String,
}

impl Bootstrap {
    /// Starts it; the archive comes once everything is installed.
    pub(super) fn start(recipe: Recipe, mirror: Option<&str>) -> Result<(Self, Archive), Failure> {
        let (folder, work) = place()?;
        let mut child = command(recipe, mirror)?
            .env("TMPDIR", work)
            .spawn()
            .map_err(|error| Failure::new(format_args!("can't start mmdebstrap: {error}")))?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(Failure::new("mmdebstrap has no pipes"));
        };
        let said = Said::default();
        let (tell, exit) = oneshot::channel();
        let stop = CancellationToken::new();
        let watched = watch(child, stderr, Arc::clone(&said), stop.clone(), tell);
        let bootstrap = Self {
            stop,
            ended: tokio::spawn(watched),
            said,
            folder,
        };
        Ok((bootstrap, Archive { stdout, exit }))
    }

    /// Ends it, if it has not ended, and waits until its folders are gone.
    pub(super) async fn end(self) -> End {
        self.stop.cancel();
        let status = self.ended.await.ok().flatten();
        drop(self.folder);
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        End {
            failed: status.filter(|status| !status.success()),
            said: said.iter().map(|line| format!("  {line}\n")).collect(),
        }
    }
}

/// A folder of ours, and one in it that other users may write to.
fn place() -> Result<(OwnedFolder, PathBuf), Failure> {
    let folder = OwnedFolder::new()?;
    let work = folder.path().join("work");
    std::fs::create_dir(&work)?;
    std::fs::set_permissions(&work, Permissions::from_mode(0o1777))?;
    Ok((folder, work))
}

fn command(recipe: Recipe, mirror: Option<&str>) -> Result<Command, Failure> {
    let root = rustix::process::geteuid().is_root();
    let program = find("mmdebstrap").ok_or_else(|| {
        // What an ordinary user needs for root file systems.
        let more = if root { "" } else { " uidmap" };
        Failure::new(format_args!(
            "mmdebstrap is not installed: run `apt-get install mmdebstrap{more}`, or use \
             --from-registry where debian:12-slim can be pulled"
        ))
    })?;
    let [Some(setpriv), Some(unshare)] = ["setpriv", "unshare"].map(find) else {
        return Err(Failure::new(
            "setpriv and unshare are not installed: run `apt-get install util-linux`",
        ));
    };
    let mut command = Command::new(setpriv);
    if root {
        command.args(["--pdeathsig", "KILL"]).arg(unshare);
        command.args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]);
        command.arg(program).arg("--mode=root");
    } else {
        command.args(["--pdeathsig", "TERM"]);
        command.arg(program).arg("--mode=unshare");
    }
    command
        .args(["--variant=minbase", "--format=tar"])
        .arg(format!("--include={}", recipe.packages().join(",")));
    for option in recipe.excludes() {
        command.arg(format!("--dpkgopt={option}"));
    }
    let finish = recipe.finish().replace('\'', r"'\''");
    command.arg(format!("--customize-hook=chroot \"$1\" sh -c '{finish}'"));
    command.args([RELEASE, "-"]).args(mirror);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C is for us.
        .process_group(0);
    Ok(command)
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    folders.find_map(|folder| Some(folder.join(program)).filter(|file| Path::is_file(file)))
}

/// Passes on what it says and how it ends, and ends it when told to.
async fn watch(
    mut child: Child,
    stderr: ChildStderr,
    said: Said,
    stop: CancellationToken,
    tell: oneshot::Sender<ExitStatus>,
) -> Option<ExitStatus> {
    let group = child.id().and_then(|pid| Pid::from_raw(pid.cast_signed()));
    let mut run = Box::pin(async {
        // They are gone when the last of them has closed its standard error.
        let ((), status) = tokio::join!(listen(stderr, &said), child.wait());
        status
    });
    tokio::select! {
        status = &mut run => {
            let status = status.ok()?;
            let _ = tell.send(status);
            return Some(status);
        }
        () = stop.cancelled() => {}
    }
    if !rustix::process::geteuid().is_root() {
        signal(group, Signal::TERM);
        if timeout(ENDING, &mut run).await.is_ok() {
            return None;
        }
    }
    signal(group, Signal::KILL);
    let _ = timeout(ENDING, run).await;
    None
}

fn signal(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        // One that has ended meanwhile needs none.
        let _ = kill_process_group(group, signal);
    }
}

async fn listen(stderr: ChildStderr, said: &Said) {
    let mut lines = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        match (&mut lines)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
            .await
        {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        let line = output::plain(String::from_utf8_lossy(&line).trim_end());
        if line.starts_with("I: ") {
            output::say(&format!("  {line}"));
        }
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.push_back(line);
        if said.len() > TOLD {
            said.pop_front();
        }
    }
}

/// The archive that comes out. One that ends before mmdebstrap has ended well is an error, so that
/// no image is made of half a system.
#[derive(Debug)]
pub(super) struct Archive {
    stdout: ChildStdout,
    exit: oneshot::Receiver<ExitStatus>,
}

impl AsyncRead for Archive {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stdout).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            return Poll::Ready(Ok(()));
        }
        match ready!(Pin::new(&mut self.exit).poll(context)) {
            Ok(status) if status.success() => Poll::Ready(Ok(())),
            Ok(status) => Poll::Ready(Err(io::Error::other(format!("mmdebstrap: {status}")))),
            Err(_) => Poll::Ready(Err(io::Error::other("mmdebstrap was ended"))),
        }
    }
}
