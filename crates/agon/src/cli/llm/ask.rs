//! `agon llm ask`: one question, one answer.

use std::io::{Read, Write};
use std::path::Path;

use agon_core::Usage;
use agon_llm::{
    Delta, Image, MediaType, Message, Output, Part, Reply, Request, Role, Scrubber, Stop,
};
use serde::Serialize;
use serde_json::Value;

use super::args::AskArgs;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::output;

/// The largest picture, question or schema that is read.
const MOST_BYTES: u64 = 64 << 20;

#[derive(Debug, Serialize)]
struct Answer<'a> {
    model: &'a str,
    answered_by: &'a str,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Value>,
    cut: bool,
    usage: &'a Usage,
    /// Dollars; `null` where the price is not known.
    cost: Option<String>,
}

pub(super) async fn ask(args: &AskArgs) -> Result<Exit, Failure> {
    let request = request(args)?;
    let open = args.models.open()?;
    let Some(model) = open.model else {
        let known = open.config.sections();
        return Err(Failure::new(format_args!(
            "which model? Give --model NAME: {}{}mock/echo needs no service",
            known.join(", "),
            if known.is_empty() { "" } else { "; " },
        )));
    };
    let asked = if args.stream {
        let reply = model.ask_streaming(&request, &mut show).await;
        // What came before an error stays on the screen.
        show(Delta::Text("\n".to_owned()));
        reply
    } else {
        model.ask(&request).await
    };
    let reply = match asked {
        Ok(reply) => reply,
        Err(error) => {
            output::say(&format!("agon: {}", output::plain(&error.to_string())));
            return Ok(Exit::Faults);
        }
    };
    let name = &model.spec().name;
    if args.json {
        output::json(&answer(name, &reply))?;
    } else {
        if !args.stream {
            output::data(&Scrubber::scrub(&reply.text()))?;
        }
        for call in reply.tool_calls() {
            output::data(&format!("{} {}", call.name, call.input))?;
        }
    }
    if reply.stop == Stop::MaxTokens {
        output::say("the answer is cut: the model ran into max_output_tokens");
    }
    output::say(&spent(&reply.usage));
    Ok(Exit::Done)
}

/// Streamed text goes out as it comes. A reader that has seen enough is no error.
fn show(delta: Delta) {
    if let Delta::Text(text) = delta {
        let mut out = std::io::stdout().lock();
        out.write_all(Scrubber::scrub(&text).as_bytes()).ok();
        out.flush().ok();
    }
}

fn answer<'a>(name: &'a str, reply: &'a Reply) -> Answer<'a> {
    let calls = reply.tool_calls();
    Answer {
        model: name,
        answered_by: &reply.model,
        text: Scrubber::scrub(&reply.text()),
        tool_calls: calls
            .map(|call| serde_json::json!({"name": call.name, "input": call.input}))
            .collect(),
        cut: reply.stop == Stop::MaxTokens,
        usage: &reply.usage,
        cost: reply.usage.money.map(|money| money.to_string()),
    }
}

/// `12 tokens in (8 cached), 3 out, $0.0001`
pub(super) fn spent(usage: &Usage) -> String {
    let part = |count: u64, what: &str| match count {
        0 => String::new(),
        count => format!(" ({count} {what})"),
    };
    let cost = match usage.money {
        Some(money) => money.to_string(),
        None => "price unknown".to_owned(),
    };
    format!(
        "{} tokens in{}, {} out{}, {cost}",
        usage.input_tokens,
        part(usage.cached_tokens, "cached"),
        usage.output_tokens,
        part(usage.reasoning_tokens, "reasoning"),
    )
}

fn request(args: &AskArgs) -> Result<Request, Failure> {
    let mut parts = Vec::new();
    for path in &args.images {
        parts.push(Part::Image(image(path)?));
    }
    parts.push(Part::Text(prompt(&args.prompt)?));
    let mut request = Request::new([Message::new(Role::User, parts)]);
    request.system = args.system.clone();
    if let Some(path) = &args.schema {
        let schema = serde_json::from_slice(&read(path)?).map_err(|error| {
            Failure::new(format_args!("{} is no JSON: {error}", path.display()))
        })?;
        let name = "answer".to_owned();
        request.output = Output::Json { name, schema };
    }
    Ok(request)
}

fn prompt(words: &[String]) -> Result<String, Failure> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    let mut text = String::new();
    std::io::stdin()
        .take(MOST_BYTES)
        .read_to_string(&mut text)?;
    Ok(text)
}

/// The kind of a picture is told by its first bytes, not by its name.
fn image(path: &Path) -> Result<Image, Failure> {
    let bytes = read(path)?;
    let media = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => MediaType::Png,
        [0xff, 0xd8, 0xff, ..] => MediaType::Jpeg,
        [b'G', b'I', b'F', b'8', ..] => MediaType::Gif,
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => MediaType::Webp,
        _ => {
            let path = path.display();
            return Err(Failure::new(format_args!(
                "{path} is no PNG, JPEG, WebP or GIF picture"
            )));
        }
    };
    Ok(Image {
        media,
        bytes: bytes.into(),
    })
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(format_args!("can't read {}: {error}", path.display()))
    };
    let file = std::fs::File::open(path).map_err(|error| failed(&error))?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| failed(&error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(failed(&format_args!(
            "it is larger than {} MiB",
            MOST_BYTES >> 20
        )));
    }
    Ok(bytes)
}
