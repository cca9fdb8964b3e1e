//! Files of a task on their way into a sandbox: one tar in memory.

use std::io::{self, Seek};
use std::os::fd::OwnedFd;

use agon_core::files::FileTree;
use tar::{Builder, Header};

use super::run::memory_file;

/// Links are followed: what they lead to is what the task brings along.
pub(super) fn pack(tree: &FileTree) -> io::Result<OwnedFd> {
    let mut tar = Builder::new(io::BufWriter::new(memory_file()?));
    for entry in tree.entries() {
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", entry.source.display()))
        };
        let (size, content) = tree.open(entry).map_err(named)?;
        let mut header = Header::new_gnu();
        header.set_mode(if entry.executable { 0o755 } else { 0o644 });
        header.set_size(size);
        tar.append_data(&mut header, &entry.path, content)
            .map_err(named)?;
    }
    let mut file = tar.into_inner()?.into_inner()?;
    file.rewind()?;
    Ok(file.into())
}
