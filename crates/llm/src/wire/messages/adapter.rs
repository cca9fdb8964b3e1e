//! The adapter itself.

use agon_core::Usage;
use serde_json::Value;

use super::{decode, encode, fault, read, stream, write};
use crate::error::LlmError;
use crate::reply::Reply;
use crate::request::Request;
use crate::spec::{ModelSpec, Wire};
use crate::wire::body::own_tools;
use crate::wire::contract::{Adapter, Assembler, Encoding, HttpCall, Served};

/// Anthropic Messages.
#[derive(Debug)]
pub(crate) struct Messages;

impl Adapter for Messages {
    fn encode(
        &self,
        spec: &ModelSpec,
        request: &Request,
        how: Encoding,
    ) -> Result<HttpCall, LlmError> {
        own_tools(Wire::Messages, request)?;
        Ok(encode::encode(spec, request, how))
    }

    fn decode(&self, _: &ModelSpec, body: Value) -> Result<Reply, LlmError> {
        decode::decode(body)
    }

    fn usage(&self, body: &Value) -> Usage {
        decode::usage(&body["usage"])
    }

    fn fault(&self, status: u16, body: &[u8]) -> LlmError {
        fault::fault(status, body)
    }

    fn assembler(&self) -> Box<dyn Assembler> {
        Box::new(stream::Assembling::default())
    }
}

impl Served for Messages {
    fn read_request(&self, body: Value) -> Result<Request, LlmError> {
        read::read(body)
    }

    fn write_reply(&self, model: &str, reply: &Reply) -> Value {
        write::reply(model, reply)
    }

    fn write_stream(&self, model: &str, reply: &Reply) -> Vec<(Option<String>, String)> {
        write::stream(model, reply)
    }

    fn write_error(&self, error: &LlmError) -> Value {
        fault::write(error)
    }
}
