//! Which tasks of a suite are played: `--category`, `--level`, `--filter`, `--limit`.

use std::collections::BTreeSet;

use agon_core::{Level, Task};

use crate::filter::Filter;
use crate::source::nearest;

#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Any of these; empty: all.
    pub categories: Vec<String>,
    /// Any of these (`none`: without a level); empty: all.
    pub levels: Vec<String>,
    pub filter: Option<Filter>,
    /// At most so many, the first ones.
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum SelectionError {
    #[error("there is no category `{name}`{}; the categories are: {known}", hint(near.as_ref()))]
    Category {
        name: String,
        near: Option<String>,
        known: String,
    },
    #[error("there is no level `{name}`{}; the levels are: {known}", hint(near.as_ref()))]
    Level {
        name: String,
        near: Option<String>,
        known: String,
    },
    #[error("no task is selected; use `agon list` to see what there is")]
    Nothing,
}

fn hint(near: Option<&String>) -> String {
    near.map(|near| format!(", did you mean `{near}`?"))
        .unwrap_or_default()
}

impl Selection {
    /// Keeps what is selected, in order.
    pub fn apply(&self, tasks: &mut Vec<Task>) -> Result<(), SelectionError> {
        let known: BTreeSet<&str> = tasks.iter().map(|task| task.id.category()).collect();
        for name in &self.categories {
            if !known.contains(name.as_str()) {
                return Err(SelectionError::Category {
                    name: name.clone(),
                    near: nearest(name, known.iter().copied()).map(str::to_owned),
                    known: known.iter().copied().collect::<Vec<_>>().join(", "),
                });
            }
        }
        let levels = self
            .levels
            .iter()
            .map(|name| level(name))
            .collect::<Result<Vec<_>, _>>()?;
        tasks.retain(|task| {
            let category = task.id.category();
            (self.categories.is_empty() || self.categories.iter().any(|name| name == category))
                && (levels.is_empty() || levels.contains(&task.level))
                && self.filter.as_ref().is_none_or(|filter| filter.holds(task))
        });
        tasks.truncate(self.limit.unwrap_or(usize::MAX));
        if tasks.is_empty() {
            return Err(SelectionError::Nothing);
        }
        Ok(())
    }
}

fn level(name: &str) -> Result<Option<Level>, SelectionError> {
    if name == "none" {
        return Ok(None);
    }
    name.parse().map(Some).map_err(|_| {
        let names = Level::ALL.map(Level::name);
        SelectionError::Level {
            name: name.to_owned(),
            near: nearest(name, names.into_iter()).map(str::to_owned),
            known: format!("{}, none", names.join(", ")),
        }
    })
}
