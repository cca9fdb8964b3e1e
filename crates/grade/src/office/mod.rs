//! The `spreadsheet` and `document` checks: files of the frozen working folder, read by us and never by
//! the program that wrote them. What can't be read has failed; it is the agent's file.

mod document;
mod looks;
mod sheet;
#[cfg(test)]
mod tests;
mod wrongs;

pub(crate) use document::check as document;
pub(crate) use sheet::check as spreadsheet;
