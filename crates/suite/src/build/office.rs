//! Checks of spreadsheets and text documents: from keys to what is asked about cells and passages.

use agon_core::check::{CheckKind, TextTest};
use agon_core::office::{
    CellTest, DocumentCheck, Passage, PassageTest, SheetCheck, StyleTest, TableTest,
};

use super::check::{Reader, misplaced_keys, wrong};
use crate::format::{CellFile, FormulaFile, PassageFile, StyleFile, TableFile};
use crate::patterns::{Use, compiled};
use crate::source::{Content, Node, NodeError};

/// Most cells that one range may have.
const CELLS: u64 = 10_000;

impl Reader<'_> {
    pub(super) fn spreadsheet(&self, errors: &mut Vec<NodeError>) -> Result<CheckKind, NodeError> {
        let file = self.file;
        let check = SheetCheck {
            path: self.working_file()?.clone(),
            sheet: file.sheet.clone(),
            sheets: file.sheets.clone(),
            cells: cells(self.node, errors)?,
            rows: file.rows,
            columns: file.columns,
            charts: file.charts,
        };
        let counts = [check.rows, check.columns, check.charts];
        if check.cells.is_empty()
            && check.sheet.is_none()
            && check.sheets.is_none()
            && counts == [None; 3]
        {
            return Err(self.nothing_to_test());
        }
        Ok(CheckKind::Spreadsheet(check))
    }

    pub(super) fn document(&self, errors: &mut Vec<NodeError>) -> Result<CheckKind, NodeError> {
        let file = self.file;
        let text = self.text_tests()?;
        no_empty_search(&text, self.node)?;
        let check = DocumentCheck {
            path: self.working_file()?.clone(),
            text,
            paragraphs: file.paragraphs,
            tests: each(self.node, "passages", errors, passage)?,
            tables: each(self.node, "tables", errors, table)?,
            pictures: file.pictures,
        };
        if check.text.is_empty()
            && check.tests.is_empty()
            && check.tables.is_empty()
            && check.paragraphs.is_none()
            && check.pictures.is_none()
        {
            return Err(self.nothing_to_test());
        }
        Ok(CheckKind::Document(check))
    }
}

/// The entries of a list; those with errors are left out of the answer.
fn each<T>(
    node: &Node,
    key: &str,
    errors: &mut Vec<NodeError>,
    read: impl Fn(&Node, &mut Vec<NodeError>) -> Result<T, NodeError>,
) -> Result<Vec<T>, NodeError> {
    let Some(list) = node.get(key) else {
        return Ok(Vec::new());
    };
    let Content::Sequence(items) = &list.content else {
        return Err(wrong(node, key, format!("`{key}` is a list")));
    };
    let mut read_all = Vec::with_capacity(items.len());
    for item in items {
        match read(item, errors) {
            Ok(one) => read_all.push(one),
            Err(error) => errors.push(error.at(item.head())),
        }
    }
    Ok(read_all)
}

fn cells(node: &Node, errors: &mut Vec<NodeError>) -> Result<Vec<CellTest>, NodeError> {
    let Some(cells) = node.get("cells") else {
        return Ok(Vec::new());
    };
    let Content::Mapping(pairs) = &cells.content else {
        return Err(
            wrong(node, "cells", "`cells` has a place and a test per cell")
                .help("such as cells: {A1: Total, B1: {number: 12.5}}"),
        );
    };
    let mut tests = Vec::with_capacity(pairs.len());
    for (key, value) in pairs {
        let read = range(&key.text).and_then(|()| cell(&key.text, value, errors));
        match read {
            Ok(test) => tests.push(test),
            Err(error) => errors.push(error.at(key.span)),
        }
    }
    Ok(tests)
}

/// Whether a text is the place of a cell, or of a range that is not too large.
fn range(text: &str) -> Result<(), NodeError> {
    let (first, last) = text.split_once(':').unwrap_or((text, text));
    let (Some(first), Some(last)) = (place(first), place(last)) else {
        let message = format!("`{text}` is no place of a cell");
        return Err(NodeError::new(message).help("write it like B7, or A1:C3 for a range"));
    };
    let side = |a: u64, b: u64| a.abs_diff(b) + 1;
    let cells = side(first.0, last.0) * side(first.1, last.1);
    if cells > CELLS {
        let message = format!("`{text}` has {cells} cells: a range has at most {CELLS}");
        return Err(NodeError::new(message));
    }
    Ok(())
}

/// Column and row, from 1.
fn place(text: &str) -> Option<(u64, u64)> {
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, digits) = text.split_at(letters);
    if !(1..=3).contains(&letters.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let column = letters.bytes().fold(0, |column, letter| {
        column * 26 + u64::from(letter.to_ascii_uppercase() - b'A') + 1
    });
    let row: u64 = digits.parse().ok()?;
    (column <= 1 << 14 && (1..=1 << 20).contains(&row)).then_some((column, row))
}

fn cell(at: &str, node: &Node, errors: &mut Vec<NodeError>) -> Result<CellTest, NodeError> {
    let mut test = CellTest {
        at: at.to_owned(),
        text: Vec::new(),
        number: None,
        empty: None,
        formula: Vec::new(),
        style: StyleTest::default(),
    };
    if let Content::Scalar { text, plain } = &node.content {
        match plain_value(text, *plain) {
            Some(Plain::Number(number)) => test.number = Some((number, 0.0)),
            Some(Plain::Text(text)) => test.text.push(TextTest::Equals(text)),
            None => {
                let help = "write {empty: true} for a cell with nothing in it";
                return Err(NodeError::new(format!("`{at}` has no value")).help(help));
            }
        }
        return Ok(test);
    }
    let file: CellFile = node.read()?;
    no_empty_keys("cell", node, errors);
    let texts = Texts {
        equals: file.equals.as_ref(),
        one_of: file.one_of.as_ref(),
        contains: file.contains.as_ref(),
        not_contains: file.not_contains.as_ref(),
        matches: file.matches.as_ref(),
    };
    test.text = texts.tests(node)?;
    test.number = match (file.number, file.tolerance.unwrap_or(0.0)) {
        (_, tolerance) if tolerance < 0.0 => {
            return Err(wrong(node, "tolerance", "a tolerance can't be negative"));
        }
        (None, _) if file.tolerance.is_some() => {
            return Err(wrong(
                node,
                "tolerance",
                "`tolerance` needs `number` beside it",
            ));
        }
        (number, tolerance) => number.map(|number| (number, tolerance)),
    };
    test.empty = file.empty;
    test.formula = node
        .get("formula")
        .map_or(Ok(Vec::new()), |formula| formula_tests(formula, errors))?;
    test.style = style(node, file.style.as_ref(), errors)?;
    let content = !test.text.is_empty() || test.number.is_some() || !test.formula.is_empty();
    if test.empty == Some(true) && content {
        return Err(wrong(node, "empty", "an empty cell has no content to test"));
    }
    if !content && test.empty.is_none() && test.style == StyleTest::default() {
        return Err(NodeError::new(format!("nothing is asked of `{at}`"))
            .help("add one of: equals, contains, number, empty, formula, style"));
    }
    Ok(test)
}

enum Plain {
    Number(f64),
    Text(String),
}

/// What a scalar says when it stands for a whole test.
fn plain_value(text: &str, plain: bool) -> Option<Plain> {
    if !plain {
        return Some(Plain::Text(text.to_owned()));
    }
    match text {
        "" | "~" | "null" => None,
        // As spreadsheets show them.
        "true" | "false" => Some(Plain::Text(text.to_uppercase())),
        _ => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Some(Plain::Number(number)),
            _ => Some(Plain::Text(text.to_owned())),
        },
    }
}

fn formula_tests(node: &Node, errors: &mut Vec<NodeError>) -> Result<Vec<TextTest>, NodeError> {
    if let Content::Scalar { text, .. } = &node.content {
        return match text.is_empty() {
            true => Err(NodeError::new("`formula` is empty").at(node.span)),
            false => Ok(vec![TextTest::Equals(text.clone())]),
        };
    }
    let file: FormulaFile = node.read()?;
    no_empty_keys("formula", node, errors);
    let texts = Texts {
        equals: file.equals.as_ref(),
        one_of: file.one_of.as_ref(),
        contains: file.contains.as_ref(),
        not_contains: file.not_contains.as_ref(),
        matches: file.matches.as_ref(),
    };
    let tests = texts.tests(node)?;
    if tests.is_empty() {
        let help = "add one of: equals, one_of, contains, not_contains, matches";
        return Err(NodeError::new("this formula test asks for nothing").help(help));
    }
    Ok(tests)
}

fn style(
    node: &Node,
    file: Option<&StyleFile>,
    errors: &mut Vec<NodeError>,
) -> Result<StyleTest, NodeError> {
    let (Some(file), Some(place)) = (file, node.get("style")) else {
        return Ok(StyleTest::default());
    };
    let before = errors.len();
    no_empty_keys("style", place, errors);
    if file.size.is_some_and(|size| size <= 0.0) {
        return Err(wrong(place, "size", "a size is more than 0 points"));
    }
    let test = StyleTest {
        bold: file.bold,
        italic: file.italic,
        underline: file.underline,
        strike: file.strike,
        size: file.size,
        font: file.font.clone(),
        colour: file.colour.map(|colour| colour.0),
        background: file.background.map(|colour| colour.0),
        align: file.align.map(Into::into),
    };
    if test == StyleTest::default() && errors.len() == before {
        return Err(wrong(node, "style", "this style asks for nothing").help(
            "add one of: bold, italic, underline, strike, size, font, colour, background, align",
        ));
    }
    Ok(test)
}

fn passage(node: &Node, errors: &mut Vec<NodeError>) -> Result<PassageTest, NodeError> {
    let file: PassageFile = node.read()?;
    no_empty_keys("passage", node, errors);
    let of = match (file.paragraph, &file.words, file.whole) {
        (Some(0), None, None) => {
            return Err(wrong(node, "paragraph", "paragraphs are counted from 1"));
        }
        (Some(number), None, None) => Passage::Paragraph(number),
        (None, Some(words), None) if words.trim().is_empty() => {
            return Err(wrong(node, "words", "`words` is empty"));
        }
        (None, Some(words), None) => Passage::Words(words.clone()),
        (None, None, Some(true)) => Passage::Whole,
        _ => {
            return Err(NodeError::new(
                "a passage is one of `paragraph: N`, `words: TEXT` and `whole: true`",
            ));
        }
    };
    let texts = Texts {
        equals: file.equals.as_ref(),
        one_of: file.one_of.as_ref(),
        contains: file.contains.as_ref(),
        not_contains: file.not_contains.as_ref(),
        matches: file.matches.as_ref(),
    };
    let test = PassageTest {
        text: texts.tests(node)?,
        style: style(node, file.style.as_ref(), errors)?,
        paragraph_style: file.paragraph_style,
        list: file.list.map(Into::into),
        align: file.align.map(Into::into),
        of,
    };
    match &test.of {
        Passage::Words(_) if !test.text.is_empty() => {
            Err(NodeError::new("`words` already says what stands there"))
        }
        Passage::Whole
            if test.text.is_empty()
                && test.style == StyleTest::default()
                && test.paragraph_style.is_none()
                && test.list.is_none()
                && test.align.is_none() =>
        {
            Err(NodeError::new("nothing is asked of the whole")
                .help("add one of: equals, contains, style, paragraph_style, list, align"))
        }
        _ => Ok(test),
    }
}

fn table(node: &Node, errors: &mut Vec<NodeError>) -> Result<TableTest, NodeError> {
    let file: TableFile = node.read()?;
    no_empty_keys("table", node, errors);
    let number = file.number.unwrap_or(1);
    if number == 0 {
        return Err(wrong(node, "number", "tables are counted from 1"));
    }
    let cells = cells(node, errors)?;
    for test in &cells {
        if test.number.is_some() || !test.formula.is_empty() {
            return Err(wrong(
                node,
                "cells",
                format!(
                    "`{}` is a cell of a text document: it has a text and no value",
                    test.at
                ),
            )
            .help("write numbers in quotes; `number` and `formula` are for spreadsheets"));
        }
    }
    Ok(TableTest {
        number,
        rows: file.rows,
        columns: file.columns,
        cells,
    })
}

/// A key without a value is an error, as in every check.
fn no_empty_keys(what: &str, node: &Node, errors: &mut Vec<NodeError>) {
    let keys: Vec<_> = node
        .pairs()
        .iter()
        .map(|(key, _)| key.text.as_str())
        .collect();
    misplaced_keys(what, &keys, node, errors);
}

/// The tests of a text that cells, formulas and passages share.
struct Texts<'a> {
    equals: Option<&'a String>,
    one_of: Option<&'a Vec<String>>,
    contains: Option<&'a String>,
    not_contains: Option<&'a String>,
    matches: Option<&'a String>,
}

impl Texts<'_> {
    fn tests(&self, node: &Node) -> Result<Vec<TextTest>, NodeError> {
        let mut tests = Vec::new();
        tests.extend(self.equals.cloned().map(TextTest::Equals));
        if let Some(texts) = self.one_of {
            if texts.is_empty() {
                return Err(wrong(
                    node,
                    "one_of",
                    "`one_of` is empty: nothing could pass",
                ));
            }
            tests.push(TextTest::OneOf(texts.clone()));
        }
        tests.extend(self.contains.cloned().map(TextTest::Contains));
        tests.extend(self.not_contains.cloned().map(TextTest::NotContains));
        if let Some(matches) = self.matches {
            compiled(matches, Use::Test).map_err(|message| wrong(node, "matches", message))?;
            tests.push(TextTest::Matches(matches.clone()));
        }
        no_empty_search(&tests, node)?;
        Ok(tests)
    }
}

fn no_empty_search(tests: &[TextTest], node: &Node) -> Result<(), NodeError> {
    for test in tests {
        let key = match test {
            TextTest::Contains(text) if text.is_empty() => "contains",
            TextTest::NotContains(text) if text.is_empty() => "not_contains",
            _ => continue,
        };
        return Err(wrong(node, key, format!("`{key}` is empty")));
    }
    Ok(())
}
