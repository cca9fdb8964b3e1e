//! How cells look: fonts, fills, alignment and the formats of numbers.

use std::collections::HashMap;

use super::colour::Theme;
use super::format::Format;
use crate::budget;
use crate::style::{Align, Paint, Style};
use crate::xml::Element;

#[derive(Debug, Clone, Default)]
pub(super) struct Look {
    pub(super) style: Style,
    pub(super) format: Format,
}

/// The looks of cells by their number.
pub(super) fn read(styles: Option<&Element>, theme: &Theme) -> Vec<Look> {
    let Some(styles) = styles else {
        return Vec::new();
    };
    let list = |name| styles.child(name).into_iter().flat_map(Element::elements);
    let fonts: Vec<_> = list("s:fonts")
        .map(|element| font(element, theme))
        .collect();
    let fills: Vec<_> = list("s:fills")
        .map(|element| fill(element, theme))
        .collect();
    let codes: HashMap<_, _> = list("s:numFmts")
        .filter_map(|element| {
            Some((
                number(element, "numFmtId")?,
                element.attribute("formatCode")?,
            ))
        })
        .collect();
    let look = |format: &Element| {
        let index = |key| number(format, key).and_then(|index| usize::try_from(index).ok());
        let mut style: Style = index("fontId")
            .and_then(|index| fonts.get(index))
            .cloned()
            .unwrap_or_default();
        style.background = index("fillId").and_then(|index| *fills.get(index)?);
        let horizontal = format
            .child("s:alignment")
            .and_then(|of| of.attribute("horizontal"));
        style.align = horizontal.and_then(align);
        let id = number(format, "numFmtId").unwrap_or(0);
        Look {
            style,
            format: Format::of(id, codes.get(&id).copied()),
        }
    };
    list("s:cellXfs").map(look).collect()
}

/// A font of a cell, or of letters in it.
pub(super) fn font(element: &Element, theme: &Theme) -> Style {
    let value = |name: &str| element.child(name).map(|child| child.attribute("val"));
    let toggled = |name| value(name).map(|value| !matches!(value, Some("0" | "false")));
    let name = value("s:name").or(value("s:rFont")).flatten();
    Style {
        bold: toggled("s:b"),
        italic: toggled("s:i"),
        underline: value("s:u").map(|value| value != Some("none")),
        strike: toggled("s:strike"),
        size: value("s:sz").flatten().and_then(|size| size.parse().ok()),
        font: name.and_then(budget::name),
        colour: element
            .child("s:color")
            .and_then(|colour| theme.paint(colour)),
        background: None,
        align: None,
    }
}

fn fill(element: &Element, theme: &Theme) -> Option<Paint> {
    let pattern = element.child("s:patternFill")?;
    match pattern.attribute("patternType") {
        Some("solid") => theme.paint(pattern.child("s:fgColor")?),
        _ => None,
    }
}

fn align(value: &str) -> Option<Align> {
    match value {
        "left" => Some(Align::Left),
        "center" | "centerContinuous" => Some(Align::Centre),
        "right" => Some(Align::Right),
        "justify" | "distributed" => Some(Align::Justified),
        _ => None,
    }
}

fn number(element: &Element, key: &str) -> Option<u32> {
    element.attribute(key)?.parse().ok()
}
