//! Answers in OpenAI's form: whole, and as the events of a stream.

use serde_json::{Value, json};

use crate::generate::{Finish, Why};

/// In which of OpenAI's two forms an answer is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Chat,
    Completion,
}

/// What all parts of an answer say.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) form: Form,
    pub(crate) id: u64,
    pub(crate) model: String,
}

impl Answer {
    fn base(&self, object: &str, choices: Value) -> Value {
        let prefix = match self.form {
            Form::Chat => "chatcmpl",
            Form::Completion => "cmpl",
        };
        // No time of day: equal questions have equal answers.
        json!({"id": format!("{prefix}-{}", self.id), "object": object, "created": 0, "model": self.model,
            "choices": choices})
    }

    pub(crate) fn whole(&self, text: &str, finish: &Finish) -> Value {
        let (object, mut choice) = match self.form {
            Form::Chat => (
                "chat.completion",
                json!({"message": {"role": "assistant", "content": text}}),
            ),
            Form::Completion => ("text_completion", json!({"text": text})),
        };
        choice["index"] = json!(0);
        choice["finish_reason"] = json!(reason(finish.why));
        let mut body = self.base(object, json!([choice]));
        body["usage"] = usage(finish);
        if !finish.warnings.is_empty() {
            body["warnings"] = json!(finish.warnings);
        }
        body
    }

    /// A piece of a stream; `None` ends it.
    pub(crate) fn piece(&self, text: &str, finish: Option<&Finish>) -> Value {
        let (object, mut choice) = match self.form {
            Form::Chat if text.is_empty() => ("chat.completion.chunk", json!({"delta": {}})),
            Form::Chat => (
                "chat.completion.chunk",
                json!({"delta": {"role": "assistant", "content": text}}),
            ),
            Form::Completion => ("text_completion", json!({"text": text})),
        };
        choice["index"] = json!(0);
        choice["finish_reason"] = json!(finish.map(|finish| reason(finish.why)));
        let mut body = self.base(object, json!([choice]));
        if let Some(finish) = finish.filter(|finish| !finish.warnings.is_empty()) {
            body["warnings"] = json!(finish.warnings);
        }
        body
    }

    /// The piece after the last one, where it is asked for.
    pub(crate) fn usage_piece(&self, finish: &Finish) -> Value {
        let object = match self.form {
            Form::Chat => "chat.completion.chunk",
            Form::Completion => "text_completion",
        };
        let mut body = self.base(object, json!([]));
        body["usage"] = usage(finish);
        body
    }
}

fn usage(finish: &Finish) -> Value {
    json!({"prompt_tokens": finish.prompt_tokens, "completion_tokens": finish.answer_tokens,
        "total_tokens": finish.prompt_tokens + finish.answer_tokens})
}

fn reason(why: Why) -> &'static str {
    match why {
        Why::End => "stop",
        Why::Length => "length",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(warnings: &[&str]) -> Finish {
        Finish {
            why: Why::Length,
            prompt_tokens: 3,
            answer_tokens: 2,
            warnings: warnings.iter().map(|text| (*text).to_owned()).collect(),
        }
    }

    fn answer(form: Form) -> Answer {
        Answer {
            form,
            id: 1,
            model: "x".to_owned(),
        }
    }

    #[test]
    fn a_whole_answer_has_text_usage_and_warnings() {
        let body = answer(Form::Chat).whole("hi", &finish(&["cut"]));
        assert_eq!(body["choices"][0]["message"]["content"], "hi");
        assert_eq!(body["choices"][0]["finish_reason"], "length");
        assert_eq!(body["usage"]["total_tokens"], 5);
        assert_eq!(body["warnings"], json!(["cut"]));
        let body = answer(Form::Completion).whole("hi", &finish(&[]));
        assert_eq!(body["choices"][0]["text"], "hi");
        assert!(body.get("warnings").is_none());
    }

    #[test]
    fn pieces_end_with_a_reason() {
        let answer = answer(Form::Chat);
        assert_eq!(
            answer.piece("hi", None)["choices"][0]["finish_reason"],
            Value::Null
        );
        let last = answer.piece("", Some(&finish(&[])));
        assert_eq!(last["choices"][0]["finish_reason"], "length");
        assert_eq!(last["choices"][0]["delta"], json!({}));
        assert_eq!(answer.usage_piece(&finish(&[]))["choices"], json!([]));
    }
}
