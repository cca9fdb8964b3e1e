//! Which models a run asked, in words: the agent's, and the judge of its prose. Knows the manifest alone.

use agon_store::{JudgeStamp, Manifest};

/// The models by the names that they were asked for; empty where there were none.
pub(crate) fn models(manifest: &Manifest) -> String {
    let names: Vec<&str> = manifest
        .models
        .iter()
        .map(|model| model.name.as_str())
        .collect();
    names.join(", ")
}

/// `openai/gpt-4o (3 votes)`; empty where nobody was to judge.
pub(crate) fn judge(manifest: &Manifest) -> String {
    manifest.judge.as_ref().map(voting).unwrap_or_default()
}

fn voting(judge: &JudgeStamp) -> String {
    let many = if judge.votes == 1 { "" } else { "s" };
    format!("{} ({} vote{many})", judge.model.name, judge.votes)
}

/// `model a, judge b (1 vote)`, for the head of a report; nothing where no model was asked.
pub(crate) fn asked(manifest: &Manifest) -> Option<String> {
    let named = [("model", models(manifest)), ("judge", judge(manifest))];
    let said: Vec<String> = named
        .into_iter()
        .filter(|(_, name)| !name.is_empty())
        .map(|(what, name)| format!("{what} {name}"))
        .collect();
    (!said.is_empty()).then(|| said.join(", "))
}
