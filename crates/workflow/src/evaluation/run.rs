//! Many instances side by side: in bounded time each, tried again when something of ours failed, one row
//! for each result. No instance ends the run of the others.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agon_core::{Clock, SystemClock};
use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::task::JoinError;

use super::error::EvalError;
use crate::eval::{EvalMetadata, EvalOutput, Instance, OutputWriter};

/// Between two tries of an instance, times the number of the try.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
pub struct RunOptions {
    pub num_workers: usize,
    /// Tries after the first.
    pub max_retries: u32,
    /// For one try of one instance.
    pub timeout: Duration,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            num_workers: 1,
            max_retries: 5,
            timeout: Duration::from_secs(8 * 3600),
        }
    }
}

/// What a run came to.
#[derive(Debug, Default)]
pub struct Evaluated {
    pub finished: usize,
    /// Instances without a row, and why. The same call tries them again.
    pub failed: Vec<(String, String)>,
}

/// Works on all instances and appends their rows to `output_file`. Instances that have no result after all
/// tries are told in `maximum_retries_exceeded.jsonl` beside it and get no row, so that a resume takes them
/// up again.
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
    let mut results = stream::iter(instances)
        .map(|instance| {
            let (metadata, work, options) = (
                Arc::clone(&metadata),
                process_instance.clone(),
                options.clone(),
            );
            async move {
                let id = instance.id();
                let result = tries(&instance, &metadata, &options, work).await;
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
            Err(error) => {
                let error = error.to_string();
                exceeded(output_file, &id, &error).map_err(failed)?;
                evaluated.failed.push((id, error));
            }
        }
    }
    Ok(evaluated)
}

async fn tries<F, R>(
    instance: &Instance,
    metadata: &Arc<EvalMetadata>,
    options: &RunOptions,
    work: F,
) -> Result<EvalOutput, EvalError>
where
    F: Fn(Instance, Arc<EvalMetadata>) -> R,
    R: Future<Output = Result<EvalOutput, EvalError>> + Send + 'static,
{
    let mut tried = 0;
    loop {
        let one = tokio::spawn(work(instance.clone(), Arc::clone(metadata)));
        let stop = one.abort_handle();
        let result = match tokio::time::timeout(options.timeout, one).await {
            Ok(Ok(result)) => result,
            Ok(Err(error)) => Err(panicked(error)),
            Err(_) => {
                stop.abort();
                // What took so long once will again.
                return Err(EvalError::Timeout(options.timeout.as_secs()));
            }
        };
        match result {
            Err(_) if tried < options.max_retries => {
                tried += 1;
                tokio::time::sleep(PAUSE * tried).await;
            }
            result => return result,
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

fn exceeded(output_file: &Path, id: &str, error: &str) -> std::io::Result<()> {
    let path: PathBuf = output_file.with_file_name("maximum_retries_exceeded.jsonl");
    let line = json!({
        "instance_id": id,
        "error": error,
        "timestamp": SystemClock::default().now().to_string(),
    });
    let mut file = std::fs::File::options()
        .append(true)
        .create(true)
        .open(path)?;
    file.write_all(format!("{line}\n").as_bytes())
}
