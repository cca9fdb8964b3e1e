//! Which part of a request a model can't take, and what is done about it.

use agon_core::ModelFault;
use serde_json::Value;

use super::{answer, calls, conversation, prompt};
use crate::error::LlmError;
use crate::message::{Part, ToolCall};
use crate::reply::{Reply, Stop};
use crate::request::{Output, Request, Tool, ToolChoice};
use crate::spec::ModelSpec;
use crate::wire::computer;
use crate::wire::known::known;

/// A function that stands in the prompt.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) parameters: Value,
}

/// The part of a request that stands in the prompt instead.
#[derive(Debug)]
pub(crate) struct Emulated {
    functions: Option<Vec<Function>>,
    schema: Option<Value>,
    /// Calls in the conversation so far, so that no id comes twice.
    earlier: usize,
}

impl Emulated {
    /// The request as the model can take it, and what is needed to read its answer. `None`: it can take
    /// it as it is.
    pub(crate) fn of(spec: &ModelSpec, request: &Request) -> Option<(Self, Request)> {
        let known = known(spec);
        let parts = || request.messages.iter().flat_map(|message| &message.parts);
        let about_tools = |part: &Part| matches!(part, Part::ToolCall(_) | Part::ToolResult(_));
        let tools = !known.tools && (!request.tools.is_empty() || parts().any(about_tools));
        let schema = match &request.output {
            Output::Json { schema, .. } if !known.schema => Some(schema.clone()),
            _ => None,
        };
        if !tools && schema.is_none() {
            return None;
        }
        let mut made = Request {
            raw: None,
            ..request.clone()
        };
        let mut words: Vec<String> = request.system.iter().cloned().collect();
        let mut functions = None;
        if tools {
            let (own, described) = split(&request.tools);
            made.tools = own;
            made.tool_choice = ToolChoice::Auto;
            made.messages = conversation::plain(&request.messages);
            if request.tool_choice != ToolChoice::None && !described.is_empty() {
                words.push(prompt::functions(&described, &request.tool_choice));
                if known.stop {
                    made.sampling.stop.push(calls::STOP_WORD.to_owned());
                }
                functions = Some(described);
            }
        }
        if let Some(schema) = &schema {
            words.push(prompt::schema(schema));
            made.output = Output::Text;
        }
        made.system = (!words.is_empty()).then(|| words.join("\n\n"));
        let emulated = Self {
            functions,
            schema,
            earlier: parts()
                .filter(|part| matches!(part, Part::ToolCall(_)))
                .count(),
        };
        Some((emulated, made))
    }

    /// The answer with its calls taken out of the text. A text that does not obey the schema is
    /// the model's failure; who is `lenient` is given it as it is.
    pub(crate) fn read(&self, mut reply: Reply, lenient: bool) -> Result<Reply, LlmError> {
        if let Some(functions) = &self.functions {
            self.calls(functions, &mut reply);
        }
        let called = reply.tool_calls().next().is_some();
        if let Some(schema) = &self.schema
            && !called
        {
            let found = answer::read(&reply.text(), schema);
            let found = match found {
                Ok(found) => found,
                Err(_) if lenient => return Ok(reply),
                Err(why) => return Err(LlmError::new(ModelFault::BadAnswer, why)),
            };
            reply.parts.retain(|part| !matches!(part, Part::Text(_)));
            reply.parts.push(Part::Text(found));
        }
        Ok(reply)
    }

    fn calls(&self, functions: &[Function], reply: &mut Reply) {
        let found = calls::read(&reply.text(), functions);
        // Half a call, because there were no tokens left, is none.
        let cut = reply.stop == Stop::MaxTokens && !found.closed;
        if found.calls.is_empty() || cut {
            return;
        }
        reply.parts.retain(|part| !matches!(part, Part::Text(_)));
        if !found.text.is_empty() {
            reply.parts.push(Part::Text(found.text));
        }
        let calls = found
            .calls
            .into_iter()
            .enumerate()
            .map(|(nth, (name, input))| {
                Part::ToolCall(ToolCall {
                    id: format!("call_{}", self.earlier + nth),
                    name,
                    input,
                    raw: None,
                })
            });
        reply.parts.extend(calls);
        if reply.stop != Stop::MaxTokens {
            reply.stop = Stop::ToolCalls;
        }
    }
}

/// Tools of a provider's own can't be described, and stay.
fn split(tools: &[Tool]) -> (Vec<Tool>, Vec<Function>) {
    let (mut own, mut described) = (Vec::new(), Vec::new());
    for tool in tools {
        match tool {
            Tool::Function {
                name,
                description,
                parameters,
                ..
            } => described.push(Function {
                name: name.clone(),
                description: description.clone(),
                parameters: parameters.clone(),
            }),
            Tool::Computer { width, height } => described.push(Function {
                name: computer::NAME.to_owned(),
                description: computer::description(*width, *height),
                parameters: computer::parameters(*width, *height),
            }),
            Tool::Own { .. } => own.push(tool.clone()),
        }
    }
    (own, described)
}
