//! The formats a report comes in, and the one door to all of them.

use std::str::FromStr;

use crate::error::ReportError;
use crate::run_report::RunReport;
use crate::table::Screen;
use crate::{csv, document, html, junit, markdown, table};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Table(Screen),
    Markdown,
    Json,
    Csv,
    Junit,
    Html,
}

impl Format {
    /// The names that `FromStr` reads.
    pub const NAMES: [&'static str; 6] = ["table", "md", "json", "csv", "junit", "html"];
}

impl FromStr for Format {
    type Err = ReportError;
    fn from_str(name: &str) -> Result<Self, ReportError> {
        Ok(match name {
            "table" => Self::Table(Screen::default()),
            "md" => Self::Markdown,
            "json" => Self::Json,
            "csv" => Self::Csv,
            "junit" => Self::Junit,
            "html" => Self::Html,
            _ => return Err(ReportError::NoFormat(name.to_owned())),
        })
    }
}

/// The report about `runs`; several are compared, in the order given. Ends with a line break.
pub fn render(format: Format, runs: &[RunReport<'_>]) -> Result<String, ReportError> {
    match format {
        Format::Table(screen) => table::render(screen, runs),
        Format::Markdown => markdown::render(runs),
        Format::Json => document::render(runs),
        Format::Csv => csv::render(runs),
        Format::Junit => junit::render(runs),
        Format::Html => html::render(runs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_and_others_are_refused() {
        for name in Format::NAMES {
            name.parse::<Format>().unwrap();
        }
        let refused = "pdf".parse::<Format>().unwrap_err().to_string();
        for name in Format::NAMES {
            assert!(refused.contains(name), "{refused}");
        }
    }
}
