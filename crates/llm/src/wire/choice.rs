//! Which adapter speaks which form, and which forms the gateway speaks.

use super::contract::{Adapter, Served};
use super::{chat, gemini, messages, responses};
use crate::spec::Wire;

pub(crate) fn adapter(wire: Wire) -> &'static dyn Adapter {
    match wire {
        Wire::Chat => &chat::Chat,
        Wire::Responses => &responses::Responses,
        Wire::Messages => &messages::Messages,
        Wire::Gemini => &gemini::Gemini,
    }
}

/// A form that the gateway speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spoken {
    Chat,
    Responses,
    Messages,
}

impl Spoken {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 3] = [Self::Chat, Self::Responses, Self::Messages];

    pub(crate) fn form(self) -> &'static dyn Served {
        match self {
            Self::Chat => &chat::Chat,
            Self::Responses => &responses::Responses,
            Self::Messages => &messages::Messages,
        }
    }
}
