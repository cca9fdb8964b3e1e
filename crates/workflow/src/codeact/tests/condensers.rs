//! Every condenser over the same long work.

use serde_json::{Value, json};

use super::play::{Play, Setup, call, endless, output};

async fn long_work(toml: &str, commands: usize) -> (Play, Vec<agon_core::Condensation>) {
    let mut play = Play::of(Setup {
        toml,
        answers: endless(),
        small: vec![
            json!({"text": "SUMMARY ONE"}),
            json!({"text": "SUMMARY TWO"}),
        ],
        ..Setup::default()
    })
    .await;
    let replies = play.commands(commands).await;
    let told = replies.into_iter().filter_map(|reply| reply.condensed);
    (play, told.collect())
}

fn text(messages: &[Value]) -> String {
    Value::from(messages.to_vec()).to_string()
}

fn results(messages: &[Value]) -> usize {
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results.count()
}

#[tokio::test]
async fn noop_and_window_forget_nothing_by_themselves() {
    for kind in ["noop", "conversation_window"] {
        let (play, told) = long_work(&format!("[condenser]\ntype = \"{kind}\""), 30).await;
        assert!(told.is_empty());
        assert_eq!(results(&play.shown()), 29);
    }
}

#[tokio::test]
async fn recent_keeps_the_first_and_the_last() {
    let toml = "[condenser]\ntype = \"recent\"\nkeep_first = 4\nmax_events = 10";
    let (play, told) = long_work(toml, 20).await;
    let shown = play.shown();
    assert_eq!(results(&shown), 4);
    let text = text(&shown);
    assert!(
        text.contains("result 1\\n") && text.contains("result 19\\n"),
        "{text}"
    );
    assert!(
        !text.contains("result 2\\n") && !text.contains("result 16\\n"),
        "{text}"
    );
    assert_eq!((told[0].from, told[0].to), (2, 2));
    assert_eq!(told.last().unwrap().to, 16);
}

#[tokio::test]
async fn amortized_forgets_down_to_half() {
    let toml = "[condenser]\ntype = \"amortized\"\nkeep_first = 1\nmax_size = 20";
    let (play, told) = long_work(toml, 20).await;
    // 2 + 20 events are too many; 10 stay.
    assert_eq!((told[0].from, told[0].to), (1, 6));
    assert_eq!((told[1].from, told[1].to), (7, 12));
    let lengths: Vec<usize> = play
        .asked()
        .iter()
        .map(|body| results(body["messages"].as_array().unwrap()))
        .collect();
    assert_eq!(
        lengths,
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 4, 5, 6, 7, 8, 9, 4, 5, 6, 7]
    );
}

#[tokio::test]
async fn masking_hides_old_results_and_keeps_their_calls() {
    let toml = "[condenser]\ntype = \"observation_masking\"\nattention_window = 6";
    let (play, told) = long_work(toml, 10).await;
    assert!(told.is_empty());
    let shown = play.shown();
    assert_eq!(results(&shown), 9);
    let text = text(&shown);
    assert_eq!(text.matches("too old to be shown").count(), 6);
    assert!(text.contains("result 7") && !text.contains("result 6"));
}

#[tokio::test]
async fn a_summary_takes_the_place_of_what_was_forgotten() {
    let toml = "[condenser]\ntype = \"llm\"\nllm_config = \"small\"\nkeep_first = 1\nmax_size = 20\n\
                max_event_length = 100";
    let (play, told) = long_work(toml, 20).await;
    assert_eq!(told[0].summary.as_deref(), Some("SUMMARY ONE"));
    assert_eq!(told[1].summary.as_deref(), Some("SUMMARY TWO"));
    let calls = play.account.take_calls();
    let of = |name: &str| -> Vec<String> {
        let calls = calls.iter().filter(|call| call.model == name);
        calls
            .map(|call| call.request.as_ref().unwrap().to_string())
            .collect()
    };
    let small = of("small");
    assert_eq!(small.len(), 2);
    assert!(small[0].contains("result 1\\n") && !small[0].contains("earlier_summary>\\n"));
    assert!(small[1].contains("SUMMARY ONE"));
    let test = of("test");
    assert_eq!(test.len(), 20);
    let last = &test[19];
    assert!(
        last.contains("SUMMARY TWO") && !last.contains("SUMMARY ONE"),
        "{last}"
    );
    assert!(!last.contains("result 1\\n"));
    insta::assert_snapshot!("summary_request", pretty(&small[1]));
}

fn pretty(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap();
    body["messages"][0]["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn several_condensers_work_together() {
    let toml = "[condenser]\ntype = \"pipeline\"\n\
        [[condenser.condensers]]\ntype = \"observation_masking\"\nattention_window = 2\n\
        [[condenser.condensers]]\ntype = \"amortized\"\nmax_size = 20\n";
    let (play, told) = long_work(toml, 12).await;
    assert_eq!(told.len(), 1);
    let shown = text(&play.shown());
    assert!(shown.contains("too old to be shown") && shown.contains("not shown any more"));
}

#[tokio::test]
async fn the_model_can_ask_for_it() {
    let mut answers = vec![call("execute_bash", json!({"command": "ls"})); 6];
    answers.push(call("request_condensation", json!({})));
    answers.push(call("execute_bash", json!({"command": "pwd"})));
    let mut play = Play::of(Setup {
        toml: "[agent]\nenable_condensation_request = true\n[condenser]\ntype = \"conversation_window\"",
        answers,
        ..Setup::default()
    })
    .await;
    play.commands(6).await;
    let reply = play.then(&output("result 6", 0)).await;
    assert!(matches!(reply.action, agon_core::Action::Think { .. }));
    assert_eq!(reply.condensed.unwrap().from, 1);
    play.then(&agon_core::Observation::done()).await;
    assert!(text(&play.shown()).contains("The history is shorter now."));
}
