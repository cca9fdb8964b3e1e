//! A benchmark as code: what the agent leaves is data, and whatever it does comes to a row.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use agon_engine::Providers;
use agon_llm::Budget;
use agon_workflow::evaluation::Evaluated;
use agon_workflow::runtime::RuntimeError;
use agon_workflow::{
    AppConfig, Benchmark, CmdRunAction, EvalError, EvalMetadata, EvalOutput, Instance, RunOptions,
    Runtime, Selection, State, prepare_dataset, run_benchmark,
};
use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::place::{Place, finish, leave, run};

/// What the agent left in `out.txt` must be `truth`.
struct Truth {
    config: AppConfig,
    providers: Providers,
    /// How collecting fails, after it was done.
    spoiled: Option<fn() -> EvalError>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Truth {
    fn new(place: &Place, config: AppConfig) -> Self {
        Self {
            config,
            providers: place.providers(),
            spoiled: None,
            seen: Arc::default(),
        }
    }

    fn note(&self, what: String) {
        self.seen.lock().unwrap().push(what);
    }
}

#[async_trait]
impl Benchmark for Truth {
    fn get_config(&self, _: &Instance, _: &EvalMetadata) -> AppConfig {
        self.config.clone()
    }

    fn create_runtime(&self, config: &AppConfig) -> Result<Runtime, RuntimeError> {
        Runtime::new(config, self.providers.clone())
    }

    fn get_instruction(&self, _: &Instance, _: &EvalMetadata) -> String {
        "Write the truth to out.txt.".to_owned()
    }

    fn user_response(&self, state: &State) -> String {
        let flag = &state.iteration_flag;
        self.note(format!(
            "{} of {} {}",
            flag.current_value, flag.max_value, flag.hit_limit
        ));
        "Go on.".to_owned()
    }

    async fn complete_runtime(
        &self,
        runtime: &mut Runtime,
        _: &Instance,
    ) -> Result<Map<String, Value>, EvalError> {
        if let Some(error) = self.spoiled {
            return Err(error());
        }
        let left = runtime.run_action(CmdRunAction::new("cat out.txt")).await?;
        Ok(Map::from_iter([(
            "left".to_owned(),
            json!(left.content().trim()),
        )]))
    }

    async fn evaluate(
        &self,
        fresh: &mut Runtime,
        _: &Instance,
        collected: &Map<String, Value>,
        _: &State,
    ) -> Result<Map<String, Value>, EvalError> {
        self.note(format!("fresh: {:?}", fresh.list_files(None).await?));
        let resolved = collected.get("left") == Some(&json!("truth"));
        Ok(Map::from_iter([("resolved".to_owned(), json!(resolved))]))
    }
}

struct Ran {
    evaluated: Evaluated,
    rows: Vec<EvalOutput>,
    output: PathBuf,
}

async fn evaluate(place: &Place, benchmark: Truth, options: RunOptions) -> Ran {
    let output = place.path("output.jsonl");
    let row = |id| Map::from_iter([("instance_id".to_owned(), json!(id))]);
    let dataset = vec![row("one")];
    let instances = prepare_dataset(dataset, &output, &Selection::default()).unwrap();
    let metadata = EvalMetadata::default();
    let evaluated = run_benchmark(benchmark, instances, metadata, &output, options)
        .await
        .unwrap();
    Ran {
        evaluated,
        rows: agon_workflow::eval::read_output(&output).unwrap(),
        output,
    }
}

fn once() -> RunOptions {
    RunOptions {
        max_retries: 0,
        ..RunOptions::default()
    }
}

#[tokio::test]
async fn nothing_of_the_agents_shell_is_there_when_its_work_is_collected() {
    let place = Place::new();
    let config = place.config(&[
        run("echo lie > out.txt; cat() { echo truth; }; cd /"),
        leave("sleep 9999"),
        finish(),
    ]);
    let ran = evaluate(&place, Truth::new(&place, config), once()).await;
    assert_eq!(ran.evaluated.failed, []);
    assert_eq!(ran.rows[0].test_result["resolved"], json!(false));
    let config = place.config(&[run("echo truth > out.txt"), leave("sleep 9999"), finish()]);
    std::fs::remove_file(&ran.output).unwrap();
    let ran = evaluate(&place, Truth::new(&place, config), once()).await;
    assert_eq!(ran.evaluated.failed, []);
    assert_eq!(ran.rows[0].test_result["resolved"], json!(true));
    let metrics = ran.rows[0].metrics.as_ref().unwrap();
    assert_eq!(
        metrics.condenser,
        Some(Vec::new()),
        "as in all result files"
    );
}

#[tokio::test]
async fn a_runtime_that_the_agent_spoiled_is_graded_as_empty_and_others_are_tried_again() {
    let place = Place::new();
    let config = place.config(&[run("echo truth > out.txt"), finish()]);
    let mut benchmark = Truth::new(&place, config.clone());
    benchmark.spoiled = Some(|| RuntimeError::BroughtDown.into());
    let ran = evaluate(&place, benchmark, once()).await;
    assert_eq!(ran.evaluated.failed, []);
    assert_eq!(ran.rows[0].test_result["resolved"], json!(false));
    let error = ran.rows[0].error.as_deref().unwrap();
    assert!(error.contains("nothing was collected"), "{error}");
    std::fs::remove_file(&ran.output).unwrap();
    let mut benchmark = Truth::new(&place, config);
    benchmark.spoiled = Some(|| RuntimeError::Gone("power cut".to_owned()).into());
    let ran = evaluate(&place, benchmark, once()).await;
    assert_eq!((ran.rows.len(), ran.evaluated.failed.len()), (0, 1));
    // Its turn was paid for.
    assert!(ran.evaluated.spent.tokens() > 0);
    let told = ran.output.with_file_name("maximum_retries_exceeded.jsonl");
    let told = std::fs::read_to_string(told).unwrap();
    let told: Value = serde_json::from_str(told.trim()).unwrap();
    let prompt = &told["metrics"]["accumulated_token_usage"]["prompt_tokens"];
    assert_eq!(prompt.as_u64(), Some(ran.evaluated.spent.input_tokens));
}

#[tokio::test]
async fn grading_never_sees_the_folder_that_the_agent_worked_in() {
    let place = Place::new();
    let workspace = place.path("workspace");
    std::fs::create_dir(&workspace).unwrap();
    let config = AppConfig {
        workspace_base: Some(workspace.clone()),
        ..place.config(&[run("echo truth > out.txt"), finish()])
    };
    let benchmark = Truth::new(&place, config);
    let seen = Arc::clone(&benchmark.seen);
    let ran = evaluate(&place, benchmark, once()).await;
    assert_eq!(ran.evaluated.failed, []);
    assert_eq!(ran.rows[0].test_result["resolved"], json!(true));
    assert!(workspace.join("out.txt").is_file());
    assert_eq!(*seen.lock().unwrap(), ["fresh: []"]);
}

#[tokio::test]
async fn whoever_answers_for_the_user_knows_what_the_agent_is_allowed() {
    let place = Place::new();
    let config = place.config(&[json!("Who are you?"), finish()]);
    let benchmark = Truth::new(&place, config);
    let seen = Arc::clone(&benchmark.seen);
    evaluate(&place, benchmark, once()).await;
    assert_eq!(seen.lock().unwrap()[0], "1 of 20 false");
}

#[tokio::test]
async fn a_budget_of_the_run_ends_turns_and_no_row_is_made_of_them() {
    let place = Place::new();
    let config = place.config(&[run("true"), run("echo truth > out.txt"), finish()]);
    let options = RunOptions {
        budget: Budget {
            tokens: Some(1),
            money: None,
        },
        ..RunOptions::default()
    };
    let ran = evaluate(&place, Truth::new(&place, config), options).await;
    assert_eq!(ran.rows.len(), 0);
    let (_, why) = &ran.evaluated.failed[0];
    assert_eq!(why, "the run's budget of tokens is spent");
    assert_eq!(ran.evaluated.spent.calls, 1, "it was tried once");
}
