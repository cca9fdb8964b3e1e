//! A task from the first command to the end, and what the model is told on the way.

use agon_core::observation::ObservationKind;
use agon_core::{Action, Observation, Picture, PictureFormat};
use serde_json::{Value, json};

use super::play::{Play, Setup, bash, call, output};

/// 1x1 pixels.
const PNG: [u8; 67] = [
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0,
    0, 0, 58, 126, 155, 85, 0, 0, 0, 10, 73, 68, 65, 84, 120, 156, 99, 96, 0, 0, 0, 2, 0, 1, 72,
    175, 164, 113, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
];

#[tokio::test]
async fn a_task_from_the_first_command_to_the_end() {
    let mut play = Play::says([
        json!({
            "text": "I look around.",
            "tool_calls": [
                {"name": "execute_bash", "input": {"command": "ls"}},
                {"name": "str_replace_editor", "input": {"command": "view", "path": "/work/a.py"}},
            ],
        }),
        json!({"text": "Which greeting?"}),
        call("finish", json!({"message": "hello"})),
    ])
    .await;
    let first = play.first().await;
    assert_eq!(first.action, Action::run("ls"));
    assert_eq!(first.thought.as_deref(), Some("I look around."));
    let called = first.called.unwrap();
    assert_eq!((called.function.as_str(), called.of), ("execute_bash", 2));
    let second = play.then(&output("a.py", 0)).await;
    assert_eq!(second.thought, None);
    assert_eq!(second.called.unwrap().of, 2);
    // Both calls are of one answer: nothing was asked in between.
    assert_eq!(play.account.spent().calls, 1);
    let content = Observation::new(ObservationKind::Content, "     1\tprint('bye')\n");
    let words = play.then(&content).await;
    assert_eq!(
        words.action,
        Action::Message {
            text: "Which greeting?".to_owned()
        }
    );
    assert_eq!(words.called, None);
    let reply = Observation::new(ObservationKind::Reply, "hello, please");
    let last = play.then(&reply).await;
    assert_eq!(
        last.action,
        Action::Finish {
            result: Some("hello".to_owned())
        }
    );
    let mut asked = play.asked();
    assert_eq!(asked.len(), 3);
    // A path that is another one every time.
    asked[0]["model"] = json!("test");
    insta::assert_json_snapshot!("first_request", asked[0]);
    insta::assert_json_snapshot!(
        "last_messages",
        asked[2]["messages"].as_array().unwrap()[1..]
    );
}

#[tokio::test]
async fn what_makes_no_sense_comes_back_as_the_result_of_its_call() {
    let mut play = Play::says([
        json!({"tool_calls": [
            {"name": "bash", "input": {}},
            {"name": "execute_bash", "input": {"cmd": "ls"}},
            {"name": "execute_bash", "input": {"command": "pwd"}},
        ]}),
        bash("ls"),
    ])
    .await;
    let why = play.refused(&Observation::ready("")).await;
    assert!(why.contains("there is no tool `bash`"), "{why}");
    let other = play.refused(&Observation::refused(why.clone())).await;
    assert!(other.contains("`command`"), "{other}");
    let third = play.then(&Observation::refused(other.clone())).await;
    assert_eq!(third.action, Action::run("pwd"));
    play.then(&output("/work", 0)).await;
    let shown = play.shown();
    let results: Vec<_> = shown.iter().filter(|m| m["role"] == "tool").collect();
    assert_eq!(results.len(), 3);
    assert!(results[0]["content"].as_str().unwrap().contains(&why));
    assert!(results[1]["content"].as_str().unwrap().contains(&other));
    assert!(results[2]["content"].as_str().unwrap().starts_with("/work"));
}

#[tokio::test]
async fn the_task_list_is_kept_by_the_agent_and_told_as_a_thought() {
    let plan = json!({"command": "plan", "task_list": [
        {"id": "1", "title": "look", "status": "in_progress"},
        {"id": "2", "title": "mend", "status": "todo"},
    ]});
    let mut play = Play::says([
        call("task_tracker", plan),
        call("task_tracker", json!({"command": "view"})),
        call(
            "task_tracker",
            json!({"command": "plan", "task_list": [{}]}),
        ),
        bash("ls"),
    ])
    .await;
    let reply = play.first().await;
    let list = "# Task list\n- [~] 1: look\n- [ ] 2: mend";
    assert_eq!(
        reply.action,
        Action::Think {
            thought: list.to_owned()
        }
    );
    play.then(&Observation::done()).await;
    let why = play.refused(&Observation::done()).await;
    assert!(why.contains("`title`"), "{why}");
    play.then(&Observation::refused(why)).await;
    let shown = play.shown();
    let results: Vec<_> = shown.iter().filter(|m| m["role"] == "tool").collect();
    assert_eq!(results[0]["content"], "The list has 2 tasks now.");
    assert_eq!(results[1]["content"], list);
}

#[tokio::test]
async fn only_the_newest_pictures_stay_in_memory() {
    let cell = call("execute_ipython_cell", json!({"code": "plot()"}));
    let mut play = Play::says([cell]).await;
    play.first().await;
    for _ in 0..12 {
        let mut drawn = output("drawn", 0);
        drawn.pictures = vec![Picture::new(PictureFormat::Png, PNG)];
        play.then(&drawn).await;
    }
    let shown = Value::from(play.shown()).to_string();
    assert_eq!(shown.matches("An older picture").count(), 4);
    let kept: usize = play
        .agent
        .history
        .exchanges()
        .iter()
        .flat_map(|exchange| exchange.outcomes.iter().flatten())
        .map(|outcome| outcome.pictures.len())
        .sum();
    assert_eq!(kept, 8);
}

#[tokio::test]
async fn empty_and_cut_answers_are_told() {
    let mut play = Play::says([json!({"text": ""}), json!({"text": "hm"})]).await;
    let why = play.refused(&Observation::ready("")).await;
    assert!(why.contains("empty"), "{why}");
    play.then(&Observation::refused(why)).await;
    let shown = play.shown();
    assert_eq!(shown[1]["content"], "[no answer]");
    assert!(shown[2]["content"].as_str().unwrap().contains("empty"));
}

#[tokio::test]
async fn long_results_are_cut_and_pictures_shown() {
    let mut play = Play::of(Setup {
        model: "max_message_chars = 20",
        answers: vec![
            call("execute_ipython_cell", json!({"code": "plot()"})),
            bash("ls"),
        ],
        ..Setup::default()
    })
    .await;
    play.first().await;
    let mut seen = Observation::new(ObservationKind::Output, "x".repeat(50));
    // The smallest PNG that is one.
    seen.pictures = vec![Picture::new(PictureFormat::Png, PNG)];
    play.then(&seen).await;
    let shown = play.shown();
    let result = shown[2]["content"].as_str().unwrap();
    assert_eq!(
        result,
        "xxxxxxxxxx\n[... 30 characters left out ...]\nxxxxxxxxxx"
    );
    assert!(shown[3].to_string().contains("image_url"), "{}", shown[3]);
}

#[tokio::test]
async fn models_without_tools_of_their_own_write_their_calls() {
    let call = "I look.\n<function=execute_bash>\n<parameter=command>ls</parameter>\n</function>";
    let mut play = Play::of(Setup {
        model: "native_tool_calling = false",
        answers: vec![json!({"text": call}), json!({"text": "done"})],
        ..Setup::default()
    })
    .await;
    let reply = play.first().await;
    assert_eq!(reply.action, Action::run("ls"));
    assert_eq!(reply.thought.as_deref(), Some("I look."));
    let reply = play.then(&output("a.py", 0)).await;
    assert_eq!(
        reply.action,
        Action::Message {
            text: "done".to_owned()
        }
    );
}
