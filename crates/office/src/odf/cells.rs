//! Spreadsheets of OpenDocument: tables of repeated rows and cells.

use std::collections::HashMap;
use std::sync::Arc;

use super::styles::{Family, Styles};
use super::text::Letters;
use super::{charts, formula};
use crate::budget::Budget;
use crate::deadline::Deadline;
use crate::error::OfficeError;
use crate::package::Package;
use crate::place::COLUMNS;
use crate::style::Run;
use crate::workbook::{Cell, Neighbours, Sheet, Value, Workbook};
use crate::xml::Element;

/// Most neighbours that differ, of all sheets together.
const STRIPS: usize = 2_000_000;

pub(crate) fn workbook(package: &mut Package<'_>) -> Result<Workbook, OfficeError> {
    let content = package.needed("content.xml")?;
    let styles = package.xml("styles.xml")?;
    let styles = Styles::read(styles.as_ref(), &content);
    let body = content.below(&["office:body", "office:spreadsheet"]);
    let body = body.ok_or(OfficeError::Other("no spreadsheet"))?;
    let mut sheets = Vec::new();
    let mut reader = Reader {
        styles: &styles,
        looks: HashMap::new(),
        strips: 0,
        budget: Budget::new(),
        deadline: package.deadline(),
    };
    for table in body.all("table:table") {
        let mut sheet = reader.sheet(table)?;
        sheet.charts = charts::count(table, package)?;
        sheets.push(sheet);
    }
    Ok(Workbook { sheets })
}

struct Reader<'a> {
    styles: &'a Styles,
    /// Empty cells by the name of their style.
    looks: HashMap<Option<&'a str>, Arc<Cell>>,
    strips: usize,
    budget: Budget,
    deadline: Deadline,
}

impl<'a> Reader<'a> {
    fn sheet(&mut self, table: &'a Element) -> Result<Sheet, OfficeError> {
        let mut sheet = Sheet::new(table.attribute("table:name").unwrap_or_default());
        let mut columns = Vec::new();
        gather(table, "table:table-column", &mut columns);
        let columns: Vec<(u32, Option<&str>)> = columns
            .into_iter()
            .map(|column| {
                let count = times(column, "table:number-columns-repeated");
                (count, column.attribute("table:default-cell-style-name"))
            })
            .collect();
        let empty = columns
            .iter()
            .map(|&(count, name)| (count, Some(self.look(name))));
        sheet.set_columns(empty.collect());
        let mut rows = Vec::new();
        gather(table, "table:table-row", &mut rows);
        for row in rows {
            self.deadline.check()?;
            let cells = self.row(row, &columns)?;
            sheet.push_rows(times(row, "table:number-rows-repeated"), cells);
        }
        Ok(sheet)
    }

    fn row(
        &mut self,
        row: &'a Element,
        columns: &[(u32, Option<&'a str>)],
    ) -> Result<Neighbours, OfficeError> {
        let of_row = row.attribute("table:default-cell-style-name");
        let mut columns = Columns {
            left: columns,
            used: 0,
        };
        let mut cells = Vec::new();
        for cell in row.elements() {
            let covered = match &*cell.name {
                "table:table-cell" => false,
                "table:covered-table-cell" => true,
                _ => continue,
            };
            let mut count = times(cell, "table:number-columns-repeated").min(COLUMNS);
            let named = cell.attribute("table:style-name").or(of_row);
            // One cell may stand in thousands of columns: it is read once for each look.
            let mut read: HashMap<*const Cell, Arc<Cell>> = HashMap::new();
            // Cells that say nothing themselves look like their column, and columns may differ.
            while count > 0 {
                self.deadline.check()?;
                let (alike, of_column) = match named {
                    Some(name) => (columns.skip(count), Some(name)),
                    None => columns.next(count),
                };
                let look = self.look(of_column);
                let known = read.get(&Arc::as_ptr(&look)).map(Arc::clone);
                let shown = match known {
                    Some(known) => known,
                    None if covered => look,
                    None => {
                        let new = self.cell(cell, &look);
                        let text: usize = new.runs.iter().map(|run| run.text.len()).sum();
                        self.budget.spend(text)?;
                        read.insert(Arc::as_ptr(&look), Arc::clone(&new));
                        new
                    }
                };
                cells.push((alike, Some(shown)));
                count -= alike;
                self.strips += 1;
                if self.strips > STRIPS {
                    return Err(OfficeError::TooLarge("it has too many cells"));
                }
            }
        }
        Ok(cells)
    }

    /// An empty cell of this style.
    fn look(&mut self, name: Option<&'a str>) -> Arc<Cell> {
        let styles = self.styles;
        let look = self.looks.entry(name).or_insert_with(|| {
            Arc::new(Cell {
                style: styles.of(Family::Cell, name),
                ..Cell::default()
            })
        });
        Arc::clone(look)
    }

    fn cell(&self, element: &Element, look: &Arc<Cell>) -> Arc<Cell> {
        let style = &look.style;
        let value = value(element);
        let formula = element.attribute("table:formula").map(formula::shown);
        let mut letters = Letters::new(self.styles);
        for (number, paragraph) in element.all("text:p").enumerate() {
            if number > 0 {
                letters.line_end(style);
            }
            letters.add(paragraph, style);
        }
        let mut runs = letters.runs;
        if runs.is_empty() {
            Run::push(&mut runs, &unshown(element, value), style);
        }
        if value == Value::Empty && formula.is_none() && runs.is_empty() {
            return Arc::clone(look);
        }
        // Files may leave the type of a text out.
        let value = match value {
            Value::Empty if !runs.is_empty() => Value::Text,
            other => other,
        };
        Arc::new(Cell {
            value,
            formula,
            runs,
            style: style.clone(),
        })
    }
}

/// Walks over columns that are repeated.
struct Columns<'a, 's> {
    left: &'s [(u32, Option<&'a str>)],
    /// Of the first that is left.
    used: u32,
}

impl<'a> Columns<'a, '_> {
    /// The next columns that are alike, at most so many.
    fn next(&mut self, most: u32) -> (u32, Option<&'a str>) {
        let Some(&(count, name)) = self.left.first() else {
            return (most, None);
        };
        let alike = (count - self.used).min(most);
        self.used += alike;
        if self.used == count {
            self.left = &self.left[1..];
            self.used = 0;
        }
        (alike, name)
    }

    fn skip(&mut self, count: u32) -> u32 {
        let mut left = count;
        while left > 0 {
            left -= self.next(left).0;
        }
        count
    }
}

/// Rows and columns may stand in groups.
fn gather<'a>(element: &'a Element, name: &str, found: &mut Vec<&'a Element>) {
    for child in element.elements() {
        match &*child.name {
            own if own == name => found.push(child),
            "table:table-header-rows"
            | "table:table-rows"
            | "table:table-row-group"
            | "table:table-header-columns"
            | "table:table-columns"
            | "table:table-column-group" => gather(child, name, found),
            _ => {}
        }
    }
}

pub(super) fn times(element: &Element, key: &str) -> u32 {
    let times = element.attribute(key).and_then(|times| times.parse().ok());
    times.unwrap_or(1).max(1)
}

fn value(element: &Element) -> Value {
    let number = || {
        let value = element.attribute("office:value")?.parse().ok();
        value
            .filter(|value: &f64| value.is_finite())
            .map(Value::Number)
    };
    match element.attribute("office:value-type") {
        Some("float" | "percentage" | "currency") => number().unwrap_or(Value::Text),
        Some("boolean") => Value::Truth(element.attribute("office:boolean-value") == Some("true")),
        Some(_) => Value::Text,
        None => Value::Empty,
    }
}

/// The text of a cell whose file does not say how it is shown.
fn unshown(element: &Element, value: Value) -> String {
    match value {
        Value::Empty => String::new(),
        Value::Truth(truth) => if truth { "TRUE" } else { "FALSE" }.to_owned(),
        Value::Number(_) | Value::Text => [
            "office:string-value",
            "office:date-value",
            "office:time-value",
            "office:value",
        ]
        .iter()
        .find_map(|key| element.attribute(key))
        .unwrap_or_default()
        .to_owned(),
    }
}
