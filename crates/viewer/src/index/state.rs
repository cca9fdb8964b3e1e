//! What an index knows of itself: how far it has read, of what. Kept in the index, as JSON.

use agon_core::Digest;
use agon_report::{Interval, Method};
use agon_store::Manifest;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use super::error::IndexError;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    /// Rises with every change.
    pub(crate) revision: u64,
    pub(crate) manifest: Option<Digest>,
    pub(crate) inode: u64,
    /// Bytes of `trials.jsonl` that were taken in.
    pub(crate) taken: u64,
    pub(crate) last: Option<LastLine>,
    /// Lines that can't be read, and where the first one is.
    pub(crate) unread: u64,
    pub(crate) first_unread: u64,
    pub(crate) torn: bool,
    /// Lines that are no part of the plan.
    pub(crate) strays: u64,
    /// Planned trials without a result that are too many to be listed.
    pub(crate) unlisted: u64,
    /// Bytes of `reviews.jsonl` that were taken in.
    pub(crate) reviews: u64,
    pub(crate) run: RunStamp,
}

/// The last line that was taken in: as long as it stands where it stood, nothing before it has changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LastLine {
    pub(crate) at: u64,
    pub(crate) bytes: u64,
    pub(crate) digest: Digest,
}

/// As much of the manifest as a list of runs shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunStamp {
    pub(crate) suites: Vec<String>,
    pub(crate) agent: String,
    pub(crate) models: Vec<String>,
    pub(crate) judge: Option<String>,
    pub(crate) created: Option<Timestamp>,
    pub(crate) tasks: u64,
    pub(crate) epochs: u32,
    pub(crate) format: u32,
    /// Tasks that the plan names more than once.
    pub(crate) twice: u64,
}

impl RunStamp {
    /// Of a plan with each task once.
    pub(crate) fn of(manifest: &Manifest, twice: u64) -> Self {
        Self {
            suites: manifest.suites.iter().map(|s| s.name.clone()).collect(),
            agent: manifest.agent.spec.clone(),
            models: manifest.models.iter().map(|m| m.name.clone()).collect(),
            judge: manifest.judge.as_ref().map(|j| j.model.name.clone()),
            created: Some(manifest.created),
            tasks: manifest.tasks.len() as u64,
            epochs: manifest.epochs,
            format: manifest.format,
            twice,
        }
    }

    pub(crate) fn planned(&self) -> u64 {
        self.tasks.saturating_mul(u64::from(self.epochs))
    }
}

/// The interval of the score, which takes longer to find than all the rest of a card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptInterval {
    revision: u64,
    found: Option<(f64, f64, String)>,
    /// What is to be told beside the score.
    #[serde(default)]
    pub(super) told: Vec<String>,
}

impl State {
    pub(crate) fn load(db: &Connection) -> Result<Option<Self>, IndexError> {
        let mut ask = db.prepare_cached("SELECT value FROM state WHERE id = 1")?;
        let text: Option<String> = ask.query_row([], |row| row.get(0)).optional()?;
        // One that can't be read is as good as none: everything is taken in anew.
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    pub(crate) fn save(&self, db: &Connection) -> Result<(), IndexError> {
        let text = serde_json::to_string(self)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        db.prepare_cached("INSERT OR REPLACE INTO state (id, value) VALUES (1, ?)")?
            .execute([text])?;
        Ok(())
    }
}

impl KeptInterval {
    pub(super) fn of(revision: u64, found: Option<Interval>, told: &[String]) -> Self {
        Self {
            revision,
            told: told.to_vec(),
            found: found.map(|i| (i.low, i.high, i.method.name().to_owned())),
        }
    }

    /// `None`: there is none of this state of the run.
    pub(super) fn load(db: &Connection, revision: u64) -> Result<Option<Self>, IndexError> {
        let mut ask = db.prepare_cached("SELECT value FROM state WHERE id = 2")?;
        let text: Option<String> = ask.query_row([], |row| row.get(0)).optional()?;
        let kept: Option<Self> = text.and_then(|text| serde_json::from_str(&text).ok());
        Ok(kept.filter(|kept| kept.revision == revision))
    }

    /// In a row of its own: another viewer may have taken in more of the run since, which must stay.
    pub(super) fn save(&self, db: &Connection) -> Result<(), IndexError> {
        let text = serde_json::to_string(self)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        db.prepare_cached("INSERT OR REPLACE INTO state (id, value) VALUES (2, ?)")?
            .execute([text])?;
        Ok(())
    }

    /// `None`: it can't be read.
    pub(super) fn interval(&self) -> Option<Option<Interval>> {
        match &self.found {
            None => Some(None),
            Some((low, high, name)) => {
                let method = Method::ALL
                    .into_iter()
                    .find(|method| method.name() == name)?;
                Some(Some(Interval {
                    low: *low,
                    high: *high,
                    method,
                }))
            }
        }
    }
}
