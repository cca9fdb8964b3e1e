//! Evaluators that look at real desktops, with real programs on them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_arena::evaluators::find;
use agon_arena::{
    EvaluationResult, Evaluator, EvaluatorServer, JudgeError, Judging, ServerOptions, Task,
    get_current_frame_base64,
};
use agon_desktop::{Desktop, DesktopConfig, Key};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::evaluator_game::Game;
use super::evaluator_support::{Pair, Scripted, task};

fn on(desktop: &Desktop) -> ServerOptions {
    ServerOptions {
        desktop: Some(desktop.address().clone()),
        ..ServerOptions::default()
    }
}

async fn pair(evaluator: impl Evaluator, desktop: &Desktop, report: Option<PathBuf>) -> Pair {
    let server = EvaluatorServer::start(evaluator, &on(desktop), report).unwrap();
    let pair = Pair::of(Scripted::default(), server);
    assert_eq!(pair.register().await.0, 200);
    pair
}

#[tokio::test(flavor = "multi_thread")]
async fn the_panic_key_ends_the_task_that_is_played_and_no_other() {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let pair = pair(Scripted::default(), &desktop, None).await;
    desktop.keyboard().tap(Key::F10).unwrap();
    for id in ["a", "b"] {
        assert_eq!(pair.begin(task(id, json!({}))).await.0, 200);
        desktop.keyboard().tap(Key::F9).unwrap();
        assert_eq!(pair.state().await, "EVALUATING");
        desktop.keyboard().tap(Key::F10).unwrap();
        let record = pair.record(id).await;
        assert_eq!(record["stop_reason"], "operator");
        assert_eq!(record["metrics"]["score"], 1, "it is scored all the same");
    }
    assert_eq!(pair.agent.stops().len(), 2);
}

/// Gives what it sees as its metrics, and leaves a key pressed.
struct Picturing;

impl Evaluator for Picturing {
    fn setup_environment(&self, _: &Task, judging: &Judging) -> Result<(), JudgeError> {
        // One that repeats would end the game.
        judging.desktop()?.keyboard().press(Key::Shift)?;
        Ok(())
    }

    fn score_task(
        &self,
        task: &Task,
        _: Duration,
        _: &str,
        judging: &Judging,
    ) -> Result<EvaluationResult, JudgeError> {
        let metrics = json!({
            "window": get_current_frame_base64(&task.window_name)?,
            "screen": judging.frame_base64()?,
        });
        Ok(EvaluationResult {
            task_id: task.task_id.clone(),
            metrics: metrics.as_object().cloned().unwrap_or_default(),
            notes: None,
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_see_the_judged_desktop_and_leave_no_key_pressed() {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let _game = Game::start(&desktop);
    let pair = pair(Picturing, &desktop, None).await;
    let mut played = task("a", json!({ "agent": "finish" }));
    played["window_name"] = json!("Any Game");
    let record = pair.evaluate(played).await;
    let size = |name: &str| {
        let picture = record["metrics"][name].as_str().unwrap();
        let image = agon_vision::Image::from_png(&STANDARD.decode(picture).unwrap()).unwrap();
        (image.width(), image.height())
    };
    let window = desktop.windows().find("Any Game").unwrap();
    assert_eq!(size("window"), (window.rect.width, window.rect.height));
    assert_eq!(
        size("screen"),
        (desktop.size().width, desktop.size().height)
    );
    assert!(desktop.keyboard().state().unwrap().keys.is_empty());
}

fn side_line(report: &Path, number: usize) -> Value {
    let side = std::fs::read_to_string(report.with_file_name("report.agon.jsonl")).unwrap();
    serde_json::from_str(side.lines().nth(number).unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_seeds_two_questions_are_answered_and_an_impossible_score_is_marked() {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let _game = Game::start(&desktop);
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.jsonl");
    let hexagon = find("hexagon").unwrap();
    let pair = pair(hexagon, &desktop, Some(report.clone())).await;
    let played = |id: &str| {
        let mut task = task(id, json!({ "time_survived": 0.3 }));
        task["window_name"] = json!("Any Game");
        task["check_env_interval_seconds"] = json!(0.2);
        task
    };
    let right = pair.evaluate(played("right")).await;
    assert_eq!(right["stop_reason"], "env_ended", "{right}");
    assert_eq!(right["metrics"]["score"], 0.31, "{right}");
    assert_eq!(right["metrics"]["success"], true);
    assert_eq!(right["metrics"]["misread"], Value::Null);

    // As 2.26 that was read as 226.
    let wrong = pair.evaluate(played("wrong")).await;
    assert_eq!(wrong["stop_reason"], "env_ended", "{wrong}");
    assert_eq!(wrong["metrics"]["score"], -1.0);
    assert_eq!(wrong["metrics"]["success"], false);
    let misread = wrong["metrics"]["misread"].as_str().unwrap();
    assert!(misread.contains("95"), "{misread}");

    for number in 0..2 {
        let looks = side_line(&report, number)["looks"].clone();
        let looks = looks.as_array().unwrap();
        // Before the start, in the play and for the score.
        assert!(looks.len() >= 3, "{looks:?}");
        for look in looks {
            let blob = look["picture"]["blob"].as_str().unwrap();
            let stored = report.with_file_name(format!("report.frames/{blob}.png"));
            let picture = std::fs::read(stored).unwrap();
            assert!(agon_vision::Image::from_png(&picture).is_ok());
        }
        assert!(looks.last().unwrap()["value"].is_number());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_score_to_read_the_seconds_of_play_must_do() {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let _game = Game::start(&desktop);
    let pair = pair(find("screen").unwrap(), &desktop, None).await;
    let finish = |limit: Value| json!({ "agent": "finish", "score_at_least": limit });
    let over = json!({
        "start_keys": "space", "end_text": "space to retry", "time_survived": 3600,
    });
    let shown = json!({ "agent": "finish", "end_text": "no such text" });
    for (id, criteria, success) in [
        ("long", finish(json!(3600)), false),
        ("short", finish(json!(0)), true),
        ("any", json!({ "agent": "finish" }), true),
        ("crash", json!({ "agent": "crash" }), false),
        ("ended too early", over, false),
        ("not ended", shown, false),
    ] {
        let mut played = task(id, criteria);
        played["window_name"] = json!("Any Game");
        let record = pair.evaluate(played).await;
        assert_eq!(record["metrics"]["success"], success, "{id}: {record}");
        assert_eq!(
            record["metrics"]["score"],
            record["metrics"]["task_elapsed_time"]
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_says_what_to_look_for_and_a_wrong_word_is_named() {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let mut game = Game::start(&desktop);
    let pair = pair(find("screen").unwrap(), &desktop, None).await;
    let played = |id: &str, criteria: Value| {
        let mut task = task(id, criteria);
        task["window_name"] = json!("Any Game");
        task
    };
    let (status, said) = pair.begin(played("a", json!({ "end_text": 3 }))).await;
    assert_eq!(status, 500);
    assert!(
        said["error"].as_str().unwrap().contains("end_text"),
        "{said}"
    );
    let criteria = json!({
        "start_keys": "space", "end_text": "space to retry", "score_after": "LAST",
        "score_form": "plain", "score_region": { "x": 0, "y": 0, "width": 400, "height": 90 },
    });
    assert_eq!(pair.begin(played("b", criteria.clone())).await.0, 200);
    let record = pair.record("b").await;
    assert_eq!(record["stop_reason"], "env_ended", "{record}");
    // Who closes the game has ended it, and has no score.
    assert_eq!(pair.begin(played("c", criteria)).await.0, 200);
    game.child.kill().unwrap();
    game.child.wait().unwrap();
    let record = pair.record("c").await;
    assert_eq!(record["stop_reason"], "env_ended", "{record}");
    assert_eq!(record["metrics"]["score"], -1.0);
    assert!(record["notes"].as_str().unwrap().contains("Any Game"));
}
