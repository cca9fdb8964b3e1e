//! XML as a tree, bounded in depth and size. No document type is accepted, so that no entity can grow.

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::{NamespaceResolver, ResolveResult};
use quick_xml::{NsReader, XmlVersion};

use crate::deadline::Deadline;
use crate::error::OfficeError;
use crate::namespace;

const DEPTH: usize = 200;
/// Elements, attributes and texts together.
const NODES: usize = 2_000_000;
/// Of one element: looking for one of them goes through all.
const ATTRIBUTES: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct Element {
    /// With the prefix of `namespace`; without one where the namespace is none that we know.
    pub(crate) name: String,
    attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Node>,
}

#[derive(Debug)]
pub(crate) enum Node {
    Element(Element),
    Text(String),
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn elements(&self) -> impl Iterator<Item = &Self> {
        self.children.iter().filter_map(|child| match child {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.elements().filter(move |child| child.name == name)
    }

    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.elements().find(|child| child.name == name)
    }

    /// The element at the end of a way of names.
    pub(crate) fn below(&self, names: &[&str]) -> Option<&Self> {
        names.iter().try_fold(self, |at, name| at.child(name))
    }

    /// Every element of this name, however deep, this one's own content in order.
    pub(crate) fn each<'a>(&'a self, name: &str, found: &mut Vec<&'a Self>) {
        for child in self.elements() {
            if child.name == name {
                found.push(child);
            }
            child.each(name, found);
        }
    }

    /// All text in it, without what only divides elements from each other.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        self.add_text(&mut text);
        text
    }

    fn add_text(&self, text: &mut String) {
        for child in &self.children {
            match child {
                Node::Element(element) => element.add_text(text),
                Node::Text(some) => text.push_str(some),
            }
        }
    }
}

pub(crate) fn parse(bytes: &[u8], deadline: Deadline) -> Result<Element, OfficeError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text =
        std::str::from_utf8(bytes).map_err(|_| OfficeError::damaged("its XML is not UTF-8"))?;
    let mut reader = NsReader::from_str(text);
    let mut tree = Tree::default();
    loop {
        deadline.check()?;
        match reader.read_event().map_err(OfficeError::damaged)? {
            Event::Start(start) => {
                let element = tree.element(&start, reader.resolver())?;
                tree.open.push(element);
                if tree.open.len() > DEPTH {
                    return Err(OfficeError::TooLarge("its XML is nested too deeply"));
                }
            }
            Event::Empty(start) => {
                let element = tree.element(&start, reader.resolver())?;
                tree.close(element);
            }
            Event::End(_) => {
                if let Some(element) = tree.open.pop() {
                    tree.close(element);
                }
            }
            Event::Text(some) => tree.text(&some.xml10_content())?,
            Event::CData(some) => tree.text(&some.xml10_content())?,
            Event::GeneralRef(entity) => tree.entity(&entity)?,
            Event::DocType(_) => {
                return Err(OfficeError::damaged("its XML declares a document type"));
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::Eof => break,
        }
    }
    match tree.root {
        Some(root) if tree.open.is_empty() => Ok(root),
        _ => Err(OfficeError::damaged("its XML ends too early")),
    }
}

#[derive(Default)]
struct Tree {
    open: Vec<Element>,
    root: Option<Element>,
    nodes: usize,
}

impl Tree {
    fn count(&mut self) -> Result<(), OfficeError> {
        self.nodes += 1;
        if self.nodes > NODES {
            return Err(OfficeError::TooLarge("its XML has too many elements"));
        }
        Ok(())
    }

    fn element(
        &mut self,
        start: &BytesStart<'_>,
        resolver: &NamespaceResolver,
    ) -> Result<Element, OfficeError> {
        self.count()?;
        let (space, local) = resolver.resolve_element(start.name());
        let mut element = Element {
            name: named(&space, local.as_ref()),
            ..Element::default()
        };
        for (nth, attribute) in start.attributes().with_checks(false).enumerate() {
            let attribute = attribute.map_err(OfficeError::damaged)?;
            if nth == ATTRIBUTES {
                return Err(OfficeError::TooLarge("its XML has too many attributes"));
            }
            if attribute.key.as_namespace_binding().is_some() {
                continue;
            }
            self.count()?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.map_err(OfficeError::damaged)?.into_owned();
            let (space, local) = resolver.resolve_attribute(attribute.key);
            element
                .attributes
                .push((named(&space, local.as_ref()), value));
        }
        Ok(element)
    }

    fn close(&mut self, element: Element) {
        match self.open.last_mut() {
            Some(parent) => parent.children.push(Node::Element(element)),
            None => self.root = self.root.take().or(Some(element)),
        }
    }

    fn text(&mut self, some: &str) -> Result<(), OfficeError> {
        self.count()?;
        let Some(parent) = self.open.last_mut() else {
            return Ok(());
        };
        // What an entity divides belongs together.
        match parent.children.last_mut() {
            Some(Node::Text(before)) => before.push_str(some),
            _ => parent.children.push(Node::Text(some.to_owned())),
        }
        Ok(())
    }

    fn entity(&mut self, entity: &BytesRef<'_>) -> Result<(), OfficeError> {
        if let Some(letter) = entity.resolve_char_ref().map_err(OfficeError::damaged)? {
            return self.text(letter.encode_utf8(&mut [0; 4]));
        }
        match quick_xml::escape::resolve_predefined_entity(&entity.xml10_content()) {
            Some(text) => self.text(text),
            None => Err(OfficeError::damaged("its XML has an entity of its own")),
        }
    }
}

fn named(space: &ResolveResult<'_>, local: &str) -> String {
    match space {
        ResolveResult::Bound(space) => match namespace::prefix(space.0) {
            Some(prefix) => format!("{prefix}:{local}"),
            None => format!("?:{local}"),
        },
        ResolveResult::Unbound => local.to_owned(),
        ResolveResult::Unknown(_) => format!("?:{local}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use std::time::Instant;

    use super::*;

    fn parse(bytes: &[u8]) -> Result<Element, OfficeError> {
        super::parse(bytes, Deadline::later())
    }

    #[test]
    fn attributes_of_one_element_are_bounded() {
        let of = |count: usize| {
            let attributes: String = (0..count).map(|n| format!(" a{n}=''")).collect();
            format!("<a{attributes}/>")
        };
        assert!(parse(of(ATTRIBUTES).as_bytes()).is_ok());
        let many = parse(of(ATTRIBUTES + 1).as_bytes());
        let expected = OfficeError::TooLarge("its XML has too many attributes");
        assert_eq!(many.unwrap_err(), expected);
    }

    #[test]
    fn nothing_is_parsed_when_the_time_is_over() {
        let over = Deadline::new(Instant::now());
        let parsed = super::parse(b"<a/>", over);
        assert_eq!(parsed.unwrap_err(), OfficeError::TooSlow);
    }

    #[test]
    fn names_follow_namespaces_and_not_prefixes() {
        let text = r#"<t:p xmlns:t="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
            xmlns:x="urn:other" t:style-name="A&amp;B" x:style-name="no">a&lt;b&#65;<t:s/><x:s/></t:p>"#;
        let element = parse(text.as_bytes()).unwrap();
        assert_eq!(element.name, "text:p");
        assert_eq!(element.attribute("text:style-name"), Some("A&B"));
        assert_eq!(element.text(), "a<bA");
        let names: Vec<_> = element.elements().map(|child| &*child.name).collect();
        assert_eq!(names, ["text:s", "?:s"]);
    }

    #[test]
    fn entities_do_not_grow() {
        let laughs = r#"<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><a>&b;</a>"#;
        for text in [laughs, "<a>&b;</a>", "<a b='&b;'/>"] {
            assert!(matches!(
                parse(text.as_bytes()),
                Err(OfficeError::Damaged(_))
            ));
        }
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let deep = "<a>".repeat(100_000);
        assert!(matches!(
            parse(deep.as_bytes()),
            Err(OfficeError::TooLarge(_))
        ));
        let mut tree = Tree {
            nodes: NODES - 1,
            ..Tree::default()
        };
        assert!(tree.text("the last").is_ok());
        assert!(matches!(
            tree.text("one more"),
            Err(OfficeError::TooLarge(_))
        ));
    }

    #[test]
    fn half_a_file_is_damaged() {
        for text in ["", "<a>", "<a><b></a>", "text", "<a b=c/>", "<a"] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "[<>/a-c:=\"'&;!\\[\\]\\-? x#0-9]{0,60}", bytes: Vec<u8>) {
            let _ = parse(text.as_bytes());
            let _ = parse(&bytes);
        }
    }
}
