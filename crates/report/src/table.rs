//! The report on a terminal, or as plain text where there is none.

use std::fmt::Write as _;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table};

use crate::asked::asked;
use crate::comparison::{paired, paired_sheets};
use crate::error::ReportError;
use crate::facts::facts;
use crate::run_report::RunReport;
use crate::sheet::{ColumnKind, Sheet, comparison, sheets, unpassed};
use crate::text::plain;

/// What the text is shown on. The default suits a file or a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Columns of characters.
    pub width: u16,
    pub look: Look,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// ASCII lines, no escape sequences.
    Plain,
    /// Drawn lines, no escape sequences.
    Drawn,
    /// Drawn lines, bold titles and coloured warnings.
    Coloured,
}

impl Default for Screen {
    fn default() -> Self {
        Self {
            width: 120,
            look: Look::Plain,
        }
    }
}

const BOLD: &str = "1";
const RED: &str = "31";
const YELLOW: &str = "33";

impl Screen {
    fn paint(self, code: &str, text: &str) -> String {
        match self.look {
            Look::Coloured => format!("\x1b[{code}m{text}\x1b[0m"),
            Look::Plain | Look::Drawn => text.to_owned(),
        }
    }

    fn table(self) -> Table {
        let mut table = Table::new();
        table
            .load_style(NOTHING)
            .force_no_tty()
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(self.width.max(40));
        table
    }
}

pub(crate) fn render(screen: Screen, runs: &[RunReport<'_>]) -> Result<String, ReportError> {
    let mut out = String::new();
    match runs {
        [run] => write_run(&mut out, screen, run)?,
        _ => write_comparison(&mut out, screen, runs)?,
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    Ok(out)
}

fn write_comparison(
    out: &mut String,
    screen: Screen,
    runs: &[RunReport<'_>],
) -> Result<(), ReportError> {
    write_sheet(out, screen, &comparison(runs));
    if let Some(found) = paired(runs)? {
        for sheet in paired_sheets(&found) {
            write_sheet(out, screen, &sheet);
        }
        let said = found.pairs.iter().map(|pair| pair.words.as_str());
        let remarks = said.map(|words| ("=", BOLD, words));
        let caveats = found
            .caveats
            .iter()
            .map(|text| ("*", YELLOW, text.as_str()));
        for (sign, code, text) in remarks.chain(caveats) {
            write_remark(out, screen, sign, code, text);
        }
        out.push('\n');
    }
    for run in runs {
        if !run.summary.caveats.is_empty() {
            line(out, &screen.paint(BOLD, &plain(&run.manifest.run)));
            write_caveats(out, screen, run);
        }
    }
    Ok(())
}

fn write_run(out: &mut String, screen: Screen, run: &RunReport<'_>) -> Result<(), ReportError> {
    let title = format!("{} by {}", run.suites(), run.manifest.agent.spec);
    line(out, &screen.paint(BOLD, &plain(&title)));
    line(
        out,
        &plain(&format!(
            "run {}, {}",
            run.manifest.run, run.manifest.created
        )),
    );
    if let Some(asked) = asked(run.manifest) {
        line(out, &plain(&asked));
    }
    out.push('\n');
    write_caveats(out, screen, run);
    let mut table = screen.table();
    for fact in facts(run) {
        table.add_row([fact.label.to_owned(), plain(&fact.value)]);
    }
    pad(&mut table, 2);
    write_table(out, &table);
    for sheet in sheets(&run.summary).iter().chain(&unpassed(run)?) {
        write_sheet(out, screen, sheet);
    }
    Ok(())
}

fn write_caveats(out: &mut String, screen: Screen, run: &RunReport<'_>) {
    for caveat in &run.summary.caveats {
        let (sign, code) = if caveat.kind.is_grave() {
            ("!", RED)
        } else {
            ("*", YELLOW)
        };
        write_remark(out, screen, sign, code, &caveat.text);
    }
    if !run.summary.caveats.is_empty() {
        out.push('\n');
    }
}

fn write_remark(out: &mut String, screen: Screen, sign: &str, code: &str, text: &str) {
    let mut table = screen.table();
    table.add_row([sign.to_owned(), plain(text)]);
    pad(&mut table, 2);
    for text in table.lines() {
        line(out, &screen.paint(code, text.trim_end()));
    }
}

fn write_sheet(out: &mut String, screen: Screen, sheet: &Sheet) {
    line(out, &screen.paint(BOLD, sheet.title));
    let mut table = screen.table();
    let rule = match screen.look {
        Look::Plain => '-',
        Look::Drawn | Look::Coloured => '─',
    };
    table.load_style(NOTHING.header_separator(LineStyle::none().fill(rule).junction(rule)));
    table.set_header(sheet.columns.iter().map(|column| column.name.as_str()));
    for row in &sheet.rows {
        table.add_row(row.iter().map(|cell| plain(cell)));
    }
    for (column, kind) in table
        .column_iter_mut()
        .zip(sheet.columns.iter().map(|c| c.kind))
    {
        if kind == ColumnKind::Number {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    pad(&mut table, 1);
    write_table(out, &table);
    if let Some(note) = &sheet.note {
        out.truncate(out.trim_end().len());
        line(out, &format!("\n{}\n", plain(note)));
    }
}

/// Blanks after each column; a table with a header has one of its own.
fn pad(table: &mut Table, blanks: u16) {
    for column in table.column_iter_mut() {
        column.set_padding((0, blanks));
    }
}

fn write_table(out: &mut String, table: &Table) {
    for text in table.lines() {
        line(out, text.trim_end());
    }
    out.push('\n');
}

fn line(out: &mut String, text: &str) {
    // Writing to a string can't fail.
    let _ = writeln!(out, "{text}");
}
