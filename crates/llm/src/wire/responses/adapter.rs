//! The form as a whole: which part of it is where.

use agon_core::Usage;
use serde_json::Value;

use super::{decode, encode, read, stream, write};
use crate::error::LlmError;
use crate::reply::Reply;
use crate::request::Request;
use crate::spec::ModelSpec;
use crate::wire::contract::{Adapter, Assembler, Encoding, HttpCall, Served};
use crate::wire::fault;

#[derive(Debug)]
pub(crate) struct Responses;

impl Adapter for Responses {
    fn encode(
        &self,
        spec: &ModelSpec,
        request: &Request,
        how: Encoding,
    ) -> Result<HttpCall, LlmError> {
        encode::encode(spec, request, how)
    }

    fn decode(&self, spec: &ModelSpec, body: Value) -> Result<Reply, LlmError> {
        decode::decode(spec, body)
    }

    fn usage(&self, body: &Value) -> Usage {
        decode::usage(body)
    }

    fn fault(&self, status: u16, body: &[u8]) -> LlmError {
        fault::of_body(status, body)
    }

    fn assembler(&self) -> Box<dyn Assembler> {
        Box::new(stream::Events::default())
    }
}

impl Served for Responses {
    fn read_request(&self, body: Value) -> Result<Request, LlmError> {
        read::request(body)
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
