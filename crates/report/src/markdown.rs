//! Markdown, for pull requests and notes: tables in the GitHub dialect.

use std::fmt::Write as _;

use crate::asked::asked;
use crate::comparison::{paired, paired_sheets};
use crate::error::ReportError;
use crate::facts::facts;
use crate::run_report::RunReport;
use crate::sheet::{ColumnKind, Sheet, comparison, sheets, unpassed};
use crate::text::plain;

pub(crate) fn render(runs: &[RunReport<'_>]) -> Result<String, ReportError> {
    let mut out = String::new();
    if runs.len() > 1 {
        write_sheet(&mut out, &comparison(runs));
    }
    if let Some(found) = paired(runs)? {
        for sheet in paired_sheets(&found) {
            write_sheet(&mut out, &sheet);
        }
        for pair in &found.pairs {
            push(&mut out, format_args!("- {}\n", escape(&pair.words)));
        }
        out.push('\n');
        for caveat in &found.caveats {
            push(&mut out, format_args!("> Note: {}\n>\n", escape(caveat)));
        }
        out.push('\n');
    }
    for run in runs {
        write_run(&mut out, run)?;
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    Ok(out)
}

fn write_run(out: &mut String, run: &RunReport<'_>) -> Result<(), ReportError> {
    let agent = escape(&run.manifest.agent.spec);
    push(
        out,
        format_args!("# {} by {agent}\n\n", escape(&run.suites())),
    );
    push(
        out,
        format_args!(
            "Run {}, {}.\n\n",
            escape(&run.manifest.run),
            run.manifest.created
        ),
    );
    if let Some(asked) = asked(run.manifest) {
        push(out, format_args!("Asked: {}.\n\n", escape(&asked)));
    }
    for caveat in &run.summary.caveats {
        let sign = if caveat.kind.is_grave() {
            "**Warning:**"
        } else {
            "Note:"
        };
        push(out, format_args!("> {sign} {}\n>\n", escape(&caveat.text)));
    }
    out.push_str("\n| | |\n|---|---|\n");
    for fact in facts(run) {
        push(
            out,
            format_args!("| {} | {} |\n", fact.label, escape(&fact.value)),
        );
    }
    out.push('\n');
    for sheet in sheets(&run.summary).iter().chain(&unpassed(run)?) {
        write_sheet(out, sheet);
    }
    Ok(())
}

fn write_sheet(out: &mut String, sheet: &Sheet) {
    push(out, format_args!("## {}\n\n|", sheet.title));
    for column in &sheet.columns {
        push(out, format_args!(" {} |", escape(&column.name)));
    }
    out.push_str("\n|");
    for column in &sheet.columns {
        out.push_str(match column.kind {
            ColumnKind::Text => "---|",
            ColumnKind::Number => "---:|",
        });
    }
    out.push('\n');
    for row in &sheet.rows {
        out.push('|');
        for cell in row {
            push(out, format_args!(" {} |", escape(cell)));
        }
        out.push('\n');
    }
    if let Some(note) = &sheet.note {
        push(out, format_args!("\n{}\n", escape(note)));
    }
    out.push('\n');
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string can't fail.
    let _ = out.write_fmt(text);
}

/// A foreign text that stays text: no markup, no HTML, no new cell, no mention of anybody.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // A zero-width joiner would be invisible text; a comment is gone in the page.
            '@' => out.push_str("&#64;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_texts_stay_text() {
        assert_eq!(
            escape("a|b\n<img src=x> [l](u) **b** `c` @you"),
            r"a\|b &lt;img src=x&gt; \[l\](u) \*\*b\*\* \`c\` &#64;you"
        );
    }
}
