//! Files in and out of a container. What the agent asks for runs as a program inside, so that paths
//! mean what they mean to the agent; what the harness brings travels as an archive.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use agon_core::files::FileTree;
use bollard::query_parameters::UploadToContainerOptions;
use futures_util::stream::{self, Stream};
use tokio::io::AsyncReadExt;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::engine::{failed, refused};
use super::run_as::RunAs;
use super::sandbox::Container;
use crate::archive::WorkArchive;
use crate::contract::{Exec, ExecOutput, Exit};
use crate::error::SandboxError;

/// For moving a file or a tree.
const TRANSFER: Duration = Duration::from_secs(120);
/// The exit status for a file that is not there. `head` has none like it.
const NO_FILE: i32 = 66;
const CHUNK: usize = 64 << 10;
const UNPACK_ATTEMPTS: u32 = 3;
const UNPACK_PAUSE: Duration = Duration::from_millis(200);
/// How often the engine is asked for its view of a container, and how long it rests between.
const VIEW_ATTEMPTS: u32 = 20;
const VIEW_PAUSE: Duration = Duration::from_millis(100);
/// A mount point: nothing inside of a container can remove it.
const MOUNT_POINT: &str = "/proc";
/// Time stamp of files brought in: the same in every trial (2000-01-01).
const BEGINNING: u64 = 946_684_800;

pub(super) async fn read(
    container: &Container,
    path: &str,
    limit: u64,
) -> Result<Vec<u8>, SandboxError> {
    let limit_text = limit.to_string();
    let mut exec = Exec::new(
        [
            "head",
            "-c",
            &limit_text,
            "--",
            &container.folder.absolute(path),
        ],
        TRANSFER,
    );
    exec.cwd = "/".to_owned();
    exec.keep = limit;
    answer(path, container.run(&exec).await?)
}

/// The same, but nothing where there is no such file.
pub(super) async fn find(
    container: &Container,
    path: &str,
    limit: u64,
) -> Result<Option<Vec<u8>>, SandboxError> {
    let script = r#"[ -e "$1" ] || exit 66; exec head -c "$2" -- "$1""#;
    let arguments = [
        "sh",
        "-c",
        script,
        "sh",
        &container.folder.absolute(path),
        &limit.to_string(),
    ];
    let mut exec = Exec::new(arguments, TRANSFER);
    exec.cwd = "/".to_owned();
    exec.keep = limit;
    let output = container.run(&exec).await?;
    match output.exit {
        Exit::Code(NO_FILE) => Ok(None),
        _ => answer(path, output).map(Some),
    }
}

pub(super) async fn write(
    container: &Container,
    path: &str,
    content: &[u8],
) -> Result<(), SandboxError> {
    let script = r#"folder=${1%/*}; mkdir -p -- "${folder:-/}" && cat >"$1""#;
    let mut exec = Exec::new(
        ["sh", "-c", script, "sh", &container.folder.absolute(path)],
        TRANSFER,
    );
    exec.cwd = "/".to_owned();
    exec.stdin = content.to_vec();
    answer(path, container.run(&exec).await?).map(drop)
}

fn answer(path: &str, output: ExecOutput) -> Result<Vec<u8>, SandboxError> {
    match output.exit {
        Exit::Code(0) => Ok(output.stdout.bytes),
        Exit::TimedOut => Err(SandboxError::Denied(format!(
            "`{path}` did not answer; it is no ordinary file"
        ))),
        exit => {
            let reason = String::from_utf8_lossy(output.stderr.bytes.trim_ascii());
            Err(SandboxError::Denied(if reason.is_empty() {
                format!("`{path}`: {exit}")
            } else {
                reason.into_owned()
            }))
        }
    }
}

pub(super) async fn copy_in(
    container: &Container,
    tree: &FileTree,
    into: &str,
    run_as: &RunAs,
) -> Result<(), SandboxError> {
    let (tree, into, run_as) = (tree.clone(), container.folder.place(into), run_as.clone());
    let packed = spawn_blocking(move || pack(&tree, into.trim_start_matches('/'), &run_as))
        .await
        .map_err(io::Error::other)
        .and_then(|packed| packed)
        .map_err(SandboxError::io("could not pack the files of the task"))?;
    Ok(upload(container, packed, "/").await?)
}

/// Below the root, so that folders on the way are made.
fn pack(tree: &FileTree, into: &str, run_as: &RunAs) -> io::Result<File> {
    let mut builder = tar::Builder::new(io::BufWriter::new(tempfile::tempfile()?));
    for entry in tree.entries() {
        let (size, content) = tree.open(entry)?;
        let mut header = tar::Header::new_gnu();
        header.set_size(size);
        header.set_mode(if entry.executable { 0o755 } else { 0o644 });
        header.set_mtime(BEGINNING);
        header.set_uid(run_as.user.into());
        header.set_gid(run_as.group.into());
        builder.append_data(&mut header, Path::new(into).join(&entry.path), content)?;
    }
    let mut file = builder
        .into_inner()?
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    io::Seek::rewind(&mut file)?;
    Ok(file)
}

/// Removes what the image has in the working folder: a frozen one that is unpacked is all that there was.
pub(super) async fn empty(container: &Container) -> Result<(), SandboxError> {
    let script = r#"for it in "$1"/* "$1"/.[!.]* "$1"/..?*; do rm -rf -- "$it" || exit; done"#;
    let folder = container.folder.path();
    let mut exec = Exec::new(["sh", "-c", script, "sh", folder], TRANSFER);
    exec.cwd = "/".to_owned();
    let output = container.run(&exec).await?;
    if output.exit.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(output.stderr.bytes.trim_ascii()).into_owned();
    let why = io::Error::other(format!("{}: {why}", output.exit));
    Err(SandboxError::io("could not empty the working folder")(why))
}

/// Into a container where no agent was. A busy engine may miss a folder of its image for a moment; a folder that
/// stays missing is trouble of the engine, never of what is unpacked.
pub(super) async fn unpack(
    container: &Container,
    archive: &WorkArchive,
) -> Result<(), SandboxError> {
    let into = container.folder.path();
    let mut attempts = 1..=UNPACK_ATTEMPTS;
    loop {
        let file = archive
            .open()
            .map_err(SandboxError::io("could not open the frozen working folder"))?;
        let missing = match upload(container, file, into).await {
            Err(Upload::Missing(reason)) => reason,
            other => return other.map_err(SandboxError::from),
        };
        if attempts.next().is_none() {
            let context = SandboxError::io("the working folder is missing in a fresh container");
            return Err(context(io::Error::other(missing)));
        }
        tokio::time::sleep(UNPACK_PAUSE).await;
    }
}

/// Comes back when the engine sees the files of a container. Under load Docker 20.10 was seen to lose sight of
/// them: it answered that the working folder is not there, and unpacked archives where no program found them.
pub(super) async fn wait_for_view(container: &Container) -> Result<(), SandboxError> {
    for _ in 0..VIEW_ATTEMPTS {
        if container.mode(MOUNT_POINT).await?.is_some() {
            return Ok(());
        }
        tokio::time::sleep(VIEW_PAUSE).await;
    }
    let context = SandboxError::io("the container engine sees no files of a container");
    Err(context(io::ErrorKind::NotFound.into()))
}

/// A file for the engine, piece by piece.
pub(super) fn pieces<T: From<Vec<u8>>>(packed: File) -> impl Stream<Item = io::Result<T>> + Send {
    let file = tokio::fs::File::from_std(packed);
    stream::unfold(Some(file), |file| async {
        let mut file = file?;
        let mut chunk = Vec::with_capacity(CHUNK);
        match file.read_buf(&mut chunk).await {
            Ok(0) => None,
            Ok(_) => Some((Ok(chunk.into()), Some(file))),
            Err(error) => Some((Err(error), None)),
        }
    })
}

/// Why files did not get into a container.
pub(super) enum Upload {
    /// The folder that they go into is not there.
    Missing(String),
    Other(SandboxError),
}

impl From<Upload> for SandboxError {
    fn from(upload: Upload) -> Self {
        match upload {
            Upload::Missing(reason) => Self::Denied(format!("could not copy in: {reason}")),
            Upload::Other(error) => error,
        }
    }
}

pub(super) async fn upload(container: &Container, packed: File, into: &str) -> Result<(), Upload> {
    wait_for_view(container).await.map_err(Upload::Other)?;
    let body = bollard::body_try_stream(pieces(packed));
    let options = UploadToContainerOptions {
        path: into.to_owned(),
        ..UploadToContainerOptions::default()
    };
    let docker = &container.engine.docker;
    let upload = docker.upload_to_container(&container.name, Some(options), body);
    match timeout(TRANSFER, upload).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(match refused(&error) {
            Some((404, reason)) => Upload::Missing(reason.to_owned()),
            Some((_, reason)) => {
                Upload::Other(SandboxError::Denied(format!("could not copy in: {reason}")))
            }
            None => Upload::Other(failed("could not copy files into the container")(error)),
        }),
        Err(_) => Err(Upload::Other(SandboxError::Timeout {
            what: "copying files into a container",
            seconds: TRANSFER.as_secs_f64(),
        })),
    }
}
