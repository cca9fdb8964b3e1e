//! What an earlier conversation left, as the model is shown it.

use agon_core::observation::ObservationKind;
use agon_core::verdict::TurnEnd;
use agon_core::{
    Action, Called, Condensation, Event, EventBody as Body, Observation, Picture, PictureFormat,
    Source,
};
use agon_store::{RunFolder, RunWriter};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::play::{Play, Setup, bash, output};
use crate::codeact::Past;
use crate::dialect::tests::{call, record_of};

/// A picture of one point.
const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn past(bodies: Vec<Body>) -> Past {
    let bodies = bodies.into_iter().map(|body| (Source::Agent, None, body));
    Past {
        events: record_of(bodies.collect()),
        folder: RunFolder::at("/nowhere"),
    }
}

fn task(text: &str) -> Body {
    Body::Instruction(text.to_owned())
}

fn called(function: &str, id: &str, of: u32) -> Body {
    Body::Called(Called {
        function: function.to_owned(),
        id: id.to_owned(),
        of,
    })
}

fn run(command: &str) -> Body {
    Body::Action(Action::run(command))
}

fn seen(kind: ObservationKind, text: &str) -> Body {
    Body::Observation(Observation::new(kind, text))
}

fn ready() -> Body {
    seen(ObservationKind::Ready, "")
}

/// What the model is asked, and what it is asked after one step more.
async fn shown(past: Past, toml: &str) -> Vec<Value> {
    let mut play = Play::of(Setup {
        past: Some(past),
        toml,
        answers: vec![bash("ls")],
        ..Setup::default()
    })
    .await;
    // Nothing of it is done again.
    assert_eq!(play.first().await.action, Action::run("ls"));
    play.shown()
}

#[tokio::test]
async fn everything_that_can_happen_is_shown() {
    let message = Action::Message {
        text: "Shall I?".to_owned(),
    };
    let finish = Action::Finish {
        result: Some("all".to_owned()),
    };
    let past = past(vec![
        task("The first task."),
        ready(),
        call("r1"),
        // Two calls of one answer, of which nothing else is known.
        called("execute_bash", "call_a", 2),
        Body::Thought("I look.".to_owned()),
        run("ls"),
        Body::Observation(output("a.txt", 0)),
        called("execute_bash", "call_b", 2),
        run("cat a.txt"),
        Body::Observation(output("text", 0)),
        call("r2"),
        Body::Refused("fly {}".to_owned()),
        seen(ObservationKind::Refused, "there is no tool `fly`"),
        call("r3"),
        Body::Action(message),
        seen(ObservationKind::Reply, "Yes."),
        call("r4"),
        called("finish", "call_c", 1),
        Body::Action(finish),
        Body::End(TurnEnd::Finished),
        task("The second task."),
        ready(),
        call("r5"),
        called("execute_bash", "call_d", 1),
        run("sleep 600"),
    ]);
    insta::assert_json_snapshot!("remembered", shown(past, "").await);
}

#[tokio::test]
async fn what_was_forgotten_stays_so_but_for_what_was_asked() {
    let mut bodies = vec![task("The first task."), ready()];
    for n in 1..=4 {
        bodies.push(call("r"));
        bodies.push(called("execute_bash", &format!("call_{n}"), 1));
        bodies.push(run(&format!("echo {n}")));
        bodies.push(Body::Observation(output(&format!("said {n}"), 0)));
        if n == 2 {
            bodies.extend([task("The second task."), ready()]);
        }
    }
    bodies.push(call("r"));
    bodies.push(Body::Condensed(Condensation {
        from: 1,
        to: 3,
        summary: Some("It counted.".to_owned()),
    }));
    bodies.push(called("execute_bash", "call_5", 1));
    bodies.push(run("echo 5"));
    bodies.push(Body::Observation(output("said 5", 0)));
    let text = Value::from(shown(past(bodies), "").await).to_string();
    for kept in [
        "The first task.",
        "It counted.",
        "The second task.",
        "said 4",
        "said 5",
        "Print hello.",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    for gone in ["said 1", "said 3"] {
        assert!(!text.contains(gone), "{gone}: {text}");
    }
}

/// Steps are counted through: what is forgotten later has the numbers of the whole session.
#[tokio::test]
async fn numbers_of_steps_go_on() {
    let mut bodies = vec![task("The first task."), ready()];
    for n in 1..=6 {
        bodies.push(call("r"));
        bodies.push(called("execute_bash", &format!("call_{n}"), 1));
        bodies.push(run(&format!("echo {n}")));
        bodies.push(Body::Observation(output("said", 0)));
    }
    let mut play = Play::of(Setup {
        past: Some(past(bodies)),
        toml: "[condenser]\ntype = \"recent\"\nkeep_first = 1\nmax_events = 6\n",
        answers: vec![bash("ls")],
        ..Setup::default()
    })
    .await;
    let gone = play.first().await.condensed.unwrap();
    assert_eq!((gone.from, gone.to), (1, 5));
    let gone = play.then(&output("", 0)).await.condensed.unwrap();
    assert!(gone.to <= 7 && gone.from >= 6, "{gone:?}");
}

/// An agent that is none of ours may have done things that no tool does.
#[tokio::test]
async fn what_no_tool_does_is_told_in_words() {
    let wait: Action = serde_json::from_value(json!({"action": "wait", "seconds": 1})).unwrap();
    let past = past(vec![
        task("The first task."),
        ready(),
        Body::Action(wait),
        seen(ObservationKind::Output, "waited"),
    ]);
    let shown = shown(past, "").await;
    let said = shown[1].to_string();
    assert!(said.contains("I did:") && said.contains("wait"), "{said}");
    assert!(shown[2].to_string().contains("waited"), "{shown:?}");
}

#[tokio::test]
async fn pictures_are_fetched_from_where_they_are_kept() {
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(place.path());
    let dot = BASE64_STANDARD.decode(DOT).unwrap();
    let picture = Picture::new(PictureFormat::Png, dot);
    let writer = RunWriter::open(&folder).unwrap();
    writer.keep_picture(&picture).unwrap();
    let mut drawn = Observation::new(ObservationKind::Output, "drawn");
    drawn.pictures = vec![picture];
    let code = "plot()".to_owned();
    let mut past = past(vec![
        task("The first task."),
        ready(),
        Body::Action(Action::Cell { code }),
        Body::Observation(drawn),
    ]);
    // As they are read from a file: without the bytes.
    let events = past.events.iter();
    past.events = events
        .map(|event| -> Event {
            serde_json::from_value(serde_json::to_value(event).unwrap()).unwrap()
        })
        .collect();
    past.folder = folder;
    let text = Value::from(shown(past, "").await).to_string();
    assert!(text.contains(DOT), "{text}");
}
