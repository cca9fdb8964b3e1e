//! Laying what was changed in one container over a fresh one of the same image, in which nothing has run yet:
//! its programs are the image's, and stay it.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tar::EntryType;
use tokio::task::spawn_blocking;

use super::files;
use super::program_paths::{ImagePrograms, ProgramPaths};
use super::sandbox::Container;
use crate::changes::{Changes, INSTALLED, LAID, Words};
use crate::contract::Exec;
use crate::error::SandboxError;

/// For one program of ours in the container.
const STEP: Duration = Duration::from_secs(60);
/// Most bytes of the list of what an image has.
const LISTED: u64 = 8 << 20;
/// Bytes of names that are removed at a time: a command line has an end.
const AT_A_TIME: usize = 64 << 10;

/// Removes each of its arguments, or what is in it where the name ends with a slash.
const REMOVE: &str = r#"for it; do
    case $it in
        */) for inner in "$it"* "$it".[!.]* "$it"..?*; do rm -rf -- "$inner"; done ;;
        *) rm -rf -- "$it" ;;
    esac
done"#;

pub(super) async fn lay_over(
    container: &Container,
    changes: &Changes,
    words: &Words,
) -> Result<(), SandboxError> {
    let program_paths = ProgramPaths::of(&container.path().await?);
    let brought = match changes.is_named(words) {
        true => Some(list(container, &program_paths).await?),
        false => None,
    };
    remove(container, changes.removed()).await?;
    let cannot = || SandboxError::io("could not pack what was changed");
    let file = changes.file().map_err(cannot())?;
    let packed = spawn_blocking(move || pack(file, &program_paths, brought.as_ref()))
        .await
        .map_err(io::Error::other)
        .and_then(|packed| packed)
        .map_err(cannot())?;
    match packed {
        Some(packed) => Ok(files::upload(container, packed, "/").await?),
        None => Ok(()),
    }
}

/// What the image has where programs are. The shell that tells it is still the image's.
async fn list(
    container: &Container,
    program_paths: &ProgramPaths,
) -> Result<ImagePrograms, SandboxError> {
    let mut exec = Exec::shell(&program_paths.listing(), STEP);
    exec.cwd = "/".to_owned();
    exec.keep = LISTED;
    let output = container.run(&exec).await?;
    if output.stdout.omitted > 0 {
        let why = io::Error::other("it has too many");
        return Err(SandboxError::io("could not list the programs of the image")(why));
    }
    let listing = String::from_utf8_lossy(&output.stdout.bytes);
    Ok(ImagePrograms::of(&listing, program_paths))
}

/// What can't be removed stays; a check will see it.
async fn remove(container: &Container, paths: &[String]) -> Result<(), SandboxError> {
    let mut waiting = paths.iter().peekable();
    while waiting.peek().is_some() {
        let mut words = ["sh", "-c", REMOVE, "sh"].map(str::to_owned).to_vec();
        let mut bytes = 0;
        while let Some(path) = waiting.next_if(|path| bytes == 0 || bytes + path.len() < AT_A_TIME)
        {
            bytes += path.len();
            words.push(path.clone());
        }
        let mut exec = Exec::new(words, STEP);
        exec.cwd = "/".to_owned();
        container.run(&exec).await?;
    }
    Ok(())
}

/// The archive as it is unpacked at the root, if there is anything in it. Without a list of what the image
/// brought, nothing comes to its programs.
fn pack(
    archive: File,
    program_paths: &ProgramPaths,
    brought: Option<&ImagePrograms>,
) -> io::Result<Option<File>> {
    let mut builder = tar::Builder::new(BufWriter::new(tempfile::tempfile()?));
    let mut count = 0_usize;
    for entry in tar::Archive::new(BufReader::new(archive)).entries()? {
        let mut entry = entry?;
        let Some(path) = placed(&entry.path()?, program_paths, brought) else {
            continue;
        };
        count += 1;
        append(&mut builder, &mut entry, &path)?;
    }
    let mut file = builder
        .into_inner()?
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    file.rewind()?;
    Ok((count > 0).then_some(file))
}

fn append(
    builder: &mut tar::Builder<BufWriter<File>>,
    entry: &mut tar::Entry<'_, impl Read>,
    path: &Path,
) -> io::Result<()> {
    let mut header = entry.header().clone();
    match header.entry_type() {
        EntryType::Link => {
            let target = entry.link_name()?.unwrap_or_default().into_owned();
            let target: PathBuf = target.components().skip(1).collect();
            builder.append_link(&mut header, path, target)
        }
        EntryType::Symlink => {
            let target = entry.link_name_bytes().unwrap_or_default().into_owned();
            builder.append_link(&mut header, path, std::ffi::OsStr::from_bytes(&target))
        }
        _ => builder.append_data(&mut header, path, entry),
    }
}

/// Where an entry of the archive goes, from the root.
fn placed(
    path: &Path,
    program_paths: &ProgramPaths,
    brought: Option<&ImagePrograms>,
) -> Option<PathBuf> {
    if let Ok(inside) = path.strip_prefix(LAID) {
        return Some(inside.to_owned());
    }
    let inside = path.strip_prefix(INSTALLED).ok()?;
    let whole = Path::new("/").join(inside);
    let admitted = program_paths.admits(&whole.to_string_lossy(), brought?);
    admitted.then(|| inside.to_owned())
}
