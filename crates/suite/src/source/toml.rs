//! TOML into nodes, so that `suite.toml` has the same errors as task files.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::NodeError;
use super::node::{Content, Key, Node, Span};

pub(crate) fn parse(source: &str) -> Result<Node, NodeError> {
    match DeTable::parse(source) {
        Ok(table) => Ok(Node {
            span: span(0..source.len()),
            content: mapping(table.get_ref()),
        }),
        Err(error) => {
            let span = span(error.span().unwrap_or(0..0));
            let message = error.message().trim().replace('\n', ", ");
            Err(NodeError::new(format!("this is no TOML: {message}")).at(span))
        }
    }
}

fn span(range: Range<usize>) -> Span {
    Span {
        start: range.start,
        end: range.end,
    }
}

fn node(value: &Spanned<DeValue<'_>>) -> Node {
    Node {
        span: span(value.span()),
        content: content(value.get_ref()),
    }
}

fn mapping(table: &DeTable<'_>) -> Content {
    let pairs = table.iter().map(|(key, value)| {
        let name = Key {
            text: key.get_ref().to_string(),
            span: span(key.span()),
        };
        (name, node(value))
    });
    Content::Mapping(pairs.collect())
}

fn content(value: &DeValue<'_>) -> Content {
    let plain = |text: String| Content::Scalar { text, plain: true };
    match value {
        DeValue::String(text) => Content::Scalar {
            text: text.to_string(),
            plain: false,
        },
        DeValue::Integer(number) => plain(number.as_str().to_owned()),
        DeValue::Float(number) => plain(number.as_str().to_owned()),
        DeValue::Boolean(value) => plain(value.to_string()),
        DeValue::Datetime(time) => plain(time.to_string()),
        DeValue::Array(items) => Content::Sequence(items.iter().map(node).collect()),
        DeValue::Table(table) => mapping(table),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_become_mappings() {
        let source = "name = \"demo\"\n[weights]\npaper = 0.5\n";
        let root = parse(source).unwrap();
        let paper = root.get("weights").unwrap().get("paper").unwrap();
        assert_eq!(&source[paper.span.start..paper.span.end], "0.5");
        assert!(parse("name = \n").unwrap_err().span.is_some());
    }
}
