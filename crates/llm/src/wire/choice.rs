//! Which adapter speaks which form.

use super::contract::Adapter;
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
