//! One attempt as text that a person reads from top to bottom: `infer_logs/instance_<id>.log`. What agents
//! and programs said in it is data: no control characters, and not for ever.

use std::fmt::Write;

use agon_core::{Action, Event, EventBody, Observation};
use agon_store::TrialLine;
use jiff::tz::TimeZone;

/// Characters of one event.
const OF_AN_EVENT: usize = 8_000;

/// Bytes of a whole log, but for its last lines.
const WHOLE: usize = 4 << 20;

/// The log of an attempt.
pub(super) fn log(line: &TrialLine, events: &[Event]) -> String {
    let mut text = String::new();
    for (told, event) in events.iter().enumerate() {
        let Some((what, words)) = words(&event.body) else {
            continue;
        };
        if text.len() > WHOLE {
            let left = events.len() - told;
            text.push_str(&format!("... {left} more events are in the run folder\n"));
            break;
        }
        let at = event.at.to_zoned(TimeZone::UTC);
        let at = at.strftime("%Y-%m-%d %H:%M:%S");
        entry(&mut text, &format!("{at} {what}"), &words);
    }
    let fault = line.fault.as_ref().map(|fault| fault.to_string());
    let why = fault.as_deref().unwrap_or(&line.reason);
    let end = format!(
        "{} of {}: {}, score {}, {} steps",
        if line.is_final { "result" } else { "attempt" },
        line.task,
        line.outcome.name(),
        line.score,
        line.steps
    );
    entry(&mut text, &end, why);
    text
}

/// The first line stands beside what it is, further ones below it.
fn entry(log: &mut String, head: &str, words: &str) {
    let mut rest = words.chars();
    let kept: String = rest.by_ref().take(OF_AN_EVENT).collect();
    let left = rest.count();
    log.push_str(head);
    for (number, line) in kept.trim_end().lines().enumerate() {
        log.push_str(if number == 0 { ": " } else { "\n    " });
        log.extend(line.chars().map(|c| match c {
            '\t' => '\t',
            c if c.is_control() => '\u{fffd}',
            c => c,
        }));
    }
    if left > 0 {
        write!(log, "\n    ... {left} more characters").ok();
    }
    log.push('\n');
}

/// What happened, and in which words; nothing of what only programs read.
fn words(body: &EventBody) -> Option<(&'static str, String)> {
    Some(match body {
        EventBody::Instruction(text) => ("TASK", text.clone()),
        EventBody::Phase(phase) => ("PHASE", phase.name().to_owned()),
        EventBody::Thought(text) => ("THOUGHT", text.clone()),
        EventBody::Action(action) => ("ACTION", acted(action)),
        EventBody::Observation(seen) => ("OBSERVATION", observed(seen)),
        EventBody::Refused(text) => ("REFUSED", text.clone()),
        EventBody::Condensed(_) => ("CONDENSED", "the history was made shorter".to_owned()),
        EventBody::Model(call) => {
            let (input, output) = (call.usage.input_tokens, call.usage.output_tokens);
            let why = call.why.as_deref().unwrap_or_default();
            let said = format!("{} ({input} tokens in, {output} out) {why}", call.model);
            ("MODEL", said)
        }
        EventBody::Check(check) => {
            let passed = if check.passed { "passed" } else { "failed" };
            (
                "CHECK",
                format!("{} {passed}: {}", check.check, check.reason),
            )
        }
        EventBody::End(end) => ("END", end.name().to_owned()),
        EventBody::Fault(fault) => ("FAULT", fault.to_string()),
        EventBody::Note(note) => ("NOTE", note.clone()),
        _ => return None,
    })
}

fn acted(action: &Action) -> String {
    let name = action.kind().name();
    match action {
        Action::Run { command: text, .. }
        | Action::Cell { code: text }
        | Action::Browse { code: text }
        | Action::Message { text }
        | Action::Think { thought: text } => format!("{name} {text}"),
        Action::Finish { result: text } | Action::Reject { reason: text } => {
            format!("{name} {}", text.as_deref().unwrap_or_default())
        }
        Action::Read { path, .. } | Action::Undo { path } => format!("{name} {path}"),
        Action::Write { path, content, .. } => format!("{name} {path}\n{content}"),
        Action::Insert { path, line, text } => format!("{name} {path} after line {line}\n{text}"),
        Action::Edit { path, old, new } => format!("{name} {path}\n{old}\n->\n{new}"),
        other => serde_json::to_string(other).unwrap_or_else(|_| name.to_owned()),
    }
}

fn observed(seen: &Observation) -> String {
    let mut text = seen.text.trim_end().to_owned();
    if let Some(status) = seen.exit_status {
        write!(text, "\n[exit status {status}]").ok();
    }
    if seen.running {
        text.push_str("\n[still running]");
    }
    if let Some(changed) = &seen.changed {
        write!(text, "\n{}", changed.diff).ok();
    }
    if !seen.pictures.is_empty() {
        write!(text, "\n[{} pictures]", seen.pictures.len()).ok();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_was_said_drives_a_terminal_or_looks_like_another_entry() {
        let mut log = String::new();
        entry(
            &mut log,
            "head",
            "\u{1b}[31mred\r\n2026-01-01 00:00:00 END: finished\tno\n",
        );
        assert_eq!(
            log,
            "head: \u{fffd}[31mred\n    2026-01-01 00:00:00 END: finished\tno\n"
        );
    }

    #[test]
    fn long_words_are_cut_and_silence_is_one_line() {
        let mut log = String::new();
        entry(&mut log, "head", &"ä".repeat(OF_AN_EVENT + 3));
        assert!(log.ends_with("ää\n    ... 3 more characters\n"), "{log}");
        let mut log = String::new();
        entry(&mut log, "head", "");
        assert_eq!(log, "head\n");
    }

    #[test]
    fn changes_are_shown_with_the_action_that_made_them() {
        let edit = Action::Edit {
            path: "a.py".to_owned(),
            old: "1".to_owned(),
            new: "2".to_owned(),
        };
        assert_eq!(acted(&edit), "edit a.py\n1\n->\n2");
        let mut seen = Observation::done();
        seen.exit_status = Some(3);
        assert_eq!(observed(&seen), "\n[exit status 3]");
    }
}
