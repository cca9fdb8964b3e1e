//! What a benchmark in Rust brings, and how an instance goes through it: configuration, set-up, instruction,
//! the agent's turn, collecting, grading.

use std::path::Path;
use std::sync::Arc;

use agon_core::verdict::TurnEnd;
use async_trait::async_trait;
use serde_json::{Map, Value};

use super::error::EvalError;
use super::metrics::get_metrics;
use super::run::{Evaluated, RunOptions, run_evaluation};
use crate::config::AppConfig;
use crate::controller::run_controller;
use crate::eval::{
    EvalMetadata, EvalOutput, Instance, codeact_user_response, compatibility_for_eval_history_pairs,
};
use crate::runtime::{Runtime, RuntimeError, create_runtime};
use crate::state::State;

/// A benchmark over instances of a dataset. Only configuration, instruction and evaluation must be given.
#[async_trait]
pub trait Benchmark: Send + Sync + 'static {
    /// Agent, model, sandbox and limits for an instance.
    fn get_config(&self, instance: &Instance, metadata: &EvalMetadata) -> AppConfig;

    /// A sandbox for the agent, or a fresh one to grade in.
    fn create_runtime(&self, config: &AppConfig) -> Result<Runtime, RuntimeError> {
        create_runtime(config)
    }

    /// Prepares the runtime before the agent gets it. Nothing of the answer belongs there.
    async fn initialize_runtime(
        &self,
        _runtime: &mut Runtime,
        _instance: &Instance,
    ) -> Result<(), EvalError> {
        Ok(())
    }

    /// What the agent is asked to do.
    fn get_instruction(&self, instance: &Instance, metadata: &EvalMetadata) -> String;

    /// What the user says to a message of the agent; `/exit` ends its turn.
    fn user_response(&self, state: &State) -> String {
        codeact_user_response(state)
    }

    /// Takes what is to be graded out of the agent's runtime. It is the agent's: data, not truth. Where the
    /// runtime fails in a way that the agent can have caused, nothing is collected, and that is graded;
    /// every other error is tried again.
    async fn complete_runtime(
        &self,
        _runtime: &mut Runtime,
        _instance: &Instance,
    ) -> Result<Map<String, Value>, EvalError> {
        Ok(Map::new())
    }

    /// Grades what was collected, in a fresh runtime where the agent never was. Becomes `test_result`.
    async fn evaluate(
        &self,
        fresh: &mut Runtime,
        instance: &Instance,
        collected: &Map<String, Value>,
        state: &State,
    ) -> Result<Map<String, Value>, EvalError>;
}

/// One instance from its configuration to its row.
pub async fn process_instance<B: Benchmark>(
    benchmark: Arc<B>,
    instance: Instance,
    metadata: Arc<EvalMetadata>,
) -> Result<EvalOutput, EvalError> {
    let config = benchmark.get_config(&instance, &metadata);
    let instruction = benchmark.get_instruction(&instance, &metadata);
    let mut runtime = benchmark.create_runtime(&config)?;
    runtime.connect().await?;
    benchmark
        .initialize_runtime(&mut runtime, &instance)
        .await?;
    let speaker = Arc::clone(&benchmark);
    let user = move |state: &State| speaker.user_response(state);
    let state = run_controller(&config, &instruction, &mut runtime, user).await?;
    if let Some(fault) = &state.fault {
        return Err(EvalError::Fault(fault.to_string()));
    }
    let collected = collect(&*benchmark, &mut runtime, &instance, &state).await?;
    runtime.close().await;
    let (collected, lost) = match collected {
        Ok(collected) => (collected, None),
        Err(why) => (Map::new(), Some(format!("nothing was collected: {why}"))),
    };
    let graded = grade(&*benchmark, &config, &instance, &collected, &state).await?;
    let error = Some(state.last_error.clone()).filter(|error| !error.is_empty());
    Ok(EvalOutput {
        instance_id: instance.id(),
        instruction: Some(instruction),
        test_result: graded,
        metadata: Some(EvalMetadata::clone(&metadata)),
        history: Some(compatibility_for_eval_history_pairs(&state.history)),
        metrics: Some(get_metrics(&state)),
        error: error.or(lost),
        instance: Some(instance.row().clone()),
    })
}

/// What the agent left, or why it left nothing.
async fn collect(
    benchmark: &impl Benchmark,
    runtime: &mut Runtime,
    instance: &Instance,
    state: &State,
) -> Result<Result<Map<String, Value>, RuntimeError>, EvalError> {
    if state.end == Some(TurnEnd::BroughtDown) {
        return Ok(Err(RuntimeError::BroughtDown));
    }
    match benchmark.complete_runtime(runtime, instance).await {
        Err(EvalError::Runtime(error)) if error.of_agent() => Ok(Err(error)),
        collected => collected.map(Ok),
    }
}

/// In a runtime where the agent never was, nor a folder that it worked in.
async fn grade(
    benchmark: &impl Benchmark,
    config: &AppConfig,
    instance: &Instance,
    collected: &Map<String, Value>,
    state: &State,
) -> Result<Map<String, Value>, EvalError> {
    let config = AppConfig {
        workspace_base: None,
        ..config.clone()
    };
    let mut fresh = benchmark.create_runtime(&config)?;
    fresh.connect().await?;
    let graded = benchmark
        .evaluate(&mut fresh, instance, collected, state)
        .await;
    fresh.close().await;
    graded
}

/// All instances of a benchmark.
pub async fn run_benchmark<B: Benchmark>(
    benchmark: B,
    instances: Vec<Instance>,
    metadata: EvalMetadata,
    output_file: &Path,
    options: RunOptions,
) -> Result<Evaluated, EvalError> {
    let benchmark = Arc::new(benchmark);
    let work =
        move |instance, metadata| process_instance(Arc::clone(&benchmark), instance, metadata);
    run_evaluation(instances, metadata, output_file, options, work).await
}
