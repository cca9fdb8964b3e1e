//! What can be asked about a spreadsheet or a text document that the agent left, as data. How files are
//! read is the business of the `office` crate.

use crate::check::TextTest;
use crate::sight::Colour;

/// A spreadsheet (ODS, XLSX, CSV) of the working folder. Everything asked for must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct SheetCheck {
    pub path: String,
    /// By name; `None`: the first.
    pub sheet: Option<String>,
    /// The names of all sheets, in order.
    pub sheets: Option<Vec<String>>,
    pub cells: Vec<CellTest>,
    /// Rows and columns that are used, counted from A1.
    pub rows: Option<u32>,
    pub columns: Option<u32>,
    /// Charts on the sheet.
    pub charts: Option<u32>,
}

/// About one cell, or about every cell of a range such as `A1:C3`.
#[derive(Debug, Clone, PartialEq)]
pub struct CellTest {
    /// `B7` or `A1:C3`.
    pub at: String,
    /// Of the text that is shown. An empty list asks for nothing.
    pub text: Vec<TextTest>,
    /// The value itself, and how far it may be away.
    pub number: Option<(f64, f64)>,
    pub empty: Option<bool>,
    /// Of the formula as it is written, with its `=`.
    pub formula: Vec<TextTest>,
    pub style: StyleTest,
}

/// A text document (ODT, DOCX, plain text) of the working folder. Everything asked for must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentCheck {
    pub path: String,
    /// Of all paragraphs, one per line.
    pub text: Vec<TextTest>,
    /// How many paragraphs are not empty.
    pub paragraphs: Option<u32>,
    pub tests: Vec<PassageTest>,
    /// Tables, as rows of cells.
    pub tables: Vec<TableTest>,
    /// Pictures in it.
    pub pictures: Option<u32>,
}

/// About the passages of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct PassageTest {
    pub of: Passage,
    /// Of the whole passage.
    pub text: Vec<TextTest>,
    /// Must hold for every character that is no blank.
    pub style: StyleTest,
    /// The name of its paragraph's style, such as `Heading 1`.
    pub paragraph_style: Option<String>,
    /// `bullet`, `number` or `none`.
    pub list: Option<ListKind>,
    pub align: Option<Align>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passage {
    /// The paragraph with this number among those that are not empty, from 1.
    Paragraph(u32),
    /// Every place where exactly these words stand; there must be one.
    Words(String),
    /// Everything.
    Whole,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TableTest {
    /// Its number in the document, from 1.
    pub number: u32,
    pub rows: Option<u32>,
    pub columns: Option<u32>,
    /// Of cells by their place, as in a spreadsheet.
    pub cells: Vec<CellTest>,
}

/// `None`: anything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StyleTest {
    pub bold: Option<bool>,
    pub italic: Option<bool>,
    pub underline: Option<bool>,
    pub strike: Option<bool>,
    /// In points.
    pub size: Option<f64>,
    pub font: Option<String>,
    /// Of the letters.
    pub colour: Option<Colour>,
    /// Of what is behind them.
    pub background: Option<Colour>,
    pub align: Option<Align>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Centre,
    Right,
    Justified,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    Bullet,
    Number,
    None,
}
