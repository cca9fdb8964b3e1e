//! Reads what office programs write: spreadsheets (ODS, XLSX, CSV) and text documents (ODT, DOCX, plain
//! text), with the styles that people see. Bytes in, plain types out; files of hostile origin are bounded.
//! Knows no task and no check.

mod budget;
mod deadline;
mod document;
mod error;
mod namespace;
mod odf;
mod ooxml;
mod package;
mod place;
mod read;
mod style;
mod values;
mod workbook;
mod xml;

pub use document::{Block, Document, ListKind, Paragraph, Table, TableCell};
pub use error::OfficeError;
pub use place::{Area, Place};
pub use read::{document, workbook};
pub use style::{Align, Paint, Run, Style};
pub use workbook::{Cell, Sheet, Value, Workbook};
