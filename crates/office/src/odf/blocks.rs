//! Texts of OpenDocument: paragraphs, lists and tables, as deep as they are nested.

use super::cells::times;
use super::styles::{Family, Styles};
use super::text::Letters;
use crate::budget::Budget;
use crate::deadline::Deadline;
use crate::document::{Block, Document, ListKind, Paragraph, Table, TableCell};
use crate::error::OfficeError;
use crate::package::Package;
use crate::xml::Element;

/// Most cells of all tables together: what a file repeats is written out here.
const CELLS: usize = 100_000;

pub(crate) fn document(package: &mut Package<'_>) -> Result<Document, OfficeError> {
    let content = package.needed("content.xml")?;
    let styles = package.xml("styles.xml")?;
    let styles = Styles::read(styles.as_ref(), &content);
    let body = content.below(&["office:body", "office:text"]);
    let body = body.ok_or(OfficeError::Other("no text document"))?;
    let mut reader = Reader {
        styles: &styles,
        cells: 0,
        budget: Budget::new(),
        deadline: package.deadline(),
    };
    let mut blocks = Vec::new();
    reader.blocks(body, &Listed::default(), &mut blocks)?;
    Ok(Document {
        blocks,
        pictures: pictures(body),
    })
}

/// Where in which list something stands.
#[derive(Debug, Clone, Copy, Default)]
struct Listed<'a> {
    style: Option<&'a str>,
    /// Lists around it.
    depth: usize,
    /// The first of an entry: only that one has its bullet or number.
    marked: bool,
}

struct Reader<'a> {
    styles: &'a Styles,
    cells: usize,
    budget: Budget,
    deadline: Deadline,
}

impl<'a> Reader<'a> {
    fn blocks(
        &mut self,
        element: &'a Element,
        listed: &Listed<'a>,
        blocks: &mut Vec<Block>,
    ) -> Result<(), OfficeError> {
        for child in element.elements() {
            self.deadline.check()?;
            match &*child.name {
                "text:p" | "text:h" => self.paragraph(child, listed, blocks)?,
                "text:list" => {
                    let inner = Listed {
                        style: child.attribute("text:style-name").or(listed.style),
                        depth: listed.depth + 1,
                        marked: false,
                    };
                    self.blocks(child, &inner, blocks)?;
                }
                "text:list-item" => self.entry(child, listed, blocks)?,
                "table:table" => blocks.push(Block::Table(self.table(child)?)),
                // What was deleted is kept aside, and forms and fields are declared there.
                "text:tracked-changes" | "text:sequence-decls" | "office:forms" => {}
                _ => self.blocks(child, listed, blocks)?,
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        item: &'a Element,
        listed: &Listed<'a>,
        blocks: &mut Vec<Block>,
    ) -> Result<(), OfficeError> {
        let before = blocks.len();
        self.blocks(
            item,
            &Listed {
                marked: true,
                ..*listed
            },
            blocks,
        )?;
        // An entry of several paragraphs has its mark at the first; entries within have their own.
        let own = item
            .elements()
            .filter(|child| matches!(&*child.name, "text:p" | "text:h"));
        if own.count() > 1 {
            let mut seen = false;
            for block in &mut blocks[before..] {
                if let Block::Paragraph(paragraph) = block {
                    if seen {
                        paragraph.list = ListKind::None;
                    }
                    seen = true;
                }
            }
        }
        Ok(())
    }

    fn paragraph(
        &mut self,
        element: &'a Element,
        listed: &Listed<'a>,
        blocks: &mut Vec<Block>,
    ) -> Result<(), OfficeError> {
        let name = element.attribute("text:style-name");
        let style = self.styles.of(Family::Paragraph, name);
        let list = match listed.marked {
            true => {
                let of_style = name.and_then(|name| self.styles.list_of(name));
                let list = listed.style.or(of_style);
                let depth = listed.depth.saturating_sub(1);
                list.map_or(ListKind::None, |list| self.styles.list_kind(list, depth))
            }
            false => ListKind::None,
        };
        let mut letters = Letters::new(self.styles);
        letters.add(element, &style);
        blocks.push(Block::Paragraph(Paragraph {
            style: name.and_then(|name| self.styles.shown_name(name)),
            list,
            align: style.align,
            runs: letters.runs,
        }));
        // What stands in a box comes behind the paragraph that holds it.
        let mut boxes = Vec::new();
        outermost(element, "draw:text-box", &mut boxes);
        for text in boxes {
            self.blocks(text, &Listed::default(), blocks)?;
        }
        Ok(())
    }

    fn table(&mut self, element: &'a Element) -> Result<Table, OfficeError> {
        let mut table = Table::default();
        self.rows(element, &mut table)?;
        Ok(table)
    }

    fn rows(&mut self, element: &'a Element, table: &mut Table) -> Result<(), OfficeError> {
        for child in element.elements() {
            match &*child.name {
                "table:table-row" => {
                    let cells = self.row(child)?;
                    for _ in 1..times(child, "table:number-rows-repeated") {
                        self.count(cells.len().max(1))?;
                        self.budget
                            .spend(cells.iter().map(|cell| size(&cell.blocks)).sum())?;
                        table.rows.push(cells.clone());
                    }
                    table.rows.push(cells);
                }
                "table:table-header-rows" | "table:table-rows" | "table:table-row-group" => {
                    self.rows(child, table)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn row(&mut self, row: &'a Element) -> Result<Vec<TableCell>, OfficeError> {
        let mut cells = Vec::new();
        for child in row.elements() {
            let mut cell = TableCell::default();
            match &*child.name {
                "table:table-cell" => self.blocks(child, &Listed::default(), &mut cell.blocks)?,
                "table:covered-table-cell" => {}
                _ => continue,
            }
            for _ in 1..times(child, "table:number-columns-repeated") {
                self.count(1)?;
                self.budget.spend(size(&cell.blocks))?;
                cells.push(cell.clone());
            }
            self.count(1)?;
            cells.push(cell);
        }
        Ok(cells)
    }

    fn count(&mut self, more: usize) -> Result<(), OfficeError> {
        self.deadline.check()?;
        self.cells = self.cells.saturating_add(more);
        if self.cells > CELLS {
            return Err(OfficeError::TooLarge("its tables have too many cells"));
        }
        Ok(())
    }
}

/// What a copy takes, about.
fn size(blocks: &[Block]) -> usize {
    const EACH: usize = 256;
    let of = |block: &Block| match block {
        Block::Paragraph(paragraph) => {
            let runs = paragraph.runs.iter().map(|run| EACH + run.text.len());
            EACH + runs.sum::<usize>()
        }
        Block::Table(table) => {
            let cells = table.rows.iter().flatten();
            EACH + cells.map(|cell| EACH + size(&cell.blocks)).sum::<usize>()
        }
    };
    blocks.iter().map(of).sum()
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

/// Frames that show a picture, and not that of an object.
fn pictures(body: &Element) -> u32 {
    let mut frames = Vec::new();
    body.each("draw:frame", &mut frames);
    let of_picture = |frame: &&Element| {
        let has = |name| frame.child(name).is_some();
        has("draw:image") && !has("draw:object") && !has("draw:object-ole")
    };
    u32::try_from(frames.iter().filter(|frame| of_picture(frame)).count()).unwrap_or(u32::MAX)
}
