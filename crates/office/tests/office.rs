//! Real files of LibreOffice (`files/make.py` says how they were made) and hostile ones.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::time::{Duration, Instant};

use agon_office::{Document, OfficeError, Workbook};

fn workbook(bytes: &[u8]) -> Result<Workbook, OfficeError> {
    agon_office::workbook(bytes, Instant::now() + Duration::from_secs(600))
}

fn document(bytes: &[u8]) -> Result<Document, OfficeError> {
    agon_office::document(bytes, Instant::now() + Duration::from_secs(600))
}

#[path = "office/documents.rs"]
mod documents;
#[path = "office/hand_made.rs"]
mod hand_made;
#[path = "office/hostile.rs"]
mod hostile;
#[path = "office/sheets.rs"]
mod sheets;
