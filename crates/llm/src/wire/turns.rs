//! Conversations as they are read from bodies that list their parts one by one.

use crate::message::{Message, Part, Role};
use crate::request::Request;

/// Turns alternate for the providers that want it: what follows from the same side joins.
pub(super) fn push(request: &mut Request, role: Role, parts: Vec<Part>) {
    match request.messages.last_mut() {
        Some(last) if last.role == role => last.parts.extend(parts),
        _ => request.messages.push(Message::new(role, parts)),
    }
}

/// The name of the tool whose call has this id. Calls stand shortly before their results.
pub(super) fn name_of(request: &Request, id: &str) -> Option<String> {
    let recent = request.messages.iter().rev().take(2);
    recent
        .flat_map(|message| &message.parts)
        .find_map(|part| match part {
            Part::ToolCall(call) if call.id == id => Some(call.name.clone()),
            _ => None,
        })
}
