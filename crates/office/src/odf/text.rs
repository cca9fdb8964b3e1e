//! The letters of paragraphs: spans, spaces, line ends. White space is one space unless the file says how
//! many there are, as the format has it.

use super::styles::{Family, Styles};
use crate::style::{Run, Style};
use crate::xml::{Element, Node};

/// Most spaces that one element stands for.
const SPACES: usize = 10_000;

pub(super) struct Letters<'a> {
    styles: &'a Styles,
    pub(super) runs: Vec<Run>,
    /// Whether white space would be the first thing, or stand behind other white space.
    at_space: bool,
}

impl<'a> Letters<'a> {
    pub(super) fn new(styles: &'a Styles) -> Self {
        Self {
            styles,
            runs: Vec::new(),
            at_space: true,
        }
    }

    /// Starts a line of its own, for another paragraph of the same cell.
    pub(super) fn line_end(&mut self, style: &Style) {
        self.exactly("\n", style);
        self.at_space = true;
    }

    /// Adds what stands in a paragraph or a span of it.
    pub(super) fn add(&mut self, element: &Element, style: &Style) {
        for child in &element.children {
            match child {
                Node::Text(text) => self.collapsed(text, style),
                Node::Element(child) => self.inner(child, style),
            }
        }
    }

    fn inner(&mut self, element: &Element, style: &Style) {
        match &*element.name {
            "text:s" => {
                let count = element
                    .attribute("text:c")
                    .map_or(1, |count| count.parse().unwrap_or(1));
                self.exactly(&" ".repeat(count.min(SPACES)), style);
            }
            "text:tab" => self.exactly("\t", style),
            "text:line-break" => self.exactly("\n", style),
            "text:span" | "text:a" => {
                let name = element.attribute("text:style-name");
                let own = name.map(|name| self.styles.of(Family::Text, Some(name)));
                // A link without a style looks like the text around it.
                let style = own.unwrap_or_default().over(style);
                self.add(element, &style);
            }
            // Notes, comments and what was deleted are no part of the text; frames hold blocks.
            "text:note" | "office:annotation" | "text:tracked-changes" | "text:ruby-text" => {}
            name if name.starts_with("draw:") => {}
            _ => self.add(element, style),
        }
    }

    fn exactly(&mut self, text: &str, style: &Style) {
        Run::push(&mut self.runs, text, style);
        self.at_space = false;
    }

    fn collapsed(&mut self, text: &str, style: &Style) {
        let mut letters = String::with_capacity(text.len());
        for letter in text.chars() {
            let space = matches!(letter, ' ' | '\t' | '\n' | '\r');
            if !space {
                letters.push(letter);
            } else if !self.at_space {
                letters.push(' ');
            }
            self.at_space = space;
        }
        Run::push(&mut self.runs, &letters, style);
    }
}
