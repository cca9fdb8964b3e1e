//! The `events` check: what the agent must have done and must not have done, by kind of action and by
//! a pattern over the action's JSON.

use agon_core::check::EventPattern;
use agon_core::{Action, Fault};
use regex::bytes::Regex;

use crate::finding::{Finding, bad_check};
use crate::reason::shown;
use crate::text::pattern;

pub(crate) fn check(
    must: &[EventPattern],
    must_not: &[EventPattern],
    actions: &[Action],
) -> Result<Finding, Fault> {
    if must.is_empty() && must_not.is_empty() {
        return Err(bad_check(
            "the check looks for nothing: give it `must` or `must_not`",
        ));
    }
    let must = compiled(must)?;
    let must_not = compiled(must_not)?;
    let done = actions
        .iter()
        .map(|action| serde_json::to_vec(action).map(|json| (action, json)))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| bad_check(format!("an action can't be written as JSON: {error}")))?;
    for wanted in &must {
        if !done.iter().any(|(action, json)| wanted.fits(action, json)) {
            return Ok(Finding::fail(format!(
                "the agent never did {wanted} ({} actions)",
                done.len()
            )));
        }
    }
    for unwanted in &must_not {
        if let Some((_, json)) = done
            .iter()
            .find(|(action, json)| unwanted.fits(action, json))
        {
            return Ok(Finding::fail(format!(
                "the agent did {unwanted}: {}",
                shown(json)
            )));
        }
    }
    Ok(Finding::pass(format!("{} actions looked at", done.len())))
}

struct Wanted<'a> {
    of: &'a EventPattern,
    regex: Option<Regex>,
}

fn compiled(patterns: &[EventPattern]) -> Result<Vec<Wanted<'_>>, Fault> {
    patterns
        .iter()
        .map(|of| {
            let regex = of.matches.as_deref().map(pattern).transpose()?;
            Ok(Wanted { of, regex })
        })
        .collect()
}

impl Wanted<'_> {
    fn fits(&self, action: &Action, json: &[u8]) -> bool {
        self.of.action.is_none_or(|kind| kind == action.kind())
            && self.regex.as_ref().is_none_or(|regex| regex.is_match(json))
    }
}

impl std::fmt::Display for Wanted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.of.action {
            Some(kind) => write!(f, "`{kind}`")?,
            None => f.write_str("an action")?,
        }
        match &self.of.matches {
            Some(pattern) => write!(f, " matching /{pattern}/"),
            None => Ok(()),
        }
    }
}
