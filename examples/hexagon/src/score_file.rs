//! The file of scores: one line of JSON for each game, whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::error::HexagonError;
use crate::score::Record;

#[derive(Debug)]
pub struct ScoreFile {
    path: PathBuf,
    file: File,
}

impl ScoreFile {
    /// Opened before the first game, so that a wrong path is told at once.
    pub fn open(path: &Path) -> Result<Self, HexagonError> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        Ok(Self {
            path: path.to_owned(),
            file: file.map_err(|source| failed(path, source))?,
        })
    }

    /// The line can be read by others when this returns.
    pub fn append(&mut self, record: &Record) -> Result<(), HexagonError> {
        let mut line =
            serde_json::to_vec(record).map_err(|error| failed(&self.path, error.into()))?;
        line.push(b'\n');
        self.file
            .write_all(&line)
            .map_err(|source| failed(&self.path, source))
    }
}

fn failed(path: &Path, source: std::io::Error) -> HexagonError {
    HexagonError::Scores {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{Ended, Score};

    #[test]
    fn lines_are_added_to_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.jsonl");
        for game in 1..=2 {
            let record = Record {
                game,
                seed: 1,
                score: Score::default(),
                frames: 0,
                ended: Ended::Wall,
            };
            ScoreFile::open(&path).unwrap().append(&record).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert!(text.ends_with('\n'));
    }

    #[test]
    fn a_wrong_path_is_named() {
        let error = ScoreFile::open(Path::new("/nowhere/scores.jsonl")).unwrap_err();
        assert!(error.to_string().contains("/nowhere/scores.jsonl"));
    }
}
