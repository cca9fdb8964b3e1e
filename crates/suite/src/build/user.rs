//! Who answers the agent's messages, from the keys of `user`.

use agon_core::User;
use agon_core::user::{Nudge, Persona, Rule, Rules};

use crate::format::{RuleFile, UserFile, UserKind};
use crate::patterns::{Use, compiled};
use crate::source::{Node, NodeError};

const PATIENCE: u32 = 20;

/// `node` is the value of `user`.
pub(super) fn user(file: UserFile, node: &Node, errors: &mut Vec<NodeError>) -> User {
    let before = errors.len();
    let kind = kind(&file, node);
    misplaced(kind, node, errors);
    if errors.len() > before {
        return User::default();
    }
    match read(kind, file, node) {
        Ok(user) => user,
        Err(error) => {
            errors.push(error.at(node.head()));
            User::default()
        }
    }
}

/// As written, else the one whose keys are there.
fn kind(file: &UserFile, node: &Node) -> UserKind {
    let said = |kind: &UserKind| {
        let mut keys = kind.own_keys().iter();
        keys.any(|key| node.key_span(key).is_some())
    };
    file.kind
        .or_else(|| UserKind::ALL.into_iter().find(said))
        .unwrap_or(UserKind::None)
}

fn misplaced(kind: UserKind, node: &Node, errors: &mut Vec<NodeError>) {
    for (key, _) in node.pairs() {
        let name = key.text.as_str();
        if name == "kind" || kind.own_keys().contains(&name) {
            continue;
        }
        let owner = UserKind::ALL
            .into_iter()
            .find(|other| other.own_keys().contains(&name));
        let owner = owner.map_or("another kind", UserKind::name);
        errors.push(
            NodeError::new(format!(
                "`{name}` does not belong to a user of kind {}",
                kind.name()
            ))
            .help(format!("it is for kind: {owner}"))
            .at(key.span),
        );
    }
}

fn read(kind: UserKind, file: UserFile, node: &Node) -> Result<User, NodeError> {
    let missing = |key: &str| {
        let message = format!("a user of kind {} needs `{key}`", kind.name());
        NodeError::new(message).at(node.key_span("kind").unwrap_or_else(|| node.head()))
    };
    Ok(match kind {
        UserKind::None => User::default(),
        UserKind::Script => User::Script(file.replies.unwrap_or_default()),
        UserKind::Fixed => User::Fixed(file.say.ok_or_else(|| missing("say"))?),
        UserKind::Nudge => {
            if let Some(answer) = &file.answer {
                regex(answer).map_err(|error| error.at(place(node, "answer")))?;
            }
            User::Nudge(Nudge {
                solution_tags: file.solution_tags.unwrap_or(false),
                answer: file.answer,
            })
        }
        UserKind::Rules => {
            let written = file.rules.ok_or_else(|| missing("rules"))?;
            if written.is_empty() {
                return Err(NodeError::new("`rules` is empty").at(place(node, "rules")));
            }
            User::Rules(Rules {
                rules: rules(written, node)?,
                otherwise: file.otherwise.ok_or_else(|| missing("otherwise"))?,
            })
        }
        UserKind::Persona => {
            if file.patience == Some(0) {
                let message = "a user without patience never answers: expected at least 1";
                return Err(NodeError::new(message).at(place(node, "patience")));
            }
            User::Persona(Persona {
                character: file.character.ok_or_else(|| missing("character"))?,
                goal: file.goal.ok_or_else(|| missing("goal"))?,
                facts: file.facts.unwrap_or_default(),
                model: file.model,
                patience: file.patience.unwrap_or(PATIENCE),
            })
        }
    })
}

fn rules(written: Vec<RuleFile>, node: &Node) -> Result<Vec<Rule>, NodeError> {
    let places = node.get("rules").map_or(&[][..], Node::items);
    let read = |(at, rule): (usize, RuleFile)| {
        let place = places.get(at).map_or_else(|| node.head(), Node::head);
        regex(&rule.when).map_err(|error| error.at(place))?;
        Ok(Rule {
            when: rule.when,
            say: rule.say,
            once: rule.once,
        })
    };
    written.into_iter().enumerate().map(read).collect()
}

fn place(node: &Node, key: &str) -> crate::source::Span {
    node.key_span(key).unwrap_or_else(|| node.head())
}

fn regex(text: &str) -> Result<(), NodeError> {
    compiled(text, Use::Heard).map(drop).map_err(NodeError::new)
}
