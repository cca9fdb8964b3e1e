//! Findings about tasks that are played in real time, and about checks that only make sense there.

use agon_core::check::{Check, CheckKind};
use agon_core::{Realtime, SightTest, Solution, Task};

use super::Severity;

type Found = (Severity, String);

pub(super) fn findings(task: &Task) -> Vec<Found> {
    let mut found = Vec::new();
    let minds_play = task.checks.inspect(|checks| checks.iter().any(minds_play));
    match &task.realtime {
        Some(realtime) => played(task, realtime, &mut found),
        None if minds_play => found.push((
            Severity::Warning,
            "`within_play` says nothing about a task that is not played in real time".to_owned(),
        )),
        None => {}
    }
    found
}

fn played(task: &Task, realtime: &Realtime, found: &mut Vec<Found>) {
    let seconds = task.limits.seconds;
    let ends = realtime.ends.on_host();
    if ends.is_empty() {
        found.push((
            Severity::Note,
            format!("realtime has no `ends`: every play lasts until limits.seconds ({seconds})"),
        ));
    }
    let whole = |end: &&SightTest| matches!(end, SightTest::Text { region: None, .. });
    if let Some(end) = ends.iter().find(whole) {
        found.push((
            Severity::Note,
            format!(
                "the end `{}` reads the whole screen every {}: give it a region",
                end.label(),
                realtime.interval
            ),
        ));
    }
    if realtime.window.is_none() {
        found.push((
            Severity::Note,
            "realtime has no `window`: keys go to whatever window is active".to_owned(),
        ));
    }
    if realtime.interval > seconds {
        found.push((
            Severity::Warning,
            "realtime.interval is longer than limits.seconds: `ends` are never looked for"
                .to_owned(),
        ));
    }
    if let Some(Solution::Actions(actions)) = task.solution.on_host()
        && !actions.is_empty()
    {
        found.push((
            Severity::Warning,
            "the solution is a list of actions, which keep no time: name a player".to_owned(),
        ));
    }
}

/// Whether a check compares a number with the time of play.
fn minds_play(check: &Check) -> bool {
    match &check.kind {
        CheckKind::Sight(SightTest::Text {
            number: Some(number),
            ..
        }) => number.within_play,
        CheckKind::All { checks, .. } | CheckKind::Any { checks } => checks.iter().any(minds_play),
        _ => false,
    }
}
