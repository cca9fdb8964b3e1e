//! Real files of LibreOffice (`files/make.py` says how they were made) and hostile ones.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "office/documents.rs"]
mod documents;
#[path = "office/hand_made.rs"]
mod hand_made;
#[path = "office/hostile.rs"]
mod hostile;
#[path = "office/sheets.rs"]
mod sheets;
