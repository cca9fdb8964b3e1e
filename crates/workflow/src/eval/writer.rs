//! Appends rows to `output.jsonl`: whole lines only, by one process at a time. A row without a result gives
//! way to a later one of the same instance.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::EvalFileError;
use super::lines::{Peek, for_each_row, is_whole, line_of};
use super::output::EvalOutput;

#[derive(Debug)]
pub struct OutputWriter {
    path: PathBuf,
    file: File,
    length: u64,
    /// Instances whose row holds no result.
    ungraded: HashSet<String>,
}

impl OutputWriter {
    /// Takes the file for this process; a line that was torn by a crash is cut off.
    pub fn open(path: &Path) -> Result<Self, EvalFileError> {
        let failed = || EvalFileError::io("can't open", path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed())?;
        }
        let mut file = File::options()
            .create(true)
            .read(true)
            .append(true)
            .open(path)
            .map_err(failed())?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let path = path.to_owned();
                return Err(EvalFileError::Locked { path });
            }
            Err(TryLockError::Error(error)) => return Err(failed()(error)),
        }
        let length = mend(&mut file).map_err(failed())?;
        let mut ungraded = HashSet::new();
        for_each_row(path, |id, graded| {
            if graded {
                ungraded.remove(&id);
            } else {
                ungraded.insert(id);
            }
        })?;
        Ok(Self {
            path: path.to_owned(),
            file,
            length,
            ungraded,
        })
    }

    /// The row counts once this has returned.
    pub fn append(&mut self, row: &EvalOutput) -> io::Result<()> {
        if self.ungraded.contains(&row.instance_id) {
            self.remove(&row.instance_id)?;
        }
        let line = line_of(row)?;
        if let Err(error) = self.file.write_all(&line) {
            // What was written of it must not look like a row.
            self.file.set_len(self.length).ok();
            return Err(error);
        }
        self.length += line.len() as u64;
        if !row.is_graded() {
            self.ungraded.insert(row.instance_id.clone());
        }
        Ok(())
    }

    /// Writes the file anew without an instance's rows. Readers see the old or the new one.
    fn remove(&mut self, id: &str) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let fresh = tempfile::NamedTempFile::new_in(folder)?;
        let mut copy = BufWriter::new(fresh.as_file());
        let mut length = 0;
        let mut lines = BufReader::new(File::open(&self.path)?);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            if id_in(&line).as_deref() != Some(id) {
                copy.write_all(&line)?;
                length += line.len() as u64;
            }
            line.clear();
        }
        copy.flush()?;
        drop(copy);
        let file = File::options().read(true).append(true).open(fresh.path())?;
        // Held before it has its name, so that nobody else can take it in between.
        file.try_lock()?;
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        file.set_permissions(readable)?;
        fresh.persist(&self.path).map_err(|failed| failed.error)?;
        (self.file, self.length) = (file, length);
        self.ungraded.remove(id);
        Ok(())
    }
}

fn id_in(line: &[u8]) -> Option<String> {
    Peek::read(line).ok()?.id()
}

/// Ends the last line if only its end is missing, and cuts it off if it was torn. Says how long the file is.
fn mend(file: &mut File) -> io::Result<u64> {
    let length = whole_lines(file)?;
    let rest = file.metadata()?.len() - length;
    let mut last = Vec::new();
    file.seek(SeekFrom::Start(length))?;
    Read::take(&mut *file, rest).read_to_end(&mut last)?;
    if is_whole(&last) {
        file.write_all(b"\n")?;
        return Ok(length + rest + 1);
    }
    file.set_len(length)?;
    Ok(length)
}

/// Where the last whole line ends.
fn whole_lines(file: &mut File) -> io::Result<u64> {
    const STEP: u64 = 1 << 16;
    let mut end = file.metadata()?.len();
    let mut block = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(STEP);
        file.seek(SeekFrom::Start(start))?;
        block.clear();
        Read::take(&mut *file, end - start).read_to_end(&mut block)?;
        if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}
