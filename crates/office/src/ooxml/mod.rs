//! Office Open XML: spreadsheets (XLSX) and texts (DOCX).

mod blocks;
mod cells;
mod colour;
mod format;
mod formula;
mod lists;
mod looks;
mod parts;
mod text;

pub(crate) use blocks::document;
pub(crate) use cells::workbook;
pub(crate) use parts::main_part;
