//! What every form of requests and answers can do. Adapters are pure: no clock, no network.

use agon_core::Usage;
use serde_json::Value;

use crate::client::Delta;
use crate::error::LlmError;
use crate::reply::Reply;
use crate::request::Request;
use crate::spec::ModelSpec;

/// A request, ready to be sent by POST as JSON.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HttpCall {
    pub(crate) url: String,
    /// Without the key.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// The header that carries the key, and what stands before it: `("authorization", "Bearer ")`.
    pub(crate) key_header: (&'static str, &'static str),
    pub(crate) body: Value,
}

/// How a request is to be encoded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Encoding {
    pub(crate) stream: bool,
}

pub(crate) trait Adapter: Sync {
    fn encode(
        &self,
        spec: &ModelSpec,
        request: &Request,
        how: Encoding,
    ) -> Result<HttpCall, LlmError>;

    /// Reads a whole answer (status 200). A refusal is an error. An answer without content is none if
    /// it says why it ended: a model may have nothing to say.
    fn decode(&self, spec: &ModelSpec, body: Value) -> Result<Reply, LlmError>;

    /// What a whole answer used, whether it can be understood or not: it is paid for in any case.
    fn usage(&self, body: &Value) -> Usage;

    /// Reads an answer with another status; `body` may be anything.
    fn fault(&self, status: u16, body: &[u8]) -> LlmError;

    /// Puts the events of a stream together.
    fn assembler(&self) -> Box<dyn Assembler>;
}

/// A form that the gateway speaks to clients, too.
pub(crate) trait Served: Adapter {
    /// Reads a body of this form that a client of its own has sent. Fills `raw`.
    fn read_request(&self, body: Value) -> Result<Request, LlmError>;

    /// Writes an answer in this form, as `model`.
    fn write_reply(&self, model: &str, reply: &Reply) -> Value;

    /// The same as the events of a stream: names and data.
    fn write_stream(&self, model: &str, reply: &Reply) -> Vec<(Option<String>, String)>;

    /// An error in this form.
    fn write_error(&self, error: &LlmError) -> Value;
}

pub(crate) trait Assembler: Send {
    /// One server-sent event. `Ok(None)`: nothing to show.
    fn event(&mut self, name: Option<&str>, data: &str) -> Result<Option<Delta>, LlmError>;

    /// The stream has ended: the body that [`Adapter::decode`] would have been given. An error if the end
    /// was not announced: a cut stream is no answer.
    fn finish(self: Box<Self>) -> Result<Value, LlmError>;
}
