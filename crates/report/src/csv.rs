//! CSV: one row per trial with a result, or with attempts that never ended, for spreadsheets and data frames. A cell that a spreadsheet
//! would take for a formula gets a leading apostrophe.

use agon_core::prediction::{ActionScore, ScoredPrediction};
use agon_core::{Money, Outcome, Usage};
use agon_store::{Manifest, StoreError};

use crate::asked::models;
use crate::error::ReportError;
use crate::run_report::{RunReport, Trial};
use crate::text::is_unseen;
use crate::usage::UsageTotal;

const HEADER: &str = "run,suite,agent,unconfined_agent,task,name,category,level,weight,open_network,\
epoch,attempt,outcome,score,fault,fault_message,turn_end,steps,agent_seconds,environment_seconds,\
harness_seconds,input_tokens,output_tokens,money_micros,retried,rerun,tainted,integrity,reason,at,measured,\
task_measured,task_iqm,task_iqm_low,task_iqm_high,task_min,task_median,task_max,\
cached_tokens,cache_write_tokens,reasoning_tokens,model_calls,unpriced_calls,\
metric,parsed,expected_actions,predicted_actions,exact_actions,distance,\
checks,human,reviewer,comment,judge_input_tokens,judge_output_tokens,judge_money_micros,\
model,judge,judge_votes,never_ended,further_draws,further_draws_passed\n";

pub(crate) fn render(runs: &[RunReport<'_>]) -> Result<String, ReportError> {
    let mut out = HEADER.to_owned();
    for run in runs {
        let mut unread = None;
        run.each_trial(|trial| match row(run, &trial) {
            Ok(Some(cells)) => {
                out.push_str(&cells.join(","));
                out.push('\n');
            }
            Ok(None) => {}
            Err(error) => unread = Some(error),
        })?;
        if let Some(error) = unread {
            return Err(error.into());
        }
    }
    Ok(out)
}

fn row(run: &RunReport<'_>, trial: &Trial<'_>) -> Result<Option<Vec<String>>, StoreError> {
    let task = trial.task;
    let Some(line) = trial.line.as_ref() else {
        return Ok(unended(run, trial));
    };
    let reported = |tokens: u64| (!line.usage.is_empty()).then_some(tokens);
    let mut cells = vec![
        cell(&run.manifest.run),
        cell(&run.suites()),
        cell(&run.manifest.agent.spec),
        run.manifest.agent.unconfined.to_string(),
        cell(&task.task.to_string()),
        cell(&task.name),
        cell(task.task.category()),
        task.level
            .map(|level| level.to_string())
            .unwrap_or_default(),
        task.weight.to_string(),
        task.network.to_string(),
        line.epoch.to_string(),
        line.attempt.to_string(),
        line.outcome.to_string(),
        known(trial.score()),
        known(line.fault.as_ref().map(|fault| fault.class)),
        cell(line.fault.as_ref().map_or("", |fault| &fault.message)),
        known(line.end),
        line.steps.to_string(),
        line.seconds.agent.to_string(),
        line.seconds.environment.to_string(),
        line.seconds.harness.to_string(),
        known(reported(line.usage.input_tokens)),
        known(reported(line.usage.output_tokens)),
        known(line.usage.money.map(Money::micros_text)),
        line.retried.to_string(),
        line.rerun.to_string(),
        line.tainted.to_string(),
        cell(line.integrity.as_deref().unwrap_or_default()),
        cell(&line.reason),
        line.at.to_string(),
    ];
    cells.extend(measured(run, trial));
    cells.extend(calls(&line.usage));
    let graded = line.outcome != Outcome::Faulted;
    let prediction = if graded { run.prediction(line)? } else { None };
    cells.extend(predicted(prediction.as_ref()));
    cells.extend(people(trial));
    cells.extend(judge(&line.judge));
    cells.extend(asked(run.manifest));
    cells.extend([
        trial.never_ended.to_string(),
        trial.drawn.attempts.to_string(),
        trial.drawn.passed.to_string(),
    ]);
    Ok(Some(cells))
}

/// A trial without a result has a row only if it was begun: every other cell is empty.
fn unended(run: &RunReport<'_>, trial: &Trial<'_>) -> Option<Vec<String>> {
    (trial.never_ended > 0).then(|| {
        let cell = |name: &str| match name {
            "run" => cell(&run.manifest.run),
            "suite" => cell(&run.suites()),
            "agent" => cell(&run.manifest.agent.spec),
            "task" => cell(&trial.task.task.to_string()),
            "name" => cell(&trial.task.name),
            "category" => cell(trial.task.task.category()),
            "epoch" => trial.epoch.to_string(),
            "outcome" => trial.outcome().to_owned(),
            "never_ended" => trial.never_ended.to_string(),
            _ => String::new(),
        };
        HEADER.trim_end().split(',').map(cell).collect()
    })
}

/// The value of this trial, and how those of its task lie.
fn measured(run: &RunReport<'_>, trial: &Trial<'_>) -> [String; 8] {
    let measured = run.summary.measured.as_ref();
    let spread = measured.and_then(|measured| measured.of_task(&trial.task.task.to_string()));
    let ci = spread.and_then(|spread| spread.iqm_ci);
    [
        known(trial.measured()),
        known(spread.map(|spread| spread.trials)),
        known(spread.map(|spread| spread.iqm)),
        known(ci.map(|ci| ci.low)),
        known(ci.map(|ci| ci.high)),
        known(spread.map(|spread| spread.min)),
        known(spread.map(|spread| spread.median)),
        known(spread.map(|spread| spread.max)),
    ]
}

/// What is known of calls that Agon made or saw.
fn calls(usage: &Usage) -> [String; 5] {
    let total = UsageTotal::of(usage);
    [
        known(total.cached_tokens),
        known(total.cache_write_tokens),
        known(total.reasoning_tokens),
        known(total.calls),
        known(total.calls.map(|_| total.unpriced_calls)),
    ]
}

/// What the checks say, and what a person says.
fn people(trial: &Trial<'_>) -> [String; 4] {
    let review = trial.review.as_ref();
    [
        known(trial.checks),
        known(review.and_then(|review| review.verdict.outcome())),
        cell(review.map_or("", |review| &review.reviewer)),
        cell(review.map_or("", |review| &review.comment)),
    ]
}

/// What judges used of the whole.
fn judge(usage: &Usage) -> [String; 3] {
    let total = UsageTotal::of(usage);
    [
        known(total.input_tokens),
        known(total.output_tokens),
        known(usage.money.map(Money::micros_text)),
    ]
}

/// Which models the run asked.
fn asked(manifest: &Manifest) -> [String; 3] {
    let judge = manifest.judge.as_ref();
    [
        cell(&models(manifest)),
        cell(judge.map_or("", |judge| &judge.model.name)),
        known(judge.map(|judge| judge.votes)),
    ]
}

/// What was predicted; the distance is the mean over its points, as a share of the diagonal.
fn predicted(prediction: Option<&ScoredPrediction>) -> [String; 6] {
    let scores = prediction.map(|prediction| &prediction.scores[..]);
    let exact = |scores: &[ActionScore]| scores.iter().filter(|one| one.score >= 1.0).count();
    [
        cell(prediction.map_or("", |prediction| &prediction.metric)),
        known(prediction.map(|prediction| prediction.parsed)),
        known(scores.map(<[_]>::len)),
        known(prediction.map(|prediction| prediction.predicted.len())),
        known(scores.map(exact)),
        known(scores.and_then(mean_distance).map(written)),
    ]
}

/// A model may name any point: no cell gets hundreds of digits by that.
fn written(share: f64) -> String {
    if share < 1e6 {
        share.to_string()
    } else {
        format!("{share:e}")
    }
}

fn mean_distance(scores: &[ActionScore]) -> Option<f64> {
    let shares: Vec<f64> = scores.iter().filter_map(|one| one.distance).collect();
    let count = shares.len() as f64;
    (count > 0.0).then(|| shares.iter().map(|share| share / count).sum())
}

/// What is not known is an empty cell, never 0.
fn known(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A foreign text as one cell.
fn cell(text: &str) -> String {
    let mut clean: String = text
        .chars()
        .filter(|c| *c == '\n' || !is_unseen(*c))
        .collect();
    if clean
        .trim_start()
        .starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
    {
        clean.insert(0, '\'');
    }
    if clean.contains(['"', ',', '\n']) {
        clean = format!("\"{}\"", clean.replace('"', "\"\""));
    }
    clean
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cells_are_quoted_and_formulas_disarmed() {
        assert_eq!(cell("plain"), "plain");
        assert_eq!(cell("a,b"), "\"a,b\"");
        assert_eq!(cell("say \"hi\"\nthere"), "\"say \"\"hi\"\"\nthere\"");
        assert_eq!(cell("=HYPERLINK(1)"), "'=HYPERLINK(1)");
        assert_eq!(cell(" \t@x"), "' @x");
        assert_eq!(cell("+1,-2"), "\"'+1,-2\"");
        assert_eq!(cell("\r=1"), "'=1");
        assert_eq!(cell("nul\0 esc\x1b"), "nul esc");
    }

    proptest! {
        #[test]
        fn a_cell_reads_back_as_one_cell(text in any::<String>()) {
            let written = cell(&text);
            let inner = match written.strip_prefix('"') {
                Some(rest) => {
                    let inner = rest.strip_suffix('"').unwrap();
                    prop_assert!(!inner.replace("\"\"", "").contains('"'));
                    inner.replace("\"\"", "\"")
                }
                None => {
                    prop_assert!(!written.contains(['"', ',', '\n']));
                    written
                }
            };
            prop_assert!(!inner.trim_start().starts_with(['=', '+', '-', '@']));
        }
    }
}
