//! Everything a trial's shell printed, whole, for people and for grading again. Small output stands
//! in the events already; a file is made only when there is more than the agent's view shows.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug)]
struct Log {
    path: PathBuf,
    /// Gathered up to this size before the file is made.
    small: usize,
    gathered: Vec<u8>,
    file: Option<File>,
}

#[derive(Debug, Clone)]
pub(crate) struct ShellLog(Arc<Mutex<Log>>);

impl ShellLog {
    pub(crate) fn new(path: PathBuf, small: usize) -> Self {
        Self(Arc::new(Mutex::new(Log {
            path,
            small,
            gathered: Vec::new(),
            file: None,
        })))
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if log.file.is_none() {
            log.gathered.extend_from_slice(bytes);
            if log.gathered.len() <= log.small {
                return Ok(());
            }
            return log.make_file();
        }
        match &mut log.file {
            Some(file) => file.write_all(bytes),
            None => Ok(()),
        }
    }

    /// Makes the file now: the events can't hold this output as it is.
    pub(crate) fn keep(&self) -> io::Result<()> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if log.file.is_some() {
            Ok(())
        } else {
            log.make_file()
        }
    }
}

impl Log {
    fn make_file(&mut self) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = File::create(&self.path)?;
        file.write_all(&std::mem::take(&mut self.gathered))?;
        self.file = Some(file);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_when_it_is_needed_and_holds_everything() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("logs/shell.log");
        let log = ShellLog::new(path.clone(), 4);
        log.write(b"abc").unwrap();
        assert!(!path.exists());
        log.write(b"def").unwrap();
        log.write(b"\xff").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"abcdef\xff");
    }
}
