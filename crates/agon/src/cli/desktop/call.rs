//! `agon desktop call`: one function by name. A desktop of ours is asked through its owner, so that a
//! key that one call presses is down until another releases it.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use agon_desktop::registry::{CALLABLES, Entry};
use serde_json::Value;

use super::args::CallArgs;
use super::choose::{self, Chosen};
use super::serve::{Answer, LONGEST, Request};
use super::state::Listed;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::output;

/// No function takes longer.
const PATIENCE: Duration = Duration::from_secs(2 * 3600);

pub(super) fn call(args: &CallArgs) -> Result<Exit, Failure> {
    let Some(name) = &args.name else {
        list(args.json)?;
        return Ok(Exit::Done);
    };
    // A name that is wrong needs no desktop to be told so.
    CALLABLES.get(name)?;
    let given = arguments(&args.args);
    let result = match choose::choose(&args.choice)? {
        Chosen::Ours(listed) => ask(&listed, name, given)?,
        Chosen::Given(address) => {
            let desktop = choose::connect(&address)?;
            CALLABLES.call_on(&desktop, name, given)?
        }
    };
    output::json(&result)?;
    Ok(Exit::Done)
}

fn ask(listed: &Listed, name: &str, args: Value) -> Result<Value, Failure> {
    let gone = |error: std::io::Error| {
        let id = &listed.id;
        Failure::new(format_args!(
            "the owner of desktop {id} does not answer: {error}"
        ))
    };
    let request = Request {
        call: name.to_owned(),
        args,
    };
    let mut request = serde_json::to_vec(&request)?;
    request.push(b'\n');
    let mut socket = UnixStream::connect(&listed.calls).map_err(gone)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.write_all(&request).map_err(gone)?;
    let mut line = Vec::new();
    let mut reader = BufReader::new(socket.take(2 * LONGEST));
    reader.read_until(b'\n', &mut line).map_err(gone)?;
    let answer: Answer = serde_json::from_slice(&line)
        .map_err(|_| gone(std::io::ErrorKind::UnexpectedEof.into()))?;
    match answer.error {
        Some(error) => Err(Failure::new(error)),
        None => Ok(answer.result),
    }
}

/// A single object names the parameters; everything else comes in their order.
fn arguments(words: &[String]) -> Value {
    let mut values: Vec<Value> = words.iter().map(|word| argument(word)).collect();
    match values[..] {
        [Value::Object(_)] => values.remove(0),
        _ => Value::Array(values),
    }
}

fn argument(word: &str) -> Value {
    let hexadecimal = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
    if let Some(number) = hexadecimal.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
        return number.into();
    }
    serde_json::from_str(word).unwrap_or_else(|_| word.into())
}

fn list(json: bool) -> Result<(), Failure> {
    for entry in CALLABLES.list() {
        if json {
            output::json(&entry)?;
            continue;
        }
        let Entry {
            name,
            aliases,
            parameters,
            about,
        } = entry;
        let short = aliases.first().unwrap_or(&name);
        output::data(&format!("{:<58} {about}", format!("{short}({parameters})")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_are_what_they_look_like() {
        for (word, value) in [
            ("xterm", json!("xterm")),
            ("12", json!(12)),
            ("-3", json!(-3)),
            ("0x27", json!(0x27)),
            ("0xg", json!("0xg")),
            ("true", json!(true)),
            ("\"12\"", json!("12")),
            ("[[1,2]]", json!([[1, 2]])),
            ("{", json!("{")),
            ("", json!("")),
            ("two words", json!("two words")),
            ("1 2", json!("1 2")),
        ] {
            assert_eq!(argument(word), value, "{word}");
        }
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(arguments(&words(&[])), json!([]));
        assert_eq!(arguments(&words(&["{\"x\":1}"])), json!({"x": 1}));
        assert_eq!(arguments(&words(&["{\"x\":1}", "2"])), json!([{"x": 1}, 2]));
        assert_eq!(arguments(&words(&["[1]"])), json!([[1]]));
    }
}
