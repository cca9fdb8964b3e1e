//! The whole list of a run at once, with what a filter knows of each row: for whoever must search it without
//! an index.

use std::collections::HashMap;

use rusqlite::Row;
use serde::Serialize;

use super::error::IndexError;
use super::file::Index;
use super::schema::{FAULTS, flag_bit};
use crate::shape::{Flag, TrialRow};

/// A row, and everything beside it that decides whether and where it is shown.
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    #[serde(flatten)]
    pub(crate) row: TrialRow,
    /// It is what its trial came to.
    counts: bool,
    /// It ended: there is a line of it.
    ended: bool,
    /// A row does not say it, because nearly every one would.
    unreviewed: bool,
    /// What a search looks through, in lower case.
    words: String,
    fault: Option<&'static str>,
    failed: Vec<String>,
}

impl Index {
    /// Every attempt in the order of the record, then the trials without a result.
    pub(crate) fn whole(&self) -> Result<Vec<Listed>, IndexError> {
        let mut ask = self.db.prepare_cached(
            "SELECT r.id, r.counts, r.graded IS NOT NULL, r.flags, r.fault, t.words, r.words
             FROM row r JOIN task t ON t.place = r.place ORDER BY r.id",
        )?;
        let mut rows = ask.query([])?;
        let mut failed = self.failed()?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let id = row.get(0)?;
            if let Some(shown) = self.row(id)? {
                let failed = failed.remove(&id).unwrap_or_default();
                found.push(listed(row, shown, failed)?);
            }
        }
        Ok(found)
    }

    /// Names of checks that did not pass, by row.
    fn failed(&self) -> Result<HashMap<i64, Vec<String>>, IndexError> {
        let mut ask = self.db.prepare_cached("SELECT row, name FROM failed")?;
        let mut rows = ask.query([])?;
        let mut found: HashMap<i64, Vec<String>> = HashMap::new();
        while let Some(row) = rows.next()? {
            found.entry(row.get(0)?).or_default().push(row.get(1)?);
        }
        Ok(found)
    }
}

fn listed(row: &Row<'_>, shown: TrialRow, failed: Vec<String>) -> rusqlite::Result<Listed> {
    let flags: i64 = row.get(3)?;
    let fault: Option<i64> = row.get(4)?;
    let (task, said): (String, Option<String>) = (row.get(5)?, row.get(6)?);
    Ok(Listed {
        row: shown,
        counts: row.get(1)?,
        ended: row.get(2)?,
        unreviewed: flags & flag_bit(Flag::Unreviewed) != 0,
        words: format!("{task}\n{}", said.unwrap_or_default()),
        fault: fault.and_then(|place| Some(FAULTS.get(usize::try_from(place).ok()?)?.name())),
        failed,
    })
}
