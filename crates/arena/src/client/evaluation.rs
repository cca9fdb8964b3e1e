//! One client over two servers that are there already, ours or the original's.

use std::pin::pin;
use std::time::{Duration, Instant};

use agon_agent::play::Task;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::constants::TIMES;
use crate::error::ArenaError;
use crate::result::EvaluationResult;
use crate::wire::call::{Answer, CallError, Caller, client};
use crate::wire::{PeerStatus, PeerUrl, Token, path};

const CALL: Duration = Duration::from_secs(5);

/// Preparing an environment happens inside of the call.
const START: Duration = Duration::from_secs(90);

/// What preparing and scoring may take beside the play.
const BESIDE: Duration = Duration::from_secs(180);

/// A server may be out of reach for this long.
const GONE: Duration = Duration::from_secs(10);

/// An original evaluator is ready before its agent is: a refused start is asked for again.
const TRIES: u32 = 8;
const AGAIN: Duration = Duration::from_millis(250);

/// An original evaluator is ready before its last watch has gone, and then starts the agent all the same
/// but evaluates nothing.
const REST: Duration = Duration::from_millis(300);

const INTERRUPTED: &str = "interrupted before the task was begun";

#[derive(Debug, Clone)]
pub struct ClientOptions {
    pub token: Option<Token>,
    /// Between two looks at a state or result.
    pub poll: Duration,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            token: None,
            poll: TIMES::EVALUATION_POLL_INTERVAL / 10,
        }
    }
}

/// What became of one task.
#[derive(Debug)]
pub struct Evaluation {
    pub task: Task,
    pub result: Result<EvaluationResult, ArenaError>,
}

/// Registers both servers with each other and has the tasks played one after the other. One that can't
/// be started or brings no result does not end the others.
pub fn run_evaluation_client(
    agent_url: &str,
    evaluator_url: &str,
    tasks: impl IntoIterator<Item = Task>,
) -> Result<Vec<Evaluation>, ArenaError> {
    blocking(run_evaluation_client_async(
        agent_url,
        evaluator_url,
        tasks,
        &ClientOptions::default(),
        &CancellationToken::new(),
        |_| {},
    ))
}

/// For those who have no runtime of their own.
pub(super) fn blocking<T>(
    work: impl Future<Output = Result<T, ArenaError>>,
) -> Result<T, ArenaError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ArenaError::Runtime)?;
    runtime.block_on(work)
}

/// The same for those who have a runtime. Cancelled, it has the current task aborted, whose result is
/// the last. `each` sees every evaluation as it ends.
pub async fn run_evaluation_client_async(
    agent_url: &str,
    evaluator_url: &str,
    tasks: impl IntoIterator<Item = Task>,
    options: &ClientOptions,
    stop: &CancellationToken,
    mut each: impl FnMut(&Evaluation),
) -> Result<Vec<Evaluation>, ArenaError> {
    let run = ClientRun::open(agent_url, evaluator_url, options)?;
    run.register().await?;
    let is_original = run.is_original().await;
    let mut all = Vec::new();
    for task in tasks {
        if stop.is_cancelled() {
            break;
        }
        let result = run.evaluate(&task, is_original, stop).await;
        let evaluation = Evaluation { task, result };
        each(&evaluation);
        all.push(evaluation);
    }
    Ok(all)
}

struct ClientRun {
    agent: Caller,
    evaluator: Caller,
    poll: Duration,
}

impl ClientRun {
    fn open(agent: &str, evaluator: &str, options: &ClientOptions) -> Result<Self, ArenaError> {
        let client = client()?;
        let caller = |url: &str| -> Result<Caller, ArenaError> {
            let url = PeerUrl::parse(url).map_err(ArenaError::Address)?;
            Ok(Caller::new(client.clone(), url, options.token.clone()))
        };
        Ok(Self {
            agent: caller(agent)?,
            evaluator: caller(evaluator)?,
            poll: options.poll,
        })
    }

    async fn register(&self) -> Result<(), ArenaError> {
        let evaluator = json!({ "evaluator_url": self.evaluator.url().as_str() });
        let agent = json!({ "agent_url": self.agent.url().as_str() });
        let told = (self.agent)
            .post_json(path::AGENT_REGISTER_EVALUATOR, &evaluator, CALL)
            .await;
        self.registered(&self.agent, path::AGENT_STATUS, told.map(drop))
            .await?;
        let told = (self.evaluator)
            .post_json(path::EVALUATOR_REGISTER_AGENT, &agent, CALL)
            .await;
        self.registered(&self.evaluator, path::EVALUATOR_STATUS, told.map(drop))
            .await
    }

    /// An original registers once in its life. One that is ready has been registered before, and goes on
    /// with that.
    async fn registered(
        &self,
        peer: &Caller,
        status: &str,
        told: Result<(), CallError>,
    ) -> Result<(), ArenaError> {
        match told {
            Ok(()) => Ok(()),
            Err(error @ CallError::Refused { .. }) => match state(peer, status).await {
                Ok(state) if state.is("READY") => Ok(()),
                _ => Err(error.into()),
            },
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the evaluator lacks what ours have.
    async fn is_original(&self) -> bool {
        let path = path::EVALUATOR_RESULTS_OF.replace("{task_id}", "none");
        match self.evaluator.get(&path, CALL).await {
            // Ours knows the path but not the task.
            Err(CallError::Refused { text, .. }) => !text.contains("\"success\""),
            _ => false,
        }
    }

    async fn evaluate(
        &self,
        task: &Task,
        is_original: bool,
        stop: &CancellationToken,
    ) -> Result<EvaluationResult, ArenaError> {
        tokio::select! {
            ready = self.wait_until_ready() => ready?,
            () = stop.cancelled() => return Err(self.problem(INTERRUPTED)),
        }
        if is_original {
            tokio::time::sleep(REST).await;
        }
        self.start(task, is_original, stop).await?;
        let deadline = Instant::now() + Duration::from_secs(task.timeout) + BESIDE;
        let (mut aborted, mut seen) = (false, Instant::now());
        loop {
            match self.result_of(task).await {
                Ok(Some(result)) => return Ok(result),
                Ok(None) => seen = Instant::now(),
                Err(error) if seen.elapsed() > GONE => return Err(error.into()),
                Err(_) => {}
            }
            if Instant::now() > deadline {
                return Err(self.problem("no result, long after the time of the task"));
            }
            if stop.is_cancelled() && !aborted {
                aborted = true;
                self.abort(task).await?;
            }
            tokio::select! {
                () = tokio::time::sleep(self.poll) => {}
                () = stop.cancelled(), if !aborted => {}
            }
        }
    }

    /// An original can't be told to abort; but it scores when its agent says that it has finished.
    async fn abort(&self, task: &Task) -> Result<(), CallError> {
        let only = json!({ "task_id": task.task_id });
        let aborted = (self.evaluator).post_json(path::EVALUATOR_ABORT, &only, CALL);
        match aborted.await {
            Err(CallError::Refused { status: 404, .. }) => {
                // One that has stopped already refuses, which is as good.
                let _ = self.stop_agent(task).await;
                let finished = self.evaluator.post(path::EVALUATOR_AGENT_FINISHED, CALL);
                match finished.await {
                    // It ended by itself in the meantime.
                    Ok(_) | Err(CallError::Refused { .. }) => Ok(()),
                    Err(error) => Err(error),
                }
            }
            // Likewise; and one that has no result yet will have it.
            Ok(_) | Err(CallError::Refused { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn stop_agent(&self, task: &Task) -> Result<Answer, CallError> {
        let only = json!({ "task_id": task.task_id });
        (self.agent)
            .post_json(path::AGENT_TASK_STOP, &only, CALL)
            .await
    }

    async fn wait_until_ready(&self) -> Result<(), ArenaError> {
        let deadline = Instant::now() + BESIDE;
        let mut seen = Instant::now();
        loop {
            match state(&self.evaluator, path::EVALUATOR_STATUS).await {
                Ok(state) if state.is("READY") => return Ok(()),
                Ok(_) => seen = Instant::now(),
                Err(error) if seen.elapsed() > GONE => return Err(error.into()),
                Err(_) => {}
            }
            if Instant::now() > deadline {
                return Err(self.problem("it is busy with something else and does not get READY"));
            }
            tokio::time::sleep(self.poll).await;
        }
    }

    async fn start(
        &self,
        task: &Task,
        is_original: bool,
        stop: &CancellationToken,
    ) -> Result<(), ArenaError> {
        let mut tries = 1;
        loop {
            let refused = match self.ask_to_start(task, stop).await? {
                Ok(_) => return Ok(()),
                Err(error) => error,
            };
            if stop.is_cancelled()
                || !is_original
                || !matches!(refused, CallError::Refused { status: 500, .. })
            {
                return Err(refused.into());
            }
            match state(&self.agent, path::AGENT_STATUS).await {
                Ok(agent) if agent.task_id.as_deref() == Some(&*task.task_id) => {
                    // It was told to play, and nobody watches it. That it has stopped by itself is as good.
                    let _ = self.stop_agent(task).await;
                    return Err(refused.into());
                }
                Ok(agent) if agent.is_busy() => tries += 1,
                // It may have become ready since; one more try shows.
                Ok(agent) if agent.is("READY") => tries = TRIES.max(tries + 1),
                _ => return Err(refused.into()),
            }
            if tries > TRIES {
                return Err(refused.into());
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Asks once. Cancelled, it has the start aborted and waits for what becomes of it.
    async fn ask_to_start(
        &self,
        task: &Task,
        stop: &CancellationToken,
    ) -> Result<Result<Answer, CallError>, ArenaError> {
        let mut start =
            pin!((self.evaluator).post_json(path::EVALUATOR_EVALUATION_START, task, START));
        tokio::select! {
            said = &mut start => return Ok(said),
            () = stop.cancelled() => {}
        }
        let deadline = Instant::now() + GONE;
        while Instant::now() < deadline {
            // Again, because it may not have been taken on when it was to be aborted.
            let aborted = async {
                let aborted = self.abort(task).await;
                tokio::time::sleep(AGAIN).await;
                aborted
            };
            tokio::select! {
                said = &mut start => return Ok(said),
                aborted = aborted => aborted?,
            }
        }
        Err(self.problem("interrupted, but it still sets the task up, and may then have it played"))
    }

    /// The result of this task: that of an older one may still be there.
    async fn result_of(&self, task: &Task) -> Result<Option<EvaluationResult>, CallError> {
        let answer = (self.evaluator)
            .get(path::EVALUATOR_EVALUATION_RESULTS, CALL)
            .await?;
        let result: Option<EvaluationResult> = serde_json::from_slice(&answer.body).ok();
        Ok(result.filter(|result| answer.status == 200 && result.task_id == task.task_id))
    }

    fn problem(&self, problem: &str) -> ArenaError {
        ArenaError::Peer {
            url: self.evaluator.url().to_string(),
            problem: problem.to_owned(),
        }
    }
}

async fn state(peer: &Caller, status: &str) -> Result<PeerStatus, CallError> {
    let answer = peer.get(status, CALL).await?;
    PeerStatus::parse(&answer.body).ok_or_else(|| peer.unreachable("its status makes no sense"))
}

impl From<CallError> for ArenaError {
    fn from(error: CallError) -> Self {
        let (url, problem) = match error {
            CallError::Refused { url, status, text } => {
                (url, format!("refused ({status}): {text}"))
            }
            CallError::Absent { url, why } | CallError::Unreachable { url, why } => {
                (url, format!("no answer: {why}"))
            }
        };
        Self::Peer { url, problem }
    }
}
