//! A query as SQL. Everything that was given is bound, never written into the text. The numbers of all
//! rows that a query finds are kept for a while, so that paging through them costs nothing.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use agon_core::Level;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::error::IndexError;
use super::schema::{FAULTS, OPEN, flag_bit, state_number};
use crate::shape::{SortKey, TrialQuery};

/// Lists that are kept.
const MOST_LISTS: usize = 8;
/// Rows in all lists together.
const MOST_ROWS: usize = 2_000_000;

/// Words that are searched for. Each is a condition of its own, and SQLite takes only so many.
pub(super) const MOST_WORDS: usize = 32;

/// What was found for the last queries.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    revision: u64,
    found: VecDeque<(TrialQuery, Arc<[i64]>)>,
}

impl Lists {
    /// The rows that a query finds, in its order.
    pub(crate) fn find(
        &mut self,
        db: &Connection,
        revision: u64,
        query: &TrialQuery,
    ) -> Result<Arc<[i64]>, IndexError> {
        if self.revision != revision {
            self.found.clear();
            self.revision = revision;
        }
        if let Some(place) = self.found.iter().position(|(known, _)| known == query)
            && let Some(known) = self.found.remove(place)
        {
            let rows = Arc::clone(&known.1);
            self.found.push_front(known);
            return Ok(rows);
        }
        let rows = find(db, query)?;
        self.found.push_front((query.clone(), Arc::clone(&rows)));
        let mut kept = 0;
        self.found.truncate(MOST_LISTS);
        self.found.retain(|(_, rows)| {
            kept += rows.len();
            kept <= MOST_ROWS
        });
        Ok(rows)
    }
}

fn find(db: &Connection, query: &TrialQuery) -> Result<Arc<[i64]>, IndexError> {
    let mut filter = Filter::default();
    filter.add(query);
    let text = format!(
        "SELECT r.id FROM row r JOIN task t ON t.place = r.place WHERE {} ORDER BY {}",
        filter.text(),
        order(query)
    );
    let mut ask = db.prepare_cached(&text)?;
    let mut rows = ask.query(params_from_iter(filter.values))?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        ids.push(row.get(0)?);
    }
    Ok(ids.into())
}

/// Conditions that must all hold.
#[derive(Debug, Default)]
pub(super) struct Filter {
    parts: Vec<String>,
    pub(super) values: Vec<Value>,
}

impl Filter {
    pub(super) fn add(&mut self, query: &TrialQuery) {
        if !query.attempts {
            self.parts.push("r.counts = 1".to_owned());
        }
        self.one_of(
            "r.state",
            query
                .outcome
                .iter()
                .map(|state| state_number(*state).into()),
        );
        let class = |name: &String| {
            let place = FAULTS.iter().position(|class| class.name() == name);
            Value::from(place.map_or(-1, |place| place as i64))
        };
        if !query.fault.is_empty() {
            // A fault that a person has decided about is none any more.
            self.parts.push("r.state = 2".to_owned());
            self.one_of("r.fault", query.fault.iter().map(class));
        }
        let level = |name: &String| {
            let place = Level::ALL.iter().position(|level| level.name() == name);
            Value::from(place.map_or(-1, |place| place as i64))
        };
        let none = query.level.iter().any(|name| name == "none");
        if none {
            // -1 stands for a name that is no level.
            self.one_of("ifnull(t.level, -2)", {
                let named = query.level.iter().filter(|name| *name != "none");
                named.map(level).chain([Value::from(-2)])
            });
        } else {
            self.one_of("t.level", query.level.iter().map(level));
        }
        self.one_of(
            "t.category",
            query.category.iter().cloned().map(Value::from),
        );
        if !query.check.is_empty() {
            let names = marks(query.check.len());
            self.parts.push(format!(
                "r.id IN (SELECT row FROM failed WHERE name IN ({names}))"
            ));
            let values = query.check.iter().cloned().map(Value::from);
            self.values.extend(values);
        }
        if !query.flag.is_empty() {
            self.parts.push("r.flags & ? <> 0".to_owned());
            let bits = query.flag.iter().fold(0, |all, flag| all | flag_bit(*flag));
            self.values.push(bits.into());
        }
        let text = query.q.to_lowercase();
        let words: BTreeSet<&str> = text.split_whitespace().take(MOST_WORDS).collect();
        for word in words {
            self.parts
                .push("(instr(t.words, ?) OR instr(r.words, ?))".to_owned());
            self.values.push(word.to_owned().into());
            self.values.push(word.to_owned().into());
        }
    }

    fn one_of(&mut self, column: &str, values: impl Iterator<Item = Value>) {
        let before = self.values.len();
        self.values.extend(values);
        let count = self.values.len() - before;
        if count > 0 {
            self.parts.push(format!("{column} IN ({})", marks(count)));
        }
    }

    pub(super) fn text(&self) -> String {
        if self.parts.is_empty() {
            return "1".to_owned();
        }
        self.parts.join(" AND ")
    }
}

fn marks(count: usize) -> String {
    vec!["?"; count].join(", ")
}

/// What is not known comes last, whichever way; the order of the lines, then of the plan, decides
/// between equals.
pub(super) fn order(query: &TrialQuery) -> String {
    let way = if query.desc { " DESC" } else { "" };
    let key = match query.sort {
        SortKey::Ended => {
            return if query.desc {
                format!("r.id >= {OPEN}, iif(r.id >= {OPEN}, r.id, -r.id)")
            } else {
                "r.id".to_owned()
            };
        }
        SortKey::Task => return format!("t.task{way}, r.epoch{way}, r.id"),
        SortKey::Level => "t.level",
        SortKey::Outcome => "r.state",
        SortKey::Score => "r.score",
        SortKey::Measured => "iif(r.state = 2, NULL, r.measured)",
        SortKey::Steps => "r.steps",
        SortKey::Seconds => "r.seconds",
        SortKey::Tokens => "r.tokens",
        SortKey::Cost => "r.money",
    };
    format!("{key}{way} NULLS LAST, r.id")
}
