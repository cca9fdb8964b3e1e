//! What an agent does, shown line by line while it does it. Its words are data: nothing in them reaches
//! the terminal but text.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use agon_core::{Action, ActionKind, Event, EventBody, Observation, Source};
use agon_workflow::dialect::in_names_of_tools;

use crate::cli::output;

/// Lines of an output that are shown.
const LINES: usize = 12;

/// Characters of a line that are shown.
const WIDEST: usize = 400;

/// Where a user follows an agent.
#[derive(Debug)]
pub(super) struct Screen {
    /// Whether the agent has the original's tools, whose arguments have other names than our actions.
    original_tools: bool,
    /// What the next observation comes of.
    last: Mutex<Option<ActionKind>>,
}

impl Screen {
    pub(super) fn new(original_tools: bool) -> Self {
        Self {
            original_tools,
            last: Mutex::default(),
        }
    }

    /// Tells standard error what happened, if it is something that a user wants to see.
    pub(super) fn show(&self, event: &Event) {
        if let Some(text) = self.told(event) {
            output::say(&text);
        }
    }

    fn told(&self, event: &Event) -> Option<String> {
        Some(match &event.body {
            EventBody::Thought(thought) => marked("·", thought),
            EventBody::Action(action) => {
                *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(action.kind());
                acted(action)
            }
            EventBody::Observation(seen) => observed(seen, &self.words(seen))?,
            EventBody::Refused(text) => marked("!", text),
            EventBody::Condensed(_) => "· the history was made shorter".to_owned(),
            EventBody::Note(note) if event.source == Source::Harness => marked("!", note),
            EventBody::Fault(fault) => marked("!", &fault.to_string()),
            _ => return None,
        })
    }

    /// As the agent is told them.
    fn words(&self, seen: &Observation) -> String {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        in_names_of_tools(seen, last.filter(|_| self.original_tools))
    }
}

fn acted(action: &Action) -> String {
    match action {
        Action::Run { command, .. } => marked("$", command),
        Action::Cell { code } => marked(">>>", code),
        Action::Browse { code } => marked("browser", code),
        Action::Read { path, .. } => marked("read", path),
        Action::Write { path, .. } => marked("write", path),
        Action::Edit { path, .. } | Action::Insert { path, .. } => marked("edit", path),
        Action::Undo { path } => marked("undo", path),
        Action::Message { text } => marked("agent:", text),
        Action::Think { thought } => marked("·", thought),
        Action::Finish { result } => marked("finish", result.as_deref().unwrap_or_default()),
        Action::Reject { reason } => marked("reject", reason.as_deref().unwrap_or_default()),
        other => marked("do", other.kind().name()),
    }
}

fn observed(seen: &Observation, words: &str) -> Option<String> {
    use agon_core::observation::ObservationKind as Kind;
    match seen.kind {
        Kind::Ready | Kind::Done => None,
        Kind::Reply => Some(marked("user:", words)),
        Kind::Error | Kind::Refused => Some(marked("!", words)),
        Kind::Output | Kind::Content => {
            let status = seen.exit_status.filter(|status| *status != 0);
            let status = status.map(|status| format!("\n[exit status {status}]"));
            let text = format!("{}{}", words.trim_end(), status.unwrap_or_default());
            (!text.is_empty()).then(|| marked(" ", &text))
        }
    }
}

/// An agent's last words. A terminal would carry out what is in them; files and programs get them as they are.
pub(super) fn last_words(said: &str, terminal: bool) -> Cow<'_, str> {
    if !terminal {
        return said.into();
    }
    let lines: Vec<String> = said.lines().map(output::plain).collect();
    lines.join("\n").into()
}

fn marked(mark: &str, text: &str) -> String {
    let mut lines: Vec<String> = text
        .lines()
        .take(LINES)
        .map(|line| format!("{mark} {}", cut(&output::plain(line))))
        .collect();
    let more = text.lines().count().saturating_sub(LINES);
    if more > 0 {
        lines.push(format!("{mark} ... {more} more lines"));
    }
    if lines.is_empty() {
        lines.push(mark.to_owned());
    }
    lines.join("\n")
}

/// A line that a terminal can show.
fn cut(line: &str) -> String {
    match line.char_indices().nth(WIDEST) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use agon_core::observation::ObservationKind;

    use super::*;

    #[test]
    fn last_words_do_nothing_to_a_terminal() {
        let said = "done\n\u{1b}[2Jtoo";
        assert_eq!(last_words(said, true), "done\n[2Jtoo");
        assert_eq!(last_words(said, false), said);
    }

    #[test]
    fn long_output_is_cut_and_nothing_of_it_drives_the_terminal() {
        let text = format!("\u{1b}[31mred\n{}", "x\n".repeat(40));
        let shown = marked("$", &text);
        assert_eq!(shown.lines().count(), LINES + 1);
        assert!(!shown.contains('\u{1b}'));
        assert!(shown.ends_with("$ ... 29 more lines"));
    }

    #[test]
    fn arguments_have_the_names_that_the_agent_uses() {
        let text = "say `wait`\n[still running: `input: true` answers, `wait` waits]";
        let mut seen = Observation::new(ObservationKind::Output, text);
        seen.running = true;
        let shown = |original_tools| {
            let screen = Screen {
                original_tools,
                last: Mutex::new(Some(ActionKind::Run)),
            };
            screen.words(&seen)
        };
        assert_eq!(shown(false), text);
        assert_eq!(
            shown(true),
            "say `wait`\n[still running: `is_input: true` answers, `timeout` waits]"
        );
    }
}
