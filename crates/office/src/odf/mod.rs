//! OpenDocument: spreadsheets (ODS) and texts (ODT).

mod blocks;
mod cells;
mod charts;
mod formula;
mod styles;
mod text;

pub(crate) use blocks::document;
pub(crate) use cells::workbook;
