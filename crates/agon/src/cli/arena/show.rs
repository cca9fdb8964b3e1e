//! What came of evaluations, for people and for programs.

use agon_agent::play::players::PLAYERS;
use agon_arena::evaluators::EVALUATORS;
use agon_arena::{Evaluation, EvaluationResult};
use serde_json::{Value, json};

use super::args::ListArgs;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::output;

/// One evaluation, as it ends.
pub(super) fn evaluation(evaluation: &Evaluation, as_json: bool) {
    let id = &evaluation.task.task_id;
    match &evaluation.result {
        Ok(result) if as_json => drop(output::json(result)),
        Ok(result) => drop(output::data(&output::plain(&line(result)))),
        Err(error) if as_json => {
            drop(output::json(
                &json!({ "task_id": id, "error": error.to_string() }),
            ));
        }
        Err(error) => output::say(&output::plain(&format!("{id}: no result: {error}"))),
    }
}

/// `3f2c: score 13.36, success, 15.2 s (the environment ended)`
fn line(result: &EvaluationResult) -> String {
    let mut words = Vec::new();
    for (key, value) in &result.metrics {
        words.push(match (key.as_str(), value) {
            ("success", Value::Bool(true)) => "success".to_owned(),
            ("success", Value::Bool(false)) => "no success".to_owned(),
            ("task_elapsed_time", Value::Number(seconds)) => {
                format!("{:.2} s", seconds.as_f64().unwrap_or_default())
            }
            (key, value) => format!("{key} {value}"),
        });
    }
    let notes = result.notes.as_deref().unwrap_or_default();
    let notes: String = notes.chars().take(200).collect();
    format!("{}: {} ({notes})", result.task_id, words.join(", "))
}

/// How many came to something; faults if not all did.
pub(super) fn sum(evaluations: &[Evaluation]) -> Exit {
    let is_success = |evaluation: &&Evaluation| {
        let result = evaluation.result.as_ref().ok();
        result.and_then(|result| result.metrics.get("success")) == Some(&Value::Bool(true))
    };
    let scored = evaluations.iter().filter(|e| e.result.is_ok()).count();
    let successes = evaluations.iter().filter(is_success).count();
    output::say(&format!(
        "{}: {scored} scored, {successes} with success",
        output::count(evaluations.len() as u64, "task")
    ));
    if scored == evaluations.len() {
        Exit::Done
    } else {
        Exit::Faults
    }
}

/// `agon arena list`.
pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let agents = PLAYERS.iter().map(|kind| {
        let name = format!("{}{}", kind.name, kind.argument);
        ("agent", name, kind.about)
    });
    let evaluators =
        (EVALUATORS.iter()).map(|kind| ("evaluator", kind.name.to_owned(), kind.about));
    for (what, name, about) in agents.chain(evaluators) {
        if args.json {
            output::json(&json!({ "what": what, "name": name, "about": about }))?;
        } else {
            output::data(&format!("{what:<10} {name:<16} {about}"))?;
        }
    }
    Ok(Exit::Done)
}
