//! The same spreadsheet in each format: what is in its cells and how they look.

use agon_office::{Align, Cell, Paint, Place, Sheet, Value, Workbook};

use super::workbook;

fn read(name: &str) -> Workbook {
    let path = format!("{}/tests/files/{name}", env!("CARGO_MANIFEST_DIR"));
    workbook(&std::fs::read(path).unwrap()).unwrap()
}

fn cell(sheet: &Sheet, place: &str) -> Cell {
    let cell = sheet.cell(Place::parse(place).unwrap());
    cell.cloned().unwrap_or_default()
}

fn texts(sheet: &Sheet, places: &[&str]) -> Vec<String> {
    places
        .iter()
        .map(|place| cell(sheet, place).text())
        .collect()
}

/// What holds in both formats that have styles.
fn is_the_budget(book: &Workbook, serif: &str, sans: &str) {
    let names: Vec<_> = book.sheets.iter().map(|sheet| &*sheet.name).collect();
    assert_eq!(names, ["Budget", "Other"]);
    let sheet = &book.sheets[0];
    assert_eq!((sheet.rows(), sheet.columns(), sheet.charts), (9, 3, 1));
    assert_eq!(book.sheets[1].charts, 0);
    assert_eq!(
        texts(sheet, &["A1", "A3", "B5", "C5", "B7", "A8", "B8", "A9"]),
        [
            "Item",
            "Bread & butter",
            "16.75",
            "much; or more",
            "two\nlines",
            "merged",
            "",
            "TRUE"
        ]
    );
    assert_eq!(cell(sheet, "B2").value, Value::Number(12.5));
    assert_eq!(cell(sheet, "B9").value, Value::Number(0.125));
    assert_eq!(cell(sheet, "A9").value, Value::Truth(true));
    assert_eq!(cell(sheet, "B5").formula.as_deref(), Some("=SUM(B2:B4)"));
    assert_eq!(
        cell(sheet, "C5").formula.as_deref(),
        Some("=IF(B5>10,\"much; or more\",Other!A1)")
    );
    assert!(cell(sheet, "A6").is_empty() && cell(sheet, "C2").is_empty());

    let head = cell(sheet, "B1").style;
    assert_eq!((head.bold, head.align), (Some(true), Some(Align::Centre)));
    assert_eq!(head.background, Some(Paint::Colour([255, 255, 0])));
    let tea = cell(sheet, "A2").style;
    assert_eq!((tea.italic, tea.underline), (Some(true), Some(true)));
    assert_eq!(tea.colour, Some(Paint::Colour([255, 0, 0])));
    assert!(!tea.bold.unwrap_or(false) && !tea.strike.unwrap_or(false));
    let bread = cell(sheet, "A3").style;
    assert_eq!((bread.strike, bread.size), (Some(true), Some(14.0)));
    assert_eq!(bread.font.as_deref(), Some(serif));
    let plain = cell(sheet, "A4").style;
    assert_eq!(
        (plain.size, plain.font.as_deref()),
        (Some(10.0), Some(sans))
    );

    let mixed = cell(sheet, "A7");
    let bold: Vec<_> = mixed
        .runs
        .iter()
        .map(|run| (&*run.text, run.style.bold.unwrap_or(false)))
        .collect();
    assert_eq!(bold, [("some ", false), ("bold", true)]);
    for place in ["E1", "E500"] {
        let painted = cell(sheet, place).style.background;
        assert_eq!(painted, Some(Paint::Colour([0, 255, 0])), "{place}");
    }
}

#[test]
fn open_document() {
    let book = read("budget.ods");
    is_the_budget(&book, "Liberation Serif", "Liberation Sans");
    assert_eq!(cell(&book.sheets[0], "B9").text(), "12.50%");
}

#[test]
fn office_open_xml() {
    let book = read("budget.xlsx");
    // LibreOffice writes the names that Microsoft's programs know.
    is_the_budget(&book, "Times New Roman", "Arial");
    assert_eq!(cell(&book.sheets[0], "B9").text(), "12.50%");
}

#[test]
fn lines_of_values() {
    let book = read("budget.csv");
    let sheet = &book.sheets[0];
    assert_eq!((sheet.rows(), sheet.columns()), (9, 3));
    assert_eq!(
        texts(sheet, &["A1", "A3", "B5", "C5", "B7", "A8"]),
        [
            "Item",
            "Bread & butter",
            "16.75",
            "much; or more",
            "two\nlines",
            "merged"
        ]
    );
    assert_eq!(cell(sheet, "B2").value, Value::Number(12.5));
    assert_eq!(cell(sheet, "A9").value, Value::Truth(true));
}
