//! Passages and tables of a text document.

use std::ops::Range;
use std::time::Instant;

use agon_core::Fault;
use agon_core::office::{
    CellTest, DocumentCheck, ListKind as WantedList, Passage, PassageTest, StyleTest, TableTest,
};
use agon_office::{Align, Document, ListKind, Paragraph, Run, Style, Table};

use super::looks;
use super::sheet::area;
use super::wrongs::Wrongs;
use crate::finding::Finding;
use crate::reason::shown;
use crate::text::Surround;

/// Names that programs give to the style of paragraphs that have none.
const PLAIN: [&str; 4] = [
    "standard",
    "normal",
    "default paragraph style",
    "default style",
];

pub(crate) fn check(
    test: &DocumentCheck,
    bytes: &[u8],
    deadline: Instant,
) -> Result<Finding, Fault> {
    let document = match agon_office::document(bytes, deadline) {
        Ok(document) => document,
        Err(error) => {
            let path = &test.path;
            return Ok(Finding::fail(format!(
                "`{path}` can't be read as a document: {error}"
            )));
        }
    };
    let mut wrongs = Wrongs::default();
    let all = document.all_paragraphs();
    wrongs.text("the text", &test.text, &joined(&all), Surround::Ignored)?;
    wrongs.count("paragraphs", test.paragraphs, document.paragraphs().count());
    let pictures = usize::try_from(document.pictures).unwrap_or(usize::MAX);
    wrongs.count("pictures", test.pictures, pictures);
    for passage in &test.tests {
        self::passage(passage, &document, &all, &mut wrongs)?;
    }
    let tables = document.tables();
    for table in &test.tables {
        self::table(table, &tables, &mut wrongs)?;
    }
    Ok(wrongs.finding(|| format!("`{}` is as expected", test.path)))
}

fn joined(paragraphs: &[&Paragraph]) -> String {
    let texts: Vec<_> = paragraphs
        .iter()
        .map(|paragraph| paragraph.text())
        .collect();
    texts.join("\n")
}

fn passage(
    test: &PassageTest,
    document: &Document,
    all: &[&Paragraph],
    wrongs: &mut Wrongs,
) -> Result<(), Fault> {
    match &test.of {
        Passage::Paragraph(number) => {
            let index = (*number as usize).saturating_sub(1);
            let name = format!("paragraph {number}");
            let Some(paragraph) = document.paragraphs().nth(index) else {
                let count = document.paragraphs().count();
                wrongs.add(format!("{name}: there are only {count}"));
                return Ok(());
            };
            wrongs.text(&name, &test.text, &paragraph.text(), Surround::Ignored)?;
            of_paragraph(test, &name, paragraph, &paragraph.runs, wrongs);
        }
        Passage::Words(words) => {
            let name = shown(words.as_bytes());
            let mut any = false;
            for paragraph in all {
                let starts = starts(&paragraph.runs);
                for at in places(&paragraph.text(), words) {
                    any = true;
                    let runs = cut(&paragraph.runs, &starts, at);
                    of_paragraph(test, &name, paragraph, &runs, wrongs);
                }
            }
            if !any {
                wrongs.add(format!("{name}: it stands nowhere"));
            }
        }
        Passage::Whole => {
            wrongs.text("the whole", &test.text, &joined(all), Surround::Ignored)?;
            let written = all
                .iter()
                .filter(|paragraph| !paragraph.text().trim().is_empty());
            let mut any = false;
            for paragraph in written {
                any = true;
                let name = shown(paragraph.text().as_bytes());
                of_paragraph(test, &name, paragraph, &paragraph.runs, wrongs);
            }
            if !any {
                wrongs.add("the document is empty");
            }
        }
    }
    Ok(())
}

/// How the runs look, and what their paragraph is.
fn of_paragraph(
    test: &PassageTest,
    name: &str,
    paragraph: &Paragraph,
    runs: &[Run],
    wrongs: &mut Wrongs,
) {
    if test.style != StyleTest::default() {
        let style = StyleTest {
            align: None,
            ..test.style.clone()
        };
        let wrong = looks::of_runs(&style, runs.iter(), &Style::default(), Align::Left);
        wrongs.extend(wrong.map(|wrong| format!("{name}: {wrong}")));
    }
    if let Some(wanted) = &test.paragraph_style {
        let found = paragraph.style.as_deref().unwrap_or("Standard");
        if !same_style(wanted, found) {
            wrongs.add(format!(
                "{name}: expected the style {wanted:?}; found {found:?}"
            ));
        }
    }
    if let Some(wanted) = test.list.filter(|wanted| *wanted != list(paragraph.list)) {
        wrongs.add(format!(
            "{name}: expected {}; it is {}",
            list_name(wanted),
            list_name(list(paragraph.list))
        ));
    }
    let found = paragraph.align.unwrap_or(Align::Left);
    for wanted in [test.align, test.style.align] {
        let wrong = looks::align(wanted, found);
        wrongs.extend(wrong.map(|wrong| format!("{name}: {wrong}")));
    }
}

fn same_style(wanted: &str, found: &str) -> bool {
    let (wanted, found) = (wanted.trim().to_lowercase(), found.trim().to_lowercase());
    let plain = |name: &str| PLAIN.contains(&name);
    wanted == found || (plain(&wanted) && plain(&found))
}

fn list(kind: ListKind) -> WantedList {
    match kind {
        ListKind::Bullet => WantedList::Bullet,
        ListKind::Number => WantedList::Number,
        ListKind::None => WantedList::None,
    }
}

fn list_name(kind: WantedList) -> &'static str {
    match kind {
        WantedList::Bullet => "an entry of a list with bullets",
        WantedList::Number => "an entry of a numbered list",
        WantedList::None => "no entry of a list",
    }
}

/// Where words stand in a text, as words of their own.
fn places(text: &str, words: &str) -> Vec<Range<usize>> {
    let joins = |letter: Option<char>, own: Option<char>| {
        let word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        word(letter) && word(own)
    };
    text.match_indices(words)
        .filter(|(at, _)| {
            let (before, behind) = (&text[..*at], &text[at + words.len()..]);
            !joins(before.chars().next_back(), words.chars().next())
                && !joins(behind.chars().next(), words.chars().next_back())
        })
        .map(|(at, _)| at..at + words.len())
        .collect()
}

/// Where in their text each of the runs begins.
fn starts(runs: &[Run]) -> Vec<usize> {
    let begin = |at: &mut usize, run: &Run| {
        let start = *at;
        *at += run.text.len();
        Some(start)
    };
    runs.iter().scan(0, begin).collect()
}

/// The part of runs that stands at these bytes of their text.
fn cut(runs: &[Run], starts: &[usize], at: Range<usize>) -> Vec<Run> {
    let first = starts
        .partition_point(|start| *start <= at.start)
        .saturating_sub(1);
    let touched = runs.iter().zip(starts).skip(first);
    touched
        .take_while(|(_, start)| **start < at.end)
        .filter_map(|(run, start)| {
            let from = at.start.saturating_sub(*start);
            let to = (at.end - start).min(run.text.len());
            Some(Run {
                text: run.text.get(from..to)?.to_owned(),
                style: run.style.clone(),
            })
        })
        .collect()
}

fn table(test: &TableTest, tables: &[&Table], wrongs: &mut Wrongs) -> Result<(), Fault> {
    let number = test.number;
    let index = (number as usize).saturating_sub(1);
    let Some(table) = tables.get(index) else {
        wrongs.add(format!("table {number}: there are only {}", tables.len()));
        return Ok(());
    };
    wrongs.count(
        &format!("rows in table {number}"),
        test.rows,
        table.rows.len(),
    );
    let what = format!("columns in table {number}");
    wrongs.count(&what, test.columns, table.columns());
    for cells in &test.cells {
        table_cells(cells, number, table, wrongs)?;
    }
    Ok(())
}

fn table_cells(
    test: &CellTest,
    number: u32,
    table: &Table,
    wrongs: &mut Wrongs,
) -> Result<(), Fault> {
    for place in area(&test.at)?.places() {
        let name = format!("{place} of table {number}");
        let Some(cell) = table.cell(place.row as usize, place.column as usize) else {
            wrongs.add(format!("{name}: there is no such cell"));
            continue;
        };
        let paragraphs = cell.paragraphs();
        let text = joined(&paragraphs);
        wrongs.text(&name, &test.text, &text, Surround::Ignored)?;
        if test
            .empty
            .is_some_and(|empty| empty != text.trim().is_empty())
        {
            wrongs.add(format!("{name}: found {}", shown(text.as_bytes())));
        }
        if test.style != StyleTest::default() {
            let align = paragraphs.first().and_then(|first| first.align);
            let runs = paragraphs.iter().flat_map(|paragraph| &paragraph.runs);
            let natural = align.unwrap_or(Align::Left);
            let wrong = looks::of_runs(&test.style, runs, &Style::default(), natural);
            wrongs.extend(wrong.map(|wrong| format!("{name}: {wrong}")));
        }
    }
    Ok(())
}
