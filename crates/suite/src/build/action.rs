//! Actions of a `solution`.

use agon_core::Action;

use crate::source::{Node, NodeError};

/// Keys of actions whose values are numbers, truth values or lists; all others are texts, so that
/// `result: 42` means the text `42`.
const TYPED: &[&str] = &[
    "input", "timeout", "wait", "lines", "create", "line", "x", "y", "count", "dx", "dy",
    "seconds", "hold",
];

pub(super) fn read(node: &Node) -> Result<Action, NodeError> {
    node.read_tagged(TYPED)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use agon_core::ActionKind;

    use super::*;
    use crate::source::parse_yaml;

    #[test]
    fn every_kind_of_action_reads_texts_as_texts() {
        let lines = [
            "{action: run, command: 42, input: true, timeout: 1.5, wait: 2}",
            "{action: cell, code: 1}",
            "{action: browse, code: 1}",
            "{action: read, path: 7, lines: [1, -1]}",
            "{action: write, path: true, content: 3.50, create: true}",
            "{action: edit, path: a, old: 1, new: null}",
            "{action: insert, path: 1, line: 3, text: 7}",
            "{action: undo, path: 1}",
            "{action: message, text: yes}",
            "{action: think, thought: 0755}",
            "{action: finish, result: 42}",
            "{action: reject, reason: 42}",
            "{action: key, keys: 1, hold: 0.2}",
            "{action: key_down, key: 2}",
            "{action: key_up, key: 2}",
            "{action: type, text: 12:34}",
            "{action: move, x: 1, y: -2}",
            "{action: click, x: 1, y: 2, button: right, count: 2}",
            "{action: drag, path: [{x: 1, y: 2}, {x: 3, y: 4}], button: right, seconds: 0.5}",
            "{action: scroll, x: 1, y: 2, dx: 0, dy: -3}",
            "{action: wait, seconds: 0.5}",
            "{action: screenshot}",
        ];
        let actions: Vec<Action> = lines
            .iter()
            .map(|line| read(&parse_yaml(line).unwrap()).unwrap())
            .collect();
        let kinds: BTreeSet<ActionKind> = actions.iter().map(Action::kind).collect();
        assert_eq!(kinds.len(), ActionKind::ALL.len());
        assert_eq!(
            actions[10],
            Action::Finish {
                result: Some("42".to_owned())
            }
        );
    }

    #[test]
    fn wrong_keys_are_placed() {
        let source = "action: run\ncomand: ls\n";
        let error = read(&parse_yaml(source).unwrap()).unwrap_err();
        assert!(error.message.contains("did you mean `command`"), "{error}");
        let span = error.span.unwrap();
        assert_eq!(&source[span.start..span.end], "comand");
        let error = read(&parse_yaml("action: rum\n").unwrap()).unwrap_err();
        assert!(error.message.contains("did you mean `run`"), "{error}");
    }
}
