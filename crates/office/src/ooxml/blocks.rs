//! Texts of Office Open XML: paragraphs and tables, as deep as they are nested.

use super::colour::Theme;
use super::lists::Lists;
use super::parts;
use super::text::{self, Styles, value};
use crate::deadline::Deadline;
use crate::document::{Block, Document, ListKind, Paragraph, Table, TableCell};
use crate::error::OfficeError;
use crate::package::Package;
use crate::style::{Run, Style};
use crate::xml::Element;

/// Most columns that one cell of a table takes.
const SPAN: usize = 64;
/// Most cells of all tables together.
const CELLS: usize = 1_000_000;

pub(crate) fn document(package: &mut Package<'_>) -> Result<Document, OfficeError> {
    let main = parts::main_part(package)?.unwrap_or_default();
    let root = package.needed(&main)?;
    let theme = Theme::read(parts::related(package, &main, "theme")?.as_ref());
    let styles = parts::related(package, &main, "styles")?;
    let numbering = parts::related(package, &main, "numbering")?;
    let mut reader = Reader {
        styles: Styles::read(styles.as_ref(), theme),
        lists: Lists::read(numbering.as_ref()),
        cells: 0,
        deadline: package.deadline(),
    };
    let body = root.child("w:body");
    let body = body.ok_or_else(|| OfficeError::damaged("it has no text"))?;
    let mut blocks = Vec::new();
    reader.blocks(body, &mut blocks)?;
    Ok(Document {
        blocks,
        pictures: pictures(body),
    })
}

struct Reader {
    styles: Styles,
    lists: Lists,
    cells: usize,
    deadline: Deadline,
}

impl Reader {
    fn blocks(&mut self, element: &Element, blocks: &mut Vec<Block>) -> Result<(), OfficeError> {
        for child in element.elements() {
            self.deadline.check()?;
            match &*child.name {
                "w:p" => self.paragraph(child, blocks)?,
                "w:tbl" => blocks.push(Block::Table(self.table(child)?)),
                "mc:AlternateContent" => {
                    if let Some(chosen) = chosen(child) {
                        self.blocks(chosen, blocks)?;
                    }
                }
                "w:del" | "w:moveFrom" => {}
                _ => self.blocks(child, blocks)?,
            }
        }
        Ok(())
    }

    fn paragraph(&mut self, element: &Element, blocks: &mut Vec<Block>) -> Result<(), OfficeError> {
        let properties = element.child("w:pPr");
        let style = properties
            .and_then(|of| of.child("w:pStyle"))
            .and_then(value);
        let mut look = self.styles.paragraph(style);
        let align = properties.and_then(text::align).or(look.align);
        look.align = align;
        let list = properties
            .and_then(text::list)
            .or_else(|| self.styles.list(style));
        let mut letters = Letters {
            styles: &self.styles,
            runs: Vec::new(),
            boxes: Vec::new(),
        };
        letters.add(element, &look);
        let Letters { runs, boxes, .. } = letters;
        blocks.push(Block::Paragraph(Paragraph {
            style: self.styles.name(style),
            list: list.map_or(ListKind::None, |at| self.lists.kind(at)),
            align,
            runs,
        }));
        // What stands in a box comes behind the paragraph that holds it.
        for text in boxes {
            self.blocks(text, blocks)?;
        }
        Ok(())
    }

    fn table(&mut self, element: &Element) -> Result<Table, OfficeError> {
        let mut table = Table::default();
        self.rows(element, &mut table)?;
        Ok(table)
    }

    fn rows(&mut self, element: &Element, table: &mut Table) -> Result<(), OfficeError> {
        for child in element.elements() {
            match &*child.name {
                "w:tr" => {
                    let mut cells = Vec::new();
                    self.cells(child, &mut cells)?;
                    table.rows.push(cells);
                }
                "w:sdt" | "w:sdtContent" | "w:ins" | "w:customXml" => self.rows(child, table)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn cells(&mut self, row: &Element, cells: &mut Vec<TableCell>) -> Result<(), OfficeError> {
        for child in row.elements() {
            match &*child.name {
                "w:tc" => {
                    let properties = child.child("w:tcPr");
                    let of = |name| properties.and_then(|of| of.child(name));
                    let mut cell = TableCell::default();
                    // Below the first of several rows there is nothing but its rest.
                    let covered =
                        of("w:vMerge").is_some_and(|merge| value(merge) != Some("restart"));
                    if !covered {
                        self.blocks(child, &mut cell.blocks)?;
                    }
                    cells.push(cell);
                    let span = of("w:gridSpan")
                        .and_then(value)
                        .and_then(|span| span.parse().ok());
                    let span = span.unwrap_or(1).clamp(1, SPAN);
                    cells.resize_with(cells.len() + span - 1, TableCell::default);
                    self.cells += span;
                    if self.cells > CELLS {
                        return Err(OfficeError::TooLarge("its tables have too many cells"));
                    }
                }
                "w:sdt" | "w:sdtContent" | "w:customXml" => self.cells(child, cells)?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// The letters of a paragraph.
struct Letters<'s, 'e> {
    styles: &'s Styles,
    runs: Vec<Run>,
    boxes: Vec<&'e Element>,
}

impl<'e> Letters<'_, 'e> {
    fn add(&mut self, element: &'e Element, look: &Style) {
        for child in element.elements() {
            match &*child.name {
                "w:r" => self.run(child, look),
                "w:pPr" | "w:del" | "w:moveFrom" => {}
                "mc:AlternateContent" => {
                    if let Some(chosen) = chosen(child) {
                        self.add(chosen, look);
                    }
                }
                _ => self.add(child, look),
            }
        }
    }

    fn run(&mut self, run: &'e Element, look: &Style) {
        let properties = run.child("w:rPr");
        let named = properties
            .and_then(|of| of.child("w:rStyle"))
            .and_then(value);
        let below = match named {
            Some(named) => self.styles.over(Some(named), look),
            None => look.clone(),
        };
        let own = properties.map(|of| self.styles.run(of)).unwrap_or_default();
        // Of a paragraph, not of letters: a style of letters has none.
        let style = Style {
            align: look.align,
            ..own.over(&below)
        };
        self.pieces(run, &style);
    }

    fn pieces(&mut self, run: &'e Element, style: &Style) {
        for child in run.elements() {
            let letters = match &*child.name {
                "w:t" => child.text(),
                "w:tab" | "w:ptab" => "\t".to_owned(),
                "w:br" | "w:cr" => "\n".to_owned(),
                "w:noBreakHyphen" => "-".to_owned(),
                "mc:AlternateContent" => {
                    if let Some(chosen) = chosen(child) {
                        self.pieces(chosen, style);
                    }
                    continue;
                }
                "w:drawing" | "w:pict" => {
                    outermost(child, "w:txbxContent", &mut self.boxes);
                    continue;
                }
                _ => continue,
            };
            Run::push(&mut self.runs, &letters, style);
        }
    }
}

/// Of what is written twice, for newer and for older programs, the first.
fn chosen(element: &Element) -> Option<&Element> {
    element
        .child("mc:Choice")
        .or_else(|| element.child("mc:Fallback"))
}

fn outermost<'a>(element: &'a Element, name: &str, found: &mut Vec<&'a Element>) {
    for child in element.elements() {
        if child.name == name {
            found.push(child);
        } else {
            outermost(child, name, found);
        }
    }
}

fn pictures(element: &Element) -> u32 {
    let mut count: u32 = 0;
    for child in element.elements() {
        let more = match &*child.name {
            "pic:pic" | "v:imagedata" => 1,
            "mc:AlternateContent" => chosen(child).map_or(0, pictures),
            // The picture of an object, and what was deleted.
            "w:object" | "w:del" => 0,
            _ => pictures(child),
        };
        count = count.saturating_add(more);
    }
    count
}
