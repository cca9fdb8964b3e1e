//! The turn loop: observation out, action in, until the agent finishes or a limit is reached. What
//! the agent causes ends its turn here; only what our side failed to do comes out as a fault.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use agon_agent::{Agent, AgentError, Answer, Reply, TrialContext};
use agon_core::observation::ObservationKind;
use agon_core::verdict::TurnEnd;
use agon_core::{
    Action, ActionKind, Condensation, EventBody, Fault, Observation, RanCommand, Source,
};
use agon_sandbox::Owner;
use tokio::time::{Instant, timeout, timeout_at};

use crate::attempt::{Attempt, Spender, evidence_lost};
use crate::ends::{self, ended_by, ended_by_loss, not_ready};
use crate::seen::Seen;
use crate::stage::Stage;
use crate::stuck::{Deed, Detector};

/// For the agent to say goodbye and its sandbox to be removed.
const FAREWELL: Duration = Duration::from_secs(10);

/// How often the calls of models are recorded while the agent thinks, so that few wait in memory.
pub(crate) const RECORDING: Duration = Duration::from_secs(1);

/// How much of a message that is no action is kept.
const KEPT_OF_REFUSED: usize = 2_000;

/// What the agent's turn came to.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) end: TurnEnd,
    pub(crate) actions: Vec<Action>,
    pub(crate) result: Option<String>,
    /// The screen, where there is one.
    pub(crate) seen: Seen,
    /// What commands of checks printed, where the trial was played elsewhere.
    pub(crate) commands: Option<Vec<RanCommand>>,
}

impl Default for Turn {
    fn default() -> Self {
        Self {
            end: TurnEnd::Left,
            actions: Vec::new(),
            result: None,
            seen: Seen::default(),
            commands: None,
        }
    }
}

impl Turn {
    /// How an action ends the turn, if it does.
    pub(crate) fn ended_with(&mut self, action: &Action) -> Option<TurnEnd> {
        match action {
            Action::Finish { result } => {
                self.result.clone_from(result);
                Some(TurnEnd::Finished)
            }
            Action::Reject { .. } => Some(TurnEnd::Rejected),
            _ => None,
        }
    }

    /// A message after which the user leaves is what the turn came to.
    pub(crate) fn left_with(&mut self, action: &Action, end: TurnEnd) {
        if let (Action::Message { text }, TurnEnd::Finished) = (action, end) {
            self.result = Some(text.clone());
        }
    }
}

pub(crate) async fn take(attempt: &mut Attempt, mut stage: Stage<'_>) -> Result<Turn, Fault> {
    let mut turn = Turn::default();
    stage.remember(&attempt.so_far);
    let made = attempt.table.agents.for_trial(&context(attempt));
    let mut agent = match made {
        Ok(agent) => agent,
        Err(error) => return ended_by(attempt, error).map(|end| Turn { end, ..turn }),
    };
    let ended = to_the_end(attempt, agent.as_mut(), &mut stage, &mut turn).await;
    // Also after a fault: what its calls have cost is known when they have ended.
    let dismissed = dismiss(attempt, agent.as_mut()).await;
    turn.end = ended?;
    dismissed?;
    turn.seen = stage.close(attempt)?;
    Ok(turn)
}

/// The agent's turn up to the last sight of the screen.
async fn to_the_end(
    attempt: &mut Attempt,
    agent: &mut dyn Agent,
    stage: &mut Stage<'_>,
    turn: &mut Turn,
) -> Result<TurnEnd, Fault> {
    let halt = attempt.halt.clone();
    let played = tokio::select! {
        biased;
        () = halt.asked() => Ok(TurnEnd::Operator),
        played = play(attempt, agent, stage, turn) => played,
    };
    attempt.book_unfinished();
    let end = match played {
        Ok(end) => end,
        Err(Stop::Agent(error)) => ended_by(attempt, error)?,
        Err(Stop::Fault(fault)) => return Err(fault),
    };
    if attempt.end_note.is_none() {
        attempt.end_note = ends::note(attempt, end);
    }
    turn_over(attempt)?;
    if end != TurnEnd::ScreenLost {
        stage.last_sight(&mut attempt.recorder).await?;
    }
    Ok(end)
}

/// What an agent is made from.
pub(crate) fn context(attempt: &Attempt) -> TrialContext<'_> {
    TrialContext {
        task: attempt.task(),
        trial: &attempt.trial,
        seed: attempt.job.seed,
        owner: Owner {
            run: attempt.table.run.clone(),
            trial: format!("{} (agent)", attempt.trial),
        },
        limits: &attempt.task().limits,
        account: Arc::clone(&attempt.models.account),
    }
}

pub(crate) async fn dismiss(attempt: &mut Attempt, agent: &mut dyn Agent) -> Result<(), Fault> {
    timeout(FAREWELL, agent.end()).await.ok();
    match agent.complaints() {
        Some(complaints) => attempt
            .record(Source::Agent, None, EventBody::Note(complaints))
            .map(drop),
        None => Ok(()),
    }
}

/// What leaves the loop other than an ordinary end.
pub(crate) enum Stop {
    Agent(AgentError),
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<AgentError> for Stop {
    fn from(error: AgentError) -> Self {
        Self::Agent(error)
    }
}

async fn play(
    attempt: &mut Attempt,
    agent: &mut dyn Agent,
    stage: &mut Stage<'_>,
    turn: &mut Turn,
) -> Result<TurnEnd, Stop> {
    let limits = attempt.task().limits.clone();
    let mut allowed = match start(attempt, agent).await? {
        Ok(allowed) => allowed,
        Err(end) => return Ok(end),
    };
    let mut deadline = Instant::now() + limits.seconds.duration();
    let user = attempt.task().user.on_host();
    let mut detector = agent.ends_when_stuck().then(|| Detector::new(user));
    let keeps_actions = attempt.task().asks_for_actions();
    let mut observation = match stage.first_sight(&mut attempt.recorder).await {
        Ok(seen) => seen,
        Err(gone) => return Err(Stop::Fault(not_ready(gone))),
    };
    let mut cause = attempt.record(
        Source::Environment,
        None,
        EventBody::Observation(observation.clone()),
    )?;
    loop {
        let step = limits.step.duration();
        let acting = agent.act(&observation);
        let waiting = answer_in_time(attempt, cause, step, deadline, acting);
        let answer = match waiting.await? {
            Ok(answer) => answer?,
            Err(end) => return Ok(end),
        };
        attempt.steps += 1;
        attempt
            .table
            .watch
            .step(&attempt.trial, attempt.steps, limits.steps);
        let deed = detector.is_some().then(|| Deed::of(&answer));
        match take_in(attempt, &mut cause, answer, &mut allowed)? {
            Wish::Refused(why) => observation = why,
            Wish::Action(action) => {
                if keeps_actions {
                    turn.actions.push(action.clone());
                }
                if let Some(end) = turn.ended_with(&action) {
                    return Ok(end);
                }
                let began = attempt.begin(Spender::Environment);
                let asked = Instant::now();
                let performed = stage
                    .perform(&action, deadline, cause, &mut attempt.recorder)
                    .await;
                attempt.book(Spender::Environment, began);
                if action.kind() == ActionKind::Message {
                    // The user's time is not the agent's.
                    deadline += asked.elapsed();
                    calls(attempt, Some(cause))?;
                }
                match performed {
                    Ok(seen) => observation = seen,
                    Err(gone) => {
                        let end = ended_by_loss(attempt, gone)?;
                        turn.left_with(&action, end);
                        return Ok(end);
                    }
                }
            }
        }
        cause = observe(attempt, cause, &mut observation)?;
        if let Some(end) = over_limit(attempt, deadline) {
            return Ok(end);
        }
        if let (Some(detector), Some(deed)) = (&mut detector, deed)
            && let Some(rule) = detector.saw(deed, &observation)
        {
            attempt.end_note = Some(format!("the agent is stuck: {rule}"));
            return Ok(TurnEnd::Stuck);
        }
    }
}

/// What an answer comes to.
pub(crate) enum Wish {
    Action(Action),
    /// What the agent is told instead.
    Refused(Observation),
}

/// Records an answer, as an action if it is one that is allowed. `cause` becomes that event.
pub(crate) fn take_in(
    attempt: &mut Attempt,
    cause: &mut u64,
    answer: Answer,
    allowed: &mut Vec<ActionKind>,
) -> Result<Wish, Fault> {
    calls(attempt, Some(*cause))?;
    let action = match answer {
        Answer::NotAnAction {
            text,
            why,
            condensed,
        } => {
            note_condensed(attempt, *cause, condensed)?;
            return refuse(attempt, cause, &text, why);
        }
        Answer::Reply(reply) => {
            if let Some(uses) = &reply.uses {
                allowed.retain(|kind| uses.contains(kind));
            }
            note_reply(attempt, *cause, reply)?
        }
    };
    if !allowed.contains(&action.kind()) {
        let text = serde_json::to_string(&action).unwrap_or_default();
        let names: Vec<_> = allowed.iter().map(|kind| kind.name()).collect();
        let why = format!(
            "`{}` is not allowed in this task, or not declared by the agent; allowed are: {}",
            action.kind(),
            names.join(", ")
        );
        return refuse(attempt, cause, &text, why);
    }
    let body = EventBody::Action(action.clone());
    *cause = attempt.record(Source::Agent, Some(*cause), body)?;
    Ok(Wish::Action(action))
}

/// Starts an agent and says which actions it may use; or how its turn has ended already.
pub(crate) async fn start(
    attempt: &mut Attempt,
    agent: &mut dyn Agent,
) -> Result<Result<Vec<ActionKind>, TurnEnd>, Stop> {
    let mut allowed = attempt.task().actions.clone();
    if agent
        .uses()
        .is_some_and(|uses| !uses.iter().any(|kind| allowed.contains(kind)))
    {
        let why = "the agent uses none of the actions that the task allows";
        attempt.end_note = Some(why.to_owned());
        return Ok(Err(TurnEnd::Left));
    }
    if let Some(uses) = agent.uses() {
        allowed.retain(|kind| uses.contains(kind));
    }
    let brief = attempt.task().brief(attempt.job.seed);
    let limits = &attempt.task().limits;
    // A `cmd:` agent's own sandbox is started here, which is our time and not the agent's.
    let start = limits.start.duration() + limits.step.duration();
    let started = timeout(start, agent.start(&brief));
    match attempt.timed(Spender::Agent, started).await {
        Ok(started) => started?,
        Err(_) => return Ok(Err(TurnEnd::Silent)),
    }
    Ok(Ok(allowed))
}

/// Records which models were asked.
pub(crate) fn calls(attempt: &mut Attempt, cause: Option<u64>) -> Result<(), Fault> {
    attempt
        .record_calls(cause)
        .map_err(|error| evidence_lost(&error))
}

/// The same, for the last time that its failures can be why the turn ended.
pub(crate) fn turn_over(attempt: &mut Attempt) -> Result<(), Fault> {
    calls(attempt, None)?;
    attempt.models.turn_is_over();
    Ok(())
}

fn refuse(attempt: &mut Attempt, cause: &mut u64, text: &str, why: String) -> Result<Wish, Fault> {
    let text = text.chars().take(KEPT_OF_REFUSED).collect();
    *cause = attempt.record(Source::Agent, Some(*cause), EventBody::Refused(text))?;
    Ok(Wish::Refused(Observation::refused(why)))
}

/// Records what an agent gets to see, and takes out of it what is not kept.
pub(crate) fn observe(
    attempt: &mut Attempt,
    cause: u64,
    seen: &mut Observation,
) -> Result<u64, Fault> {
    let source = match seen.kind {
        ObservationKind::Reply => Source::User,
        _ => Source::Environment,
    };
    attempt.keep_pictures(seen)?;
    attempt.record(source, Some(cause), EventBody::Observation(seen.clone()))
}

/// Records what the agent's model is not shown any more.
fn note_condensed(
    attempt: &mut Attempt,
    cause: u64,
    condensed: Option<Condensation>,
) -> Result<(), Fault> {
    if let Some(condensed) = condensed {
        attempt.record(Source::Agent, Some(cause), EventBody::Condensed(condensed))?;
    }
    Ok(())
}

/// Records thought and usage, and gives the action on.
fn note_reply(attempt: &mut Attempt, cause: u64, reply: Reply) -> Result<Action, Fault> {
    note_condensed(attempt, cause, reply.condensed)?;
    if let Some(called) = reply.called {
        attempt.record(Source::Agent, Some(cause), EventBody::Called(called))?;
    }
    if let Some(thought) = reply.thought {
        attempt.record(Source::Agent, Some(cause), EventBody::Thought(thought))?;
    }
    if let Some(usage) = reply.usage {
        attempt.models.report(&usage);
        attempt.record(Source::Agent, Some(cause), EventBody::Usage(usage))?;
    }
    Ok(reply.action)
}

pub(crate) fn over_limit(attempt: &Attempt, deadline: Instant) -> Option<TurnEnd> {
    let limits = &attempt.task().limits;
    let usage = attempt.models.usage_of_agent();
    if attempt.steps >= limits.steps {
        Some(TurnEnd::StepLimit)
    } else if Instant::now() >= deadline {
        Some(TurnEnd::TimeLimit)
    } else if limits.tokens.is_some_and(|most| usage.tokens() >= most) {
        Some(TurnEnd::TokenLimit)
    } else if limits
        .money
        .is_some_and(|most| usage.money.is_some_and(|spent| spent >= most))
    {
        Some(TurnEnd::MoneyLimit)
    } else {
        None
    }
}

/// Waits for the agent at most for one step and at most to the end of its turn.
async fn answer_in_time<T>(
    attempt: &mut Attempt,
    cause: u64,
    step: Duration,
    deadline: Instant,
    work: impl Future<Output = T>,
) -> Result<Result<T, TurnEnd>, Fault> {
    let (until, late) = match Instant::now() + step {
        until if until < deadline => (until, TurnEnd::Silent),
        _ => (deadline, TurnEnd::TimeLimit),
    };
    let began = attempt.begin(Spender::Agent);
    let mut work = pin!(work);
    let answer = loop {
        let next = until.min(Instant::now() + RECORDING);
        match timeout_at(next, work.as_mut()).await {
            Ok(answer) => break Ok(answer),
            Err(_) if next < until => calls(attempt, Some(cause))?,
            Err(_) => break Err(late),
        }
    };
    attempt.book(Spender::Agent, began);
    Ok(answer)
}
