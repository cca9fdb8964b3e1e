//! Many instances side by side: in bounded time each, tried again when something of ours failed, one row
//! for each result. No instance ends the run of the others.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agon_core::{Clock, SystemClock, Usage};
use agon_llm::{Account, Budget};
use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::task::JoinError;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::task::AbortOnDropHandle;

use super::error::EvalError;
use super::metrics::Lost;
use crate::controller::Allotment;
use crate::eval::{EvalMetadata, EvalOutput, Instance, OutputWriter};
use crate::metrics::Metrics;

/// Between two tries of an instance, times the number of the try.
const PAUSE: Duration = Duration::from_secs(1);

/// Nobody waits for longer.
const A_YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// For a try that is cut off to end.
const FAREWELL: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub struct RunOptions {
    pub num_workers: usize,
    /// Tries after the first.
    pub max_retries: u32,
    /// For one try of one instance, beside the turns of its agents: those end by themselves after
    /// `AppConfig::max_seconds`, and an agent that uses all of it must not cost the instance its row.
    pub timeout: Duration,
    /// What the models may cost, all tries of all instances together.
    pub budget: Budget,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            num_workers: 1,
            max_retries: 5,
            timeout: Duration::from_secs(2 * 3600),
            budget: Budget::default(),
        }
    }
}

/// What a run came to.
#[derive(Debug, Default)]
pub struct Evaluated {
    pub finished: usize,
    /// Instances without a row, and why. The same call tries them again.
    pub failed: Vec<(String, String)>,
    /// What models were asked for, by all tries.
    pub spent: Usage,
}

/// Works on all instances and appends their rows to `output_file`. Instances that have no result after all
/// tries are told in `maximum_retries_exceeded.jsonl` beside it and get no row, so that a resume takes them
/// up again. What tries cost that came to nothing is told with the instance, in either file. When nothing is
/// left of the budget, no further try is begun.
pub async fn run_evaluation<F, R>(
    instances: Vec<Instance>,
    metadata: EvalMetadata,
    output_file: &Path,
    options: RunOptions,
    process_instance: F,
) -> Result<Evaluated, EvalError>
where
    F: Fn(Instance, Arc<EvalMetadata>) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Result<EvalOutput, EvalError>> + Send + 'static,
{
    let failed = |source| EvalError::Io {
        context: format!("can't write {}", output_file.display()),
        source,
    };
    let mut writer = OutputWriter::open(output_file)?;
    let metadata = Arc::new(metadata);
    let workers = options.num_workers.max(1);
    let account = Arc::new(Account::of_run(options.budget.clone()));
    let mut results = stream::iter(instances)
        .map(|instance| {
            let work = process_instance.clone();
            let (metadata, account, options) = (&metadata, &account, &options);
            async move {
                let id = instance.id();
                let result = tries(&instance, metadata, options, account, work).await;
                (id, result)
            }
        })
        .buffer_unordered(workers);
    let mut evaluated = Evaluated::default();
    while let Some((id, result)) = results.next().await {
        match result {
            Ok(row) => {
                writer.append(&row).map_err(failed)?;
                evaluated.finished += 1;
            }
            Err(unsolved) => {
                // One that was never begun has not failed.
                if unsolved.tries > 0 {
                    exceeded(output_file, &id, &unsolved).map_err(failed)?;
                }
                evaluated.failed.push((id, unsolved.error.to_string()));
            }
        }
    }
    evaluated.spent = account.spent();
    Ok(evaluated)
}

/// An instance without a row.
struct Unsolved {
    error: EvalError,
    tries: u32,
    metrics: Option<Metrics>,
}

async fn tries<F, R>(
    instance: &Instance,
    metadata: &Arc<EvalMetadata>,
    options: &RunOptions,
    run: &Arc<Account>,
    work: F,
) -> Result<EvalOutput, Unsolved>
where
    F: Fn(Instance, Arc<EvalMetadata>) -> R,
    R: Future<Output = Result<EvalOutput, EvalError>> + Send + 'static,
{
    let mut tries = 0;
    let mut lost = Lost::default();
    let error = loop {
        if let Err(error) = run.check() {
            break EvalError::Spent(error.message().to_owned());
        }
        tries += 1;
        let given = Allotment::of(run, &options.budget);
        let one = work(instance.clone(), Arc::clone(metadata));
        let error = match one_try(one, &given, options.timeout).await {
            Ok(mut row) => {
                row.metrics = lost.and(row.metrics);
                return Ok(row);
            }
            Err(error) => error,
        };
        lost.add(&given.spent());
        // What took so long once will again.
        if tries > options.max_retries || matches!(error, EvalError::Timeout(_)) {
            break error;
        }
        tokio::time::sleep(PAUSE * tries).await;
    };
    Err(Unsolved {
        error,
        tries,
        metrics: lost.and(None),
    })
}

/// One try in a task of its own, which ends when nobody waits for it any more.
async fn one_try<R>(
    work: R,
    given: &Arc<Allotment>,
    most: Duration,
) -> Result<EvalOutput, EvalError>
where
    R: Future<Output = Result<EvalOutput, EvalError>> + Send + 'static,
{
    let began = Instant::now();
    let turns = given.turns();
    let mut one = AbortOnDropHandle::new(tokio::spawn(Arc::clone(given).around(work)));
    loop {
        let allowed = most.saturating_add(*turns.borrow());
        let until = began.checked_add(allowed).unwrap_or(began + A_YEAR);
        match timeout_at(until, &mut one).await {
            Ok(Ok(result)) => return result,
            Ok(Err(error)) => return Err(panicked(error)),
            // A turn has begun in the meantime.
            Err(_) if most.saturating_add(*turns.borrow()) > allowed => {}
            Err(_) => {
                one.abort();
                // What it has cost is known when it has ended.
                timeout(FAREWELL, one).await.ok();
                return Err(EvalError::Timeout(allowed.as_secs()));
            }
        }
    }
}

fn panicked(error: JoinError) -> EvalError {
    let said = match error.try_into_panic() {
        Ok(said) => said,
        Err(error) => return EvalError::Panicked(error.to_string()),
    };
    let text = said.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| said.downcast_ref::<&str>().copied());
    EvalError::Panicked(text.unwrap_or("it does not say why").to_owned())
}

fn exceeded(output_file: &Path, id: &str, unsolved: &Unsolved) -> std::io::Result<()> {
    let path: PathBuf = output_file.with_file_name("maximum_retries_exceeded.jsonl");
    let line = json!({
        "instance_id": id,
        "error": unsolved.error.to_string(),
        "timestamp": SystemClock::default().now().to_string(),
        "metrics": unsolved.metrics,
    });
    let mut file = std::fs::File::options()
        .append(true)
        .create(true)
        .open(path)?;
    file.write_all(format!("{line}\n").as_bytes())
}
