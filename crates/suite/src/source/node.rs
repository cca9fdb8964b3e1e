//! The tree itself: scalars keep the text they were written with.

use agon_core::digest::Hasher;

/// A range of bytes in the source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) content: Content,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    /// `plain`: written without quotes, so that it may stand for a number, a truth value or null.
    Scalar {
        text: String,
        plain: bool,
    },
    Sequence(Vec<Node>),
    Mapping(Vec<(Key, Node)>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) span: Span,
}

impl Node {
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match &self.content {
            Content::Mapping(pairs) => pairs.iter().find(|(k, _)| k.text == key).map(|(_, v)| v),
            _ => None,
        }
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        match &mut self.content {
            Content::Mapping(pairs) => pairs
                .iter_mut()
                .find(|(k, _)| k.text == key)
                .map(|(_, v)| v),
            _ => None,
        }
    }

    pub(crate) fn pairs(&self) -> &[(Key, Self)] {
        match &self.content {
            Content::Mapping(pairs) => pairs,
            _ => &[],
        }
    }

    pub(crate) fn items(&self) -> &[Self] {
        match &self.content {
            Content::Sequence(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn key_span(&self, key: &str) -> Option<Span> {
        self.pairs()
            .iter()
            .find(|(k, _)| k.text == key)
            .map(|(k, _)| k.span)
    }

    /// Where to point at when the node as a whole is wrong: at its first key rather than at all its
    /// lines.
    pub(crate) fn head(&self) -> Span {
        match &self.content {
            Content::Mapping(pairs) => pairs.first().map_or(self.span, |(key, _)| key.span),
            Content::Sequence(items) => items.first().map_or(self.span, Self::head),
            Content::Scalar { .. } => self.span,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.content, Content::Scalar { text, plain: true }
            if matches!(text.as_str(), "" | "~" | "null"))
    }

    /// Feeds what the node says into a digest: the order of keys, comments and layout don't count.
    pub(crate) fn feed(&self, hasher: &mut Hasher) {
        match &self.content {
            Content::Scalar { text, plain } => {
                hasher.update(if *plain { b"p" } else { b"q" });
                hasher.part(text.as_bytes());
            }
            Content::Sequence(items) => {
                hasher.part(b"[");
                items.iter().for_each(|item| item.feed(hasher));
                hasher.part(b"]");
            }
            Content::Mapping(pairs) => {
                let mut pairs: Vec<_> = pairs.iter().collect();
                pairs.sort_by(|(a, _), (b, _)| a.text.cmp(&b.text));
                hasher.part(b"{");
                for (key, value) in pairs {
                    hasher.part(key.text.as_bytes());
                    value.feed(hasher);
                }
                hasher.part(b"}");
            }
        }
    }
}
