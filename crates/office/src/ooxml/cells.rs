//! Spreadsheets of Office Open XML: sheets, shared texts and formulas.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::colour::Theme;
use super::looks::{self, Look};
use super::{formula, parts};
use crate::budget::Budget;
use crate::deadline::Deadline;
use crate::error::OfficeError;
use crate::package::Package;
use crate::place::{Area, COLUMNS, Place, ROWS};
use crate::style::{Run, Style};
use crate::workbook::{Cell, Neighbours, Sheet, Value, Workbook};
use crate::xml::Element;

/// Most rows and cells of merged areas together.
const MERGED: usize = 5_000_000;

pub(crate) fn workbook(package: &mut Package<'_>) -> Result<Workbook, OfficeError> {
    let main = parts::main_part(package)?.unwrap_or_default();
    let book = package.needed(&main)?;
    let theme = Theme::read(parts::related(package, &main, "theme")?.as_ref());
    let styles = parts::related(package, &main, "styles")?;
    let strings = parts::related(package, &main, "sharedStrings")?;
    let strings = strings.as_ref().map_or_else(Vec::new, |list| {
        list.all("s:si").map(|item| runs(item, &theme)).collect()
    });
    let properties = book.child("s:workbookPr");
    let shared = Shared {
        looks: looks::read(styles.as_ref(), &theme),
        strings,
        theme,
        from_1904: properties
            .and_then(|of| of.attribute("date1904"))
            .is_some_and(is_true),
        deadline: package.deadline(),
    };
    let relations = parts::relations(package, &main)?;
    let mut budget = Budget::new();
    let mut sheets = Vec::new();
    for entry in book
        .child("s:sheets")
        .into_iter()
        .flat_map(Element::elements)
    {
        shared.deadline.check()?;
        let id = entry.attribute("r:id").unwrap_or_default();
        let relation = relations.iter().find(|relation| relation.id == id);
        let Some(part) = relation.map(|relation| relation.target.clone()) else {
            continue;
        };
        let name = entry.attribute("name").unwrap_or_default();
        let mut sheet = match package.xml(&part)? {
            Some(element) => shared.sheet(name, &element, &mut budget)?,
            None => Sheet::new(name),
        };
        sheet.charts = charts(package, &part)?;
        sheets.push(sheet);
    }
    Ok(Workbook { sheets })
}

fn charts(package: &mut Package<'_>, sheet: &str) -> Result<u32, OfficeError> {
    let mut charts = 0;
    for drawing in parts::relations(package, sheet)? {
        if drawing.kind == "drawing" {
            let relations = parts::relations(package, &drawing.target)?;
            let is_chart = |kind: &str| matches!(kind, "chart" | "chartEx");
            let count = relations
                .iter()
                .filter(|relation| is_chart(&relation.kind))
                .count();
            charts += u32::try_from(count).unwrap_or(u32::MAX);
        }
    }
    Ok(charts)
}

/// Letters with a style of their own, or none.
type Text = Vec<(String, Option<Style>)>;

struct Shared {
    looks: Vec<Look>,
    strings: Vec<Text>,
    theme: Theme,
    from_1904: bool,
    deadline: Deadline,
}

impl Shared {
    fn sheet(
        &self,
        name: &str,
        element: &Element,
        budget: &mut Budget,
    ) -> Result<Sheet, OfficeError> {
        let mut sheet = Sheet::new(name);
        sheet.set_columns(self.columns(element));
        let mut formulas = HashMap::new();
        let mut rows = BTreeMap::new();
        let mut next = 0;
        for row in element
            .child("s:sheetData")
            .into_iter()
            .flat_map(Element::elements)
        {
            let at = row.attribute("r").and_then(|at| at.parse::<u32>().ok());
            let at = at.and_then(|at| at.checked_sub(1)).unwrap_or(next);
            next = at.saturating_add(1);
            if at < ROWS {
                rows.insert(at, self.row(row, at, &mut formulas, budget)?);
            }
        }
        hide_merged(element, &mut rows)?;
        for (at, row) in rows {
            sheet.push_rows(at - sheet.height(), Vec::new());
            sheet.push_rows(1, row.strips());
        }
        Ok(sheet)
    }

    fn columns(&self, element: &Element) -> Neighbours {
        let mut columns = Vec::new();
        let mut next = 1;
        for column in element
            .child("s:cols")
            .into_iter()
            .flat_map(Element::elements)
        {
            let number = |key| {
                column
                    .attribute(key)
                    .and_then(|number| number.parse::<u32>().ok())
            };
            let (Some(first), Some(last)) = (number("min"), number("max")) else {
                continue;
            };
            if first < next || last < first {
                continue;
            }
            columns.push((first - next, None));
            let look = column
                .attribute("style")
                .map(|style| Arc::new(self.empty(Some(style))));
            columns.push((last - first + 1, look));
            next = last.saturating_add(1);
        }
        columns
    }

    fn row(
        &self,
        row: &Element,
        at: u32,
        formulas: &mut HashMap<String, (Place, String)>,
        budget: &mut Budget,
    ) -> Result<Row, OfficeError> {
        self.deadline.check()?;
        let own = row.attribute("customFormat").is_some_and(is_true);
        let style = row.attribute("s").filter(|_| own);
        let mut read = Row {
            cells: BTreeMap::new(),
            look: style.map(|style| Arc::new(self.empty(Some(style)))),
        };
        let mut next = 0;
        for element in row.all("s:c") {
            self.deadline.check()?;
            let place = element.attribute("r").and_then(Place::parse);
            let column = place.map_or(next, |place| place.column);
            next = column.saturating_add(1);
            if column < COLUMNS {
                let place = Place { row: at, column };
                let cell = self.cell(element, place, formulas);
                budget.spend(size(&cell))?;
                read.cells.insert(column, Arc::new(cell));
            }
        }
        Ok(read)
    }

    fn look(&self, number: Option<&str>) -> Look {
        let number = number.and_then(|number| number.parse().ok()).unwrap_or(0);
        self.looks.get::<usize>(number).cloned().unwrap_or_default()
    }

    fn empty(&self, number: Option<&str>) -> Cell {
        Cell {
            style: self.look(number).style,
            ..Cell::default()
        }
    }

    fn cell(
        &self,
        element: &Element,
        place: Place,
        formulas: &mut HashMap<String, (Place, String)>,
    ) -> Cell {
        let look = self.look(element.attribute("s"));
        let written = element.child("s:v").map(Element::text);
        let plain = |text: String| vec![(text, None)];
        let (value, text) = match (element.attribute("t").unwrap_or("n"), written) {
            ("inlineStr", _) => {
                let text = element.child("s:is").map(|text| runs(text, &self.theme));
                (Value::Text, text.unwrap_or_default())
            }
            (_, None) => (Value::Empty, Vec::new()),
            ("s", Some(index)) => {
                let text = index
                    .trim()
                    .parse()
                    .ok()
                    .and_then(|index: usize| self.strings.get(index));
                (Value::Text, text.cloned().unwrap_or_default())
            }
            ("b", Some(truth)) => {
                let truth = is_true(truth.trim());
                let shown = if truth { "TRUE" } else { "FALSE" };
                (Value::Truth(truth), plain(shown.to_owned()))
            }
            ("n", Some(number)) => match number.trim().parse::<f64>() {
                Ok(number) if number.is_finite() => {
                    let shown = look.format.shown(number, self.from_1904);
                    (Value::Number(number), plain(shown))
                }
                _ => (Value::Text, plain(number)),
            },
            (_, Some(text)) => (Value::Text, plain(text)),
        };
        let mut letters = Vec::new();
        for (text, own) in text {
            let style = own.unwrap_or_default().over(&look.style);
            Run::push(&mut letters, &text, &style);
        }
        Cell {
            value,
            formula: element
                .child("s:f")
                .and_then(|of| self::formula(of, place, formulas)),
            runs: letters,
            style: look.style,
        }
    }
}

/// Of merged cells only the first is seen.
fn hide_merged(element: &Element, rows: &mut BTreeMap<u32, Row>) -> Result<(), OfficeError> {
    let mut looked_at = 0;
    let merged = element
        .child("s:mergeCells")
        .into_iter()
        .flat_map(Element::elements);
    for area in merged.filter_map(|merged| Area::parse(merged.attribute("ref")?)) {
        let (first, last) = area.corners();
        for (at, row) in rows.range_mut(first.row..=last.row) {
            looked_at += 1;
            for (column, cell) in row.cells.range_mut(first.column..=last.column) {
                looked_at += 1;
                if (*at, *column) != (first.row, first.column) && !cell.is_empty() {
                    *cell = Arc::new(Cell {
                        style: cell.style.clone(),
                        ..Cell::default()
                    });
                }
            }
            // Areas don't overlap, except in files that are made to be slow.
            if looked_at > MERGED {
                return Err(OfficeError::TooLarge("it has too many merged cells"));
            }
        }
    }
    Ok(())
}

/// Letters that a cell holds.
fn size(cell: &Cell) -> usize {
    let text: usize = cell.runs.iter().map(|run| run.text.len()).sum();
    text + cell.formula.as_ref().map_or(0, String::len)
}

struct Row {
    cells: BTreeMap<u32, Arc<Cell>>,
    /// Of places without a cell.
    look: Option<Arc<Cell>>,
}

impl Row {
    fn strips(self) -> Neighbours {
        let mut strips = Vec::with_capacity(self.cells.len() * 2 + 1);
        let mut next = 0;
        for (column, cell) in self.cells {
            strips.push((column - next, self.look.clone()));
            strips.push((1, Some(cell)));
            next = column + 1;
        }
        strips.push((COLUMNS - next, self.look));
        strips
    }
}

/// A formula with its `=`; the first of those that share one has it written out.
fn formula(
    element: &Element,
    place: Place,
    formulas: &mut HashMap<String, (Place, String)>,
) -> Option<String> {
    let written = element.text();
    let shared = element
        .attribute("si")
        .filter(|_| element.attribute("t") == Some("shared"));
    let Some(shared) = shared else {
        return (!written.is_empty()).then(|| format!("={written}"));
    };
    if !written.is_empty() {
        formulas.insert(shared.to_owned(), (place, written.clone()));
        return Some(format!("={written}"));
    }
    let (from, written) = formulas.get(shared)?;
    Some(format!("={}", formula::shifted(written, *from, place)))
}

/// A text, plain or in parts. What says how it is pronounced is no part of it.
fn runs(element: &Element, theme: &Theme) -> Text {
    let mut text = Vec::new();
    for child in element.elements() {
        match &*child.name {
            "s:t" => text.push((child.text(), None)),
            "s:r" => {
                let style = child.child("s:rPr").map(|of| looks::font(of, theme));
                let letters = child.child("s:t").map(Element::text);
                text.push((letters.unwrap_or_default(), style));
            }
            _ => {}
        }
    }
    text
}

fn is_true(value: &str) -> bool {
    matches!(value, "1" | "true")
}
