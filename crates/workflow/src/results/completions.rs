//! `llm_completions/<id>/`: one file for every answer that the agent's model gave in an attempt, where its
//! configuration asks for them. They are made from the record, which has more; so there need not be all.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use agon_core::{EventBody, ModelCall};
use agon_llm::Scrubber;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use crate::dialect::{Record, epoch};
use crate::eval::{EvalFileError, EvalMetadata};
use crate::metrics::{dollars, is_of_agent};

/// Files of one attempt, and bytes of all of them.
const FILES: usize = 2_000;
const WHOLE: usize = 256 << 20;

/// Bytes of a file.
const LONGEST: usize = 16 << 20;

/// Letters of a model's name that stand in a file's.
const OF_A_NAME: usize = 80;

/// Tells what is not there.
const LEFT_OUT: &str = "left_out.txt";

/// Where providers have the conversation in a request.
const SAID: [&str; 3] = ["messages", "input", "contents"];

pub(super) fn are_wanted(metadata: &EvalMetadata) -> bool {
    metadata.llm_config.get("log_completions") == Some(&Value::Bool(true))
}

/// Writes the files of an attempt into a folder of its own, which is made if there are any.
pub(super) fn write(record: &Record<'_>, folder: &Path) -> Result<(), EvalFileError> {
    within(record, folder, WHOLE)
}

fn within(record: &Record<'_>, folder: &Path, most: usize) -> Result<(), EvalFileError> {
    let mut names = HashSet::new();
    let (mut written, mut left_out) = (0, 0);
    for event in record.events {
        let EventBody::Model(call) = &event.body else {
            continue;
        };
        // Those that failed have no answer, and those of imported runs no words.
        if !is_of_agent(call.purpose) || call.fault.is_some() || call.response.is_none() {
            continue;
        }
        if names.len() == FILES || written >= most {
            left_out += 1;
            continue;
        }
        let model = record.model_of(call);
        let name = free_name(model, event.at, &mut names);
        let told = told(record, call, event.at).to_string();
        if told.len() > LONGEST.min(most - written) {
            left_out += 1;
            continue;
        }
        written += told.len();
        keep(folder, &name, &told)?;
    }
    if left_out > 0 {
        let told = format!("{left_out} more answers are in the run folder only\n");
        keep(folder, LEFT_OUT, &told)?;
    }
    Ok(())
}

fn keep(folder: &Path, name: &str, text: &str) -> Result<(), EvalFileError> {
    fs::create_dir_all(folder).map_err(EvalFileError::io("can't create", folder))?;
    let path = folder.join(name);
    fs::write(&path, text).map_err(EvalFileError::io("can't write", path))
}

/// The same for the same record; answers of the same moment stay apart.
fn free_name(model: &str, mut at: Timestamp, taken: &mut HashSet<String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let model: String = model
        .replace('/', "__")
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .take(OF_A_NAME)
        .collect();
    let model = model.trim_start_matches('.');
    loop {
        let name = format!("{model}-{:.6}.json", epoch(at));
        if taken.insert(name.clone()) {
            return name;
        }
        // At the end of time there is nothing later; nothing is ever recorded there.
        match at.checked_add(SignedDuration::from_micros(1)) {
            Ok(later) => at = later,
            Err(_) => return name,
        }
    }
}

fn told(record: &Record<'_>, call: &ModelCall, at: Timestamp) -> Value {
    let body = |said: &Option<_>| said.as_ref().and_then(|said| record.bodies.said(said));
    let mut request = match body(&call.request) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let messages = SAID.iter().find_map(|key| request.remove(*key));
    let told = json!({
        "messages": messages,
        "response": body(&call.response),
        "args": [],
        "kwargs": request,
        "timestamp": epoch(at),
        "cost": call.usage.money.map(dollars),
    });
    Scrubber::clean(&told).into_owned()
}

#[cfg(test)]
mod tests {
    use agon_core::Said;

    use super::*;
    use crate::dialect::tests::{conversation, recorded};

    fn files(folder: &Path) -> Vec<String> {
        let Ok(entries) = fs::read_dir(folder) else {
            return Vec::new();
        };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn names_are_safe_and_never_the_same() {
        let at = Timestamp::from_microsecond(1_700_000_000_250_000).unwrap();
        let mut taken = HashSet::new();
        let mut name = |model: &str| free_name(model, at, &mut taken);
        assert_eq!(
            name("openai/gpt-4o"),
            "openai__gpt-4o-1700000000.250000.json"
        );
        assert_eq!(
            name("openai/gpt-4o"),
            "openai__gpt-4o-1700000000.250001.json"
        );
        assert_eq!(name("../a b\n"), "__a_b_-1700000000.250000.json");
        assert!(name(&"x".repeat(500)).len() < 120);
    }

    #[test]
    fn answers_without_room_are_told_of() {
        let mut events = conversation();
        let mut answers = 0;
        for event in &mut events {
            if let EventBody::Model(call) = &mut event.body
                && call.fault.is_none()
            {
                call.response = Some(Said::Here(json!({ "id": "r" })));
                answers += 1;
            }
        }
        assert!(answers > 1);
        let folder = tempfile::tempdir().unwrap();
        let all = folder.path().join("all");
        write(&recorded(&events), &all).unwrap();
        assert_eq!(files(&all).len(), answers);
        write(&recorded(&events), &all).unwrap();
        assert_eq!(files(&all).len(), answers, "again is the same");
        let none = folder.path().join("none");
        within(&recorded(&events), &none, 10).unwrap();
        assert_eq!(files(&none), [LEFT_OUT]);
        let told = fs::read_to_string(none.join(LEFT_OUT)).unwrap();
        assert!(
            told.starts_with(&format!("{answers} more answers")),
            "{told}"
        );
    }
}
