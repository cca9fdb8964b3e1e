//! A spreadsheet: sheets of cells. What a file repeats is kept once, so that a sheet of a million equal
//! rows is as small here as in its file.

use std::sync::Arc;

use crate::place::{COLUMNS, Place, ROWS};
use crate::style::{Run, Style};

#[derive(Debug, Clone, PartialEq)]
pub struct Workbook {
    pub sheets: Vec<Sheet>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sheet {
    /// Empty in files that have one sheet and no name for it.
    pub name: String,
    pub charts: u32,
    /// From above, without overlaps.
    rows: Vec<Strip<Vec<Strip<Arc<Cell>>>>>,
    /// What a cell looks like that is in no row.
    columns: Vec<Strip<Arc<Cell>>>,
}

/// Cells from left to right, each with how often it comes. Without one, the column says what is seen.
pub(crate) type Neighbours = Vec<(u32, Option<Arc<Cell>>)>;

/// So many equal neighbours.
#[derive(Debug, Clone, PartialEq)]
struct Strip<T> {
    first: u32,
    count: u32,
    of: T,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    pub value: Value,
    /// With its `=`, in the English spelling: `=SUM(A1:A3,Sheet2!B1)`.
    pub formula: Option<String>,
    /// The text that is shown.
    pub runs: Vec<Run>,
    /// Of the cell as a whole.
    pub style: Style,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Value {
    #[default]
    Empty,
    Text,
    Number(f64),
    Truth(bool),
}

impl Cell {
    pub fn text(&self) -> String {
        Run::text_of(&self.runs)
    }

    pub fn is_empty(&self) -> bool {
        self.value == Value::Empty && self.formula.is_none() && self.runs.is_empty()
    }
}

impl Sheet {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// `None`: nobody wrote or painted anything there.
    pub fn cell(&self, place: Place) -> Option<&Cell> {
        let of_row = find(&self.rows, place.row).and_then(|row| find(row, place.column));
        of_row
            .or_else(|| find(&self.columns, place.column))
            .map(AsRef::as_ref)
    }

    /// Rows from the first one to the last one with something in it.
    pub fn rows(&self) -> u32 {
        let used = self.rows.iter().rev().find(|row| used_columns(&row.of) > 0);
        used.map_or(0, |row| row.first + row.count)
    }

    pub fn columns(&self) -> u32 {
        let used = self.rows.iter().map(|row| used_columns(&row.of));
        used.max().unwrap_or(0)
    }

    pub(crate) fn set_columns(&mut self, columns: Neighbours) {
        self.columns = strips(columns, COLUMNS);
    }

    /// Puts `count` equal rows behind those that are there.
    pub(crate) fn push_rows(&mut self, count: u32, cells: Neighbours) {
        let first = self.rows.last().map_or(0, |row| row.first + row.count);
        let count = count.min(ROWS - first);
        if count > 0 {
            self.rows.push(Strip {
                first,
                count,
                of: strips(cells, COLUMNS),
            });
        }
    }

    /// How many rows there are, empty ones included.
    pub(crate) fn height(&self) -> u32 {
        self.rows.last().map_or(0, |row| row.first + row.count)
    }
}

fn strips<T>(items: Vec<(u32, Option<T>)>, most: u32) -> Vec<Strip<T>> {
    let mut strips = Vec::with_capacity(items.len());
    let mut first = 0;
    for (count, of) in items {
        let count = count.min(most - first);
        if let Some(of) = of.filter(|_| count > 0) {
            strips.push(Strip { first, count, of });
        }
        first += count;
    }
    strips
}

fn find<T>(strips: &[Strip<T>], at: u32) -> Option<&T> {
    let behind = strips.partition_point(|strip| strip.first <= at);
    let strip = strips.get(behind.checked_sub(1)?)?;
    (at < strip.first + strip.count).then_some(&strip.of)
}

fn used_columns(cells: &[Strip<Arc<Cell>>]) -> u32 {
    let used = cells.iter().rev().find(|strip| !strip.of.is_empty());
    used.map_or(0, |strip| strip.first + strip.count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Option<Arc<Cell>> {
        Some(Arc::new(Cell {
            value: Value::Text,
            runs: vec![Run {
                text: text.to_owned(),
                style: Style::default(),
            }],
            ..Cell::default()
        }))
    }

    #[test]
    fn what_is_repeated_is_found_at_each_place() {
        let mut sheet = Sheet::new("a");
        sheet.push_rows(3, vec![(2, text("x")), (u32::MAX, Some(Arc::default()))]);
        sheet.push_rows(u32::MAX, vec![]);
        sheet.push_rows(1, vec![(1, text("beyond"))]);
        let at = |place: &str| sheet.cell(Place::parse(place).unwrap()).map(Cell::text);
        assert_eq!(at("B3").as_deref(), Some("x"));
        assert_eq!(at("C3").as_deref(), Some(""));
        assert_eq!(at("A4"), None);
        assert_eq!((sheet.rows(), sheet.columns()), (3, 2));
        assert_eq!(sheet.height(), ROWS);
    }
}
