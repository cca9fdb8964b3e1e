//! Files that are damaged, of another kind, or made to be slow.

use std::io::{Cursor, Write};
use std::time::Instant;

use agon_office::{OfficeError, Place};
use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{document, workbook};

const SPACES: &str = r#"xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
    xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0""#;

fn file(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/files/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

pub(super) fn packed(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn open_document(kind: &str, body: &str) -> Vec<u8> {
    let mime = format!("application/vnd.oasis.opendocument.{kind}");
    let content = format!(
        "<office:document-content {SPACES}><office:body><office:{kind}>{body}</office:{kind}>\
         </office:body></office:document-content>"
    );
    packed(&[("mimetype", &mime), ("content.xml", &content)])
}

#[test]
fn the_kind_is_told_by_content() {
    for (name, other) in [("budget.ods", "letter.odt"), ("budget.xlsx", "letter.docx")] {
        assert_eq!(
            document(&file(name)),
            Err(OfficeError::Other("a spreadsheet")),
            "{name}"
        );
        assert_eq!(
            workbook(&file(other)),
            Err(OfficeError::Other("a text document")),
            "{other}"
        );
    }
    assert!(matches!(
        workbook(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        Err(OfficeError::Other(_))
    ));
    let archive = packed(&[("a.txt", "a")]);
    let expected = OfficeError::Other("an archive and no office file");
    assert_eq!(workbook(&archive), Err(expected));
    assert!(matches!(
        document(b"\x89PNG\r\n\x1a\n\0"),
        Err(OfficeError::Other(_))
    ));
}

#[test]
fn what_is_repeated_takes_no_room() {
    let row = "<table:table-row table:number-rows-repeated='4294967295'>\
        <table:table-cell table:number-columns-repeated='4294967295' office:value-type='float' office:value='7'/>\
        </table:table-row>";
    let sheet = format!(
        "<table:table table:name='A'>{}</table:table>",
        row.repeat(3)
    );
    let book = workbook(&open_document("spreadsheet", &sheet)).unwrap();
    let sheet = &book.sheets[0];
    assert_eq!((sheet.rows(), sheet.columns()), (1 << 20, 1 << 14));
    let last = sheet.cell(Place::parse("XFD1048576").unwrap()).unwrap();
    assert_eq!(last.text(), "7");
}

#[test]
fn reading_ends_at_its_deadline() {
    for name in ["budget.ods", "budget.xlsx", "budget.csv"] {
        let read = agon_office::workbook(&file(name), Instant::now());
        assert_eq!(read, Err(OfficeError::TooSlow), "{name}");
    }
    for name in ["letter.odt", "letter.docx", "budget.csv"] {
        let read = agon_office::document(&file(name), Instant::now());
        assert_eq!(read, Err(OfficeError::TooSlow), "{name}");
    }
}

#[test]
fn a_cell_that_stands_in_many_columns_is_read_once() {
    let text = "x".repeat(1 << 20);
    let sheet = format!(
        "<table:table>{}<table:table-row><table:table-cell table:number-columns-repeated='100' \
         office:value-type='string'><text:p>{text}</text:p></table:table-cell></table:table-row></table:table>",
        "<table:table-column/>".repeat(100)
    );
    let book = workbook(&open_document("spreadsheet", &sheet)).unwrap();
    let last = book.sheets[0].cell(Place::parse("CV1").unwrap()).unwrap();
    assert_eq!(last.text(), text);
}

#[test]
fn attributes_that_nobody_reads_are_refused() {
    let attributes: String = (0..2_000).map(|n| format!(" a{n}=''")).collect();
    let sheet = format!(
        "<table:table><table:table-row><table:table-cell{attributes}/></table:table-row></table:table>"
    );
    let read = workbook(&open_document("spreadsheet", &sheet));
    let expected = OfficeError::TooLarge("its XML has too many attributes");
    assert_eq!(read, Err(expected));
}

#[test]
fn columns_that_differ_are_bounded_together() {
    let columns: String = (0..9000)
        .map(|n| format!("<table:table-column table:default-cell-style-name='{n}'/>"))
        .collect();
    let row = "<table:table-row><table:table-cell table:number-columns-repeated='16384'/></table:table-row>";
    let sheet = format!("<table:table>{columns}{}</table:table>", row.repeat(400));
    let read = workbook(&open_document("spreadsheet", &sheet));
    assert_eq!(read, Err(OfficeError::TooLarge("it has too many cells")));
}

#[test]
fn repeated_cells_of_a_text_are_bounded() {
    for row in [
        "<table:table-row table:number-rows-repeated='4000000000'/>",
        "<table:table-row><table:table-cell table:number-columns-repeated='4000000000'/></table:table-row>",
    ] {
        let text = format!("<table:table>{row}</table:table>");
        let read = document(&open_document("text", &text));
        assert_eq!(
            read,
            Err(OfficeError::TooLarge("its tables have too many cells"))
        );
    }
}

#[test]
fn spaces_of_a_text_are_bounded() {
    let text = "<text:p>a<text:s text:c='4000000000'/>b</text:p>";
    let read = document(&open_document("text", text)).unwrap();
    assert!(read.paragraphs().next().unwrap().text().len() < 20_000);
}

#[test]
fn one_text_in_many_cells_is_bounded() {
    let strings = format!(
        "<sst xmlns='{}'><si><t>{}</t></si></sst>",
        super::hand_made::SHEET,
        "x".repeat(1 << 20)
    );
    let rows: String = (1..=100)
        .map(|row| format!("<row r='{row}'><c r='A{row}' t='s'><v>0</v></c></row>"))
        .collect();
    let read = super::hand_made::excel(&rows, "", &strings, "");
    assert_eq!(
        workbook(&read),
        Err(OfficeError::TooLarge("it repeats too much"))
    );
}

#[test]
fn merged_cells_that_overlap_are_bounded() {
    let rows: String = (1..=3000).map(|row| format!("<row r='{row}'/>")).collect();
    let merged = "<mergeCell ref='A1:XFD1048576'/>".repeat(2000);
    let merged = format!("<mergeCells>{merged}</mergeCells>");
    let read = super::hand_made::excel(&rows, "", "", &merged);
    assert_eq!(
        workbook(&read),
        Err(OfficeError::TooLarge("it has too many merged cells"))
    );
}

#[test]
fn a_large_cell_in_a_repeated_row_of_a_text_is_bounded() {
    let text = format!(
        "<table:table><table:table-row table:number-rows-repeated='1000'><table:table-cell><text:p>{}</text:p>\
         </table:table-cell></table:table-row></table:table>",
        "x".repeat(1 << 20)
    );
    let read = document(&open_document("text", &text));
    assert_eq!(read, Err(OfficeError::TooLarge("it repeats too much")));
}

#[test]
fn half_a_file_is_damaged() {
    for name in ["budget.ods", "budget.xlsx"] {
        let whole = file(name);
        for length in (0..whole.len()).step_by(97) {
            let read = workbook(&whole[..length]);
            assert!(read.is_err() || length == 0, "{name} {length}");
        }
    }
}

#[test]
fn files_without_their_parts_are_damaged() {
    let mime = "application/vnd.oasis.opendocument.text";
    assert!(document(&packed(&[("mimetype", mime)])).is_err());
    let relations = "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>\
        <Relationship Id='1' Type='x/officeDocument' Target='/_rels/.rels'/></Relationships>";
    assert!(workbook(&packed(&[("_rels/.rels", relations)])).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A byte changed anywhere: an answer or an error, never a panic.
    #[test]
    fn changed_files_are_read_or_refused(
        which in 0_usize..5,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let name = ["budget.ods", "budget.xlsx", "budget.csv", "letter.odt", "letter.docx"][which];
        let mut bytes = file(name);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = workbook(&bytes);
        let _ = document(&bytes);
    }

    /// Markup of the right names in the wrong places.
    #[test]
    fn odd_markup_is_read_or_refused(
        tags in prop::collection::vec(
            prop::sample::select(vec![
                "<text:p text:style-name='a'>x", "</text:p>", "<text:list>", "</text:list>", "<text:list-item>",
                "</text:list-item>", "<table:table>", "</table:table>", "<table:table-row table:number-rows-repeated='-1'>",
                "</table:table-row>", "<table:table-cell office:value-type='float' office:value='nan'>",
                "</table:table-cell>", "<table:table-column table:number-columns-repeated='0'/>", "<text:s text:c='x'/>",
                "<table:covered-table-cell/>", "<text:h/>", "<text:span/>",
            ]),
            0..16,
        ),
    ) {
        let body: String = tags.concat();
        let _ = workbook(&open_document("spreadsheet", &body));
        let _ = document(&open_document("text", &body));
    }
}
