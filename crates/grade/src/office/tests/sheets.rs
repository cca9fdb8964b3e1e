//! Cells, and what is said of those that are not as asked.

use agon_core::check::CheckKind;
use agon_core::office::{Align, CellTest, SheetCheck, StyleTest};
use agon_core::sight::Colour;
use agon_core::{CheckResult, FaultClass, Seconds};

use super::{bold, cell, contains, equals, remains, result};
use crate::canned::{check, graded, task};
use crate::place::Place;

fn sheet(path: &str) -> SheetCheck {
    SheetCheck {
        path: path.to_owned(),
        sheet: None,
        sheets: None,
        cells: vec![],
        rows: None,
        columns: None,
        charts: None,
    }
}

async fn of_cell(path: &str, test: CellTest) -> CheckResult {
    let check = SheetCheck {
        cells: vec![test],
        ..sheet(path)
    };
    result(CheckKind::Spreadsheet(check)).await
}

#[tokio::test]
async fn cells_that_are_as_asked_pass() {
    for path in ["budget.ods", "budget.xlsx"] {
        let check = SheetCheck {
            sheet: Some("Budget".into()),
            sheets: Some(vec!["Budget".into(), "Other".into()]),
            rows: Some(9),
            columns: Some(3),
            charts: Some(1),
            cells: vec![
                CellTest {
                    text: equals("Item"),
                    style: StyleTest {
                        background: Some(Colour([255, 255, 0])),
                        align: Some(Align::Centre),
                        ..bold()
                    },
                    ..cell("A1")
                },
                CellTest {
                    style: bold(),
                    ..cell("A1:C1")
                },
                CellTest {
                    number: Some((16.7, 0.1)),
                    formula: contains("SUM"),
                    style: StyleTest {
                        align: Some(Align::Right),
                        background: Some(Colour([255; 3])),
                        colour: Some(Colour([0; 3])),
                        bold: Some(false),
                        ..StyleTest::default()
                    },
                    ..cell("b5")
                },
                CellTest {
                    empty: Some(true),
                    ..cell("C2:C4")
                },
                CellTest {
                    empty: Some(false),
                    ..cell("A1:B5")
                },
                CellTest {
                    style: StyleTest {
                        background: Some(Colour([0, 255, 0])),
                        ..StyleTest::default()
                    },
                    ..cell("E1:E20")
                },
            ],
            ..sheet(path)
        };
        let result = result(CheckKind::Spreadsheet(check)).await;
        assert!(result.passed, "{path}: {}", result.reason);
    }
    let found = of_cell(
        "budget.csv",
        CellTest {
            number: Some((12.5, 0.0)),
            ..cell("B2")
        },
    )
    .await;
    assert!(found.passed, "{}", found.reason);
}

#[tokio::test]
async fn each_cell_that_is_not_says_why() {
    let style = |style| CellTest {
        style,
        ..cell("A2")
    };
    for (test, reason) in [
        (
            CellTest {
                text: equals("item"),
                ..cell("A1")
            },
            r#"A1: expected "item"; found "Item""#,
        ),
        (
            CellTest {
                number: Some((12.0, 0.0)),
                ..cell("B2")
            },
            "B2: expected 12; found 12.5",
        ),
        (
            CellTest {
                number: Some((12.0, 0.1)),
                ..cell("B2")
            },
            "B2: expected 12 ± 0.1; found 12.5",
        ),
        (
            CellTest {
                number: Some((1.0, 0.0)),
                ..cell("A1")
            },
            r#"A1: expected the number 1; found "Item", which is none"#,
        ),
        (
            CellTest {
                empty: Some(true),
                ..cell("A1")
            },
            r#"A1: expected nothing; found "Item""#,
        ),
        (
            CellTest {
                empty: Some(false),
                ..cell("Z99")
            },
            "Z99: it is empty",
        ),
        (
            CellTest {
                formula: contains("SUM"),
                ..cell("B2")
            },
            r#"B2, its formula: expected "SUM" in it; found """#,
        ),
        (style(bold()), "A2: it is not bold"),
        (
            style(StyleTest {
                underline: Some(false),
                ..StyleTest::default()
            }),
            "A2: it is underlined",
        ),
        (
            style(StyleTest {
                size: Some(12.0),
                ..StyleTest::default()
            }),
            "A2: expected 12 pt; found 10 pt",
        ),
        (
            style(StyleTest {
                font: Some("Courier".into()),
                ..StyleTest::default()
            }),
            "A2: expected the font Courier; found \"Liberation Sans\"",
        ),
        (
            style(StyleTest {
                colour: Some(Colour([0, 0, 255])),
                ..StyleTest::default()
            }),
            "A2: letters: expected #0000ff; found #ff0000",
        ),
        (
            style(StyleTest {
                align: Some(Align::Right),
                ..StyleTest::default()
            }),
            "A2: expected it on the right; it is on the left",
        ),
        // A word of a cell is not the cell.
        (
            CellTest {
                style: bold(),
                ..cell("A7")
            },
            "A7: it is not bold",
        ),
        (
            CellTest {
                style: bold(),
                ..cell("A1:A6")
            },
            "A2: it is not bold; A3: it is not bold; A4: it is not bold; A5: it is not bold; and 1 more",
        ),
    ] {
        let found = of_cell("budget.ods", test.clone()).await;
        assert!(!found.passed, "{test:?}");
        assert_eq!(found.reason, reason);
    }
}

#[tokio::test]
async fn sheets_and_their_size() {
    let budget = || sheet("budget.ods");
    for (test, reason) in [
        (
            SheetCheck {
                rows: Some(4),
                ..budget()
            },
            "expected 4 rows; found 9",
        ),
        (
            SheetCheck {
                columns: Some(4),
                ..budget()
            },
            "expected 4 columns; found 3",
        ),
        (
            SheetCheck {
                sheet: Some("Other".into()),
                charts: Some(1),
                ..budget()
            },
            "expected 1 charts; found 0",
        ),
        (
            SheetCheck {
                sheet: Some("Third".into()),
                ..budget()
            },
            r#"there is no sheet "Third"; found "Budget, Other""#,
        ),
        (
            SheetCheck {
                sheets: Some(vec!["Budget".into()]),
                ..budget()
            },
            r#"expected the sheets ["Budget"]; found "Budget, Other""#,
        ),
    ] {
        let found = result(CheckKind::Spreadsheet(test)).await;
        assert_eq!((found.passed, &*found.reason), (false, reason));
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_read_has_failed() {
    for (path, reason) in [
        ("none.ods", "`none.ods` does not exist"),
        (
            "broken.ods",
            "`broken.ods` can't be read as a spreadsheet: it is damaged",
        ),
        (
            "letter.odt",
            "`letter.odt` can't be read as a spreadsheet: it is a text document",
        ),
        (
            "link.ods",
            "`link.ods` is a link to \"budget.ods\", and links are not followed",
        ),
    ] {
        let found = of_cell(
            path,
            CellTest {
                empty: Some(true),
                ..cell("A1")
            },
        )
        .await;
        assert!(
            !found.passed && found.reason.starts_with(reason),
            "{}",
            found.reason
        );
    }
}

#[tokio::test]
async fn a_place_that_is_none_is_a_fault_of_the_task() {
    let test = SheetCheck {
        cells: vec![CellTest {
            empty: Some(true),
            ..cell("A1:XFD1048576")
        }],
        ..sheet("budget.ods")
    };
    let task = task(vec![check(CheckKind::Spreadsheet(test), 1.0)]);
    let fault = graded(&task, &remains(), &Place::Nowhere)
        .await
        .unwrap_err();
    assert_eq!(fault.class, FaultClass::Check);
}

#[tokio::test]
async fn a_file_that_takes_too_long_has_failed() {
    let test = SheetCheck {
        rows: Some(4),
        ..sheet("budget.ods")
    };
    let mut task = task(vec![check(CheckKind::Spreadsheet(test), 1.0)]);
    task.limits.check = Seconds::whole(0);
    let verdict = graded(&task, &remains(), &Place::Nowhere).await.unwrap();
    let [found] = &verdict.checks[..] else {
        panic!("one check, one result");
    };
    assert!(!found.passed);
    assert!(found.reason.contains("takes too long"), "{}", found.reason);
}
