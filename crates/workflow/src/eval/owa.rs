//! Results in the form of Open World Agents' `report.jsonl`: one line per trial with `task_id`, `metrics`
//! and `notes`.

use std::io::{self, Write};

use agon_core::verdict::Outcome;
use agon_store::TrialLine;
use serde::Serialize;
use serde_json::{Map, Value, json};

#[derive(Serialize)]
struct Line<'a> {
    task_id: &'a str,
    metrics: Map<String, Value>,
    notes: Option<String>,
}

/// Writes the final line of every trial. A trial without a verdict has -1 as its score, as one whose score
/// could not be read.
pub fn export_owa<'a>(
    lines: impl IntoIterator<Item = &'a TrialLine>,
    out: &mut dyn Write,
) -> io::Result<usize> {
    let mut written = 0;
    for line in lines.into_iter().filter(|line| line.is_final) {
        serde_json::to_writer(&mut *out, &told(line, &line.task.to_string()))?;
        out.write_all(b"\n")?;
        written += 1;
    }
    Ok(written)
}

fn told<'a>(line: &TrialLine, task_id: &'a str) -> Line<'a> {
    let mut metrics = Map::new();
    let mut put = |key: &str, value: Value| metrics.insert(key.to_owned(), value);
    let score = match line.outcome {
        Outcome::Faulted => -1.0,
        Outcome::Passed | Outcome::Failed => line.measured.unwrap_or(line.score),
    };
    put(
        "task_elapsed_time",
        json!(line.seconds.agent + line.seconds.environment),
    );
    put("success", json!(line.outcome == Outcome::Passed));
    put("score", json!(score));
    put("steps", json!(line.steps));
    if line.epoch > 1 {
        put("epoch", json!(line.epoch));
    }
    let fault = line.fault.as_ref().map(ToString::to_string);
    let reason = (!line.reason.is_empty()).then(|| line.reason.clone());
    let end = line.end.map(|end| end.to_string());
    Line {
        task_id,
        metrics,
        notes: fault.or(reason).or(end),
    }
}
