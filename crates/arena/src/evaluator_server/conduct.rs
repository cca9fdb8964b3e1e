//! One round from the first request to the moment when both sides are idle: set up, tell the agent,
//! watch, stop, score, settle. It runs on its own, so that it goes on when whoever asked for it hangs up.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::checks;
use super::desk::Desk;
use super::hooks::{HookError, on_desktop};
use super::link::{AgentLink, Rest, STOP};
use super::round::{By, Ending, Round};
use super::scoring;
use crate::result::StopReason;
use crate::wire::call::CallError;

const SETUP: Duration = Duration::from_secs(60);
/// How long an agent that still plays something else is waited for.
const AGENT_PATIENCE: Duration = Duration::from_secs(3);
const CUT: Duration = Duration::from_secs(2);
/// All that is done after the result takes so long at most: less than whoever wants to start the next task
/// waits for.
const SETTLE: Duration = Duration::from_millis(2_800);
/// An agent that was told to play and has not said whether it does is given so long when it is not to
/// play any more.
const LATE_START: Duration = Duration::from_millis(500);

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
        // Here nobody may wait for a desktop. In the usual course it is cut already.
        if let Some(held) = self.round.judging.cut() {
            let _ = self.desk.hooks.spawn("cut", move || held.let_go());
        }
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
        cut(&desk, &round).await;
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
    let stopping = scoring::stop(&agent, &round, &ending).await;
    let (record, stopping) = scoring::score(&desk, &round, &ending, times, stopping).await;
    // From here on nothing of this task reaches the desktop.
    cut(&desk, &round).await;
    drop(end);
    desk.settle(round.id, record);
    settle(&round, &ending, &agent, stopping).await;
    desk.rest(round.id);
}

/// Waits for an agent that was told to stop, or said that it has.
async fn settle(round: &Round, ending: &Ending, agent: &AgentLink, stopping: scoring::Stopping) {
    let task_id = &round.task.task_id;
    // The last stop, if there is need for one, is within the time as well.
    let deadline = tokio::time::Instant::now() + (SETTLE - STOP);
    if let scoring::Stopping::Asked(asked) = stopping {
        // Its time is bounded; a stop must not reach the next task.
        let _ = asked.await;
    }
    let rest = agent.rest(deadline).await;
    let plays_on =
        matches!(&rest, Rest::Busy(played) if played.as_ref().is_none_or(|id| id == task_id));
    if plays_on && matches!(ending.by, By::Agent(_)) {
        // It said that it plays no more, and plays on.
        let _ = agent.stop(task_id).await;
    }
}

/// A desktop that does not answer is not waited for.
async fn cut(desk: &Desk, round: &Round) {
    if let Some(held) = round.judging.cut() {
        let cut = move || {
            held.let_go();
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
    let done = tokio::select! {
        done = setup => done,
        ending = round.ended() => return Err(stopped_early(&ending)),
    };
    match (done, round.ending()) {
        (_, Some(ending)) => Err(stopped_early(&ending)),
        (Ok(()), None) => Ok(()),
        // Whoever asked for the stop is about to say why.
        (Err(HookError::Stopped), None) if round.stop().is_set() => {
            Err(stopped_early(&*round.ended().await))
        }
        (Err(error), None) => Err(format!("the environment could not be set up: {error}")),
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
        Ok(status) if status.is_busy() => {
            agent
                .rest(tokio::time::Instant::now() + AGENT_PATIENCE)
                .await;
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
    let start = std::pin::pin!(agent.start(&round.task));
    let refused = match answered(start, round).await {
        Some(Ok(())) => return Ok(()),
        Some(Err(error)) => Some(error),
        None => None,
    };
    let finished = |ending: Arc<Ending>| ending.reason == StopReason::Finished;
    if round.ending().is_some_and(finished) {
        return Ok(());
    }
    if matches!(refused, None | Some(CallError::Unreachable { .. })) {
        // It may play all the same. What it says to this changes nothing.
        let _ = agent.stop(&round.task.task_id).await;
    }
    Err(match (refused, round.ending()) {
        (Some(error), _) => format!("the agent could not be started: {error}"),
        (None, Some(ending)) => stopped_early(&ending),
        (None, None) => "the evaluation was stopped".to_owned(),
    })
}

/// What the agent says to its start; `None` if the round ended and it has said nothing a moment later.
async fn answered(
    mut start: Pin<&mut impl Future<Output = Result<(), CallError>>>,
    round: &Round,
) -> Option<Result<(), CallError>> {
    tokio::select! {
        said = &mut start => return Some(said),
        _ = round.ended() => {}
    }
    tokio::time::timeout(LATE_START, start).await.ok()
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
