//! One trial as a reviewer reads it: what was asked, what was done, what the checks and others say. Whatever
//! tasks, agents and judges wrote is shown without control characters, and cut where it is too long.

use std::fmt::Write as _;
use std::path::PathBuf;

use agon_core::screen::ScreenMoment;
use agon_core::verdict::CheckResult;
use agon_core::{Action, Event, EventBody, Judged, Source};
use agon_grade::FlowStep;
use agon_report::plain;
use agon_store::{Reviews, RunReader, TrialLine, played_in};
use serde_json::Value;

use super::docket::Case;
use super::list::said;
use crate::cli::failure::Failure;

/// Characters of a text that stands for itself, and of one in a list.
const LONG: usize = 4_000;
const SHORT: usize = 300;
/// How the reason of a check begins that others made no matter before it could be decided.
const NOT_CARRIED_OUT: &str = "could not be carried out: ";
/// Steps at the beginning and at the end of a trial that are shown.
const STEPS: usize = 100;

pub(super) fn page(
    reader: &RunReader,
    case: &Case,
    reviews: &Reviews,
    (number, of): (usize, usize),
) -> Result<String, Failure> {
    let line = &case.line;
    let events = reader.events(line)?;
    let mut page = Page::default();
    let level = case.level.map(|level| format!(" ({level})"));
    page.line(&format!(
        "---- {number} of {of}: {}{}",
        case.label(),
        level.unwrap_or_default()
    ));
    if !line.is_final {
        let attempt = played_in(line);
        page.line(&format!(
            "attempt {attempt}: it was played again and counts no more"
        ));
    }
    page.text("name", &case.name);
    page.text("task", instruction(&events).unwrap_or("not recorded"));
    page.steps(reader, &FlowStep::of(&events));
    page.text("end", &end(line));
    page.text("answer", answer(&events).unwrap_or("none"));
    match last_screen(reader, &events) {
        Some(path) => page.text("screen", &path.display().to_string()),
        None => page.text("screen", "none"),
    }
    page.text("checks", &verdict(line));
    for check in &checks(&events) {
        page.check(check, 1);
    }
    match reviews.history(line) {
        [] => page.text("people", "nobody has looked at it"),
        history => {
            for review in history {
                page.text("people", &format!("{}, {}", said(review), review.at));
            }
        }
    }
    Ok(page.0)
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, text: &str) {
        // Writing to a string can't fail.
        let _ = writeln!(self.0, "{text}");
    }

    /// A text of somebody else under its label; its own lines stay lines.
    fn text(&mut self, label: &str, text: &str) {
        let text = clip(text, LONG);
        let mut label = label;
        for line in text.trim_end().lines() {
            self.line(format!("{label:<8} {}", plain(line)).trim_end());
            label = "";
        }
    }

    fn steps(&mut self, reader: &RunReader, steps: &[FlowStep]) {
        self.text("steps", &steps.len().to_string());
        let hidden = steps.len().saturating_sub(2 * STEPS);
        let mut before = None;
        for (place, step) in steps.iter().enumerate() {
            if (STEPS..STEPS + hidden).contains(&place) {
                if place == STEPS {
                    self.line(&format!("         ... {hidden} steps are not shown ..."));
                }
                continue;
            }
            let done = step.action.as_ref().map_or("no action".to_owned(), action);
            let done = plain(&clip(&done, SHORT));
            self.line(&format!("  {:>4} {:>7.1} s  {done}", step.step, step.t));
            if let Some(said) = &step.said {
                self.line(&format!("                  {}", plain(&clip(said, SHORT))));
            }
            let screen = step.screen.as_ref().map(|picture| picture.blob);
            if let Some(blob) = screen.filter(|blob| before != Some(*blob)) {
                let path = reader.folder().blob(&blob);
                self.line(&format!("                  {}", path.display()));
            }
            before = screen.or(before);
        }
    }

    fn check(&mut self, check: &CheckResult, depth: usize) {
        let indent = "  ".repeat(depth);
        let (word, reason) = found(check);
        let reason = plain(&clip(&reason, SHORT));
        self.line(&format!(
            "{indent}{word}  {}: {reason}",
            plain(&check.check)
        ));
        if let Some(judged) = &check.judged {
            self.judged(judged, check.passed, &indent);
        }
        for part in &check.parts {
            self.check(part, depth + 1);
        }
    }

    fn judged(&mut self, judged: &Judged, passed: bool, indent: &str) {
        let agreed = judged.votes.iter().filter(|vote| vote.passed == passed);
        if judged.votes.is_empty() {
            let model = plain(&judged.model);
            self.line(&format!("{indent}        judge {model}: was not asked"));
        } else {
            self.line(&format!(
                "{indent}        judge {}: {} of {} votes, confidence {:.2}",
                plain(&judged.model),
                agreed.count(),
                judged.votes.len(),
                judged.confidence(passed)
            ));
        }
        for vote in &judged.votes {
            let word = if vote.passed { "pass" } else { "fail" };
            let why = plain(&clip(&vote.reasoning, LONG));
            self.line(&format!("{indent}        {word}: {why}"));
            for cited in &vote.evidence {
                let place = cited
                    .step
                    .map_or("elsewhere".to_owned(), |step| format!("step {step}"));
                let what = plain(&clip(&cited.what, SHORT));
                self.line(&format!("{indent}          {place}: {what}"));
            }
        }
        for order in &judged.suspicious {
            let order = plain(&clip(order, SHORT));
            self.line(&format!(
                "{indent}        gives orders to the judge: {order}"
            ));
        }
    }
}

/// What became of a check, and why. One that nobody could carry out has not failed.
fn found(check: &CheckResult) -> (&'static str, String) {
    match check.reason.strip_prefix(NOT_CARRIED_OUT) {
        // The fault says its name again.
        Some(why) if !check.passed => {
            let again = format!("{}: ", check.check);
            ("open  ", why.replacen(&again, "", 1))
        }
        _ if check.passed => ("passed", check.reason.clone()),
        _ => ("failed", check.reason.clone()),
    }
}

fn instruction(events: &[Event]) -> Option<&str> {
    events.iter().find_map(|event| match &event.body {
        EventBody::Instruction(text) => Some(text.as_str()),
        _ => None,
    })
}

fn answer(events: &[Event]) -> Option<&str> {
    events
        .iter()
        .rev()
        .find_map(|event| match (&event.source, &event.body) {
            (Source::Agent, EventBody::Action(Action::Finish { result })) => result.as_deref(),
            _ => None,
        })
}

/// What the environment looked like in the end.
fn last_screen(reader: &RunReader, events: &[Event]) -> Option<PathBuf> {
    let shown = events.iter().rev().find_map(|event| match &event.body {
        EventBody::Screen(record) if record.what == ScreenMoment::Final => Some(&record.screen),
        EventBody::Observation(seen) => seen.screen.as_ref(),
        _ => None,
    })?;
    Some(reader.folder().blob(&shown.picture.blob))
}

/// Those of the verdict, or as many as were carried out before a fault.
fn checks(events: &[Event]) -> Vec<CheckResult> {
    let verdict = events.iter().rev().find_map(|event| match &event.body {
        EventBody::Verdict(verdict) => Some(verdict.checks.clone()),
        _ => None,
    });
    verdict.unwrap_or_else(|| {
        let single = events.iter().filter_map(|event| match &event.body {
            EventBody::Check(check) => Some(check.clone()),
            _ => None,
        });
        single.collect()
    })
}

fn verdict(line: &TrialLine) -> String {
    let mut text = match &line.fault {
        Some(fault) => format!("{}: {fault}", line.outcome),
        None => format!("{}, score {:.2}", line.outcome, line.score),
    };
    if let Some(sign) = &line.integrity {
        let _ = write!(text, "; signs of tampering: {sign}");
    }
    text
}

fn end(line: &TrialLine) -> String {
    let how = line
        .end
        .map_or("before its turn was over", |end| end.name());
    format!("{how}, {} steps, {:.1} s", line.steps, line.seconds.total())
}

/// `click x=10 y=20 button=left`.
fn action(action: &Action) -> String {
    let mut text = action.kind().to_string();
    let fields = match serde_json::to_value(action) {
        Ok(Value::Object(fields)) => fields,
        _ => return text,
    };
    for (name, value) in fields.iter().filter(|(name, _)| *name != "action") {
        match value {
            Value::Null => {}
            Value::String(word) => {
                let _ = write!(text, " {name}={word:?}");
            }
            other => {
                let _ = write!(text, " {name}={other}");
            }
        }
    }
    text
}

pub(super) fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_was_not_carried_out_has_not_failed() {
        let check = |passed, reason: &str| CheckResult::plain("answer (prose)", passed, reason);
        let open = check(
            false,
            "could not be carried out: judge: answer (prose): it is down",
        );
        assert_eq!(found(&open), ("open  ", "judge: it is down".to_owned()));
        let failed = check(false, "found nothing");
        assert_eq!(found(&failed), ("failed", "found nothing".to_owned()));
        assert_eq!(found(&check(true, "")).0, "passed");
    }

    #[test]
    fn nobody_votes_where_nobody_was_asked() {
        let judged = Judged {
            model: "mock/text:pass".to_owned(),
            votes: Vec::new(),
            usage: agon_core::Usage::default(),
            frames: None,
            suspicious: Vec::new(),
        };
        let mut page = Page::default();
        page.judged(&judged, false, "");
        assert_eq!(page.0.trim(), "judge mock/text:pass: was not asked");
    }
}
