//! The evaluator that asks a model, on a real window, with a service that answers well, badly or not at
//! all.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_arena::evaluators::{Models, Vision};
use agon_arena::{EvaluatorServer, ServerOptions};
use agon_desktop::{Desktop, DesktopConfig};
use agon_llm::{Budget, SessionOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::evaluator_game::Game;
use super::evaluator_support::{Pair, Scripted, task, until};
use super::vision_service::{KEY, Service, models, section};

/// Says how many keys it was given.
const COUNTING: &str = r"
tput civis; clear; printf '\n  ANY GAME\n'
while read -rsn1; do n=$((n+1)); printf '\033[H\n  GAME %s\n' $n; done
";

/// A game on a desktop, and an evaluator that asks a service about it.
struct Court {
    _desktop: Desktop,
    _game: Game,
    folder: TempDir,
    pair: Pair,
}

impl Court {
    async fn sit(config: &str, budget: Budget) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let models = models(folder.path(), config, SessionOptions::default(), budget).unwrap();
        Self::of(folder, models).await
    }

    async fn of(folder: TempDir, models: Arc<Models>) -> Self {
        let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
        let game = Game::playing(&desktop, COUNTING);
        let options = ServerOptions {
            desktop: Some(desktop.address().clone()),
            ..ServerOptions::default()
        };
        let report = Some(folder.path().join("report.jsonl"));
        let server = EvaluatorServer::start(Vision::new(models), &options, report).unwrap();
        let pair = Pair::of(Scripted::default(), server);
        assert_eq!(pair.register().await.0, 200);
        Self {
            _desktop: desktop,
            _game: game,
            folder,
            pair,
        }
    }

    async fn judge(&self, case: &str, more: Value) -> Value {
        let record = self.pair.evaluate(played(case, more)).await;
        self.pair.until_state("READY").await;
        record
    }

    fn side(&self) -> Vec<Value> {
        let side = std::fs::read_to_string(self.folder.path().join("report.agon.jsonl")).unwrap();
        let lines = side.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

fn played(case: &str, more: Value) -> Value {
    let mut criteria = json!({ "time_survived": 10, "model": case });
    for (key, value) in more.as_object().unwrap() {
        criteria[key] = value.clone();
    }
    let mut task = task(case, criteria);
    task["window_name"] = json!("Any Game");
    task
}

fn closed() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/v1", listener.local_addr().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn yes_ends_it_and_only_a_score_that_was_read_is_one() {
    let service = Service::start().await;
    let cases = ["good", "maybe", "short", "unread", "prose", "much"];
    let config: String = cases.map(|case| service.section(case, "")).concat();
    let court = Court::sit(&config, Budget::default()).await;
    for (case, more, score, success) in [
        ("good", json!({}), 12.34, true),
        ("maybe", json!({}), 12.34, true),
        ("short", json!({}), 9.5, false),
        ("unread", json!({}), -1.0, false),
        ("prose", json!({}), -1.0, false),
        ("much", json!({ "score_within_play": true }), -1.0, false),
    ] {
        let record = court.judge(case, more).await;
        assert_eq!(record["stop_reason"], "env_ended", "{record}");
        assert_eq!(record["metrics"]["score"], score, "{record}");
        assert_eq!(record["metrics"]["success"], success, "{record}");
        let misread = ["prose", "much"].contains(&case);
        assert_eq!(
            record["metrics"]["misread"].is_string(),
            misread,
            "{record}"
        );
    }
    assert_eq!(service.most_at_once(), 1);

    let side = court.side();
    assert_eq!(side.len(), cases.len());
    let good = &side[0];
    let calls = good["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 3, "{good}");
    let answers = calls.iter().map(|call| call["answer"].as_str().unwrap());
    assert_eq!(
        answers.collect::<Vec<_>>(),
        ["No.", "Yes", r#"{"score":12.34}"#]
    );
    assert_eq!(good["usage"]["calls"], 3);
    assert_eq!(good["usage"]["input_tokens"], 300);
    for call in calls {
        assert_eq!(call["model"], "good");
        assert_eq!(call["usage"]["output_tokens"], 2);
        // A price, or that there is none: never nothing.
        let usage = &call["usage"];
        assert!(
            usage["money"].is_number() || usage["unpriced_calls"] == 1,
            "{call}"
        );
        let blob = call["picture"]["blob"].as_str().unwrap();
        let stored = court
            .folder
            .path()
            .join(format!("report.frames/{blob}.png"));
        let picture = std::fs::read(stored).unwrap();
        assert!(agon_vision::Image::from_png(&picture).is_ok());
    }
    let looks = good["looks"].as_array().unwrap();
    assert_eq!(looks.len(), 3);
    assert_eq!(looks[2]["value"], 12.34);
    let maybe = &side[1]["looks"][0];
    assert_eq!(maybe["doubt"], "neither yes nor no", "{maybe}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_is_an_error_and_never_a_score() {
    let service = Service::start().await;
    let cases = ["shapeless", "refuses", "broken", "html", "key"];
    let mut config: String = cases.map(|case| service.section(case, "")).concat();
    config += &service.section("late", "timeout = 0.5");
    config += &section("closed", &closed(), "");
    let court = Court::sit(&config, Budget::default()).await;
    for (case, fault, word) in [
        ("shapeless", None, "no number `score`"),
        ("refuses", Some("refusal"), "score_task()"),
        ("broken", Some("overload"), "check_env_continue_timer()"),
        ("html", Some("broken_response"), "broken_response"),
        ("key", Some("authentication"), "[key]"),
        ("late", Some("timeout"), "within 0.5 s"),
        ("closed", Some("network"), "network"),
    ] {
        let record = court.judge(case, json!({})).await;
        assert_eq!(record["stop_reason"], "evaluator_error", "{record}");
        assert_eq!(record["metrics"]["success"], false, "{record}");
        assert_eq!(record["metrics"]["score"], -1, "{record}");
        let error = record["error"].as_str().unwrap();
        assert!(error.contains(word), "{case}: {error}");
        assert!(error.contains(case), "the model is named: {error}");
        assert!(!record.to_string().contains(KEY));
        let side = court.side();
        let last = side.last().unwrap()["calls"].as_array().unwrap();
        assert_eq!(last.last().unwrap()["fault"].as_str(), fault, "{case}");
    }
    nowhere(court.folder.path(), KEY);
}

/// The configuration has the key, and nothing else.
fn nowhere(folder: &Path, key: &str) {
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("config.toml") {
                let bytes = std::fs::read(&path).unwrap();
                let found = bytes.windows(key.len()).any(|part| part == key.as_bytes());
                assert!(!found, "{}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen >= 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_the_operator_does_not_allow_is_refused_before_anything_is_played() {
    let service = Service::start().await;
    let court = Court::sit(&service.section("good", ""), Budget::default()).await;
    for (id, model, word) in [
        ("a", json!("openai-responses/gpt-4o-mini"), "allows good"),
        ("b", json!("mock/script:/etc/passwd"), "allows good"),
        (
            "c",
            json!({ "base_url": "http://elsewhere" }),
            "must be a text",
        ),
        ("d", Value::Null, "must say which model"),
    ] {
        let mut task = played("good", json!({}));
        task["task_id"] = json!(id);
        task["success_criteria"]["model"] = model;
        let (status, said) = court.pair.begin(task).await;
        assert_eq!(status, 500, "{said}");
        assert!(said["error"].as_str().unwrap().contains(word), "{said}");
    }
    assert_eq!(service.asked("good").len(), 0);
    assert_eq!(court.pair.agent.stops().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_is_under_way_is_not_waited_for() {
    let service = Service::start().await;
    let court = Court::sit(&service.section("gone", "timeout = 50"), Budget::default()).await;
    let started = court.pair.begin(played("gone", json!({}))).await;
    assert_eq!(started.0, 200, "{started:?}");
    until(async |()| (service.asked("gone").len() == 1).then_some(())).await;
    let (status, said) = court.pair.post("/evaluator/evaluation/abort", None).await;
    assert_eq!(status, 200, "{said}");
    let record = court.pair.record("gone").await;
    assert_eq!(record["stop_reason"], "operator", "{record}");
    assert_eq!(record["metrics"]["score"], 12.34, "{record}");
    let side = court.side();
    let calls = side[0]["calls"].as_array().unwrap();
    let given_up = calls.iter().find(|call| call["fault"] == "cancelled");
    let why = given_up.unwrap()["why"].as_str().unwrap();
    assert!(why.contains("given up"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_operators_budget_is_spent_nobody_is_asked() {
    let service = Service::start().await;
    let budget = Budget {
        tokens: Some(150),
        money: None,
    };
    let court = Court::sit(&service.section("good", ""), budget).await;
    let record = court.judge("good", json!({})).await;
    assert_eq!(record["stop_reason"], "evaluator_error", "{record}");
    assert!(
        record["error"].as_str().unwrap().contains("budget"),
        "{record}"
    );
    assert_eq!(service.asked("good").len(), 2);
}

/// What the seed sends, field by field. Two are ours: nothing is to be kept by the service, and the item
/// says what it is, as it is taken to be where it does not.
#[tokio::test(flavor = "multi_thread")]
async fn the_requests_are_those_of_the_seed() {
    let service = Service::start().await;
    let court = Court::sit(&service.section("short", ""), Budget::default()).await;
    court.judge("short", json!({})).await;
    let side = court.side();
    let asked = service.asked("short");
    assert_eq!(asked.len(), 2);
    for (number, mut body) in asked.into_iter().enumerate() {
        let fields = body.as_object_mut().unwrap();
        assert_eq!(fields.remove("store"), Some(json!(false)));
        let item = fields["input"][0].as_object_mut().unwrap();
        assert_eq!(item.remove("type"), Some(json!("message")));
        let prompt = [
            "This is a screenshot of a game called Super Hexagon. Can you see the text `PRESS SPACE TO \
             RETRY` in the bottom? Say only yes or no.",
            "This is a screenshot of a game called Super Hexagon. What is the score? It should be \
             written next to `LAST`, and should be in the format of `%d:%d` up to 2 decimals. If you \
             cannot find the score, the score should be `-1`.",
        ][number];
        let blob = side[0]["calls"][number]["picture"]["blob"]
            .as_str()
            .unwrap();
        let stored = court
            .folder
            .path()
            .join(format!("report.frames/{blob}.png"));
        let frame_base64 = base64::Engine::encode(
            &base64::engine::general_purpose::STANDARD,
            std::fs::read(stored).unwrap(),
        );
        let mut seed = json!({
            "model": "gpt-4o-mini",
            "input": [{
                "role": "user",
                "content": [
                    { "type": "input_text", "text": prompt },
                    {
                        "type": "input_image",
                        "image_url": format!("data:image/png;base64,{frame_base64}"),
                        "detail": "auto",
                    },
                ],
            }],
            "temperature": 0.0,
        });
        if number == 1 {
            seed["text"] = json!({
                "format": {
                    "type": "json_schema",
                    "name": "score",
                    "schema": {
                        "type": "object",
                        "properties": { "score": { "type": "number" } },
                        "required": ["score"],
                        "additionalProperties": false,
                    },
                    "strict": true,
                },
            });
        }
        assert_eq!(body, seed);
    }
}
