//! Cutting the agent off from a container, and taking what it left there.

use std::ffi::OsStr;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use agon_core::{ByteSize, CutOff};
use bollard::models::ContainerTopResponse;
use bollard::query_parameters::{DownloadFromContainerOptions, StartContainerOptions, TopOptions};
use futures_util::StreamExt;
use tempfile::NamedTempFile;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout};

use super::engine::{failed, refused};
use super::files;
use super::processes::END_ALL;
use super::sandbox::Container;
use super::take;
use crate::archive::WorkArchive;
use crate::contract::Frozen;
use crate::error::{ENDING, SandboxError};

/// How long the killed may take to be gone.
const DYING: Duration = Duration::from_secs(2);
/// How long a killed container may.
const KILLED: Duration = Duration::from_secs(30);
const DOWNLOAD: Duration = Duration::from_secs(300);
/// What an archive may hold beyond the size of the working folder: names and modes.
const SLACK: u64 = 16 << 20;

/// Ends every process but the first, and believes only the engine that they are gone. Where that
/// fails (somebody holds the first process), the whole container is killed and started again. The
/// working folder is fetched while the engine looks: all of them were killed before either began.
/// Without a size for it, nothing of it is.
pub(super) async fn freeze(
    container: &Container,
    disk: Option<ByteSize>,
) -> Result<Frozen, SandboxError> {
    if container.signal(END_ALL).await.is_ok() {
        let (alone, work) = tokio::join!(becomes_alone(container), take_work(container, disk));
        if alone {
            return Ok(Frozen {
                cut_off: CutOff::after_freeze(),
                work: work?,
                changes: None,
            });
        }
    }
    // One that has ended by itself can't be killed, but is cut off all the same.
    let _ = container.signal("KILL").await;
    container
        .engine
        .docker
        .start_container(&container.name, None::<StartContainerOptions>)
        .await
        .map_err(failed("could not start the container again"))?;
    Ok(Frozen {
        cut_off: CutOff::after_freeze(),
        work: take_work(container, disk).await?,
        changes: None,
    })
}

/// Kills the whole container, its first process among it, and takes the working folder and, if asked to, what
/// was changed beside it. Nothing runs in it any more.
pub(super) async fn kill(
    container: &Container,
    disk: Option<ByteSize>,
    beside: bool,
) -> Result<Frozen, SandboxError> {
    // One that has ended by itself can't be killed, but is cut off all the same.
    let _ = container.signal("KILL").await;
    ended(container).await?;
    let (work, changes) = match disk {
        disk if disk.is_none() || !beside => (take_work(container, disk).await?, None),
        disk => {
            let (work, changes) = tokio::join!(take_work(container, disk), take::take(container));
            let taken = changes?;
            (work?.of_new_folder(taken.new_folder), taken.changes)
        }
    };
    Ok(Frozen {
        cut_off: CutOff::after_freeze(),
        work,
        changes,
    })
}

/// The working folder while all goes on.
pub(super) async fn snapshot(
    container: &Container,
    disk: Option<ByteSize>,
) -> Result<Frozen, SandboxError> {
    Ok(Frozen {
        cut_off: CutOff::after_freeze(),
        work: take_work(container, disk).await?,
        changes: None,
    })
}

/// Comes back when the engine says that nothing runs in it. What can't be killed has seen to that itself.
async fn ended(container: &Container) -> Result<(), SandboxError> {
    let deadline = Instant::now() + KILLED;
    let mut pause = Duration::from_millis(2);
    loop {
        let docker = &container.engine.docker;
        let found = docker.inspect_container(&container.name, None).await;
        let found = found.map_err(failed("could not look at the container"))?;
        if found.state.and_then(|state| state.running) != Some(true) {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(SandboxError::Timeout {
                what: ENDING,
                seconds: KILLED.as_secs_f64(),
            });
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(200));
    }
}

/// Whether the killed are gone in time. The engine has no event for the end of a process that it
/// did not start, so it is asked until it knows.
async fn becomes_alone(container: &Container) -> bool {
    let deadline = Instant::now() + DYING;
    let mut pause = Duration::from_millis(2);
    while Instant::now() < deadline {
        let columns = TopOptions {
            ps_args: "-eo pid,ppid,stat".to_owned(),
        };
        let docker = &container.engine.docker;
        match docker.top_processes(&container.name, Some(columns)).await {
            Ok(processes) if is_alone(&processes) => return true,
            Ok(_) => sleep(pause).await,
            Err(_) => return false,
        }
        pause *= 2;
    }
    false
}

/// Whether only the first process and its waiting child are alive.
fn is_alone(processes: &ContainerTopResponse) -> bool {
    let titles = processes.titles.as_deref().unwrap_or_default();
    let column = |title: &str| titles.iter().position(|found| found == title);
    let (Some(pid), Some(parent), Some(state)) = (column("PID"), column("PPID"), column("STAT"))
    else {
        return false;
    };
    let living: Vec<_> = processes
        .processes
        .iter()
        .flatten()
        .filter(|row| {
            !row.get(state)
                .is_some_and(|state| state.starts_with(['Z', 'X']))
        })
        .collect();
    match living[..] {
        [_] => true,
        [a, b] => a.get(pid) == b.get(parent) || b.get(pid) == a.get(parent),
        _ => false,
    }
}

/// Downloads the working folder, as much as the limit of its size allows: entries from the first
/// that does not fit are left out.
async fn take_work(
    container: &Container,
    disk: Option<ByteSize>,
) -> Result<WorkArchive, SandboxError> {
    let Some(disk) = disk else {
        return nothing().map_err(SandboxError::io("could not make an archive"));
    };
    let limit = disk.0.saturating_add(SLACK);
    let path = container.folder.path().to_owned();
    download(container, path, move |chunks| keep(chunks, limit)).await
}

/// Reads a file or folder of a container as an archive, or as much of it as `read` wants. One that is not
/// there, because the agent removed it, is an empty one.
pub(super) async fn download<T: Send + 'static>(
    container: &Container,
    path: String,
    read: impl FnOnce(Chunks) -> io::Result<T> + Send + 'static,
) -> Result<T, SandboxError> {
    let options = DownloadFromContainerOptions { path: path.clone() };
    let docker = &container.engine.docker;
    let mut is_certain = false;
    let (first, mut download) = loop {
        let options = Some(options.clone());
        let mut download = Box::pin(docker.download_from_container(&container.name, options));
        let first = match timeout(DOWNLOAD, download.next()).await {
            Ok(Some(Err(error))) if matches!(refused(&error), Some((404, _))) => None,
            Ok(first) => first.transpose().map_err(failed(NOT_DOWNLOADED))?,
            Err(_) => return Err(late()),
        };
        if first.is_some() || is_certain {
            break (first, download);
        }
        files::wait_for_view(container).await?;
        is_certain = container.mode(&path).await?.is_none();
    };
    let (sender, chunks) = mpsc::channel::<Vec<u8>>(8);
    let write = spawn_blocking(move || read(Chunks::new(chunks)));
    let pass = async {
        let mut next = first;
        while let Some(chunk) = next {
            // The other side has enough.
            if sender.send(chunk.to_vec()).await.is_err() {
                break;
            }
            next = download
                .next()
                .await
                .transpose()
                .map_err(failed(NOT_DOWNLOADED))?;
        }
        Ok(())
    };
    let passed = timeout(DOWNLOAD, pass).await;
    drop(sender);
    let kept = write
        .await
        .map_err(io::Error::other)
        .and_then(|kept| kept)
        .map_err(SandboxError::io(NOT_KEPT));
    match passed {
        Ok(Ok(())) => kept,
        Ok(Err(error)) => Err(error),
        Err(_) => Err(late()),
    }
}

fn late() -> SandboxError {
    SandboxError::Timeout {
        what: "downloading files of a container",
        seconds: DOWNLOAD.as_secs_f64(),
    }
}

const NOT_DOWNLOADED: &str = "could not download files of a container";
const NOT_KEPT: &str = "could not keep what the agent left";

/// An archive of a working folder that stays where it is: the folder as a whole is missing.
fn nothing() -> io::Result<WorkArchive> {
    let file = tar::Builder::new(NamedTempFile::new()?).into_inner()?;
    WorkArchive::with_left_out(file.into_temp_path(), 1)
}

/// Writes the archive anew with paths relative to the working folder.
fn keep(downloaded: impl Read, limit: u64) -> io::Result<WorkArchive> {
    let file = NamedTempFile::new()?;
    let mut builder = tar::Builder::new(BufWriter::new(file));
    let mut room = limit;
    let mut left_out = 0;
    for entry in tar::Archive::new(downloaded).entries()? {
        let mut entry = entry?;
        let cost = entry.size().saturating_add(1024);
        let Some(left) = room.checked_sub(cost) else {
            // The rest is not looked at: that anything is missing is enough to know.
            left_out += 1;
            break;
        };
        room = left;
        let mut header = entry.header().clone();
        let path = inside(&entry.path_bytes());
        if path.as_os_str().is_empty() {
            // Something else in place of the folder: what it holds, or leads to, was not taken.
            if !header.entry_type().is_dir() {
                left_out += 1;
            }
            continue;
        }
        match header.entry_type() {
            tar::EntryType::Link => {
                let target = inside(&entry.link_name_bytes().unwrap_or_default());
                builder.append_link(&mut header, path, target)?;
            }
            tar::EntryType::Symlink => {
                let target = entry.link_name_bytes().unwrap_or_default();
                builder.append_link(&mut header, path, OsStr::from_bytes(&target))?;
            }
            tar::EntryType::Regular
            | tar::EntryType::Continuous
            | tar::EntryType::Directory
            | tar::EntryType::Fifo => builder.append_data(&mut header, path, &mut entry)?,
            // Devices and what tar has no name for.
            _ => left_out += 1,
        }
    }
    let mut writer = builder.into_inner()?;
    writer.flush()?;
    let file = writer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    WorkArchive::with_left_out(file.into_temp_path(), left_out)
}

/// Without the name of the working folder itself.
fn inside(path: &[u8]) -> PathBuf {
    Path::new(OsStr::from_bytes(path))
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .skip(1)
        .collect()
}

/// Reads what comes over a channel.
pub(super) struct Chunks {
    chunks: mpsc::Receiver<Vec<u8>>,
    current: io::Cursor<Vec<u8>>,
}

impl Chunks {
    fn new(chunks: mpsc::Receiver<Vec<u8>>) -> Self {
        Self {
            chunks,
            current: io::Cursor::default(),
        }
    }
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.current.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            match self.chunks.blocking_recv() {
                Some(chunk) => self.current = io::Cursor::new(chunk),
                None => return Ok(0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Entry;

    fn archive(build: impl FnOnce(&mut tar::Builder<Vec<u8>>)) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        build(&mut builder);
        builder.into_inner().unwrap()
    }

    fn file(builder: &mut tar::Builder<Vec<u8>>, path: &str, content: &[u8]) {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, path, content).unwrap();
    }

    #[test]
    fn paths_become_relative_to_the_working_folder() {
        let long = format!("work/{}/f", "d".repeat(200));
        let bytes = archive(|builder| {
            file(builder, "work/a", b"one");
            file(builder, &long, b"two");
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::Link);
            header.set_size(0);
            builder
                .append_link(&mut header, "work/b", "work/a")
                .unwrap();
            header.set_entry_type(tar::EntryType::Symlink);
            builder
                .append_link(&mut header, "work/c", "/etc/passwd")
                .unwrap();
        });
        let kept = keep(&bytes[..], 1 << 20).unwrap();
        let content = |path: &str| kept.find(path, 100).unwrap();
        assert!(matches!(content("a"), Some(Entry::File { content, .. }) if content == b"one"));
        let long = long.strip_prefix("work/").unwrap();
        assert!(matches!(content(long), Some(Entry::File { content, .. }) if content == b"two"));
        let link = Entry::Link {
            target: "/etc/passwd".to_owned(),
        };
        assert_eq!(content("c"), Some(link));
        let mut entries = tar::Archive::new(kept.open().unwrap());
        let hard = entries
            .entries()
            .unwrap()
            .map(Result::unwrap)
            .nth(2)
            .unwrap();
        assert_eq!(hard.link_name().unwrap().unwrap(), Path::new("a"));
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        let bytes = archive(|builder| {
            file(builder, "work/small", b"x");
            file(builder, "work/large", &[0; 5000]);
        });
        let kept = keep(&bytes[..], 3000).unwrap();
        assert!(kept.find("small", 10).unwrap().is_some());
        assert!(kept.find("large", 10).unwrap().is_none());
    }

    #[test]
    fn a_working_folder_that_is_none_is_left_out() {
        let rooted = |kind| {
            let bytes = archive(|builder| {
                let mut header = tar::Header::new_gnu();
                header.set_entry_type(kind);
                header.set_size(0);
                builder.append_link(&mut header, "work", "other").unwrap();
            });
            keep(&bytes[..], 1 << 20).unwrap().left_out()
        };
        assert_eq!(rooted(tar::EntryType::Directory), 0);
        for kind in [
            tar::EntryType::Symlink,
            tar::EntryType::Link,
            tar::EntryType::Regular,
            tar::EntryType::Fifo,
        ] {
            assert_eq!(rooted(kind), 1, "{kind:?}");
        }
    }

    fn top(rows: &[[&str; 3]]) -> ContainerTopResponse {
        let owned = |row: &[&str]| row.iter().map(|&field| field.to_owned()).collect();
        ContainerTopResponse {
            titles: Some(owned(&["PID", "PPID", "STAT"])),
            processes: Some(rows.iter().map(|row| owned(row)).collect()),
        }
    }

    #[test]
    fn only_the_first_process_and_its_child_may_live() {
        assert!(is_alone(&top(&[["10", "1", "Ss"], ["11", "10", "S"]])));
        assert!(is_alone(&top(&[
            ["10", "1", "Ss"],
            ["11", "10", "S"],
            ["12", "10", "Z"]
        ])));
        assert!(!is_alone(&top(&[["10", "1", "Ss"], ["12", "9", "S"]])));
        assert!(!is_alone(&top(&[
            ["10", "1", "Ss"],
            ["11", "10", "S"],
            ["12", "11", "S"]
        ])));
        assert!(!is_alone(&top(&[])));
        assert!(!is_alone(&ContainerTopResponse::default()));
    }
}
