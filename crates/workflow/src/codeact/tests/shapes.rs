//! Whatever happened and whatever was forgotten: what the model is shown is a conversation that every
//! service takes.

use std::collections::HashSet;

use agon_llm::{Image, MediaType, Message, Part, Role, ToolCall};
use proptest::prelude::*;
use serde_json::json;

use crate::codeact::history::{History, Outcome};
use crate::codeact::messages::{self, Look};

#[derive(Debug, Clone)]
enum Happened {
    /// So many calls, of which so many have a result.
    Calls(usize, usize, String),
    Words(String, Option<String>),
    Forget(usize, usize, Option<String>),
}

fn happened() -> impl Strategy<Value = Happened> {
    prop_oneof![
        3 => (1_usize..5, 0_usize..5, "[ab]?").prop_map(|(calls, done, id)| Happened::Calls(calls, done, id)),
        2 => ("\\PC{0,8}", proptest::option::of("\\PC{0,8}")).prop_map(|(said, reply)| Happened::Words(said, reply)),
        1 => (0_usize..6, 0_usize..6, proptest::option::of("[a-z]{1,4}"))
            .prop_map(|(from, many, summary)| Happened::Forget(from, many, summary)),
    ]
}

fn history(all: Vec<Happened>) -> History {
    let mut history = History::new("task".to_owned());
    for one in all {
        match one {
            Happened::Calls(calls, done, id) => {
                let part = |_| {
                    Part::ToolCall(ToolCall {
                        id: id.clone(),
                        name: "execute_bash".to_owned(),
                        input: json!({}),
                        raw: None,
                    })
                };
                let exchange = history.said((0..calls).map(part).collect());
                for place in exchange.outcomes.iter_mut().take(done) {
                    *place = Some(Outcome::default());
                }
                (0..calls).for_each(|_| history.step());
            }
            Happened::Words(said, reply) => {
                history.said(vec![Part::Text(said)]).reply = reply;
                history.step();
            }
            Happened::Forget(from, many, summary) => {
                history.forget(from..from + many, summary);
            }
        }
    }
    history
}

#[test]
fn only_the_newest_pages_and_pictures_are_shown() {
    let mut history = History::new("task".to_owned());
    for n in 0..4 {
        let call = Part::ToolCall(ToolCall {
            id: n.to_string(),
            name: "browser".to_owned(),
            input: json!({}),
            raw: None,
        });
        let picture = Image {
            media: MediaType::Png,
            bytes: [0].as_slice().into(),
        };
        history.said(vec![call]).outcomes[0] = Some(Outcome {
            text: format!("page {n}"),
            pictures: vec![picture],
            page: true,
            ..Outcome::default()
        });
        history.step();
    }
    let look = Look {
        most_chars: 100,
        results: None,
        pages: Some(2),
        pictures: 1,
    };
    let messages = messages::of(&history, &look);
    let results: Vec<&[Part]> = messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::ToolResult(result) => Some(result.parts.as_slice()),
            _ => None,
        })
        .collect();
    for hidden in &results[..2] {
        assert!(
            matches!(hidden, [Part::Text(text)] if text.contains("too old")),
            "{hidden:?}"
        );
    }
    assert!(matches!(results[2], [Part::Text(page), Part::Text(_)] if page == "page 2"));
    assert!(matches!(results[3], [Part::Text(page), Part::Image(_)] if page == "page 3"));
}

fn ids(message: &Message) -> (Vec<&str>, Vec<&str>) {
    let mut ids = (Vec::new(), Vec::new());
    for part in &message.parts {
        match part {
            Part::ToolCall(call) => ids.0.push(call.id.as_str()),
            Part::ToolResult(result) => ids.1.push(result.call.as_str()),
            _ => {}
        }
    }
    ids
}

proptest! {
    #[test]
    fn sides_alternate_and_every_call_has_its_result(
        all in proptest::collection::vec(happened(), 0..14),
        results in proptest::option::of(0_usize..8),
        pictures in 0_usize..3,
    ) {
        let history = history(all);
        let look = Look { most_chars: 10, results, pages: Some(1), pictures };
        let messages = messages::of(&history, &look);
        let mut seen = HashSet::new();
        for (n, message) in messages.iter().enumerate() {
            let role = if n % 2 == 0 { Role::User } else { Role::Assistant };
            prop_assert_eq!(message.role, role);
            prop_assert!(!message.parts.is_empty());
            let (calls, results) = ids(message);
            let before = n.checked_sub(1).map(|n| ids(&messages[n]).0).unwrap_or_default();
            prop_assert_eq!(results, before);
            for id in calls {
                prop_assert!(seen.insert(id.to_owned()), "{} twice", id);
            }
        }
        prop_assert_eq!(messages.len() % 2, 1);
        prop_assert!(messages[0].cache && messages[messages.len() - 1].cache);
    }

    #[test]
    fn what_is_forgotten_is_told_without_holes_from_the_front(
        counts in proptest::collection::vec(1_usize..4, 2..12),
        target in 0_usize..20,
    ) {
        let all = counts.iter().map(|count| Happened::Calls(*count, *count, String::new()));
        let mut history = history(all.collect());
        let before = history.events();
        let range = history.middle(0, target);
        let many = range.len();
        let told = history.forget(range, None);
        prop_assert_eq!(told.is_some(), many > 0);
        if let Some(told) = told {
            let steps: usize = counts.iter().take(many).sum();
            prop_assert_eq!((told.from, told.to as usize), (1, steps));
            prop_assert!(history.events() < before);
        }
        // As much as was asked for, or no more than the newest.
        prop_assert!(history.events() <= target.max(2) || history.exchanges().len() == 1);
    }
}

#[test]
fn names_that_no_service_takes_are_not_sent_back() {
    let long = "n".repeat(90);
    let names = [
        ("execute_bash", "execute_bash"),
        ("functions.execute bash", "functions_execute_bash"),
        ("", "unnamed"),
        ("7zip", "_7zip"),
        ("été", "__t_"),
        (long.as_str(), &long[..64]),
    ];
    let mut history = History::new("task".to_owned());
    for (name, _) in names {
        let call = ToolCall {
            id: String::new(),
            name: name.to_owned(),
            input: json!({}),
            raw: None,
        };
        history.said(vec![Part::ToolCall(call)]).outcomes[0] = Some(Outcome::default());
        history.step();
    }
    let look = Look {
        most_chars: 100,
        results: None,
        pages: None,
        pictures: 8,
    };
    let messages = messages::of(&history, &look);
    let parts = || messages.iter().flat_map(|message| &message.parts);
    let shown = names.map(|(_, shown)| shown);
    let called: Vec<&str> = parts()
        .filter_map(|part| match part {
            Part::ToolCall(call) => Some(call.name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(called, shown);
    let answered: Vec<&str> = parts()
        .filter_map(|part| match part {
            Part::ToolResult(result) => Some(result.name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(answered, shown);
}
