//! The five steps of the guide that the workflow was made after, in Rust: configuration, runtime, one
//! instance, metadata, evaluation. The dataset is three small tasks; the score is what really stands in the
//! file afterwards, looked at in a fresh runtime.
//!
//! ```text
//! cargo run --example workflow -- eval_gpt4          a section of config.toml, or PROVIDER/MODEL
//! ```
//!
//! A benchmark needs no code at all: `agon bench run my_bench` takes a folder.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own, which says where its results are"
)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use agon::workflow::{
    AppConfig, CmdRunAction, EvalError, EvalMetadata, EvalOutput, Instance, LlmConfig, RunOptions,
    Runtime, RuntimeKind, SandboxConfig, Selection, State, codeact_user_response,
    compatibility_for_eval_history_pairs, create_runtime, get_llm_config_arg, get_metrics,
    make_metadata, prepare_dataset, run_controller, run_evaluation,
};
use serde_json::{Map, Value, json};

const AGENT: &str = "CodeActAgent";
const MAX_ITERATIONS: u32 = 10;

/// Step 2: what one instance is worked on with.
fn get_config(metadata: &EvalMetadata, llm: &LlmConfig) -> AppConfig {
    let mut config = AppConfig {
        default_agent: metadata.agent_class.clone(),
        // `Docker` takes a container of the image below.
        runtime: RuntimeKind::Local,
        max_iterations: metadata.max_iterations,
        sandbox: SandboxConfig {
            base_container_image: "your_container_image".to_owned(),
            enable_auto_lint: true,
            timeout: 300,
            ..SandboxConfig::default()
        },
        ..AppConfig::default()
    };
    config.set_llm_config(llm.clone());
    config
}

/// Step 3: what the agent finds.
async fn initialize_runtime(runtime: &mut Runtime) -> Result<(), EvalError> {
    let made = CmdRunAction::new("mkdir -p notes && echo 'Be brief.' > notes/style.txt");
    let seen = runtime.run_action(made).await?;
    match seen.success() {
        Some(true) => Ok(()),
        _ => Err(EvalError::Own(format!("no notes: {}", seen.content()))),
    }
}

fn get_instruction(instance: &Instance) -> String {
    format!(
        "{}\nWork in the current folder.",
        instance.text("task").unwrap_or_default()
    )
}

/// What the agent left is data; whether it is right is decided where the agent never was.
async fn evaluate_agent_actions(
    left: &str,
    fresh: &mut Runtime,
    instance: &Instance,
) -> Result<Map<String, Value>, EvalError> {
    let expected = instance.text("expected").unwrap_or_default();
    let word_count = CmdRunAction::new("printf %s \"$LEFT\" | wc -w");
    let variables = [("LEFT".to_owned(), left.to_owned())].into();
    fresh.add_env_vars(&variables).await?;
    let words = fresh.run_action(word_count).await?;
    let result = json!({
        "resolved": left.trim() == expected,
        "words": words.content().trim(),
    });
    Ok(result.as_object().cloned().unwrap_or_default())
}

/// Step 4: one instance from its configuration to its row.
async fn process_instance(
    instance: Instance,
    metadata: Arc<EvalMetadata>,
    llm: LlmConfig,
) -> Result<EvalOutput, EvalError> {
    let config = get_config(&metadata, &llm);
    let mut runtime = create_runtime(&config)?;
    runtime.connect().await?;
    initialize_runtime(&mut runtime).await?;
    let instruction = get_instruction(&instance);
    let state: State =
        run_controller(&config, &instruction, &mut runtime, codeact_user_response).await?;
    if let Some(fault) = &state.fault {
        // A service or something of ours failed: tried again, and never a result.
        return Err(EvalError::Fault(fault.to_string()));
    }
    let file = format!("cat {}", instance.text("file").unwrap_or_default());
    let left = match runtime.run_action(CmdRunAction::new(file)).await {
        Ok(seen) => seen.content().to_owned(),
        // It spoiled its own runtime, and so left nothing.
        Err(error) if error.of_agent() => String::new(),
        Err(error) => return Err(error.into()),
    };
    runtime.close().await;

    let mut fresh = create_runtime(&config)?;
    fresh.connect().await?;
    let test_result = evaluate_agent_actions(&left, &mut fresh, &instance).await;
    fresh.close().await;
    Ok(EvalOutput {
        instance_id: instance.id(),
        instruction: Some(instruction),
        test_result: test_result?,
        metadata: Some(EvalMetadata::clone(&metadata)),
        history: Some(compatibility_for_eval_history_pairs(&state.history)),
        metrics: Some(get_metrics(&state)),
        error: Some(state.last_error.clone()).filter(|error| !error.is_empty()),
        instance: Some(instance.row().clone()),
    })
}

fn dataset() -> Vec<Map<String, Value>> {
    let rows = [
        (
            "hello",
            "Write hello to greeting.txt.",
            "greeting.txt",
            "hello",
        ),
        ("sum", "Write 19 + 23 to sum.txt.", "sum.txt", "42"),
        ("shout", "Write HEY to shout.txt.", "shout.txt", "HEY"),
    ];
    rows.map(|(id, task, file, expected)| {
        let row = json!({ "instance_id": id, "task": task, "file": file, "expected": expected });
        row.as_object().cloned().unwrap_or_default()
    })
    .to_vec()
}

/// Step 5: all of them.
async fn evaluate(model: &str, output_dir: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let llm_config = get_llm_config_arg(model)?;
    let metadata = make_metadata(
        llm_config.spec(),
        "three-files",
        AGENT,
        MAX_ITERATIONS,
        None,
        output_dir,
    )?;
    let output_file = Path::new(&metadata.eval_output_dir).join("output.jsonl");
    let instances = prepare_dataset(dataset(), &output_file, &Selection::default())?;
    let options = RunOptions {
        num_workers: 2,
        ..RunOptions::default()
    };
    let work = move |instance, metadata| process_instance(instance, metadata, llm_config.clone());
    let evaluated = run_evaluation(instances, metadata, &output_file, options, work).await?;
    for (id, error) in evaluated.failed {
        eprintln!("{id}: {error}");
    }
    Ok(output_file)
}

fn main() -> ExitCode {
    // A program that uses local sandboxes is also the first process in each of them.
    if let Some(exit) = agon::sandbox::init::take_over() {
        return exit;
    }
    let mut arguments = std::env::args().skip(1);
    let model = arguments.next().unwrap_or_else(|| "llm".to_owned());
    let output_dir = arguments.next().unwrap_or_else(|| "outputs".to_owned());
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("can't start: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(evaluate(&model, Path::new(&output_dir))) {
        Ok(file) => {
            println!("{}", file.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
