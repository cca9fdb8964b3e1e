//! One round from the first request to the moment when both sides are idle: set up, tell the agent,
//! watch, stop, score, settle. It runs on its own, so that it goes on when whoever asked for it hangs up.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::checks;
use super::desk::Desk;
use super::hooks::on_desktop;
use super::link::{AgentLink, is_busy};
use super::round::{By, Ending, Round};
use super::scoring;
use crate::result::StopReason;
use crate::wire::call::CallError;

const SETUP: Duration = Duration::from_secs(60);
/// How long an agent that still plays something else is waited for.
const AGENT_PATIENCE: Duration = Duration::from_secs(3);
const CUT: Duration = Duration::from_secs(2);
/// How long an agent that was told to stop is waited for after the result.
const SETTLE: Duration = Duration::from_secs(2);

/// Whatever becomes of the one who conducts, his round ends: its threads must not live on.
struct EndOfRound {
    desk: Arc<Desk>,
    round: Arc<Round>,
}

impl Drop for EndOfRound {
    fn drop(&mut self) {
        self.round
            .end(StopReason::Operator, "the server was stopped");
        if let Some(event) = self.desk.evaluator.stop_event() {
            event.detach(self.round.stop());
        }
        self.round.judging.cut();
    }
}

/// `begun` is told once whether the task was begun, or why not.
pub(super) async fn conduct(
    desk: Arc<Desk>,
    round: Arc<Round>,
    agent: AgentLink,
    begun: oneshot::Sender<Result<(), String>>,
) {
    let end = EndOfRound {
        desk: Arc::clone(&desk),
        round: Arc::clone(&round),
    };
    if let Some(event) = desk.evaluator.stop_event() {
        event.attach(round.stop());
    }
    let setup = Instant::now();
    let started = match prepare(&desk, &round, &agent).await {
        Ok(()) => tell(&desk, &round, &agent).await,
        Err(why) => Err(why),
    };
    let play = Instant::now();
    if let Err(why) = started {
        round.end(StopReason::EvaluatorError, &*why);
        drop(end);
        desk.fail(&round);
        // Whoever asked may have hung up.
        let _ = begun.send(Err(why));
        return;
    }
    let _ = begun.send(Ok(()));
    checks::start(&desk.hooks, &round, &desk.evaluator);
    let ending = watch(&round, &agent).await;
    if !desk.score(round.id) {
        return;
    }
    let times = scoring::Clocks {
        setup: play.saturating_duration_since(setup),
        play: ending.at.saturating_duration_since(play),
    };
    let stopping = scoring::stop(&agent, &ending).await;
    let (record, stopping) = scoring::score(&desk, &round, &ending, times, stopping).await;
    // From here on nothing of this task reaches the desktop.
    cut(&desk, &round).await;
    drop(end);
    desk.settle(round.id, record);
    if let scoring::Stopping::Asked(asked) = stopping {
        // Its time is bounded; a stop must not reach the next task.
        let _ = asked.await;
    }
    if !agent.rest(SETTLE).await && matches!(ending.by, By::Agent(_)) {
        // It said that it plays no more, and plays on.
        let _ = agent.stop().await;
    }
    desk.rest(round.id);
}

/// A desktop that does not answer is not waited for.
async fn cut(desk: &Desk, round: &Arc<Round>) {
    if round.judging.is_open() {
        let theirs = Arc::clone(round);
        let cut = move || {
            theirs.judging.cut();
            Ok(())
        };
        let _ = desk.hooks.call("cut", CUT, cut).await;
    }
}

/// All that must be so before the agent is told.
async fn prepare(desk: &Arc<Desk>, round: &Arc<Round>, agent: &AgentLink) -> Result<(), String> {
    if desk.is_repeated(&round.task.task_id) {
        return Err(format!(
            "a task with the id {:?} was evaluated already: give every task an id of its own",
            round.task.task_id
        ));
    }
    if let Some(left) = desk.hooks.too_many_left() {
        return Err(format!(
            "{left} checks of earlier tasks have not come back: see what the evaluator waits for"
        ));
    }
    tokio::select! {
        ready = ready(agent) => ready?,
        ending = round.ended() => return Err(stopped_early(&ending)),
    }
    let (theirs, theirs_too) = (Arc::clone(desk), Arc::clone(round));
    let setup = desk.hooks.call("setup", SETUP, move || {
        let (desk, round) = (theirs, theirs_too);
        let key = checks::panic_key(&round, desk.panic_key)?;
        checks::watch_operator(&desk.hooks, &round, key);
        let evaluator = &desk.evaluator;
        on_desktop(&round, || {
            evaluator.setup_environment(&round.task, &round.judging)
        })
    });
    tokio::select! {
        done = setup => done.map_err(|error| format!("the environment could not be set up: {error}"))?,
        ending = round.ended() => return Err(stopped_early(&ending)),
    }
    match round.ending() {
        Some(ending) => Err(stopped_early(&ending)),
        None => Ok(()),
    }
}

fn stopped_early(ending: &Ending) -> String {
    let (reason, detail) = (ending.reason, &ending.detail);
    format!("{reason}: {detail}, before the agent was told to play")
}

/// Waits for an agent that has not come to rest; all else that is wrong with it is said at once.
async fn ready(agent: &AgentLink) -> Result<(), String> {
    let status = match agent.status().await {
        // What it says after that counts.
        Ok(status) if is_busy(&status) => {
            agent.rest(AGENT_PATIENCE).await;
            agent.status().await
        }
        said => said,
    };
    match status {
        Ok(status) if status.is("READY") => Ok(()),
        Ok(status) => Err(format!(
            "the agent at {} is not READY but {}",
            agent.url(),
            status.state.chars().take(40).collect::<String>()
        )),
        Err(error) => Err(format!("the agent at {error}")),
    }
}

/// Tells the agent to play. If that fails half-way, the agent is told to stop.
async fn tell(desk: &Desk, round: &Round, agent: &AgentLink) -> Result<(), String> {
    // Before the call: an agent may have finished before it has answered.
    if !desk.play(round) {
        return Err("the evaluation was stopped".to_owned());
    }
    let refused = match agent.start(&round.task).await {
        Ok(()) => return Ok(()),
        Err(error) => error,
    };
    let finished = |ending: Arc<Ending>| ending.reason == StopReason::Finished;
    if round.ending().is_some_and(finished) {
        return Ok(());
    }
    if let CallError::Unreachable { .. } = refused {
        // It may play all the same. What it says to this changes nothing.
        let _ = agent.stop().await;
    }
    Err(format!("the agent could not be started: {refused}"))
}

/// Waits until the play is over, whoever ends it.
async fn watch(round: &Round, agent: &AgentLink) -> Arc<Ending> {
    let timeout = Duration::from_secs(round.task.timeout);
    tokio::select! {
        ending = round.ended() => return ending,
        () = tokio::time::sleep(timeout) => {
            let seconds = round.task.timeout;
            round.end(StopReason::Timeout, format!("the time of {seconds} s is up"));
        }
        seen = agent.watch(&round.task.task_id) => {
            round.end_by(seen.by, seen.reason, seen.detail);
        }
    }
    round.ended().await
}
