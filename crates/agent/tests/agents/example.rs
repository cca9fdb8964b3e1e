//! The example of the documentation: it works, and it is the one that is printed there.

use std::fs;

use agon_agent::Answer;
use agon_core::action::Button;
use agon_core::{Action, Observation};

use crate::support::{agent_for, brief, factory, first, repository, seen, soon, task};

fn spec(name: &str) -> String {
    let script = repository().join("examples/python").join(name);
    format!("cmd-host:/usr/bin/python3 '{}'", script.display())
}

#[tokio::test]
async fn the_example_writes_the_greeting_it_is_asked_for() {
    let mut agent = agent_for(&factory(&spec("agent.py")), &task("", None), 1);
    agent.start(&brief()).await.unwrap();
    assert_eq!(
        first(&mut *agent).await,
        Ok(Action::Write {
            path: "greeting.txt".to_owned(),
            content: "hello\n".to_owned(),
            create: false,
        }
        .into())
    );
    let Ok(Answer::Reply(reply)) = soon(agent.act(&Observation::done())).await else {
        panic!("no reply")
    };
    assert_eq!(reply.action, Action::Finish { result: None });
    assert_eq!(reply.thought.as_deref(), Some("It said: done"));
    soon(agent.end()).await;
    assert_eq!(agent.complaints(), None);
}

#[tokio::test]
async fn the_example_says_so_when_it_can_do_nothing() {
    let factory = factory(&spec("agent.py"));
    let task = task("Sing a song.", None);
    let mut agent = agent_for(&factory, &task, 1);
    agent
        .start(&task.brief(crate::support::SEED))
        .await
        .unwrap();
    let Ok(Answer::Reply(reply)) = first(&mut *agent).await else {
        panic!("no reply")
    };
    assert!(matches!(reply.action, Action::Finish { result: Some(_) }));
}

/// With a picture that is much larger than a pipe takes at once.
#[tokio::test]
async fn the_example_for_desktops_clicks_types_and_finishes() {
    let mut agent = agent_for(&factory(&spec("gui_agent.py")), &task("", None), 1);
    agent.start(&brief()).await.unwrap();
    let mut actions = Vec::new();
    for size in [3_000_000, 1, 0] {
        let Ok(Answer::Reply(reply)) = soon(agent.act(&seen(&vec![7; size]))).await else {
            panic!("no reply")
        };
        if let Some(thought) = reply.thought {
            assert_eq!(thought, "I see 3000000 bytes of png.");
        }
        actions.push(reply.action);
    }
    soon(agent.end()).await;
    assert_eq!(agent.complaints(), None);
    assert_eq!(
        actions,
        [
            Action::Click {
                x: 320,
                y: 240,
                button: Button::Left,
                count: 1,
                hold: None
            },
            Action::Type {
                text: "hello\n".to_owned()
            },
            Action::Finish {
                result: Some("notes".to_owned())
            },
        ]
    );
}

#[test]
fn the_documentation_prints_the_example_as_it_is() {
    let docs = fs::read_to_string(repository().join("docs/agent-protocol.md")).unwrap();
    for name in ["agent.py", "gui_agent.py"] {
        let path = repository().join("examples/python").join(name);
        let example = fs::read_to_string(path).unwrap();
        assert!(docs.contains(&example), "update docs/agent-protocol.md");
        assert!(example.lines().count() <= 20);
    }
}

/// Every action is shown with an example that is really read as that action.
#[test]
fn the_documentation_shows_every_action() {
    let docs = fs::read_to_string(repository().join("docs/agent-protocol.md")).unwrap();
    let mut shown: Vec<_> = docs
        .split('`')
        .filter(|text| text.starts_with(r#"{"action""#) && text.ends_with('}'))
        .map(
            |text| match agon_agent::wire::read_answer(text.as_bytes()) {
                Ok(Answer::Reply(reply)) => reply.action.kind(),
                other => panic!("{text}: {other:?}"),
            },
        )
        .collect();
    shown.sort();
    shown.dedup();
    assert_eq!(shown, agon_core::ActionKind::ALL);
}
