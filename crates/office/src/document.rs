//! A text document: paragraphs and tables in their order.

use crate::style::{Align, Run};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    Bullet,
    Number,
    None,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    pub blocks: Vec<Block>,
    pub pictures: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    Paragraph(Paragraph),
    Table(Table),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Paragraph {
    /// The name of its style, as people see it.
    pub style: Option<String>,
    pub list: ListKind,
    pub align: Option<Align>,
    pub runs: Vec<Run>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    pub rows: Vec<Vec<TableCell>>,
}

/// Covered cells are there and empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableCell {
    pub blocks: Vec<Block>,
}

impl Paragraph {
    pub fn text(&self) -> String {
        Run::text_of(&self.runs)
    }
}

impl Document {
    /// Those outside of tables that are not empty.
    pub fn paragraphs(&self) -> impl Iterator<Item = &Paragraph> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Paragraph(paragraph) if !paragraph.text().trim().is_empty() => Some(paragraph),
            Block::Paragraph(_) | Block::Table(_) => None,
        })
    }

    /// Every paragraph, those in tables too, in their order.
    pub fn all_paragraphs(&self) -> Vec<&Paragraph> {
        let mut found = Vec::new();
        paragraphs_in(&self.blocks, &mut found);
        found
    }

    /// Every table, those in tables behind the one they are in.
    pub fn tables(&self) -> Vec<&Table> {
        let mut found = Vec::new();
        tables_in(&self.blocks, &mut found);
        found
    }
}

impl Table {
    pub fn columns(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }

    pub fn cell(&self, row: usize, column: usize) -> Option<&TableCell> {
        self.rows.get(row)?.get(column)
    }
}

impl TableCell {
    pub fn paragraphs(&self) -> Vec<&Paragraph> {
        let mut found = Vec::new();
        paragraphs_in(&self.blocks, &mut found);
        found
    }
}

fn paragraphs_in<'a>(blocks: &'a [Block], found: &mut Vec<&'a Paragraph>) {
    for block in blocks {
        match block {
            Block::Paragraph(paragraph) => found.push(paragraph),
            Block::Table(table) => {
                for cell in table.rows.iter().flatten() {
                    paragraphs_in(&cell.blocks, found);
                }
            }
        }
    }
}

fn tables_in<'a>(blocks: &'a [Block], found: &mut Vec<&'a Table>) {
    for block in blocks {
        if let Block::Table(table) = block {
            found.push(table);
            for cell in table.rows.iter().flatten() {
                tables_in(&cell.blocks, found);
            }
        }
    }
}
