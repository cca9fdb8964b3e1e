//! Several files as one range of places, so that a task that is put together from them has errors that
//! point into the right one.

use crate::error::{SourceText, SuiteError};
use crate::source::{Content, Node, NodeError, Span};

#[derive(Debug, Default)]
pub(super) struct Sources {
    /// Where each file begins, in order.
    files: Vec<(usize, SourceText)>,
    end: usize,
}

impl Sources {
    /// Where the file begins among all of them.
    pub(super) fn add(&mut self, text: SourceText) -> usize {
        let begin = self.end;
        // One apart, so that the end of one file is not the beginning of the next.
        self.end += text.text().len() + 1;
        self.files.push((begin, text));
        begin
    }

    /// The whole text of a file as one value.
    pub(super) fn add_text(&mut self, text: SourceText) -> Node {
        let content = text.text().to_owned();
        let begin = self.add(text);
        Node {
            span: Span {
                start: begin,
                end: begin + content.len(),
            },
            content: Content::Scalar {
                text: content,
                plain: false,
            },
        }
    }

    pub(super) fn error(&self, mut error: NodeError) -> SuiteError {
        let place = error.span.map_or(0, |span| span.start);
        let at = self.files.partition_point(|(begin, _)| *begin <= place);
        let Some((begin, text)) = self.files.get(at.saturating_sub(1)) else {
            return SuiteError::layout(".", error.message);
        };
        if let Some(span) = &mut error.span {
            span.start -= begin;
            span.end = span.end.saturating_sub(*begin).min(text.text().len());
        }
        text.error(error)
    }
}

/// Moves every place of a tree, for one that was read by itself.
pub(super) fn shift(node: &mut Node, by: usize) {
    let moved = |span: &mut Span| {
        span.start += by;
        span.end += by;
    };
    moved(&mut node.span);
    match &mut node.content {
        Content::Scalar { .. } => {}
        Content::Sequence(items) => items.iter_mut().for_each(|item| shift(item, by)),
        Content::Mapping(pairs) => pairs.iter_mut().for_each(|(key, value)| {
            moved(&mut key.span);
            shift(value, by);
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::parse_toml;

    #[test]
    fn errors_find_their_file() {
        let mut sources = Sources::default();
        let mut add = |name: &str, text: &str| {
            let mut node = parse_toml(text).unwrap();
            let source = SourceText::new(name.to_owned(), text.to_owned());
            shift(&mut node, sources.add(source));
            node
        };
        let first = add("a.toml", "x = 1\ny = 2\n");
        let second = add("b.toml", "\nz = 3\n");
        let place = |node: &Node, key: &str| {
            let error = NodeError::new("bad").at(node.get(key).unwrap().span);
            sources.error(error).place()
        };
        assert_eq!(place(&first, "y"), "a.toml:2:5");
        assert_eq!(place(&second, "z"), "b.toml:2:5");
    }
}
