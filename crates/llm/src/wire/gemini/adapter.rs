//! The adapter itself.

use agon_core::{ModelFault, Usage};
use serde_json::{Value, json};

use super::{decode, encode, fault, stream};
use crate::error::LlmError;
use crate::reply::Reply;
use crate::request::Request;
use crate::spec::{ModelSpec, Wire};
use crate::wire::body::own_tools;
use crate::wire::contract::{Adapter, Assembler, Encoding, HttpCall};

const NOT_SPOKEN: &str = "the gateway does not speak Gemini: use its OpenAI or Anthropic address";

/// Gemini generateContent.
#[derive(Debug)]
pub(crate) struct Gemini;

impl Adapter for Gemini {
    fn encode(
        &self,
        spec: &ModelSpec,
        request: &Request,
        how: Encoding,
    ) -> Result<HttpCall, LlmError> {
        own_tools(Wire::Gemini, request)?;
        Ok(encode::encode(spec, request, how))
    }

    fn decode(&self, _: &ModelSpec, body: Value) -> Result<Reply, LlmError> {
        decode::decode(body)
    }

    fn usage(&self, body: &Value) -> Usage {
        decode::usage(&body["usageMetadata"])
    }

    fn fault(&self, status: u16, body: &[u8]) -> LlmError {
        fault::fault(status, body)
    }

    fn assembler(&self) -> Box<dyn Assembler> {
        Box::new(stream::Assembling::default())
    }

    fn read_request(&self, _: Value) -> Result<Request, LlmError> {
        Err(LlmError::new(ModelFault::BadRequest, NOT_SPOKEN))
    }

    fn write_reply(&self, _: &str, _: &Reply) -> Value {
        self.write_error(&LlmError::new(ModelFault::BadRequest, NOT_SPOKEN))
    }

    fn write_stream(&self, model: &str, reply: &Reply) -> Vec<(Option<String>, String)> {
        vec![(None, self.write_reply(model, reply).to_string())]
    }

    fn write_error(&self, error: &LlmError) -> Value {
        json!({"error": {"code": 400, "message": error.message(), "status": "INVALID_ARGUMENT"}})
    }
}
