//! What other programs write and LibreOffice does not: themes, shared formulas, dates, lists by style.

use agon_office::{Align, Cell, ListKind, Paint, Place, Value};

use super::hostile::packed;
use super::{document, workbook};

pub(super) const SHEET: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const WORDS: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const DRAWING: &str = "http://schemas.openxmlformats.org/drawingml/2006/main";
const RELATED: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn relations(of: &[(&str, &str)]) -> String {
    let list: String = of
        .iter()
        .enumerate()
        .map(|(id, (kind, target))| {
            format!("<Relationship Id='r{id}' Type='{RELATED}/{kind}' Target='{target}'/>")
        })
        .collect();
    format!(
        "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{list}</Relationships>"
    )
}

/// A workbook of one sheet; `behind` stands behind its rows.
pub(super) fn excel(rows: &str, styles: &str, strings: &str, behind: &str) -> Vec<u8> {
    let theme = format!(
        "<a:theme xmlns:a='{DRAWING}'><a:themeElements><a:clrScheme name='x'><a:dk1><a:sysClr val='windowText' \
         lastClr='000000'/></a:dk1><a:accent1><a:srgbClr val='4472C4'/></a:accent1></a:clrScheme></a:themeElements></a:theme>"
    );
    let book = format!(
        "<workbook xmlns='{SHEET}' xmlns:r='{RELATED}'><sheets><sheet name='One' r:id='r0'/></sheets></workbook>"
    );
    let sheet =
        format!("<worksheet xmlns='{SHEET}'><sheetData>{rows}</sheetData>{behind}</worksheet>");
    let empty = format!("<x xmlns='{SHEET}'/>");
    let or_empty = |part: &str| {
        if part.is_empty() {
            empty.clone()
        } else {
            part.to_owned()
        }
    };
    packed(&[
        (
            "_rels/.rels",
            &relations(&[("officeDocument", "xl/workbook.xml")]),
        ),
        ("xl/workbook.xml", &book),
        (
            "xl/_rels/workbook.xml.rels",
            &relations(&[
                ("worksheet", "worksheets/sheet1.xml"),
                ("styles", "styles.xml"),
                ("sharedStrings", "sharedStrings.xml"),
                ("theme", "theme/theme1.xml"),
            ]),
        ),
        ("xl/worksheets/sheet1.xml", &sheet),
        ("xl/styles.xml", &or_empty(styles)),
        ("xl/sharedStrings.xml", &or_empty(strings)),
        ("xl/theme/theme1.xml", &theme),
    ])
}

#[test]
fn a_workbook_as_excel_writes_it() {
    let styles = format!(
        "<styleSheet xmlns='{SHEET}'><numFmts><numFmt numFmtId='170' formatCode='yyyy\\-mm\\-dd'/></numFmts>\
         <fonts><font><sz val='11'/><name val='Calibri'/></font><font><b/><sz val='11'/><color theme='4'/></font></fonts>\
         <fills><fill><patternFill patternType='none'/></fill><fill><patternFill patternType='solid'>\
         <fgColor theme='4' tint='0.8'/></patternFill></fill></fills>\
         <cellXfs><xf fontId='0' fillId='0'/><xf fontId='1' fillId='1'><alignment horizontal='right'/></xf>\
         <xf numFmtId='170' fontId='0' fillId='0'/></cellXfs></styleSheet>"
    );
    let rows = "<row><c t='inlineStr' s='1'><is><r><t>in</t></r><r><rPr><i/></rPr><t>line</t></r></is></c><c><v>2</v></c></row>\
        <row r='2' s='1' customFormat='1'><c r='B2'><f t='shared' ref='B2:B4' si='0'>B1*$A$9</f><v>4</v></c></row>\
        <row r='4'><c r='B4'><f t='shared' si='0'/><v>8</v></c><c r='C4' s='2'><v>45292</v></c><c r='D4' t='e'><v>#DIV/0!</v></c></row>";
    let book = workbook(&excel(rows, &styles, "", "")).unwrap();
    let sheet = &book.sheets[0];
    let at = |place: &str| {
        sheet
            .cell(Place::parse(place).unwrap())
            .cloned()
            .unwrap_or_default()
    };
    let first: Cell = at("A1");
    assert_eq!(
        (first.text().as_str(), first.value),
        ("inline", Value::Text)
    );
    assert_eq!(first.style.colour, Some(Paint::Colour([0x44, 0x72, 0xc4])));
    assert_eq!(
        (first.style.bold, first.style.align),
        (Some(true), Some(Align::Right))
    );
    assert!(matches!(
        first.style.background,
        Some(Paint::Colour([0xd0..0xe0, ..]))
    ));
    let italic: Vec<_> = first
        .runs
        .iter()
        .map(|run| run.style.italic.unwrap_or(false))
        .collect();
    assert_eq!(italic, [false, true]);
    assert_eq!(at("B1").value, Value::Number(2.0));
    assert_eq!(at("A2").style.bold, Some(true), "of its row");
    assert_eq!(at("Z2").style.bold, Some(true));
    assert_eq!(at("B2").formula.as_deref(), Some("=B1*$A$9"));
    assert_eq!(at("B4").formula.as_deref(), Some("=B3*$A$9"));
    assert_eq!(at("C4").text(), "2024-01-01");
    assert_eq!(
        (at("D4").text().as_str(), at("D4").value),
        ("#DIV/0!", Value::Text)
    );
    assert!(at("A3").is_empty() && at("A3").style.bold.is_none());
    assert_eq!((sheet.rows(), sheet.columns(), sheet.charts), (4, 4, 0));
}

#[test]
fn a_document_as_word_writes_it() {
    let styles = format!(
        "<w:styles xmlns:w='{WORDS}'><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:asciiTheme='minorHAnsi'/><w:sz w:val='22'/>\
         </w:rPr></w:rPrDefault></w:docDefaults><w:style w:type='paragraph' w:default='1' w:styleId='a'><w:name w:val='Normal'/></w:style>\
         <w:style w:type='paragraph' w:styleId='b'><w:name w:val='heading 1'/><w:basedOn w:val='a'/><w:rPr><w:b/></w:rPr></w:style>\
         <w:style w:type='character' w:styleId='s'><w:name w:val='Strong'/><w:rPr><w:b/></w:rPr></w:style>\
         <w:style w:type='paragraph' w:styleId='l'><w:name w:val='List Bullet'/><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr>\
         </w:style></w:styles>"
    );
    let numbering = format!(
        "<w:numbering xmlns:w='{WORDS}'><w:abstractNum w:abstractNumId='0'><w:lvl w:ilvl='0'><w:numFmt w:val='bullet'/></w:lvl>\
         <w:lvl w:ilvl='1'><w:numFmt w:val='lowerLetter'/></w:lvl></w:abstractNum><w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num>\
         </w:numbering>"
    );
    let theme = format!(
        "<a:theme xmlns:a='{DRAWING}'><a:themeElements><a:fontScheme name='x'><a:minorFont><a:latin typeface='Calibri'/></a:minorFont>\
         </a:fontScheme></a:themeElements></a:theme>"
    );
    let text = format!(
        "<w:document xmlns:w='{WORDS}' xmlns:mc='http://schemas.openxmlformats.org/markup-compatibility/2006'><w:body>\
         <w:p><w:pPr><w:pStyle w:val='b'/><w:jc w:val='both'/></w:pPr><w:r><w:t>Head</w:t></w:r></w:p>\
         <w:p><w:r><w:t>a </w:t></w:r><w:r><w:rPr><w:rStyle w:val='s'/></w:rPr><w:t>b</w:t></w:r><w:del><w:r><w:t>gone</w:t></w:r></w:del>\
         <w:ins><w:r><w:rPr><w:highlight w:val='yellow'/></w:rPr><w:t>c</w:t><w:br/><w:tab/></w:r></w:ins></w:p>\
         <w:p><w:pPr><w:pStyle w:val='l'/></w:pPr><w:r><w:t>dot</w:t></w:r></w:p>\
         <w:p><w:pPr><w:pStyle w:val='l'/><w:numPr><w:ilvl w:val='1'/><w:numId w:val='1'/></w:numPr></w:pPr><w:r><w:t>letter</w:t></w:r></w:p>\
         <w:p><w:pPr><w:pStyle w:val='l'/><w:numPr><w:numId w:val='0'/></w:numPr></w:pPr><w:r><w:t>off</w:t></w:r></w:p>\
         <w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr><w:p><w:r><w:t>wide</w:t></w:r></w:p></w:tc></w:tr></w:tbl>\
         </w:body></w:document>"
    );
    let read = document(&packed(&[
        (
            "_rels/.rels",
            &relations(&[("officeDocument", "word/document.xml")]),
        ),
        ("word/document.xml", &text),
        (
            "word/_rels/document.xml.rels",
            &relations(&[
                ("styles", "styles.xml"),
                ("numbering", "numbering.xml"),
                ("theme", "theme.xml"),
            ]),
        ),
        ("word/styles.xml", &styles),
        ("word/numbering.xml", &numbering),
        ("word/theme.xml", &theme),
    ]))
    .unwrap();
    let paragraphs: Vec<_> = read.paragraphs().collect();
    let lists: Vec<_> = paragraphs.iter().map(|paragraph| paragraph.list).collect();
    let none = ListKind::None;
    assert_eq!(
        lists,
        [none, none, ListKind::Bullet, ListKind::Number, none]
    );
    assert_eq!(paragraphs[0].style.as_deref(), Some("heading 1"));
    assert_eq!(paragraphs[0].align, Some(Align::Justified));
    let head = &paragraphs[0].runs[0].style;
    assert_eq!(
        (head.bold, head.size, head.font.as_deref()),
        (Some(true), Some(11.0), Some("Calibri"))
    );
    assert_eq!(paragraphs[1].style.as_deref(), Some("Normal"));
    assert_eq!(paragraphs[1].text(), "a bc\n\t");
    let bold: Vec<_> = paragraphs[1]
        .runs
        .iter()
        .map(|run| run.style.bold.unwrap_or(false))
        .collect();
    assert_eq!(bold, [false, true, false]);
    assert_eq!(
        paragraphs[1].runs[2].style.background,
        Some(Paint::Colour([255, 255, 0]))
    );
    assert_eq!(
        (read.tables()[0].rows.len(), read.tables()[0].columns()),
        (1, 2)
    );
    assert_eq!(read.all_paragraphs().last().unwrap().text(), "wide");
}
