//! Styles of texts: those with names, and what a run says itself.

use std::collections::HashMap;

use super::colour::{Theme, highlight};
use super::lists::Level;
use crate::budget;
use crate::style::{Align, Paint, Style};
use crate::xml::Element;

/// Longest chain of styles: a loop ends here.
const BASES: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Styles {
    named: HashMap<String, Named>,
    /// Of paragraphs that name none.
    plain: Option<String>,
    defaults: Style,
    theme: Theme,
}

#[derive(Debug)]
struct Named {
    name: String,
    base: Option<String>,
    style: Style,
    list: Option<Level>,
}

impl Styles {
    pub(super) fn read(part: Option<&Element>, theme: Theme) -> Self {
        let mut read = Self {
            theme,
            ..Self::default()
        };
        let Some(part) = part else {
            return read;
        };
        if let Some(run) = part.below(&["w:docDefaults", "w:rPrDefault", "w:rPr"]) {
            read.defaults = read.run(run);
        }
        let paragraph = part.below(&["w:docDefaults", "w:pPrDefault", "w:pPr"]);
        read.defaults.align = paragraph.and_then(align);
        for element in part.all("w:style") {
            let Some(id) = element.attribute("w:styleId").and_then(budget::name) else {
                continue;
            };
            let word = |name| element.child(name).and_then(value).and_then(budget::name);
            let run = element.child("w:rPr").map(|of| read.run(of));
            let paragraph = element.child("w:pPr");
            let mut style = run.unwrap_or_default();
            style.align = paragraph.and_then(align);
            if element.attribute("w:default").is_some_and(is_on)
                && element.attribute("w:type") == Some("paragraph")
            {
                read.plain = Some(id.clone());
            }
            let named = Named {
                name: word("w:name").unwrap_or_else(|| id.clone()),
                base: word("w:basedOn"),
                style,
                list: paragraph.and_then(list),
            };
            read.named.insert(id, named);
        }
        read
    }

    /// What a paragraph that names this style looks like.
    pub(super) fn paragraph(&self, id: Option<&str>) -> Style {
        let id = id.or(self.plain.as_deref());
        self.over(id, &self.defaults)
    }

    /// A named style laid over what is below it.
    pub(super) fn over(&self, id: Option<&str>, below: &Style) -> Style {
        let chain: Vec<_> = self.chain(id).collect();
        let mut style = below.clone();
        for named in chain.into_iter().rev() {
            style = named.style.clone().over(&style);
        }
        style
    }

    pub(super) fn name(&self, id: Option<&str>) -> Option<String> {
        let id = id.or(self.plain.as_deref())?;
        let named = self.named.get(id);
        match named {
            Some(named) => Some(named.name.clone()),
            None => budget::name(id),
        }
    }

    /// The list and the depth that a style puts its paragraphs in.
    pub(super) fn list(&self, id: Option<&str>) -> Option<Level> {
        let id = id.or(self.plain.as_deref());
        self.chain(id).find_map(|named| named.list)
    }

    fn chain(&self, id: Option<&str>) -> impl Iterator<Item = &Named> {
        let first = id.and_then(|id| self.named.get(id));
        let next = |named: &&Named| self.named.get(named.base.as_deref()?);
        std::iter::successors(first, next).take(BASES)
    }

    /// What the properties of a run say.
    pub(super) fn run(&self, properties: &Element) -> Style {
        let child = |name| properties.child(name);
        let toggled = |name| child(name).map(|of| value(of).is_none_or(is_on));
        let fonts = child("w:rFonts");
        let font = fonts.and_then(|fonts| {
            let themed = match fonts.attribute("w:asciiTheme") {
                Some(theme) if theme.starts_with("major") => self.theme.major.clone(),
                Some(_) => self.theme.minor.clone(),
                None => None,
            };
            themed.or_else(|| fonts.attribute("w:ascii").and_then(budget::name))
        });
        let marked = child("w:highlight").and_then(value).map(highlight);
        let shaded = child("w:shd").and_then(|of| of.attribute("w:fill"));
        let half_points = child("w:sz").and_then(value);
        let half_points = half_points.and_then(|size| size.parse::<f64>().ok());
        Style {
            bold: toggled("w:b"),
            italic: toggled("w:i"),
            underline: child("w:u").map(|of| value(of) != Some("none")),
            strike: toggled("w:strike").or(toggled("w:dstrike")),
            size: half_points.map(|size| size / 2.0),
            font,
            colour: child("w:color").and_then(value).map(paint),
            background: marked.or(shaded.map(paint)),
            align: None,
        }
    }
}

/// The list and the depth that a paragraph's properties name.
pub(super) fn list(properties: &Element) -> Option<Level> {
    let numbers = properties.child("w:numPr")?;
    let number = |name| numbers.child(name).and_then(value)?.parse().ok();
    Some(Level {
        list: number("w:numId")?,
        depth: number("w:ilvl").unwrap_or(0),
    })
}

pub(super) fn align(properties: &Element) -> Option<Align> {
    match properties.child("w:jc").and_then(value)? {
        "left" | "start" => Some(Align::Left),
        "center" => Some(Align::Centre),
        "right" | "end" => Some(Align::Right),
        "both" | "distribute" => Some(Align::Justified),
        _ => None,
    }
}

pub(super) fn value(element: &Element) -> Option<&str> {
    element.attribute("w:val")
}

fn paint(value: &str) -> Paint {
    Paint::hex(value).unwrap_or(Paint::Auto)
}

fn is_on(value: &str) -> bool {
    !matches!(value, "0" | "false" | "off")
}
