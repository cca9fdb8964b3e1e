//! The first write to a run folder that failed, for whoever has to stop then: what is recorded later would have
//! a hole before it. Writes nothing itself.

use std::io;
use std::sync::OnceLock;

#[derive(Debug, Default)]
pub(crate) struct Trouble(OnceLock<(io::ErrorKind, String)>);

impl Trouble {
    /// Passes on what became of a write.
    pub(crate) fn noted<T>(&self, written: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &written {
            self.0.get_or_init(|| (error.kind(), error.to_string()));
        }
        written
    }

    pub(crate) fn first(&self) -> Option<io::Error> {
        let (kind, why) = self.0.get()?;
        Some(io::Error::new(*kind, why.clone()))
    }
}
