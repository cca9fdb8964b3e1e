//! What a reader must know before believing a run's numbers. Every format shows all of them.

use agon_store::{AgentFiles, Audit, Manifest};
use schemars::JsonSchema;
use serde::Serialize;

use crate::people::People;
use crate::prediction::Predictions;
use crate::summary::{Draws, Marks, Standing};

/// How the name of somebody who plays elsewhere begins.
const RUNNER: &str = "runner:";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Caveat {
    pub kind: CaveatKind,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaveatKind {
    UnconfinedAgent,
    KnownAnswers,
    OpenNetwork,
    Record,
    Integrity,
    OddScores,
    NeverEnded,
    Stopped,
    Coverage,
    Tainted,
    Draws,
    Rerun,
    Retried,
    WithoutDigest,
    StrayLines,
    OtherChecks,
    CutAnswers,
    CutPrompts,
    Reviewed,
    UnreadReviews,
}

impl CaveatKind {
    /// Whether it puts the numbers themselves in doubt, rather than saying how they came about.
    pub const fn is_grave(self) -> bool {
        !matches!(
            self,
            Self::Tainted
                | Self::Draws
                | Self::Rerun
                | Self::Retried
                | Self::Reviewed
                | Self::WithoutDigest
        )
    }
}

/// What else is known of a run.
#[derive(Debug)]
pub(crate) struct CaveatFacts<'a> {
    pub(crate) predictions: Option<&'a Predictions>,
    pub(crate) people: Option<&'a People>,
    pub(crate) draws: Option<Draws>,
    pub(crate) record: Option<&'a Audit>,
}

pub(crate) fn caveats(
    manifest: &Manifest,
    overall: &Standing,
    marks: &Marks,
    told: &CaveatFacts<'_>,
) -> Vec<Caveat> {
    let CaveatFacts {
        predictions,
        people,
        draws,
        record,
    } = told;
    let mut caveats = Vec::new();
    let mut say = |kind, text| caveats.push(Caveat { kind, text });
    if manifest.agent.unconfined {
        let who = match manifest.agent.spec.starts_with(RUNNER) {
            true => "The runner",
            false => "The agent",
        };
        let how = match manifest.agent.spec.starts_with("cmd-host:") {
            true => " (cmd-host:)",
            false => "",
        };
        let text = format!(
            "{who} ran unconfined on the host{how}: it could have read the suite, its checks and this run."
        );
        say(CaveatKind::UnconfinedAgent, text);
    }
    if let Some(text) = manifest.agent.files.as_ref().and_then(known_answers) {
        say(CaveatKind::KnownAnswers, text);
    }
    let open = manifest.tasks.iter().filter(|task| task.network).count();
    if open > 0 {
        let text = format!(
            "The network was open in {open} of {}.",
            tasks(overall.tasks)
        );
        say(CaveatKind::OpenNetwork, text);
    }
    if let Some(record) = record.filter(|record| record.disagreements > 0) {
        let more = record.disagreements - record.findings.len() as u64;
        let more = match more {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let text = format!(
            "The run folder does not agree with itself: {}{more}.",
            record.findings.join("; ")
        );
        say(CaveatKind::Record, text);
    }
    if marks.odd_scores > 0 {
        let text = format!(
            "Scores outside of 0 to 1, which Agon never writes: {}. Each counts as the nearest of both.",
            trials(marks.odd_scores)
        );
        say(CaveatKind::OddScores, text);
    }
    if marks.never_ended > 0 {
        let text = format!(
            "Begun and never ended, because the process was killed or stopped: {}. Whether they would have passed is not known.",
            counted(marks.never_ended, "attempt", "attempts")
        );
        say(CaveatKind::NeverEnded, text);
    }
    if marks.integrity > 0 {
        let text = format!("Signs of tampering: {}.", trials(marks.integrity));
        say(CaveatKind::Integrity, text);
    }
    if marks.stopped > 0 {
        let text = format!("Stopped by an operator: {}.", trials(marks.stopped));
        say(CaveatKind::Stopped, text);
    }
    if overall.graded() < overall.trials {
        let text = format!(
            "Graded: only {} of {} ({} faulted, {} missing). The score counts the rest as 0; the score without faults speaks of those.",
            overall.graded(),
            trials(overall.trials),
            overall.faulted,
            overall.missing
        );
        say(CaveatKind::Coverage, text);
    }
    if marks.tainted > 0 {
        let text = format!(
            "Graded where the agent had been (tainted): {}.",
            trials(marks.tainted)
        );
        say(CaveatKind::Tainted, text);
    }
    if let Some(people) = people {
        let text = format!(
            "Decided by people, whatever the checks say: {} ({} otherwise than the checks, {} without a verdict by checks).",
            trials(people.reviewed),
            people.disagreed(),
            people.undecided_by_checks
        );
        say(CaveatKind::Reviewed, text);
    }
    if let Some(draws) = draws {
        let text = format!(
            "Played again after a verdict: {} ({}). The first verdict counts; in a later draw {} passed.",
            trials(draws.trials),
            counted(draws.attempts, "further draw", "further draws"),
            draws.passed
        );
        say(CaveatKind::Draws, text);
    }
    if marks.rerun > 0 {
        let text = format!("Run or graded again on demand: {}.", trials(marks.rerun));
        say(CaveatKind::Rerun, text);
    }
    if marks.retried > 0 {
        let text = format!("Retried after a fault: {}.", trials(marks.retried));
        say(CaveatKind::Retried, text);
    }
    if let Some(record) = record.filter(|record| record.without_digest > 0) {
        let text = format!(
            "Written before digests: {} of trials.jsonl. Whether they were changed can't be told.",
            counted(record.without_digest, "line", "lines")
        );
        say(CaveatKind::WithoutDigest, text);
    }
    if marks.stray_lines > 0 {
        let text = format!(
            "Left out, as not in the plan: {}.",
            counted(marks.stray_lines, "recorded line", "recorded lines")
        );
        say(CaveatKind::StrayLines, text);
    }
    if marks.unread_reviews > 0 {
        let text = format!(
            "Left out, as they can't be read: {} of reviews.jsonl.",
            counted(marks.unread_reviews, "line", "lines")
        );
        say(CaveatKind::UnreadReviews, text);
    }
    if marks.other_checks > 0 {
        let text = format!(
            "Graded by other checks than this run's manifest names: {}.",
            trials(marks.other_checks)
        );
        say(CaveatKind::OtherChecks, text);
    }
    let cut = predictions.map_or((0, 0), |all| (all.cut_answers, all.cut_prompts));
    if cut.0 > 0 {
        let text = format!(
            "Cut at max_tokens before the model had ended: {}. Raise --max-tokens.",
            counted(cut.0, "answer", "answers")
        );
        say(CaveatKind::CutAnswers, text);
    }
    if cut.1 > 0 {
        let text = format!(
            "Cut to --max-input-size, from the beginning: {}.",
            counted(cut.1, "prompt", "prompts")
        );
        say(CaveatKind::CutPrompts, text);
    }
    caveats
}

/// The agent's own files hold what tasks expect.
fn known_answers(files: &AgentFiles) -> Option<String> {
    let mut names: Vec<&str> = files.answers.iter().map(|sign| &*sign.file).collect();
    names.dedup();
    let shown = names.iter().take(3).copied().collect::<Vec<_>>().join(", ");
    let more = if names.len() > 3 { ", ..." } else { "" };
    (!names.is_empty()).then(|| {
        format!(
            "Answers of {} stand in the agent's own files ({shown}{more}).",
            tasks(files.answered_tasks)
        )
    })
}

fn tasks(count: u64) -> String {
    counted(count, "task", "tasks")
}

fn trials(count: u64) -> String {
    counted(count, "trial", "trials")
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
