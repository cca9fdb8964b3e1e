//! Checks of spreadsheets and text documents: what their keys mean, and what is wrong with them.

use agon_core::check::{CheckKind, TextTest};
use agon_core::office::{
    Align, CellTest, DocumentCheck, ListKind, Passage, PassageTest, SheetCheck, StyleTest,
    TableTest,
};
use agon_core::sight::Colour;

use super::fixture::{Folder, checks, one};

fn check(yaml: &str) -> CheckKind {
    checks(&one(&format!("task: x\nchecks:\n  - {yaml}\n")))
        .remove(0)
        .kind
}

fn equals(text: &str) -> TextTest {
    TextTest::Equals(text.to_owned())
}

fn cell(at: &str) -> CellTest {
    CellTest {
        at: at.to_owned(),
        text: vec![],
        number: None,
        empty: None,
        formula: vec![],
        style: StyleTest::default(),
    }
}

#[test]
fn cells() {
    let found = check(
        "{type: spreadsheet, path: a.ods, sheet: One, sheets: [One, 2], rows: 5, columns: 3, charts: 0, cells: {\
         A1: Hello World, A2: 12.5, A3: '12.5', A4: true, A5: 1e3, \
         B1: {number: 0.50, tolerance: 0.1, contains: a}, 'B2:c3': {empty: true}, \
         C1: {formula: =SUM(A1), style: {bold: true, italic: false, size: 12, font: Arial, colour: '#ff0000', background: '00ff00', align: center}}, \
         C2: {formula: {contains: SUM, matches: '^='}}}}",
    );
    let expected = SheetCheck {
        path: "a.ods".into(),
        sheet: Some("One".into()),
        sheets: Some(vec!["One".into(), "2".into()]),
        rows: Some(5),
        columns: Some(3),
        charts: Some(0),
        cells: vec![
            CellTest {
                text: vec![equals("Hello World")],
                ..cell("A1")
            },
            CellTest {
                number: Some((12.5, 0.0)),
                ..cell("A2")
            },
            CellTest {
                text: vec![equals("12.5")],
                ..cell("A3")
            },
            CellTest {
                text: vec![equals("TRUE")],
                ..cell("A4")
            },
            CellTest {
                number: Some((1000.0, 0.0)),
                ..cell("A5")
            },
            CellTest {
                number: Some((0.5, 0.1)),
                text: vec![TextTest::Contains("a".into())],
                ..cell("B1")
            },
            CellTest {
                empty: Some(true),
                ..cell("B2:c3")
            },
            CellTest {
                formula: vec![equals("=SUM(A1)")],
                style: StyleTest {
                    bold: Some(true),
                    italic: Some(false),
                    size: Some(12.0),
                    font: Some("Arial".into()),
                    colour: Some(Colour([255, 0, 0])),
                    background: Some(Colour([0, 255, 0])),
                    align: Some(Align::Centre),
                    ..StyleTest::default()
                },
                ..cell("C1")
            },
            CellTest {
                formula: vec![
                    TextTest::Contains("SUM".into()),
                    TextTest::Matches("^=".into()),
                ],
                ..cell("C2")
            },
        ],
    };
    assert_eq!(found, CheckKind::Spreadsheet(expected));
}

#[test]
fn passages_and_tables() {
    let passage = |of| PassageTest {
        of,
        text: vec![],
        style: StyleTest::default(),
        paragraph_style: None,
        list: None,
        align: None,
    };
    let found = check(
        "{type: document, path: a.odt, contains: Dear, paragraphs: 3, pictures: 1, passages: [\
         {paragraph: 1, equals: Title, paragraph_style: Heading 1, align: justify}, {words: urgent, style: {strike: true}}, \
         {whole: true, list: none}], tables: [{rows: 2, columns: 1, cells: {A1: Name}}, {number: 2}]}",
    );
    let table = |number| TableTest {
        number,
        rows: None,
        columns: None,
        cells: vec![],
    };
    let expected = DocumentCheck {
        path: "a.odt".into(),
        text: vec![TextTest::Contains("Dear".into())],
        paragraphs: Some(3),
        pictures: Some(1),
        tests: vec![
            PassageTest {
                text: vec![equals("Title")],
                paragraph_style: Some("Heading 1".into()),
                align: Some(Align::Justified),
                ..passage(Passage::Paragraph(1))
            },
            PassageTest {
                style: StyleTest {
                    strike: Some(true),
                    ..StyleTest::default()
                },
                ..passage(Passage::Words("urgent".into()))
            },
            PassageTest {
                list: Some(ListKind::None),
                ..passage(Passage::Whole)
            },
        ],
        tables: vec![
            TableTest {
                rows: Some(2),
                columns: Some(1),
                cells: vec![CellTest {
                    text: vec![equals("Name")],
                    ..cell("A1")
                }],
                ..table(1)
            },
            table(2),
        ],
    };
    assert_eq!(found, CheckKind::Document(expected));
}

#[test]
fn every_wrong_key_is_reported_at_its_place() {
    let complaint = Folder::of_task(
        "task: x\nchecks:\n  - {type: spreadsheet, path: a}\n  - {type: spreadsheet, cells: {A1: x}}\n  \
         - {type: spreadsheet, path: ../a, cells: {A1: x}}\n  \
         - {type: spreadsheet, path: a, cells: [A1]}\n  \
         - {type: spreadsheet, path: a, cels: {A1: x}}\n  \
         - {type: spreadsheet, path: a, contains: x}\n  \
         - type: spreadsheet\n    path: a\n    cells:\n      A: x\n      A0: x\n      AAAA1: x\n      A1:A: x\n      \
         A1:XFD1048576: x\n      B1: {bold: true}\n      B2: {}\n      B3:\n      B4: {style: {bolt: true}}\n      \
         B5: {style: {}}\n      B6: {empty: true, number: 1}\n      B7: {tolerance: 1}\n      B8: {number: many}\n      \
         B9: {formula: {}}\n      B10: {matches: '('}\n      B11: {style: {background: }}\n      B12: {contains: ''}\n      \
         B13: {number: 1, tolerance: -1}\n      B14: {style: {align: middle}}\n      B15: {style: {size: 0}}\n  \
         - {type: document, path: a}\n  - {type: document, path: a, number: 3}\n  \
         - {type: document, path: a, passages: {words: x}}\n  \
         - {type: document, path: a, passages: [{}, {paragraph: 0}, {words: ''}, {whole: true}, {whole: false, align: left}, \
         {words: a, paragraph: 1}, {words: a, equals: b}, {word: a}, {paragraph: 1, list: dots}]}\n  \
         - {type: document, path: a, tables: [{number: 0}, {cells: {A1: 5}}, {row: 1}]}\n",
    )
    .complaint();
    insta::assert_snapshot!(complaint);
}

#[test]
fn a_conversation_has_no_files() {
    let complaint = Folder::of_task(
        "task: x\nenvironment: {kind: none}\nchecks:\n  - {type: spreadsheet, path: a, rows: 1}\n",
    )
    .complaint();
    assert!(complaint.contains("none"), "{complaint}");
}

#[test]
fn the_digest_covers_what_is_asked_of_cells() {
    let digest = |cells: &str| {
        let yaml =
            format!("task: x\nchecks:\n  - {{type: spreadsheet, path: a, cells: {cells}}}\n");
        one(&yaml).digest
    };
    assert_eq!(digest("{A1: x, B1: y}"), digest("{B1: y, A1: x}"));
    assert_ne!(digest("{A1: 5}"), digest("{A1: '5'}"));
    assert_ne!(
        digest("{A1: {style: {bold: true}}}"),
        digest("{A1: {style: {bold: false}}}")
    );
}

#[test]
fn editors_are_told_of_cells_and_passages() {
    let schema = agon_suite::task_schema();
    let schema = schema.as_value();
    let check = &schema["$defs"]["CheckFile"]["properties"];
    let cell = &check["cells"]["additionalProperties"]["anyOf"][1]["$ref"];
    assert_eq!(cell, "#/$defs/Cell");
    let types = schema["$defs"]["CheckType"]["enum"].as_array().unwrap();
    for kind in ["spreadsheet", "document"] {
        assert!(types.iter().any(|known| known == kind), "{kind}");
    }
    for (of, key) in [
        ("Cell", "formula"),
        ("Style", "background"),
        ("Passage", "words"),
        ("Table", "cells"),
    ] {
        assert!(
            schema["$defs"][of]["properties"][key].is_object(),
            "{of}.{key}"
        );
    }
}
