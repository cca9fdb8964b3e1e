//! Cells of a spreadsheet.

use std::collections::HashMap;
use std::time::Instant;

use agon_core::Fault;
use agon_core::office::{CellTest, SheetCheck, StyleTest};
use agon_office::{Align, Area, Cell, Place, Sheet, Value, Workbook};

use super::looks;
use super::wrongs::Wrongs;
use crate::finding::{Finding, bad_check};
use crate::number;
use crate::reason::shown;
use crate::text::Surround;

/// Most cells of one range.
const CELLS: u64 = 10_000;

pub(crate) fn check(test: &SheetCheck, bytes: &[u8], deadline: Instant) -> Result<Finding, Fault> {
    let workbook = match agon_office::workbook(bytes, deadline) {
        Ok(workbook) => workbook,
        Err(error) => {
            let path = &test.path;
            return Ok(Finding::fail(format!(
                "`{path}` can't be read as a spreadsheet: {error}"
            )));
        }
    };
    let mut wrongs = Wrongs::default();
    if let Some(wanted) = &test.sheets {
        let found: Vec<_> = workbook.sheets.iter().map(|sheet| &sheet.name).collect();
        if !found.iter().copied().eq(wanted) {
            wrongs.add(format!(
                "expected the sheets {wanted:?}; found {}",
                names(&workbook)
            ));
        }
    }
    let sheet = match &test.sheet {
        Some(name) => workbook.sheets.iter().find(|sheet| sheet.name == *name),
        None => workbook.sheets.first(),
    };
    let Some(sheet) = sheet else {
        let missing = match &test.sheet {
            Some(name) => format!("there is no sheet {name:?}; found {}", names(&workbook)),
            None => "it has no sheet".to_owned(),
        };
        return Ok(Finding::fail(missing));
    };
    let size = |count| usize::try_from(count).unwrap_or(usize::MAX);
    wrongs.count("rows", test.rows, size(sheet.rows()));
    wrongs.count("columns", test.columns, size(sheet.columns()));
    wrongs.count("charts", test.charts, size(sheet.charts));
    for cells in &test.cells {
        range(cells, sheet, &mut wrongs)?;
    }
    Ok(wrongs.finding(|| format!("`{}` is as expected", test.path)))
}

fn names(workbook: &Workbook) -> String {
    let names: Vec<_> = workbook
        .sheets
        .iter()
        .map(|sheet| sheet.name.as_str())
        .collect();
    shown(names.join(", ").as_bytes())
}

fn range(test: &CellTest, sheet: &Sheet, wrongs: &mut Wrongs) -> Result<(), Fault> {
    let area = area(&test.at)?;
    let nothing = Cell::default();
    // What a file repeats is one and the same cell here, and looked at once: it may be large.
    let mut seen: HashMap<*const Cell, usize> = HashMap::new();
    for place in area.places() {
        let cell = sheet.cell(place).unwrap_or(&nothing);
        if let Some(wrong) = seen.get(&std::ptr::from_ref(cell)) {
            wrongs.again(*wrong);
            continue;
        }
        let before = wrongs.total();
        one(test, place, cell, wrongs)?;
        seen.insert(cell, wrongs.total() - before);
    }
    Ok(())
}

pub(super) fn area(at: &str) -> Result<Area, Fault> {
    Area::parse(at)
        .filter(|area| area.cells() <= CELLS)
        .ok_or_else(|| {
            bad_check(format!(
                "`{at}` is no cell, and no range of at most {CELLS}"
            ))
        })
}

fn one(test: &CellTest, place: Place, cell: &Cell, wrongs: &mut Wrongs) -> Result<(), Fault> {
    let text = cell.text();
    wrongs.text(&place.to_string(), &test.text, &text, Surround::Counts)?;
    if let Some((wanted, tolerance)) = test.number {
        match cell.value {
            Value::Number(found) if number::close(found, wanted, tolerance) => {}
            Value::Number(found) if tolerance == 0.0 => {
                wrongs.add(format!("{place}: expected {wanted}; found {found}"));
            }
            Value::Number(found) => {
                wrongs.add(format!(
                    "{place}: expected {wanted} ± {tolerance}; found {found}"
                ));
            }
            _ => wrongs.add(format!(
                "{place}: expected the number {wanted}; found {}, which is none",
                shown(text.as_bytes())
            )),
        }
    }
    match test.empty {
        Some(true) if !cell.is_empty() => {
            wrongs.add(format!(
                "{place}: expected nothing; found {}",
                shown(text.as_bytes())
            ));
        }
        Some(false) if cell.is_empty() => wrongs.add(format!("{place}: it is empty")),
        _ => {}
    }
    let formula = cell.formula.as_deref().unwrap_or_default();
    let whose = format!("{place}, its formula");
    wrongs.text(&whose, &test.formula, formula, Surround::Counts)?;
    if test.style != StyleTest::default() {
        // What nobody aligned: numbers stand on the right.
        let natural = match cell.value {
            Value::Number(_) => Align::Right,
            Value::Truth(_) => Align::Centre,
            Value::Text | Value::Empty => Align::Left,
        };
        let wrong = looks::of_runs(&test.style, cell.runs.iter(), &cell.style, natural);
        if let Some(wrong) = wrong {
            wrongs.add(format!("{place}: {wrong}"));
        }
    }
    Ok(())
}
