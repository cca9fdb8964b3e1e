//! Passages and tables, and what is said of those that are not as asked.

use agon_core::check::{CheckKind, TextTest};
use agon_core::office::{
    Align, CellTest, DocumentCheck, ListKind, Passage, PassageTest, StyleTest, TableTest,
};

use super::{bold, cell, equals, result};

fn letter(path: &str) -> DocumentCheck {
    DocumentCheck {
        path: path.to_owned(),
        text: vec![],
        paragraphs: None,
        tests: vec![],
        tables: vec![],
        pictures: None,
    }
}

fn passage(of: Passage) -> PassageTest {
    PassageTest {
        of,
        text: vec![],
        style: StyleTest::default(),
        paragraph_style: None,
        list: None,
        align: None,
    }
}

fn words(words: &str) -> PassageTest {
    passage(Passage::Words(words.to_owned()))
}

fn table(number: u32) -> TableTest {
    TableTest {
        number,
        rows: None,
        columns: None,
        cells: vec![],
    }
}

#[tokio::test]
async fn a_document_that_is_as_asked_passes() {
    for path in ["letter.odt", "letter.docx"] {
        let check = DocumentCheck {
            text: vec![
                TextTest::Contains("urgent".into()),
                TextTest::Contains("Ann\n41".into()),
            ],
            paragraphs: Some(9),
            pictures: Some(1),
            tests: vec![
                PassageTest {
                    text: equals("Notice"),
                    paragraph_style: Some("heading 1".into()),
                    ..passage(Passage::Paragraph(1))
                },
                PassageTest {
                    style: bold(),
                    ..words("urgent")
                },
                PassageTest {
                    paragraph_style: Some("Standard".into()),
                    ..words("urgent")
                },
                PassageTest {
                    list: Some(ListKind::Bullet),
                    ..words("first point")
                },
                PassageTest {
                    list: Some(ListKind::Number),
                    ..words("first number")
                },
                PassageTest {
                    align: Some(Align::Centre),
                    ..words("red marked")
                },
                PassageTest {
                    style: StyleTest {
                        align: Some(Align::Justified),
                        strike: Some(true),
                        ..StyleTest::default()
                    },
                    ..words("Struck")
                },
                PassageTest {
                    style: bold(),
                    ..words("Name")
                },
            ],
            tables: vec![TableTest {
                rows: Some(3),
                columns: Some(2),
                cells: vec![
                    CellTest {
                        text: equals("Name"),
                        style: bold(),
                        ..cell("A1")
                    },
                    CellTest {
                        empty: Some(true),
                        ..cell("B3")
                    },
                ],
                ..table(1)
            }],
            ..letter(path)
        };
        let found = result(CheckKind::Document(check)).await;
        assert!(found.passed, "{path}: {}", found.reason);
    }
    let note = DocumentCheck {
        text: equals("Dear Sir\n\nyes"),
        paragraphs: Some(2),
        ..letter("note.txt")
    };
    let found = result(CheckKind::Document(note)).await;
    assert!(found.passed, "{}", found.reason);
}

#[tokio::test]
async fn each_passage_that_is_not_says_why() {
    let of = |test| DocumentCheck {
        tests: vec![test],
        ..letter("letter.odt")
    };
    let table_of = |test| DocumentCheck {
        tables: vec![test],
        ..letter("letter.odt")
    };
    for (test, reason) in [
        (of(words("urgen")), r#""urgen": it stands nowhere"#),
        (
            of(PassageTest {
                style: bold(),
                ..words("is urgent")
            }),
            r#""is urgent": it is not bold"#,
        ),
        (
            of(PassageTest {
                style: bold(),
                ..passage(Passage::Paragraph(2))
            }),
            "paragraph 2: it is not bold",
        ),
        (
            of(passage(Passage::Paragraph(10))),
            "paragraph 10: there are only 9",
        ),
        (
            of(PassageTest {
                paragraph_style: Some("Title".into()),
                ..passage(Passage::Paragraph(1))
            }),
            r#"paragraph 1: expected the style "Title"; found "Heading 1""#,
        ),
        (
            of(PassageTest {
                list: Some(ListKind::Number),
                ..words("first point")
            }),
            r#""first point": expected an entry of a numbered list; it is an entry of a list with bullets"#,
        ),
        (
            of(PassageTest {
                align: Some(Align::Left),
                ..words("Right")
            }),
            r#""Right": expected it on the left; it is on the right"#,
        ),
        (table_of(table(2)), "table 2: there are only 1"),
        (
            table_of(TableTest {
                rows: Some(2),
                ..table(1)
            }),
            "expected 2 rows in table 1; found 3",
        ),
        (
            table_of(TableTest {
                cells: vec![CellTest {
                    empty: Some(true),
                    ..cell("C1")
                }],
                ..table(1)
            }),
            "C1 of table 1: there is no such cell",
        ),
        (
            table_of(TableTest {
                cells: vec![CellTest {
                    text: equals("40"),
                    ..cell("B2")
                }],
                ..table(1)
            }),
            r#"B2 of table 1: expected "40"; found "41""#,
        ),
        (
            DocumentCheck {
                pictures: Some(0),
                ..letter("letter.odt")
            },
            "expected 0 pictures; found 1",
        ),
        (
            DocumentCheck {
                paragraphs: Some(1),
                ..letter("letter.odt")
            },
            "expected 1 paragraphs; found 9",
        ),
        (
            DocumentCheck {
                paragraphs: Some(1),
                ..letter("budget.ods")
            },
            "`budget.ods` can't be read as a document: it is a spreadsheet",
        ),
    ] {
        let found = result(CheckKind::Document(test)).await;
        assert_eq!((found.passed, &*found.reason), (false, reason));
    }
}
