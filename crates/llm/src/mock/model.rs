//! Which mock there is, and what it says to a request.

use std::path::Path;

use agon_core::ModelFault;
use serde_json::{Value, json};

use super::script::Script;
use crate::error::LlmError;
use crate::message::{Message, Part, Role};
use crate::request::{AnswerKey, Request};

#[derive(Debug)]
pub(crate) struct Mock {
    name: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// The last text of the user.
    Echo,
    Text(String),
    Script(Script),
    /// The same, for many conversations at once: which answer it is tells the conversation itself.
    Turns(Script),
    /// The right answer of the task.
    Expected,
    Wrong,
}

impl Mock {
    /// `name` is what follows `mock/`.
    pub(crate) fn open(name: &str) -> Result<Self, LlmError> {
        let kind = match name.split_once(':') {
            None if name == "echo" => Kind::Echo,
            None if name == "expected" => Kind::Expected,
            None if name == "wrong" => Kind::Wrong,
            Some(("text", words)) => Kind::Text(words.to_owned()),
            Some(("script", file)) => Kind::Script(Script::open(Path::new(file))?),
            Some(("turns", file)) => Kind::Turns(Script::open(Path::new(file))?),
            _ => {
                let text = format!(
                    "there is no mock/{name}: use mock/echo, mock/text:WORDS, mock/script:FILE, \
                     mock/turns:FILE, mock/expected or mock/wrong"
                );
                return Err(LlmError::new(ModelFault::Setup, text));
            }
        };
        Ok(Self {
            name: name.to_owned(),
            kind,
        })
    }

    /// The body of an answer. `turn` counts from 0 and picks the answer of a script.
    pub(crate) fn answer(&self, request: &Request, turn: usize) -> Result<Value, LlmError> {
        let text = match &self.kind {
            Kind::Echo => last_text(request),
            Kind::Text(words) => words.clone(),
            Kind::Expected => self.key(request)?.right.clone(),
            Kind::Wrong => self.key(request)?.wrong.clone(),
            Kind::Script(script) => return self.scripted(request, script, turn),
            Kind::Turns(script) => return self.scripted(request, script, answers(request)),
        };
        let message = json!({ "role": "assistant", "content": text });
        Ok(self.body(request, turn, message, None))
    }

    fn scripted(&self, request: &Request, script: &Script, turn: usize) -> Result<Value, LlmError> {
        let entry = script.at(turn);
        match entry.error() {
            Some(error) => Err(error),
            None => Ok(self.body(request, turn, entry.message(turn), entry.usage())),
        }
    }

    fn key<'a>(&self, request: &'a Request) -> Result<&'a AnswerKey, LlmError> {
        request.answer_key.as_ref().ok_or_else(|| {
            let text = format!(
                "mock/{} answers tasks that have a right answer, and this one has none",
                self.name
            );
            LlmError::new(ModelFault::Setup, text)
        })
    }

    fn body(
        &self,
        request: &Request,
        turn: usize,
        message: Value,
        usage: Option<(u64, u64)>,
    ) -> Value {
        let (input, output) = usage.unwrap_or_else(|| {
            let said = message["content"].as_str().map_or(0, str::len) + tool_text(&message);
            (tokens(asked_text(request)), tokens(said))
        });
        let finish = if message.get("tool_calls").is_some() {
            "tool_calls"
        } else {
            "stop"
        };
        json!({
            "id": format!("mock-{turn}"),
            "object": "chat.completion",
            "created": 0,
            "model": self.name,
            "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
            "usage": {
                "prompt_tokens": input,
                "completion_tokens": output,
                "total_tokens": input + output,
            },
        })
    }
}

/// How often the conversation was answered already.
fn answers(request: &Request) -> usize {
    let by_model = |message: &&Message| message.role == Role::Assistant;
    request.messages.iter().filter(by_model).count()
}

/// A count that looks like tokens: four characters each.
const fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

fn tool_text(message: &Value) -> usize {
    message
        .get("tool_calls")
        .map_or(0, |calls| calls.to_string().len())
}

fn texts(parts: &[Part]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

fn message_len(message: &Message) -> usize {
    let inner = message.parts.iter().map(|part| match part {
        Part::ToolResult(result) => texts(&result.parts).map(str::len).sum(),
        _ => 0,
    });
    texts(&message.parts).map(str::len).sum::<usize>() + inner.sum::<usize>()
}

fn asked_text(request: &Request) -> usize {
    let system = request.system.as_ref().map_or(0, String::len);
    system + request.messages.iter().map(message_len).sum::<usize>()
}

fn last_text(request: &Request) -> String {
    let users = request
        .messages
        .iter()
        .rev()
        .filter(|message| message.role == Role::User);
    let said = |message: &Message| {
        let text: Vec<&str> = texts(&message.parts).collect();
        (!text.is_empty()).then(|| text.join("\n"))
    };
    users.filter_map(said).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(name: &str, request: &Request) -> Result<Value, LlmError> {
        let body = Mock::open(name)?.answer(request, 0)?;
        Ok(body["choices"][0]["message"]["content"].clone())
    }

    #[test]
    fn each_says_what_its_name_says() {
        let mut request = Request::new([
            Message::user("first"),
            Message::assistant("no"),
            Message::user("last"),
            Message::assistant("then"),
        ]);
        assert_eq!(says("echo", &request).unwrap(), "last");
        assert_eq!(
            says("text:two words: yes", &request).unwrap(),
            "two words: yes"
        );
        assert_eq!(
            says("expected", &request).unwrap_err().fault,
            ModelFault::Setup
        );
        request.answer_key = Some(AnswerKey {
            right: "r".into(),
            wrong: "w".into(),
        });
        assert_eq!(says("expected", &request).unwrap(), "r");
        assert_eq!(says("wrong", &request).unwrap(), "w");
        let error = says("eccho", &request).unwrap_err();
        assert_eq!(error.fault, ModelFault::Setup);
        assert!(error.message().contains("mock/echo"), "{error}");
    }

    #[test]
    fn turns_are_told_by_the_conversation() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("turns");
        std::fs::write(&file, "\"a\" \"b\" \"c\"").unwrap();
        let name = format!("turns:{}", file.display());
        let mut request = Request::user("first");
        assert_eq!(says(&name, &request).unwrap(), "a");
        request.messages.push(Message::assistant("a"));
        request.messages.push(Message::user("second"));
        assert_eq!(says(&name, &request).unwrap(), "b");
    }

    #[test]
    fn tokens_are_counted_by_length() {
        let mut request = Request::user("12345678");
        request.system = Some("1234".into());
        let body = Mock::open("text:12345")
            .unwrap()
            .answer(&request, 0)
            .unwrap();
        assert_eq!(body["usage"]["prompt_tokens"], 3);
        assert_eq!(body["usage"]["completion_tokens"], 2);
    }
}
