//! What the environment says of its own arguments, with the names that they have in the original's tools.
//! Nothing of what a program printed is changed.

use agon_core::observation::ObservationKind;
use agon_core::{ActionKind, Observation};

/// What is called otherwise there.
const OF_EDITOR: [(&str, &str); 5] = [
    ("`edit`", "`str_replace`"),
    ("`old`", "`old_str`"),
    ("`new`", "`new_str`"),
    ("`lines`", "`view_range`"),
    ("`line`", "`insert_line`"),
];
const OF_BASH: [(&str, &str); 2] = [
    ("`input: true`", "`is_input: true`"),
    ("`wait`", "`timeout`"),
];

/// The text of an observation for whoever has the original's tools. `cause` is the action that was carried
/// out.
pub fn in_names_of_tools(seen: &Observation, cause: Option<ActionKind>) -> String {
    use ActionKind::{Edit, Insert, Read, Run, Undo, Write};
    let is_error = matches!(seen.kind, ObservationKind::Error | ObservationKind::Refused);
    match cause {
        Some(Run) if is_error => in_words(&seen.text, &OF_BASH),
        Some(Run) if seen.running => of_running(&seen.text),
        Some(Read | Write | Edit | Insert | Undo) if is_error => in_words(&seen.text, &OF_EDITOR),
        _ => seen.text.clone(),
    }
}

/// What came of a command that still runs. Only the last line is ours: what stands before it a program has
/// printed.
fn of_running(text: &str) -> String {
    match text.rsplit_once('\n') {
        Some((printed, hint)) => format!("{printed}\n{}", in_words(hint, &OF_BASH)),
        None => in_words(text, &OF_BASH),
    }
}

fn in_words(text: &str, names: &[(&str, &str)]) -> String {
    names.iter().fold(text.to_owned(), |text, (here, there)| {
        text.replace(here, there)
    })
}

#[cfg(test)]
mod tests {
    use agon_core::Observation as Seen;
    use agon_core::observation::ObservationKind;

    use crate::dialect::observation;
    use crate::events::{Action, CmdRunAction, FileEditAction, Observation};

    #[test]
    fn records_name_the_tools_that_the_agent_has() {
        let run = Action::from(CmdRunAction::new("make"));
        let text = "say `wait`\n[still running: `input: true` answers, `wait` waits]";
        let mut seen = Seen::new(ObservationKind::Output, text);
        for (running, shown) in [
            (false, text),
            (
                true,
                "say `wait`\n[still running: `is_input: true` answers, `timeout` waits]",
            ),
        ] {
            seen.running = running;
            let Observation::Run(told) = observation(&seen, &run) else {
                panic!("an output")
            };
            assert_eq!(told.content, shown);
        }
        let edit = Action::from(FileEditAction::default());
        let there = Seen::error("it is there: change it with `edit`");
        let Observation::Error(told) = observation(&there, &edit) else {
            panic!("an error")
        };
        assert_eq!(told.content, "it is there: change it with `str_replace`");
    }
}
