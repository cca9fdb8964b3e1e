//! Styles by name: those of the document and the automatic ones, each built on its parent.

use std::collections::HashMap;

use crate::budget;
use crate::document::ListKind;
use crate::style::{Align, Paint, Style};
use crate::xml::Element;

/// Longest chain of parents: a loop ends here.
const PARENTS: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Family {
    Cell,
    Paragraph,
    Text,
}

#[derive(Debug, Default)]
pub(super) struct Styles {
    named: HashMap<(Family, String), Named>,
    defaults: HashMap<Family, Style>,
    fonts: HashMap<String, String>,
    /// The kind of list at each depth.
    lists: HashMap<String, Vec<ListKind>>,
}

#[derive(Debug)]
struct Named {
    parent: Option<String>,
    /// Made by the program for one place; people know its parent.
    automatic: bool,
    shown: Option<String>,
    list: Option<String>,
    own: Style,
    /// In place of `own.size`: times that of the parent.
    scale: Option<f64>,
}

impl Styles {
    /// `styles` is the part with the document's own styles, `content` that with the text.
    pub(super) fn read(styles: Option<&Element>, content: &Element) -> Self {
        let mut read = Self::default();
        for part in styles.into_iter().chain([content]) {
            read.fonts(part);
        }
        // The automatic styles of `styles` are those of headers and footers.
        let common = styles.and_then(|part| part.child("office:styles"));
        for (part, automatic) in [
            (common, false),
            (content.child("office:automatic-styles"), true),
        ] {
            for element in part.into_iter().flat_map(Element::elements) {
                read.add(element, automatic);
            }
        }
        read
    }

    /// All that a style says, with what it is built on. A name that is not known says nothing.
    pub(super) fn of(&self, family: Family, name: Option<&str>) -> Style {
        let mut chain = Vec::new();
        let mut next = name.or(default_name(family));
        while let Some(named) = next.and_then(|name| self.get(family, name)) {
            chain.push(named);
            next = named.parent.as_deref();
            if chain.len() == PARENTS {
                break;
            }
        }
        let mut style = self.defaults.get(&family).cloned().unwrap_or_default();
        for named in chain.into_iter().rev() {
            let size = named.scale.and_then(|scale| Some(style.size? * scale));
            let mut own = named.own.clone();
            own.size = own.size.or(size);
            style = own.over(&style);
        }
        style
    }

    /// The name that people see of a paragraph's style.
    pub(super) fn shown_name(&self, name: &str) -> Option<String> {
        let named = self.nearest(name, |named| !named.automatic)?;
        let (name, named) = named;
        Some(named.shown.clone().unwrap_or_else(|| decoded(name)))
    }

    /// The list that a paragraph's style puts it in.
    pub(super) fn list_of<'a>(&'a self, paragraph: &'a str) -> Option<&'a str> {
        let (_, named) = self.nearest(paragraph, |named| named.list.is_some())?;
        named.list.as_deref()
    }

    pub(super) fn list_kind(&self, list: &str, depth: usize) -> ListKind {
        let levels = self.lists.get(list);
        levels
            .and_then(|levels| levels.get(depth).or(levels.last()))
            .copied()
            .unwrap_or(ListKind::None)
    }

    fn get(&self, family: Family, name: &str) -> Option<&Named> {
        self.named.get(&(family, name.to_owned()))
    }

    fn nearest<'a>(
        &'a self,
        name: &'a str,
        wanted: impl Fn(&Named) -> bool,
    ) -> Option<(&'a str, &'a Named)> {
        let mut name = name;
        for _ in 0..PARENTS {
            let named = self.get(Family::Paragraph, name)?;
            if wanted(named) {
                return Some((name, named));
            }
            name = named.parent.as_deref()?;
        }
        None
    }

    fn fonts(&mut self, part: &Element) {
        let faces = part.child("office:font-face-decls");
        for face in faces.into_iter().flat_map(Element::elements) {
            let name = face.attribute("style:name");
            if let (Some(name), Some(font)) =
                (name, face.attribute("svg:font-family").and_then(unquoted))
            {
                self.fonts.insert(name.to_owned(), font);
            }
        }
    }

    fn add(&mut self, element: &Element, automatic: bool) {
        let name = element.attribute("style:name");
        match &*element.name {
            "text:list-style" => {
                let levels = element.elements().filter_map(list_kind).collect();
                self.lists
                    .insert(name.unwrap_or_default().to_owned(), levels);
            }
            "style:style" | "style:default-style" => {
                let Some(family) = element.attribute("style:family").and_then(family) else {
                    return;
                };
                let (own, scale) = self.properties(element);
                let Some(name) = name else {
                    self.defaults.insert(family, own);
                    return;
                };
                let Some(name) = budget::name(name) else {
                    return;
                };
                let text = |key| element.attribute(key).and_then(budget::name);
                let named = Named {
                    parent: text("style:parent-style-name"),
                    automatic,
                    shown: text("style:display-name"),
                    list: text("style:list-style-name").filter(|list| !list.is_empty()),
                    own,
                    scale,
                };
                self.named.insert((family, name), named);
            }
            _ => {}
        }
    }

    fn properties(&self, element: &Element) -> (Style, Option<f64>) {
        let mut style = Style::default();
        let mut scale = None;
        let mut by_value = false;
        for properties in element.elements() {
            let get = |key| properties.attribute(key);
            match &*properties.name {
                "style:text-properties" => {
                    style.bold = get("fo:font-weight").map(is_bold);
                    style.italic = get("fo:font-style").map(|value| value != "normal");
                    style.underline =
                        get("style:text-underline-style").map(|value| value != "none");
                    style.strike = get("style:text-line-through-style")
                        .or(get("style:text-line-through-type"))
                        .map(|value| value != "none");
                    let size = get("fo:font-size");
                    style.size = size.and_then(points);
                    scale = size.and_then(percent);
                    style.font = self.font(properties);
                    style.colour = match get("style:use-window-font-color") {
                        Some("true") => Some(Paint::Auto),
                        _ => get("fo:color").and_then(Paint::hex),
                    };
                    let behind = get("fo:background-color").map(paint);
                    style.background = behind.or(style.background);
                }
                "style:paragraph-properties" => {
                    style.align = get("fo:text-align").and_then(align);
                    let behind = get("fo:background-color").map(paint);
                    style.background = style.background.or(behind);
                }
                "style:table-cell-properties" => {
                    let behind = get("fo:background-color").map(paint);
                    style.background = style.background.or(behind);
                    by_value = get("style:text-align-source") == Some("value-type");
                }
                _ => {}
            }
        }
        if by_value {
            style.align = None;
        }
        (style, scale)
    }

    fn font(&self, properties: &Element) -> Option<String> {
        let face = properties.attribute("style:font-name");
        let known = face.and_then(|face| self.fonts.get(face)).cloned();
        known
            .or_else(|| properties.attribute("fo:font-family").and_then(unquoted))
            .or_else(|| face.and_then(budget::name))
    }
}

fn family(name: &str) -> Option<Family> {
    match name {
        "table-cell" => Some(Family::Cell),
        "paragraph" => Some(Family::Paragraph),
        "text" => Some(Family::Text),
        _ => None,
    }
}

/// The style of what names none.
fn default_name(family: Family) -> Option<&'static str> {
    match family {
        Family::Cell => Some("Default"),
        Family::Paragraph => Some("Standard"),
        Family::Text => None,
    }
}

fn list_kind(level: &Element) -> Option<ListKind> {
    match &*level.name {
        "text:list-level-style-bullet" | "text:list-level-style-image" => Some(ListKind::Bullet),
        "text:list-level-style-number" => Some(match level.attribute("style:num-format") {
            None | Some("") => ListKind::None,
            Some(_) => ListKind::Number,
        }),
        _ => None,
    }
}

fn is_bold(weight: &str) -> bool {
    match weight.parse::<u32>() {
        Ok(weight) => weight >= 600,
        Err(_) => weight == "bold",
    }
}

fn points(size: &str) -> Option<f64> {
    let units = [
        ("pt", 1.0),
        ("in", 72.0),
        ("cm", 72.0 / 2.54),
        ("mm", 7.2 / 2.54),
        ("px", 0.75),
    ];
    units.iter().find_map(|(unit, points)| {
        let number: f64 = size.strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * points).filter(|size| size.is_finite())
    })
}

fn percent(size: &str) -> Option<f64> {
    let number: f64 = size.strip_suffix('%')?.trim().parse().ok()?;
    Some(number / 100.0).filter(|share| share.is_finite())
}

fn paint(value: &str) -> Paint {
    Paint::hex(value).unwrap_or(Paint::Auto)
}

fn align(value: &str) -> Option<Align> {
    match value {
        "start" | "left" => Some(Align::Left),
        "center" => Some(Align::Centre),
        "end" | "right" => Some(Align::Right),
        "justify" => Some(Align::Justified),
        _ => None,
    }
}

/// `'Liberation Sans', sans-serif`: the first name, without its quotes.
fn unquoted(font: &str) -> Option<String> {
    let first = font.split(',').next().unwrap_or(font);
    budget::name(first.trim().trim_matches(['\'', '"']))
}

/// `Heading_20_1` is `Heading 1`.
fn decoded(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('_') {
        let (before, behind) = rest.split_at(at);
        text.push_str(before);
        let code = behind[1..].split_once('_').and_then(|(digits, after)| {
            let letter = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            Some((letter, after))
        });
        match code {
            Some((letter, after)) => {
                text.push(letter);
                rest = after;
            }
            None => {
                text.push('_');
                rest = &behind[1..];
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deadline::Deadline;
    use crate::xml;

    const SPACES: &str = r#"xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
        xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
        xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0""#;

    fn styles(common: &str, automatic: &str) -> Styles {
        let part = |name: &str, inner: &str| {
            let text = format!(
                "<office:document {SPACES}><office:{name}>{inner}</office:{name}></office:document>"
            );
            xml::parse(text.as_bytes(), Deadline::later()).unwrap()
        };
        Styles::read(
            Some(&part("styles", common)),
            &part("automatic-styles", automatic),
        )
    }

    fn style(name: &str, parent: &str, text: &str) -> String {
        format!(
            "<style:style style:name='{name}' style:family='paragraph' style:parent-style-name='{parent}'>\
             <style:text-properties {text}/></style:style>"
        )
    }

    #[test]
    fn a_style_is_laid_over_its_parents() {
        let common = style("Standard", "", "fo:font-size='12pt' fo:font-weight='bold'")
            + &style("Heading_20_1", "Standard", "fo:font-size='150%'");
        let read = styles(
            &common,
            &style("P1", "Heading_20_1", "fo:font-weight='400'"),
        );
        let found = read.of(Family::Paragraph, Some("P1"));
        assert_eq!((found.size, found.bold), (Some(18.0), Some(false)));
        assert_eq!(read.shown_name("P1").as_deref(), Some("Heading 1"));
        assert_eq!(read.of(Family::Paragraph, None).bold, Some(true));
        assert_eq!(read.of(Family::Text, None), Style::default());
    }

    #[test]
    fn a_loop_of_parents_ends() {
        let read = styles(
            &style("A", "B", "fo:font-weight='bold'"),
            &style("B", "A", ""),
        );
        assert_eq!(read.of(Family::Paragraph, Some("B")).bold, Some(true));
        assert_eq!(read.list_of("A"), None);
    }

    #[test]
    fn names_and_sizes() {
        for (name, expected) in [
            ("Heading_20_1", "Heading 1"),
            ("a_b", "a_b"),
            ("_", "_"),
            ("_zz_c", "_zz_c"),
            ("_110000_", "_110000_"),
        ] {
            assert_eq!(decoded(name), expected);
        }
        assert_eq!(points("0.5in"), Some(36.0));
        assert_eq!(points("large"), None);
        assert_eq!(
            unquoted("'Liberation Sans', serif").as_deref(),
            Some("Liberation Sans")
        );
        assert_eq!(unquoted(&"long".repeat(100)), None);
    }
}
