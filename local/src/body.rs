//! Bodies of requests, in OpenAI's form, as questions. Whatever is in them is checked here.

use serde::Deserialize;
use serde_json::Value;

use crate::ask::{Ask, Message, Prompt, Sampling};
use crate::refusal::Refusal;
use crate::schema;

/// When a request names no number of tokens: a small model may never come to an end.
const USUAL_MAX_TOKENS: u32 = 1_024;
const MOST_STOP_WORDS: usize = 16;
const LONGEST_STOP_WORD: usize = 256;
/// Below, it is the likeliest token anyway.
const COLDEST: f64 = 1e-3;
/// Keys that would change the answer, and are not known here.
const IGNORED: [&str; 4] = [
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
];

/// A question, and how its answer is to be given.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) ask: Ask,
    pub(crate) stream: bool,
    pub(crate) usage_in_stream: bool,
}

#[derive(Deserialize)]
struct How {
    temperature: Option<f64>,
    top_p: Option<f64>,
    top_k: Option<i64>,
    seed: Option<i64>,
    max_tokens: Option<u64>,
    max_completion_tokens: Option<u64>,
    stop: Option<Stop>,
    #[serde(default)]
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    response_format: Option<Value>,
    /// Characters; what is more is cut from the left.
    max_input_size: Option<u64>,
    n: Option<u64>,
    tools: Option<Vec<Value>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Stop {
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

#[derive(Deserialize)]
struct Said {
    role: String,
    content: Option<Content>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    r#type: String,
    text: Option<String>,
}

/// A body of `/v1/chat/completions`.
pub(crate) fn chat(bytes: &[u8]) -> Result<Wanted, Refusal> {
    let body = parse(bytes)?;
    let said = body.get("messages").unwrap_or(&Value::Null);
    let said: Vec<Said> = read("messages", said)?;
    if said.is_empty() {
        return Err(Refusal::bad("`messages` is empty"));
    }
    let messages = said.into_iter().map(message).collect::<Result<_, _>>()?;
    wanted(&body, Prompt::Chat(messages))
}

/// A body of `/v1/completions`.
pub(crate) fn completion(bytes: &[u8]) -> Result<Wanted, Refusal> {
    let body = parse(bytes)?;
    let prompt: String = read("prompt", body.get("prompt").unwrap_or(&Value::Null))?;
    wanted(&body, Prompt::Text(prompt))
}

fn parse(bytes: &[u8]) -> Result<Value, Refusal> {
    let body: Value = serde_json::from_slice(bytes)
        .map_err(|error| Refusal::bad(format!("the body is no JSON: {error}")))?;
    if body.is_object() {
        Ok(body)
    } else {
        Err(Refusal::bad("the body is no JSON object"))
    }
}

fn read<'a, T: Deserialize<'a>>(what: &str, value: &'a Value) -> Result<T, Refusal> {
    T::deserialize(value).map_err(|error| Refusal::bad(format!("{what}: {error}")))
}

fn message(said: Said) -> Result<Message, Refusal> {
    let role = match said.role.as_str() {
        "system" | "developer" => "system",
        "user" => "user",
        "assistant" => "assistant",
        other => {
            return Err(Refusal::bad(format!(
                "a message of `{other}`: only system, user and assistant are known here"
            )));
        }
    };
    let content = match said.content {
        None => String::new(),
        Some(Content::Text(text)) => text,
        Some(Content::Parts(parts)) => parts.into_iter().map(text_of).collect::<Result<_, _>>()?,
    };
    if content.contains('\0') {
        return Err(Refusal::bad("a message has a zero character"));
    }
    Ok(Message { role, content })
}

fn text_of(part: Part) -> Result<String, Refusal> {
    match (part.r#type.as_str(), part.text) {
        ("text", Some(text)) => Ok(text),
        (other, _) => Err(Refusal::bad(format!(
            "a part of type `{other}`: local models are given text alone"
        ))),
    }
}

fn wanted(body: &Value, mut prompt: Prompt) -> Result<Wanted, Refusal> {
    let how: How = read("the request", body)?;
    if how.n.is_some_and(|n| n != 1) {
        return Err(Refusal::bad("`n`: one answer at a time"));
    }
    if how.tools.as_ref().is_some_and(|tools| !tools.is_empty()) {
        return Err(Refusal::bad(
            "`tools`: local models have none; describe them in the prompt (native_tool_calling = false)",
        ));
    }
    let mut warnings = Vec::new();
    for key in IGNORED {
        let odd = |value: &&Value| {
            !matches!(value, Value::Null | Value::Bool(false)) && value.as_f64() != Some(0.0)
        };
        if body.get(key).filter(odd).is_some() {
            warnings.push(format!("`{key}` is not known here and was ignored"));
        }
    }
    if let Some(most) = how.max_input_size {
        let most_chars = usize::try_from(most).unwrap_or(usize::MAX);
        if let Some(had) = prompt.cut(most_chars) {
            warnings.push(format!(
                "the prompt had {had} characters and was cut from the left to {most}"
            ));
        }
    }
    let max_tokens = how.max_completion_tokens.or(how.max_tokens);
    let max_tokens = max_tokens.map_or(USUAL_MAX_TOKENS, |most| {
        u32::try_from(most).unwrap_or(u32::MAX)
    });
    if max_tokens == 0 {
        return Err(Refusal::bad("`max_tokens` is 0"));
    }
    let sampling = sampling(&how)?;
    let grammar = grammar(how.response_format.as_ref(), &mut warnings)?;
    let usage_in_stream = how
        .stream_options
        .as_ref()
        .is_some_and(|options| options.include_usage);
    Ok(Wanted {
        stream: how.stream.unwrap_or(false),
        usage_in_stream,
        ask: Ask {
            prompt,
            sampling,
            max_tokens,
            stop: stop_words(how.stop)?,
            grammar,
            warnings,
        },
    })
}

fn sampling(how: &How) -> Result<Sampling, Refusal> {
    let within =
        |name: &str, value: Option<f64>, usual: f64, most: f64| match value.unwrap_or(usual) {
            value if (0.0..=most).contains(&value) => Ok(value),
            value => Err(Refusal::bad(format!(
                "`{name}` is {value}, which is not within 0 to {most}"
            ))),
        };
    let temperature = within("temperature", how.temperature, 1.0, 100.0)?;
    let top_p = within("top_p", how.top_p, 1.0, 1.0)?;
    let top_k = how.top_k.unwrap_or(0).clamp(0, 1 << 20);
    if temperature < COLDEST {
        return Ok(Sampling::Greedy);
    }
    #[expect(clippy::cast_possible_truncation, reason = "both are within bounds")]
    Ok(Sampling::Random {
        temperature: temperature as f32,
        top_p: top_p as f32,
        top_k: top_k as i32,
        // Any seed of 64 bits is one of 32; the last one has a meaning of its own in llama.cpp.
        seed: how
            .seed
            .map(|seed| seed.rem_euclid(i64::from(u32::MAX)) as u32),
    })
}

fn stop_words(stop: Option<Stop>) -> Result<Vec<String>, Refusal> {
    let words = match stop {
        None => Vec::new(),
        Some(Stop::One(word)) => vec![word],
        Some(Stop::Several(words)) => words,
    };
    let fits = |word: &String| !word.is_empty() && word.len() <= LONGEST_STOP_WORD;
    if words.len() > MOST_STOP_WORDS || !words.iter().all(fits) {
        return Err(Refusal::bad(format!(
            "`stop`: at most {MOST_STOP_WORDS} words of 1 to {LONGEST_STOP_WORD} bytes"
        )));
    }
    Ok(words)
}

fn grammar(format: Option<&Value>, warnings: &mut Vec<String>) -> Result<Option<String>, Refusal> {
    let Some(format) = format.filter(|format| !format.is_null()) else {
        return Ok(None);
    };
    let object = serde_json::json!({"type": "object"});
    let (schema, strict) = match format["type"].as_str() {
        Some("text") => return Ok(None),
        Some("json_object") => (&object, false),
        Some("json_schema") => {
            let named = &format["json_schema"];
            (&named["schema"], named["strict"] == Value::Bool(true))
        }
        _ => {
            return Err(Refusal::bad(
                "`response_format`: only text, json_object and json_schema are known",
            ));
        }
    };
    let (grammar, not_enforced) = schema::grammar(schema)?;
    if strict && !not_enforced.is_empty() {
        return Err(Refusal::bad(format!(
            "the JSON schema is strict and has what can't be enforced here: {}",
            not_enforced.join(", ")
        )));
    }
    for keyword in not_enforced {
        warnings.push(format!("{keyword} of the JSON schema is not enforced"));
    }
    Ok(Some(grammar))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chat_of(extra: &Value) -> Result<Wanted, Refusal> {
        let mut body = json!({"model": "x", "messages": [{"role": "user", "content": "hello"}]});
        for (key, value) in extra.as_object().unwrap() {
            body[key] = value.clone();
        }
        chat(body.to_string().as_bytes())
    }

    #[test]
    fn a_plain_question_is_read() {
        let wanted = chat_of(
            &json!({"temperature": 0, "max_tokens": 7, "stop": "end", "stream": true,
            "top_p": null, "stream_options": {"include_usage": true}}),
        )
        .unwrap();
        assert!(wanted.stream && wanted.usage_in_stream);
        let ask = wanted.ask;
        assert_eq!(ask.sampling, Sampling::Greedy);
        assert_eq!((ask.max_tokens, ask.stop), (7, vec!["end".to_owned()]));
        assert_eq!(ask.warnings, Vec::<String>::new());
    }

    #[test]
    fn parts_of_text_are_put_together() {
        let body = json!({"messages": [{"role": "developer", "content": null},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]});
        let wanted = chat(body.to_string().as_bytes()).unwrap();
        let Prompt::Chat(messages) = wanted.ask.prompt else {
            panic!("no chat");
        };
        assert_eq!(
            (messages[0].role, messages[0].content.as_str()),
            ("system", "")
        );
        assert_eq!(messages[1].content, "ab");
    }

    #[test]
    fn seeds_of_all_sizes_are_taken() {
        for (seed, expected) in [(5, 5), (-1, u32::MAX - 1), (i64::from(u32::MAX), 0)] {
            let wanted = chat_of(&json!({"seed": seed, "temperature": 1})).unwrap();
            let Sampling::Random { seed, .. } = wanted.ask.sampling else {
                panic!("greedy");
            };
            assert_eq!(seed, Some(expected));
        }
    }

    #[test]
    fn what_is_not_known_is_told() {
        let wanted = chat_of(
            &json!({"frequency_penalty": 1, "presence_penalty": 0, "max_input_size": 2,
            "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema":
                {"type": "number", "minimum": 3}}}}),
        )
        .unwrap();
        let warnings = wanted.ask.warnings.join("\n");
        assert_eq!(wanted.ask.warnings.len(), 3, "{warnings}");
        for told in ["frequency_penalty", "had 5 characters", "#/minimum"] {
            assert!(warnings.contains(told), "{told}: {warnings}");
        }
    }

    #[test]
    fn wrong_requests_are_refused() {
        for (extra, named) in [
            (json!({"messages": []}), "messages"),
            (json!({"messages": "text"}), "messages"),
            (
                json!({"messages": [{"role": "tool", "content": "x"}]}),
                "tool",
            ),
            (
                json!({"messages": [{"role": "user", "content": "a\0b"}]}),
                "zero",
            ),
            (
                json!({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}),
                "image_url",
            ),
            (json!({"temperature": -1}), "temperature"),
            (json!({"top_p": 2}), "top_p"),
            (json!({"max_tokens": 0}), "max_tokens"),
            (json!({"max_tokens": "many"}), "request"),
            (json!({"stop": [""]}), "stop"),
            (json!({"stop": vec!["x"; 17]}), "stop"),
            (json!({"n": 2}), "`n`"),
            (json!({"tools": [{}]}), "tools"),
            (
                json!({"response_format": {"type": "xml"}}),
                "response_format",
            ),
            (
                json!({"response_format": {"type": "json_schema"}}),
                "neither",
            ),
            (
                json!({"response_format": {"type": "json_schema", "json_schema": {"strict": true,
                    "schema": {"type": "number", "minimum": 3}}}}),
                "strict",
            ),
        ] {
            let refusal = chat_of(&extra).unwrap_err();
            assert!(refusal.to_string().contains(named), "{named}: {refusal}");
            assert_eq!(refusal.status, 400);
        }
        for body in ["", "[]", "{", "null", "{\"prompt\": 3}"] {
            assert!(completion(body.as_bytes()).is_err(), "{body}");
        }
    }
}
