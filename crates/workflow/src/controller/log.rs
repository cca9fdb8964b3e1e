//! The file in which a session stands: a line that says what it is, and then every event of all its
//! conversations, written as it happens. Whatever a killed process had got done is there for the next one.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use agon_core::Event;
use serde::{Deserialize, Serialize};

const FORMAT: u32 = 1;

/// A larger file is none of ours.
const LARGEST: u64 = 1 << 30;

/// The first line is not longer.
const LONGEST_HEAD: u64 = 64 << 10;

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    format: u32,
    /// The folder that is worked in.
    workspace: PathBuf,
}

impl Head {
    fn read(line: &[u8]) -> Result<Self, String> {
        let head: Self = serde_json::from_slice(line)
            .map_err(|error| format!("its first line is not that of a session: {error}"))?;
        match head.format {
            FORMAT => Ok(head),
            newer => Err(format!("it has format {newer}, this agon reads {FORMAT}")),
        }
    }
}

/// The folder that the session in a file works in; `None`: there is no session.
pub(super) fn workspace(path: &Path) -> Result<Option<PathBuf>, String> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(|error| error.to_string())?,
    };
    let mut text = Vec::new();
    let read = file.take(LONGEST_HEAD).read_to_end(&mut text);
    read.map_err(|error| error.to_string())?;
    match text.iter().position(|byte| *byte == b'\n') {
        Some(end) => Head::read(&text[..end]).map(|head| Some(head.workspace)),
        // Killed before anything happened.
        None if (text.len() as u64) < LONGEST_HEAD => Ok(None),
        None => Err("its first line is not that of a session".to_owned()),
    }
}

/// All events in a file, and the bytes that they are. A torn last line never happened.
pub(super) fn read(path: &Path) -> Result<(Vec<Event>, u64), String> {
    let mut text = Vec::new();
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), 0)),
        file => {
            let file = file.map_err(|error| error.to_string())?;
            let read = file.take(LARGEST + 1).read_to_end(&mut text);
            read.map_err(|error| error.to_string())?;
        }
    }
    if text.len() as u64 > LARGEST {
        return Err(format!("it is larger than {LARGEST} bytes"));
    }
    let whole = text
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |end| end + 1);
    text.truncate(whole);
    let mut lines = text.split(|byte| *byte == b'\n').enumerate();
    if let Some((_, head)) = lines.next().filter(|(_, head)| !head.is_empty()) {
        Head::read(head)?;
    }
    let mut events: Vec<Event> = Vec::new();
    for (at, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let event = serde_json::from_slice(line);
        events.push(event.map_err(|error| format!("line {}: {error}", at + 1))?);
    }
    Ok((events, whole as u64))
}

/// Appends to the file.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    /// Numbers of earlier conversations.
    before: u64,
    failed: Option<io::Error>,
}

impl Log {
    /// `whole` bytes of the file are good, and hold `before` numbers.
    pub(super) fn open(path: &Path, whole: u64, before: u64, workspace: &Path) -> io::Result<Self> {
        let mut file = fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)?;
        file.set_len(whole)?;
        file.seek(SeekFrom::End(0))?;
        let mut log = Self {
            file,
            before,
            failed: None,
        };
        if whole == 0 {
            log.line(&Head {
                format: FORMAT,
                workspace: workspace.to_owned(),
            })?;
        }
        Ok(log)
    }

    /// Numbers go on from one conversation to the next.
    pub(super) fn write(&mut self, event: &mut Event) {
        event.seq = event.seq.saturating_add(self.before);
        event.cause = event.cause.map(|cause| cause.saturating_add(self.before));
        // Half a line would spoil those after it.
        if self.failed.is_none() {
            self.failed = self.line(event).err();
        }
    }

    fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }

    /// Everything is on disk, or this says why not.
    pub(super) fn finish(self) -> io::Result<()> {
        match self.failed {
            Some(error) => Err(error),
            None => self.file.sync_data(),
        }
    }
}

#[cfg(test)]
mod tests {
    use agon_core::{EventBody, Source};

    use super::*;

    fn event(seq: u64, cause: Option<u64>) -> Event {
        Event {
            seq,
            t: 0.0,
            at: jiff::Timestamp::UNIX_EPOCH,
            source: Source::Harness,
            cause,
            body: EventBody::Note(format!("note {seq}")),
        }
    }

    fn appended(path: &Path, count: u64) {
        let (events, whole) = read(path).unwrap();
        let mut log = Log::open(path, whole, events.len() as u64, Path::new("/w")).unwrap();
        for seq in 0..count {
            log.write(&mut event(seq, seq.checked_sub(1)));
        }
        log.finish().unwrap();
    }

    #[test]
    fn numbers_go_on_and_a_torn_line_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        assert_eq!(workspace(&path), Ok(None));
        assert!(read(&path).unwrap().0.is_empty());
        appended(&path, 2);
        let mut text = fs::read(&path).unwrap();
        text.extend_from_slice(b"{\"seq\":2,\"t\":");
        fs::write(&path, text).unwrap();
        appended(&path, 2);
        let (events, whole) = read(&path).unwrap();
        let numbers: Vec<_> = events.iter().map(|e| (e.seq, e.cause)).collect();
        assert_eq!(numbers, [(0, None), (1, Some(0)), (2, None), (3, Some(2))]);
        assert_eq!(whole, fs::metadata(&path).unwrap().len());
        assert_eq!(workspace(&path), Ok(Some(PathBuf::from("/w"))));
    }

    #[test]
    fn what_is_no_session_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        for (text, why) in [
            ("[]\n", "first line"),
            ("{\"format\":9,\"workspace\":\"/\"}\n", "format 9"),
            ("{\"format\":1,\"workspace\":\"/\"}\nnonsense\n", "line 2"),
        ] {
            fs::write(&path, text).unwrap();
            let error = read(&path).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        // Killed while the first line was written: nothing has happened yet.
        fs::write(&path, "{\"form").unwrap();
        assert_eq!(workspace(&path), Ok(None));
        assert_eq!(read(&path).unwrap().1, 0);
        fs::write(&path, vec![b'x'; LONGEST_HEAD as usize]).unwrap();
        assert!(workspace(&path).is_err());
    }
}
