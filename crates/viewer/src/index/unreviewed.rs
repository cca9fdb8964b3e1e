//! The next trial that waits for a person, in the order of a list.

use rusqlite::{OptionalExtension, params_from_iter};

use super::error::IndexError;
use super::file::Index;
use super::query::{Filter, order};
use super::schema::flag_bit;
use crate::shape::{Flag, TrialKey, TrialQuery};

impl Index {
    /// The first one after another; after the last one, the first. Only what counts can be reviewed, so a list
    /// of attempts is gone through by its trials. The other need not be in the list any more: it may have left
    /// it by being reviewed.
    pub(crate) fn next_unreviewed(
        &self,
        query: &TrialQuery,
        after: Option<&TrialKey>,
    ) -> Result<Option<TrialKey>, IndexError> {
        let trials = TrialQuery {
            attempts: false,
            ..query.clone()
        };
        let after = match after {
            Some(key) => self.ids(key)?.into_iter().max(),
            None => None,
        };
        let mut filter = Filter::default();
        filter.add(&trials);
        let waits = flag_bit(Flag::Unreviewed);
        let text = format!(
            "WITH list AS (
                 SELECT r.id AS id, r.flags & {waits} AS waits,
                        row_number() OVER (ORDER BY {order}) AS place
                 FROM row r JOIN task t ON t.place = r.place WHERE ({filter}) OR r.id = ?
             )
             SELECT id FROM list WHERE waits AND id IS NOT ?
             ORDER BY place <= ifnull((SELECT place FROM list WHERE id = ?), 0), place LIMIT 1",
            order = order(&trials),
            filter = filter.text(),
        );
        let mut values = filter.values;
        values.extend([after.into(), after.into(), after.into()]);
        let mut ask = self.db.prepare_cached(&text)?;
        let found: Option<i64> = ask
            .query_row(params_from_iter(values), |row| row.get(0))
            .optional()?;
        match found {
            Some(id) => self.key(id),
            None => Ok(None),
        }
    }
}
