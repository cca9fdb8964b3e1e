//! Which reader a file is for, told by its content. Its name says nothing.

use std::time::Instant;

use crate::deadline::Deadline;
use crate::document::Document;
use crate::error::OfficeError;
use crate::package::Package;
use crate::workbook::Workbook;
use crate::{odf, ooxml, values};

/// How files of older Microsoft programs, and encrypted ones, begin.
const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    OpenSheet,
    OpenText,
    ExcelSheet,
    WordText,
}

/// Reads a spreadsheet: ODS, XLSX, or lines of values (CSV). Gives up at the deadline.
pub fn workbook(bytes: &[u8], deadline: Instant) -> Result<Workbook, OfficeError> {
    let deadline = Deadline::new(deadline);
    let Some(mut package) = opened(bytes, deadline)? else {
        return values::workbook(bytes, deadline);
    };
    match kind(&mut package)? {
        Kind::OpenSheet => odf::workbook(&mut package),
        Kind::ExcelSheet => ooxml::workbook(&mut package),
        Kind::OpenText | Kind::WordText => Err(OfficeError::Other("a text document")),
    }
}

/// Reads a text document: ODT, DOCX or plain text. Gives up at the deadline.
pub fn document(bytes: &[u8], deadline: Instant) -> Result<Document, OfficeError> {
    let deadline = Deadline::new(deadline);
    let Some(mut package) = opened(bytes, deadline)? else {
        return values::document(bytes, deadline);
    };
    match kind(&mut package)? {
        Kind::OpenText => odf::document(&mut package),
        Kind::WordText => ooxml::document(&mut package),
        Kind::OpenSheet | Kind::ExcelSheet => Err(OfficeError::Other("a spreadsheet")),
    }
}

fn opened(bytes: &[u8], deadline: Deadline) -> Result<Option<Package<'_>>, OfficeError> {
    if bytes.starts_with(COMPOUND) {
        return Err(OfficeError::Other(
            "encrypted, or of a format of before 2007 (save it as ODS, XLSX, ODT or DOCX)",
        ));
    }
    Package::open(bytes, deadline)
}

fn kind(package: &mut Package<'_>) -> Result<Kind, OfficeError> {
    let mime = package.part("mimetype")?.unwrap_or_default();
    if let Some(kind) = mime.strip_prefix(b"application/vnd.oasis.opendocument.") {
        return match kind.trim_ascii() {
            b"spreadsheet" | b"spreadsheet-template" => Ok(Kind::OpenSheet),
            b"text" | b"text-template" => Ok(Kind::OpenText),
            _ => Err(OfficeError::Other(
                "neither a spreadsheet nor a text document",
            )),
        };
    }
    let main = ooxml::main_part(package)?;
    let root = main.map(|main| package.xml(&main)).transpose()?.flatten();
    match root.as_ref().map(|root| &*root.name) {
        Some("s:workbook") => Ok(Kind::ExcelSheet),
        Some("w:document") => Ok(Kind::WordText),
        Some(_) => Err(OfficeError::Other(
            "neither a spreadsheet nor a text document",
        )),
        None => Err(OfficeError::Other("an archive and no office file")),
    }
}
