//! What the bodies of all forms have in common: keys that are left out if there is nothing to say, and how
//! hostile values are read.

use agon_core::ModelFault;
use serde_json::{Map, Value};

use crate::error::LlmError;
use crate::message::Part;
use crate::request::{Request, Tool};
use crate::spec::Wire;

/// Sets `key` unless there is nothing to say.
pub(super) fn put<T: Into<Value>>(body: &mut Map<String, Value>, key: &str, value: Option<T>) {
    if let Some(value) = value {
        body.insert(key.to_owned(), value.into());
    }
}

/// What a user said in the form of one provider can't be left out silently for another.
pub(super) fn foreign(wire: Wire) -> LlmError {
    LlmError::new(
        ModelFault::BadRequest,
        format_args!(
            "a part of the request is known to {wire:?} only and can't be given to this model: send texts, \
             and pictures as data URLs"
        ),
    )
}

/// What a client said in a form that is not this model's is either understood or refused, wherever it stands.
pub(crate) fn only_known_parts(wire: Wire, request: &Request) -> Result<(), LlmError> {
    fn check(wire: Wire, parts: &[Part]) -> Result<(), LlmError> {
        parts.iter().try_for_each(|part| match part {
            Part::Other { wire: of, .. } if *of != wire => Err(foreign(*of)),
            Part::ToolResult(result) => check(wire, &result.parts),
            _ => Ok(()),
        })
    }
    if request.raw.is_none() {
        return Ok(());
    }
    let mut messages = request.messages.iter();
    messages.try_for_each(|message| check(wire, &message.parts))
}

/// A tool of another provider's own can't be described to this one: nor is it left out silently.
pub(super) fn own_tools(wire: Wire, request: &Request) -> Result<(), LlmError> {
    let as_it_is = (request.raw.as_ref()).is_some_and(|(raw, _)| *raw == wire);
    let others = |tool: &Tool| matches!(tool, Tool::Own { wire: of, .. } if *of != wire);
    if as_it_is || !request.tools.iter().any(others) {
        return Ok(());
    }
    Err(LlmError::new(
        ModelFault::BadRequest,
        "a tool of the request is another provider's own and can't be given to this model: give functions",
    ))
}

/// The text at `key`, unless it is missing, empty or something else.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    let text = value.get(key)?.as_str()?;
    (!text.is_empty()).then_some(text)
}

/// The entries at `key`; none if it is no list.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    let found = value.get(key).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

/// A count at a path of keys. Services that give `12.0` are understood too.
pub(super) fn count(value: &Value, pointer: &str) -> Option<u64> {
    let number = value.pointer(pointer)?;
    number
        .as_u64()
        .or_else(|| number.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64))
}

/// An event of a stream.
pub(super) fn event(data: &str) -> Result<Value, LlmError> {
    serde_json::from_str(data).map_err(|error| {
        let why = format_args!("an event of the stream is no JSON: {error}");
        unparsed(why, &error)
    })
}

/// What is no JSON for our parser, which goes only so deep: what a model puts into a call of a tool may go
/// deeper.
pub(crate) fn unparsed(why: impl std::fmt::Display, error: &serde_json::Error) -> LlmError {
    let broken = LlmError::new(ModelFault::BrokenResponse, why);
    match error.to_string().starts_with("recursion limit") {
        true => broken.of_bound(),
        false => broken,
    }
}

/// More bytes than a stream may have.
pub(super) fn too_large() -> LlmError {
    let why = "the streamed answer is too large";
    LlmError::new(ModelFault::BrokenResponse, why).of_bound()
}

/// More parts in one answer are no answer.
pub(super) const MOST_PARTS: usize = 1_024;

/// Whether a further one may be kept of a stream: events come for free.
pub(super) fn room(parts: usize) -> Result<(), LlmError> {
    if parts < MOST_PARTS {
        return Ok(());
    }
    let why = format!("the streamed answer has more than {MOST_PARTS} parts");
    Err(LlmError::new(ModelFault::BrokenResponse, why).of_bound())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::sample;

    #[test]
    fn tools_of_others_are_refused_in_every_form() {
        for (wire, other) in [
            (Wire::Chat, Wire::Messages),
            (Wire::Responses, Wire::Messages),
            (Wire::Messages, Wire::Chat),
            (Wire::Gemini, Wire::Messages),
        ] {
            let request = Request {
                tools: vec![Tool::Own {
                    wire: other,
                    value: json!({"type": "strange"}),
                }],
                ..Request::user("hi")
            };
            let mut spec = sample::spec(crate::spec::Provider::Compatible, "some-model");
            spec.wire = wire;
            let encoded = crate::wire::adapter(wire).encode(&spec, &request, Default::default());
            assert_eq!(
                encoded.unwrap_err().fault,
                ModelFault::BadRequest,
                "{wire:?}"
            );
        }
    }
}
