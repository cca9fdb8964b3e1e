//! `log_completions`: a file per call with what was asked and answered, for people who look at prompts. What
//! it is given is free of keys. Runs do not need it: they record their calls themselves.

use std::io::Write as _;
use std::path::Path;

use agon_core::ModelFault;
use jiff::Timestamp;
use serde_json::json;

use crate::account::CallRecord;
use crate::error::LlmError;
use crate::spec::Settings;

const FOLDER: &str = "logs/completions";

/// Where calls are logged; `None`: nowhere.
pub(super) fn folder(settings: &Settings) -> Option<&Path> {
    let named = settings.log_completions_folder.as_deref();
    settings
        .log_completions
        .then(|| named.unwrap_or(Path::new(FOLDER)))
}

/// Adds a file, which nobody but the user can read.
pub(super) fn write(folder: &Path, now: Timestamp, record: &CallRecord) -> Result<(), LlmError> {
    keep(folder, now, record).map_err(|error| {
        let text = format!(
            "log_completions is set, and nothing can be written in {}: {error}",
            folder.display()
        );
        LlmError::new(ModelFault::Setup, text)
    })
}

fn keep(folder: &Path, now: Timestamp, record: &CallRecord) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
    let model = record.model.chars().take(80);
    let model: String = model.map(|c| if plain(c) { c } else { '_' }).collect();
    // Names in the order of time; the rest of the name is for calls of the same moment.
    let mut file = tempfile::Builder::new()
        .prefix(&format!("{}-{model}-", now.strftime("%Y%m%dT%H%M%S%.6f")))
        .suffix(".json")
        .tempfile_in(folder)?;
    let value = json!({
        "at": now.to_string(),
        "model": record.model,
        "purpose": record.purpose,
        "seconds": record.seconds,
        "tries": record.tries,
        "taped": record.taped,
        "usage": record.usage,
        "request": record.request.as_deref(),
        "response": record.response.as_deref(),
        "fault": record.error.as_ref().map(|error| error.fault),
        "why": record.error.as_ref().map(LlmError::message),
    });
    serde_json::to_writer_pretty(&mut file, &value)?;
    file.write_all(b"\n")?;
    file.keep()?;
    Ok(())
}
