//! One agent at work, and how it is stopped.

use std::fs;
use std::path::Path;

use agon_core::verdict::TurnEnd;
use agon_core::{Event, EventBody};
use agon_workflow::controller::Conversation;
use agon_workflow::state::AgentState;
use agon_workflow::{AppConfig, codeact_user_response};
use tokio_util::sync::CancellationToken;

use crate::place::{Place, finish, run};

/// All that was recorded below a folder.
fn recorded(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text += &recorded(&path);
        } else if path.extension().is_some_and(|ext| ext == "jsonl") {
            text += &fs::read_to_string(&path).unwrap();
        }
    }
    text
}

#[tokio::test]
async fn one_that_is_stopped_leaves_its_whole_record() {
    let place = Place::new();
    let config = AppConfig {
        session_folder: Some(place.path("session")),
        save_trajectory_path: Some(place.path("trajectory.json")),
        ..place.config(&[run("echo begun"), run("sleep 600"), finish()])
    };
    let mut runtime = place.runtime(&config).await;
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let on_sleep = move |event: &Event| {
        if let EventBody::Action(action) = &event.body
            && *action == agon_core::Action::run("sleep 600")
        {
            stopping.cancel();
        }
    };
    let conversation = Conversation::new(&config, "Sleep.")
        .with_user(codeact_user_response)
        .watched(on_sleep)
        .stopped_by(stop);
    let state = conversation.run(&mut runtime).await.unwrap();
    runtime.close().await;
    assert_eq!(state.end, Some(TurnEnd::Operator));
    assert_eq!(state.agent_state, AgentState::Stopped);
    assert_eq!(state.iteration_flag.current_value, 2);
    let record = recorded(&place.path("session"));
    for part in ["Sleep.", "echo begun", "sleep 600", "\"operator\""] {
        assert!(record.contains(part), "{part}: {record}");
    }
    let trajectory = fs::read_to_string(place.path("trajectory.json")).unwrap();
    assert!(trajectory.contains("sleep 600"), "{trajectory}");
    assert_eq!(state.metrics.token_usages.len(), 2, "what it asked counts");
}

#[tokio::test]
async fn what_of_a_trajectory_can_not_be_played_again_is_told() {
    let place = Place::new();
    let trajectory = serde_json::json!([
        {"id": 0, "timestamp": "2026-01-01T00:00:00", "source": "user", "action": "message",
         "args": {"content": "Greet.", "image_urls": null, "wait_for_response": false}},
        {"id": 1, "timestamp": "2026-01-01T00:00:00", "source": "agent", "action": "delegate",
         "args": {"agent": "BrowsingAgent", "inputs": {}, "thought": ""}},
        {"id": 2, "timestamp": "2026-01-01T00:00:00", "source": "agent", "action": "run",
         "args": {"command": "echo hello"}},
    ]);
    let file = place.path("old.json");
    fs::write(&file, trajectory.to_string()).unwrap();
    let config = AppConfig {
        session_folder: Some(place.path("session")),
        replay_trajectory_path: Some(file),
        ..place.config(&[finish()])
    };
    let mut runtime = place.runtime(&config).await;
    let (sender, notes) = std::sync::mpsc::channel();
    let listen = move |event: &Event| {
        if let EventBody::Note(note) = &event.body {
            sender.send(note.clone()).ok();
        }
    };
    let conversation = Conversation::new(&config, "Greet.").watched(listen);
    let state = conversation.run(&mut runtime).await.unwrap();
    runtime.close().await;
    assert_eq!(state.end, Some(TurnEnd::Finished));
    assert_eq!(state.last_error, "");
    let note = notes.recv().unwrap();
    assert!(note.contains("not played again"), "{note}");
    assert!(note.contains("delegate"), "{note}");
    assert!(recorded(&place.path("session")).contains("not played again"));
}
