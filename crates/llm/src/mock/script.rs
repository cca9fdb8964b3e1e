//! Answers from a file: a JSON array, or one JSON value per line. They are given in order, and the last
//! one again and again. A line is a text, or an object with `text`, `tool_calls` or `fault`.

use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use agon_core::ModelFault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::LlmError;

/// A larger file is no script.
const LARGEST: u64 = 64 << 20;

#[derive(Debug)]
pub(super) struct Script {
    /// Never empty.
    answers: Vec<Answer>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    text: Option<String>,
    #[serde(default)]
    tool_calls: Vec<Call>,
    /// A fault instead of an answer: `rate_limit`, `overload`, ...
    fault: Option<ModelFault>,
    why: Option<String>,
    /// Seconds that the service asks for, with a fault.
    retry_after: Option<f64>,
    usage: Option<Counts>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    id: Option<String>,
    name: String,
    #[serde(default)]
    input: Value,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

impl Script {
    pub(super) fn open(path: &Path) -> Result<Self, LlmError> {
        let wrong = |why: String| {
            let text = format!("the script {} can't be used: {why}", path.display());
            LlmError::new(ModelFault::Setup, text)
        };
        let file = std::fs::File::open(path).map_err(|error| wrong(error.to_string()))?;
        let mut text = String::new();
        file.take(LARGEST)
            .read_to_string(&mut text)
            .map_err(|error| wrong(error.to_string()))?;
        Self::read(&text).map_err(wrong)
    }

    fn read(text: &str) -> Result<Self, String> {
        let values: Vec<Value> = match serde_json::from_str(text) {
            Ok(Value::Array(values)) => values,
            _ => {
                let values = serde_json::Deserializer::from_str(text).into_iter();
                values
                    .collect::<Result<_, _>>()
                    .map_err(|error| error.to_string())?
            }
        };
        let answers = values
            .into_iter()
            .enumerate()
            .map(|(n, value)| Answer::read(value).map_err(|why| format!("answer {}: {why}", n + 1)))
            .collect::<Result<Vec<_>, _>>()?;
        if answers.is_empty() {
            return Err("it has no answers".to_owned());
        }
        Ok(Self { answers })
    }

    pub(super) fn at(&self, turn: usize) -> &Answer {
        &self.answers[turn.min(self.answers.len() - 1)]
    }
}

impl Answer {
    fn read(value: Value) -> Result<Self, String> {
        if let Value::String(text) = value {
            return Ok(Self {
                text: Some(text),
                ..Self::default()
            });
        }
        let answer: Self = serde_json::from_value(value).map_err(|error| error.to_string())?;
        let says = answer.text.is_some() || !answer.tool_calls.is_empty();
        if says == answer.fault.is_some() {
            return Err("it needs a `text` or `tool_calls`, or else a `fault`".to_owned());
        }
        Ok(answer)
    }

    pub(super) fn error(&self) -> Option<LlmError> {
        let fault = self.fault?;
        let why = self.why.as_deref().unwrap_or("the script says so");
        let mut error = LlmError::new(fault, why);
        error.retry_after = self
            .retry_after
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Some(error)
    }

    /// As the service would write it.
    pub(super) fn message(&self, turn: usize) -> Value {
        let mut message = json!({ "role": "assistant", "content": self.text });
        if !self.tool_calls.is_empty() {
            let calls = self.tool_calls.iter().enumerate().map(|(n, call)| {
                let id = call
                    .id
                    .clone()
                    .unwrap_or_else(|| format!("call_{turn}_{n}"));
                let input = if call.input.is_null() {
                    json!({})
                } else {
                    call.input.clone()
                };
                json!({
                    "id": id,
                    "type": "function",
                    "function": { "name": call.name, "arguments": input.to_string() },
                })
            });
            message["tool_calls"] = calls.collect();
        }
        message
    }

    pub(super) fn usage(&self) -> Option<(u64, u64)> {
        self.usage
            .map(|counts| (counts.input_tokens, counts.output_tokens))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_arrays_are_the_same() {
        let lines = "{\"text\": \"a\"}\n\n\"b\"\n{\"fault\": \"rate_limit\", \"retry_after\": 2}\n";
        let array = "[{\"text\": \"a\"}, \"b\", {\"fault\": \"rate_limit\", \"retry_after\": 2}]";
        for text in [lines, array] {
            let script = Script::read(text).unwrap();
            assert_eq!(script.at(0).message(0)["content"], "a");
            assert_eq!(script.at(1).message(1)["content"], "b");
            for turn in [2, 3, 99] {
                let error = script.at(turn).error().unwrap();
                assert_eq!(error.fault, ModelFault::RateLimit);
                assert_eq!(error.retry_after, Some(Duration::from_secs(2)));
            }
        }
    }

    #[test]
    fn tools_are_called_as_a_service_would() {
        let script =
            Script::read(r#"{"tool_calls": [{"name": "click", "input": {"x": 1}}]}"#).unwrap();
        let call = &script.at(0).message(0)["tool_calls"][0];
        assert_eq!(call["function"]["name"], "click");
        assert_eq!(call["function"]["arguments"], "{\"x\":1}");
        assert_eq!(call["id"], "call_0_0");
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for text in [
            "",
            "[]",
            "{}",
            "{\"txt\": \"a\"}",
            "7",
            "{\"text\": \"a\"} nonsense",
            r#"{"fault": "rate_limit", "text": "a"}"#,
        ] {
            assert!(Script::read(text).is_err(), "{text}");
        }
        let error = Script::open(Path::new("/no/such/script")).unwrap_err();
        assert!(error.message().contains("/no/such/script"));
    }
}
