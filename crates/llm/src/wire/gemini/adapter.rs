//! The adapter itself.

use agon_core::Usage;
use serde_json::Value;

use super::{decode, encode, fault, stream};
use crate::error::LlmError;
use crate::reply::Reply;
use crate::request::Request;
use crate::spec::{ModelSpec, Wire};
use crate::wire::body::own_tools;
use crate::wire::contract::{Adapter, Assembler, Encoding, HttpCall};

/// Gemini generateContent. The gateway does not speak it: its clients have an OpenAI and an Anthropic
/// address.
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
}
