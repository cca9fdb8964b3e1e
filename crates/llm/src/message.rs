//! Messages in the one form that every provider's own is made from and read into. Knows no provider.

use std::sync::Arc;

use serde_json::Value;

use crate::spec::Wire;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub role: Role,
    pub parts: Vec<Part>,
    /// Everything up to here is worth keeping in the provider's cache.
    pub cache: bool,
}

impl Message {
    pub fn new(role: Role, parts: impl IntoIterator<Item = Part>) -> Self {
        Self {
            role,
            parts: parts.into_iter().collect(),
            cache: false,
        }
    }

    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, [Part::Text(text.into())])
    }

    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, [Part::Text(text.into())])
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Text(String),
    Image(Image),
    ToolCall(ToolCall),
    ToolResult(ToolResult),
    Reasoning(Reasoning),
    /// Something of a provider that this version does not know: given back to it as it came.
    Other {
        wire: Wire,
        value: Value,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaType {
    Png,
    Jpeg,
    Webp,
    Gif,
}

impl MediaType {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
            Self::Gif => "image/gif",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        let all = [Self::Png, Self::Jpeg, Self::Webp, Self::Gif];
        all.into_iter().find(|media| media.name() == name)
    }
}

/// A picture, encoded. Sent as it is unless it is larger than the provider takes.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    pub media: MediaType,
    pub bytes: Arc<[u8]>,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Image({}, {} bytes)",
            self.media.name(),
            self.bytes.len()
        )
    }
}

/// A tool that the model wants to be used.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    pub input: Value,
    /// The item as the provider sent it, where its own tools need it back.
    pub raw: Option<(Wire, Value)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The id of the call that this answers.
    pub call: String,
    /// The tool's name; some providers want it again.
    pub name: String,
    /// Texts and images.
    pub parts: Vec<Part>,
    pub is_error: bool,
}

/// What a model thought, with whatever its provider needs to take it back.
#[derive(Debug, Clone, PartialEq)]
pub struct Reasoning {
    pub text: String,
    pub raw: Option<(Wire, Value)>,
}
