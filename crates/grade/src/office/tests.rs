//! Both checks over real files of LibreOffice, through the grader.

use agon_core::CheckResult;
use agon_core::check::{CheckKind, TextTest};
use agon_core::office::{CellTest, StyleTest};

use crate::canned::{Left, Remains, check, graded, task};
use crate::place::Place;

mod documents;
mod sheets;

const FILES: [&str; 5] = [
    "budget.ods",
    "budget.xlsx",
    "budget.csv",
    "letter.odt",
    "letter.docx",
];

fn remains() -> Remains {
    let read = |name: &&'static str| {
        let path = format!(
            "{}/../office/tests/files/{name}",
            env!("CARGO_MANIFEST_DIR")
        );
        Left::File(name, std::fs::read(path).unwrap())
    };
    let mut files: Vec<_> = FILES.iter().map(read).collect();
    files.push(Left::File("broken.ods", b"PK, and nothing else".to_vec()));
    files.push(Left::Link("link.ods", "budget.ods"));
    files.push(Left::File("note.txt", b"Dear Sir\n\nyes\n".to_vec()));
    Remains {
        files,
        ..Remains::default()
    }
}

async fn result(kind: CheckKind) -> CheckResult {
    let task = task(vec![check(kind, 1.0)]);
    let verdict = graded(&task, &remains(), &Place::Nowhere).await.unwrap();
    verdict.checks.into_iter().next().unwrap()
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

fn equals(text: &str) -> Vec<TextTest> {
    vec![TextTest::Equals(text.to_owned())]
}

fn contains(text: &str) -> Vec<TextTest> {
    vec![TextTest::Contains(text.to_owned())]
}

fn bold() -> StyleTest {
    StyleTest {
        bold: Some(true),
        ..StyleTest::default()
    }
}
