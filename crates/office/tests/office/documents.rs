//! The same letter in each format: its text, how it looks, and its table.

use agon_office::{Align, Document, ListKind, Paint, Paragraph, Run};

use super::document;

fn read(name: &str) -> Document {
    let path = format!("{}/tests/files/{name}", env!("CARGO_MANIFEST_DIR"));
    document(&std::fs::read(path).unwrap()).unwrap()
}

fn run<'a>(paragraph: &'a Paragraph, words: &str) -> &'a Run {
    let found = paragraph.runs.iter().find(|run| run.text.trim() == words);
    found.unwrap_or_else(|| panic!("{words}: {paragraph:?}"))
}

fn is_the_letter(letter: &Document) {
    let paragraphs: Vec<_> = letter.paragraphs().collect();
    let texts: Vec<_> = paragraphs
        .iter()
        .map(|paragraph| paragraph.text())
        .collect();
    assert_eq!(
        texts,
        [
            "Notice",
            "This is urgent, and this is  not.",
            "Centred red marked",
            "Right",
            "Struck",
            "first point",
            "first number",
            "A table:",
            "The end",
        ]
    );
    let [
        title,
        urgent,
        centred,
        right,
        struck,
        point,
        number,
        plain,
        _,
    ] = &paragraphs[..]
    else {
        panic!("{texts:?}");
    };
    assert_eq!(title.style.as_deref(), Some("Heading 1"));
    let style = &run(title, "Notice").style;
    assert_eq!((style.bold, style.size), (Some(true), Some(18.0)));
    assert_eq!(style.font.as_deref(), Some("Liberation Sans"));
    assert!(run(urgent, "urgent").style.bold.unwrap_or(false));
    assert!(!run(urgent, ", and").style.bold.unwrap_or(false));
    let this = &run(urgent, "this").style;
    assert_eq!((this.italic, this.underline), (Some(true), Some(true)));
    assert_eq!(this.size, Some(12.0));
    assert_eq!(centred.align, Some(Align::Centre));
    let red = &run(centred, "red").style;
    assert_eq!(
        (red.colour, red.size),
        (Some(Paint::Colour([255, 0, 0])), Some(20.0))
    );
    let marked = &run(centred, "marked").style;
    assert_eq!(marked.background, Some(Paint::Colour([255, 255, 0])));
    assert_eq!(right.align, Some(Align::Right));
    assert_eq!(
        run(right, "Right").style.font.as_deref(),
        Some("Liberation Sans")
    );
    assert_eq!(struck.align, Some(Align::Justified));
    assert_eq!(run(struck, "Struck").style.strike, Some(true));
    let lists = [title, point, number, plain].map(|paragraph| paragraph.list);
    let expected = [
        ListKind::None,
        ListKind::Bullet,
        ListKind::Number,
        ListKind::None,
    ];
    assert_eq!(lists, expected);

    let tables = letter.tables();
    let [table] = &tables[..] else {
        panic!("{tables:?}");
    };
    assert_eq!((table.rows.len(), table.columns()), (3, 2));
    let cell = |row, column| table.cell(row, column).unwrap().paragraphs()[0];
    assert_eq!(cell(1, 1).text(), "41");
    assert_eq!(cell(2, 1).text(), "");
    assert_eq!(run(cell(0, 0), "Name").style.bold, Some(true));
    assert!(table.cell(3, 0).is_none());
    assert_eq!(letter.pictures, 1);
}

#[test]
fn open_document() {
    is_the_letter(&read("letter.odt"));
}

#[test]
fn office_open_xml() {
    is_the_letter(&read("letter.docx"));
}
