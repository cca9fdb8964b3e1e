//! What the environment says of its own arguments, with the names that they have in the original's tools.
//! Nothing of what a program printed is changed.

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

/// Why a file could not be read or changed.
pub(crate) fn of_editor(error: &str) -> String {
    in_words(error, &OF_EDITOR)
}

/// Why a command could not be run.
pub(crate) fn of_shell(error: &str) -> String {
    in_words(error, &OF_BASH)
}

/// What came of a command that still runs. Only the last line is ours: what stands before it a program has
/// printed.
pub(crate) fn of_running(text: &str) -> String {
    match text.rsplit_once('\n') {
        Some((printed, hint)) => format!("{printed}\n{}", of_shell(hint)),
        None => of_shell(text),
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
