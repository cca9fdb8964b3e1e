//! YAML into nodes: one document, scalar keys, no tags, no duplicate keys. Aliases are allowed, but
//! what they expand to is budgeted, so that a small file can't become a large tree.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput};

use super::error::NodeError;
use super::node::{Content, Key, Node, Span};

const MAX_DEPTH: usize = 48;
const MAX_NODES: usize = 50_000;
const MAX_TEXT: usize = 4 << 20;

pub(crate) fn parse(source: &str) -> Result<Node, NodeError> {
    Builder {
        parser: Parser::new_from_str(source),
        lines: Lines::of(source),
        anchors: HashMap::new(),
        spent: Size::default(),
    }
    .document()
}

/// What a tree costs: counted before an alias is expanded.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    nodes: usize,
    text: usize,
    height: usize,
}

impl Size {
    fn of(node: &Node) -> Self {
        let parts: Vec<Self> = match &node.content {
            Content::Scalar { text, .. } => {
                return Self {
                    nodes: 1,
                    text: text.len(),
                    height: 1,
                };
            }
            Content::Sequence(items) => items.iter().map(Self::of).collect(),
            Content::Mapping(pairs) => pairs
                .iter()
                .map(|(key, value)| {
                    let mut size = Self::of(value);
                    size.text += key.text.len();
                    size
                })
                .collect(),
        };
        Self {
            nodes: 1 + parts.iter().map(|part| part.nodes).sum::<usize>(),
            text: parts.iter().map(|part| part.text).sum(),
            height: 1 + parts.iter().map(|part| part.height).max().unwrap_or(0),
        }
    }
}

struct Builder<'s> {
    parser: Parser<'s, StrInput<'s>>,
    lines: Lines<'s>,
    anchors: HashMap<usize, (Node, Size)>,
    spent: Size,
}

type Spanned<'s> = (Event<'s>, Span);

impl<'s> Builder<'s> {
    fn document(mut self) -> Result<Node, NodeError> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(_), _) => {}
                (Event::StreamEnd, span) => {
                    return Err(NodeError::new("the file is empty").at(span));
                }
                event => {
                    let root = self.node(event, 1)?;
                    self.only_one_document()?;
                    return Ok(root);
                }
            }
        }
    }

    fn only_one_document(&mut self) -> Result<(), NodeError> {
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(()),
                (Event::DocumentStart(_), span) => {
                    return Err(NodeError::new("a second document begins here")
                        .help("write one task per file")
                        .at(span));
                }
                _ => {}
            }
        }
    }

    fn next(&mut self) -> Result<Spanned<'s>, NodeError> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => {
                let start = self.lines.offset(&span.start);
                let end = self.lines.offset(&span.end).max(start);
                Ok((event, Span { start, end }))
            }
            Some(Err(error)) => {
                let start = self.lines.offset(error.marker());
                let span = Span { start, end: start };
                Err(NodeError::new(format!("this is no YAML: {}", error.info())).at(span))
            }
            None => Err(NodeError::new("the file ends too early")),
        }
    }

    fn node(&mut self, (event, span): Spanned<'s>, depth: usize) -> Result<Node, NodeError> {
        let (content, anchor, tag) = match event {
            Event::Alias(anchor) => return self.alias(anchor, span, depth),
            Event::Scalar(text, style, anchor, tag) => {
                let content = Content::Scalar {
                    text: text.into_owned(),
                    plain: style == ScalarStyle::Plain,
                };
                (content, anchor, tag)
            }
            Event::SequenceStart(anchor, tag) => (self.sequence(depth)?, anchor, tag),
            Event::MappingStart(anchor, tag) => (self.mapping(depth)?, anchor, tag),
            _ => return Err(NodeError::new("expected a value here").at(span)),
        };
        if tag.is_some() {
            return Err(NodeError::new("tags are not read")
                .help("quote the value to make it a text")
                .at(span));
        }
        let own_text = match &content {
            Content::Scalar { text, .. } => text.len(),
            _ => 0,
        };
        self.spend(1, own_text, depth, span)?;
        let node = Node { span, content };
        if anchor > 0 {
            self.anchors.insert(anchor, (node.clone(), Size::of(&node)));
        }
        Ok(node)
    }

    fn alias(&mut self, anchor: usize, span: Span, depth: usize) -> Result<Node, NodeError> {
        let Some((_, size)) = self.anchors.get(&anchor) else {
            return Err(NodeError::new("this alias stands inside of what it names").at(span));
        };
        let size = *size;
        self.spend(size.nodes, size.text, depth + size.height - 1, span)?;
        match self.anchors.get(&anchor) {
            Some((node, _)) => Ok(Node {
                span,
                content: node.content.clone(),
            }),
            None => Err(NodeError::new("unknown alias").at(span)),
        }
    }

    fn sequence(&mut self, depth: usize) -> Result<Content, NodeError> {
        let mut items = Vec::new();
        loop {
            let event = self.next()?;
            if matches!(event.0, Event::SequenceEnd) {
                return Ok(Content::Sequence(items));
            }
            self.spend(0, 0, depth + 1, event.1)?;
            items.push(self.node(event, depth + 1)?);
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Content, NodeError> {
        let mut pairs: Vec<(Key, Node)> = Vec::new();
        let mut seen: HashMap<String, Span> = HashMap::new();
        loop {
            let event = self.next()?;
            if matches!(event.0, Event::MappingEnd) {
                return Ok(Content::Mapping(pairs));
            }
            self.spend(0, 0, depth + 1, event.1)?;
            let key = self.node(event, depth + 1)?;
            let Content::Scalar { text, .. } = key.content else {
                return Err(NodeError::new("a key must be a text").at(key.span));
            };
            if let Some(first) = seen.insert(text.clone(), key.span) {
                let line = self.lines.number(first.start);
                return Err(
                    NodeError::new(format!("the key `{text}` is here a second time"))
                        .help(format!("it stands first in line {line}"))
                        .at(key.span),
                );
            }
            let event = self.next()?;
            let value = self.node(event, depth + 1)?;
            pairs.push((
                Key {
                    text,
                    span: key.span,
                },
                value,
            ));
        }
    }

    fn spend(
        &mut self,
        nodes: usize,
        text: usize,
        depth: usize,
        at: Span,
    ) -> Result<(), NodeError> {
        self.spent.nodes += nodes;
        self.spent.text += text;
        if depth > MAX_DEPTH {
            return Err(NodeError::new(format!("nested deeper than {MAX_DEPTH} levels")).at(at));
        }
        if self.spent.nodes > MAX_NODES || self.spent.text > MAX_TEXT {
            return Err(
                NodeError::new("the file grows too large, with its aliases written out").at(at),
            );
        }
        Ok(())
    }
}

/// Byte offsets from lines and columns, which the parser counts in characters.
struct Lines<'s> {
    source: &'s str,
    starts: Vec<usize>,
}

impl<'s> Lines<'s> {
    fn of(source: &'s str) -> Self {
        let bytes = source.as_bytes();
        let breaks = bytes.iter().enumerate().filter(|(at, byte)| {
            **byte == b'\n' || (**byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
        });
        let starts = std::iter::once(0)
            .chain(breaks.map(|(at, _)| at + 1))
            .collect();
        Self { source, starts }
    }

    fn offset(&self, marker: &Marker) -> usize {
        let line = marker.line().saturating_sub(1);
        let Some(&start) = self.starts.get(line) else {
            return self.source.len();
        };
        let end = self
            .starts
            .get(line + 1)
            .copied()
            .unwrap_or(self.source.len());
        let text = &self.source[start..end];
        text.char_indices()
            .nth(marker.col())
            .map_or(end, |(at, _)| start + at)
    }

    fn number(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(node: &Node) -> &str {
        match &node.content {
            Content::Scalar { text, .. } => text,
            _ => panic!("no scalar: {node:?}"),
        }
    }

    #[test]
    fn spans_are_bytes_of_the_source() {
        let source = "größe: 'ß'\nnäme: [a, \"ü\"]  # ä\nb: x\n";
        let root = parse(source).unwrap();
        let at = |span: Span| &source[span.start..span.end];
        assert_eq!(at(root.key_span("näme").unwrap()), "näme");
        assert_eq!(at(root.get("größe").unwrap().span), "'ß'");
        assert_eq!(at(root.get("näme").unwrap().items()[1].span), "\"ü\"");
        assert_eq!(at(root.get("b").unwrap().span), "x");
    }

    #[test]
    fn aliases_expand() {
        let root = parse("a: &x {k: 1}\nb: *x\n").unwrap();
        assert_eq!(text(root.get("b").unwrap().get("k").unwrap()), "1");
    }

    #[test]
    fn a_billion_laughs_stop() {
        let mut source = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..12 {
            let inner = format!("*a{}, ", n - 1).repeat(10);
            source += &format!("a{n}: &a{n} [{inner}]\n");
        }
        assert!(parse(&source).unwrap_err().message.contains("too large"));
        let long = format!("a: &a {}\nb: [{}]", "x".repeat(500_000), "*a, ".repeat(100));
        assert!(parse(&long).unwrap_err().message.contains("too large"));
    }

    #[test]
    fn depth_is_limited_with_and_without_aliases() {
        let deep = "[".repeat(10_000);
        assert!(parse(&deep).is_err());
        let nested = "[".repeat(100) + &"]".repeat(100);
        assert!(parse(&nested).unwrap_err().message.contains("deeper"));
        let mut ladder = "a0: &a0 [x]\n".to_owned();
        for n in 1..100 {
            ladder += &format!("a{n}: &a{n} [*a{}]\n", n - 1);
        }
        assert!(parse(&ladder).unwrap_err().message.contains("deeper"));
    }

    #[test]
    fn what_is_refused() {
        for (source, part) in [
            ("a: 1\nb: 2\na: 3\n", "`a` is here a second time"),
            ("[a]: 1\n", "a key must be a text"),
            ("a: !!int 3\n", "tags"),
            ("a: 1\n---\nb: 2\n", "second document"),
            ("", "empty"),
            ("a: &x [*x]\n", "inside of what it names"),
            ("a: [1, 2\nb: 3\n", "no YAML"),
        ] {
            let error = parse(source).unwrap_err();
            assert!(error.message.contains(part), "{source}: {error:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_text_never_panics(source in "\\PC{0,200}") {
            let _ = parse(&source);
        }

        #[test]
        fn yaml_like_text_never_panics(source in "([-?:,\\[\\]{}#&*!|>'\"%@` \n\r\ta-c0-9ß]|: |- ){0,80}") {
            if let Err(error) = parse(&source)
                && let Some(span) = error.span
            {
                proptest::prop_assert!(source.get(span.start..span.end).is_some());
            }
        }
    }
}
