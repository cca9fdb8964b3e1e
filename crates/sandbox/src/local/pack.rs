//! Files of a task on their way into a sandbox: one tar in memory.

use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use agon_core::files::FileTree;
use tar::{Builder, Header};

use super::run::memory_file;

/// Links are followed: what they lead to is what the task brings along.
pub(super) fn pack(tree: &FileTree) -> io::Result<OwnedFd> {
    let mut tar = Builder::new(io::BufWriter::new(memory_file()?));
    for entry in tree.entries() {
        let named = |error: io::Error| {
            let path: &PathBuf = &entry.source;
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        };
        let file = File::open(&entry.source).map_err(named)?;
        let mut header = Header::new_gnu();
        header.set_mode(if entry.executable { 0o755 } else { 0o644 });
        header.set_size(file.metadata().map_err(named)?.len());
        tar.append_data(&mut header, &entry.path, file)
            .map_err(named)?;
    }
    let mut file = tar.into_inner()?.into_inner()?;
    file.rewind()?;
    Ok(file.into())
}
