//! A whole evaluation, recorded and played again without the service.

use agon_arena::evaluators::Vision;
use agon_arena::{EvaluatorServer, ServerOptions};
use agon_desktop::{Desktop, DesktopConfig};
use agon_llm::{Budget, SessionOptions};
use serde_json::{Value, json};

use super::evaluator_game::Game;
use super::evaluator_support::{PATIENCE, Pair, Scripted, task};
use super::vision_service::{KEY, Service, models};

/// Shows its end, and nothing else ever. The title says that all of it is drawn.
const STILL: &str = r"
tput civis; clear; printf '\n  LAST 12:34\n\n  PRESS SPACE TO RETRY\n\033]0;Any Game is over\007'
while read -rsn1; do :; done
";

async fn evaluated(config: &str, session: SessionOptions) -> (Value, Value) {
    let folder = tempfile::tempdir().unwrap();
    let models = models(folder.path(), config, session, Budget::default()).unwrap();
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let _game = Game::playing(&desktop, STILL);
    let title = "Any Game is over";
    desktop.windows().wait_for(title, PATIENCE).unwrap();
    let options = ServerOptions {
        desktop: Some(desktop.address().clone()),
        ..ServerOptions::default()
    };
    let report = folder.path().join("report.jsonl");
    let server = EvaluatorServer::start(Vision::new(models), &options, Some(report)).unwrap();
    let pair = Pair::of(Scripted::default(), server);
    assert_eq!(pair.register().await.0, 200);
    let mut task = task("a", json!({ "time_survived": 10, "model": "good" }));
    task["window_name"] = json!("Any Game");
    let record = pair.evaluate(task).await;
    let side = std::fs::read_to_string(folder.path().join("report.agon.jsonl")).unwrap();
    (record, serde_json::from_str(&side).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tape_judges_as_the_model_did_and_no_service_is_asked() {
    let service = Service::start().await;
    let config = service.section("good", "");
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("judge.tape");
    let recording = SessionOptions {
        record: Some(tape.clone()),
        ..SessionOptions::default()
    };
    let (first, told) = evaluated(&config, recording).await;
    assert_eq!(first["metrics"]["score"], 12.34, "{first}");
    assert_eq!(service.asked("good").len(), 3);
    assert_eq!(told["calls"][0]["taped"], false);
    let text = std::fs::read(&tape).unwrap();
    assert!(!String::from_utf8_lossy(&text).contains(KEY));
    drop(service);

    let replaying = SessionOptions {
        replay: Some(tape),
        ..SessionOptions::default()
    };
    let (again, told_again) = evaluated(&config, replaying).await;
    for key in ["stop_reason", "task_id"] {
        assert_eq!(again[key], first[key], "{again}");
    }
    for key in ["score", "success"] {
        assert_eq!(again["metrics"][key], first["metrics"][key], "{again}");
    }
    let what = |told: &Value| {
        let calls = told["calls"].as_array().unwrap().clone();
        let call = |call: Value| (call["answer"].clone(), call["picture"].clone());
        calls.into_iter().map(call).collect::<Vec<_>>()
    };
    assert_eq!(what(&told_again), what(&told));
    assert_eq!(told_again["calls"][0]["taped"], true);
}
