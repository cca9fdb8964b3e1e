//! What an evaluator server knows: its state, its agent, the round under way, and the last results.
//! Every change goes through one lock, and whoever waits for one is told.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_agent::play::{Stop, Task};
use agon_desktop::{DisplayAddress, Key};
use reqwest::Client;
use tokio::sync::watch;
use tokio::time::Instant;

use super::hooks::Hooks;
use super::link::AgentLink;
use super::machine::{EvaluatorState, Machine, Phase, Refused, RoundId};
use super::round::Round;
use crate::evaluator::Evaluator;
use crate::judging::Judging;
use crate::report::{Record, Report};
use crate::result::EvaluationResult;
use crate::wire::{Events, PeerUrl, StateChange, Status, Token};

/// Results that are kept for whoever asks for one by its task.
const MOST_RESULTS: usize = 1_000;

/// How long somebody waits for an agent to come to rest before he is refused.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) struct Desk {
    pub(super) evaluator: Arc<dyn Evaluator>,
    pub(super) report: Option<Arc<Report>>,
    pub(super) display: Option<DisplayAddress>,
    pub(super) panic_key: Option<Key>,
    pub(super) hooks: Hooks,
    pub(super) events: Events,
    client: Client,
    token: Option<Token>,
    phases: watch::Sender<Phase>,
    known: Mutex<Known>,
}

struct Known {
    machine: Machine,
    agent: Option<AgentLink>,
    round: Option<Arc<Round>>,
    /// The last one that was evaluated. One that could not be begun leaves it as it was.
    task: Option<Evaluated>,
    last: Option<EvaluationResult>,
    results: VecDeque<(RoundId, Record)>,
    /// The last round before the agent was registered: ids of rounds up to it may be used again.
    session: RoundId,
}

struct Evaluated {
    round: RoundId,
    task: Task,
}

/// What is said about a task by its id.
pub(super) enum Found {
    Result(Box<Record>),
    /// It is under way.
    Pending,
    Unknown,
}

impl Desk {
    pub(super) fn new(
        evaluator: Arc<dyn Evaluator>,
        report: Option<Report>,
        options: &crate::server::ServerOptions,
        client: Client,
    ) -> Self {
        let machine = Machine::new();
        Self {
            evaluator,
            report: report.map(Arc::new),
            display: options.desktop.clone(),
            panic_key: options.panic_key,
            hooks: Hooks::default(),
            events: Events::new(machine.state().name()),
            client,
            token: options.token.clone(),
            phases: watch::Sender::new(machine.phase()),
            known: Mutex::new(Known {
                session: machine.newest(),
                machine,
                agent: None,
                round: None,
                task: None,
                last: None,
                results: VecDeque::new(),
            }),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something and tells of it, so that changes are told in their order.
    fn change<T>(&self, change: impl FnOnce(&mut Known) -> T) -> T {
        let mut known = self.known();
        let changed = change(&mut known);
        self.phases.send_replace(known.machine.phase());
        let shown = known.shown();
        let of_it = |(id, _): &&(RoundId, Record)| shown.is_some_and(|(round, _)| round == *id);
        let ended = known.results.back().filter(of_it).map(|(_, record)| record);
        self.events.tell(StateChange {
            state: known.machine.state().name(),
            task_id: shown.map(|(_, task)| task.task_id.clone()),
            reason: ended.map(|record| record.stop_reason),
            error: ended.and_then(|record| record.error.clone()),
        });
        changed
    }

    pub(super) fn status(&self) -> Status {
        let known = self.known();
        Status {
            state: known.machine.state().name(),
            current_task: known.shown().map(|(_, task)| task.clone()),
            ended: None,
        }
    }

    pub(super) fn state(&self) -> EvaluatorState {
        self.known().machine.state()
    }

    /// A new session, in which ids may be used again.
    pub(super) async fn register(&self, url: PeerUrl) -> Result<(), Refused> {
        self.at_rest(|| {
            self.change(|known| {
                known.machine.register()?;
                known.session = known.machine.newest();
                let client = self.client.clone();
                known.agent = Some(AgentLink::new(client, url.clone(), self.token.clone()));
                Ok(())
            })
        })
        .await
    }

    /// As if just started.
    pub(super) async fn reset(&self) -> Result<(), Refused> {
        self.at_rest(|| {
            self.change(|known| {
                known.machine.reset()?;
                (known.agent, known.task, known.last) = (None, None, None);
                known.results.clear();
                Ok(())
            })
        })
        .await
    }

    /// Takes a task on. The last result is no longer served from here on, whatever becomes of the task.
    pub(super) async fn begin(&self, task: &Task) -> Result<(Arc<Round>, AgentLink), Refused> {
        self.at_rest(|| {
            self.change(|known| {
                let agent = known.agent.clone().ok_or(Refused::Unregistered)?;
                let id = known.machine.begin()?;
                let stop = Stop::new();
                let frames = self.report.as_ref().map(|report| report.frames());
                let judging = Judging::new(self.display.clone(), stop, frames);
                let round = Arc::new(Round::new(id, task.clone(), judging));
                known.round = Some(Arc::clone(&round));
                known.last = None;
                Ok((round, agent))
            })
        })
        .await
    }

    /// Whether a task of this id was evaluated in this session, as far as is known.
    pub(super) fn is_repeated(&self, task_id: &str) -> bool {
        let known = self.known();
        let mut session =
            (known.results.iter().rev()).take_while(|(round, _)| *round > known.session);
        session.any(|(_, record)| record.task_id == task_id)
    }

    /// The agent is told from here on: it may answer before we are done telling.
    pub(super) fn play(&self, round: &Round) -> bool {
        self.change(|known| known.machine.play(round.id))
    }

    /// It did not begin.
    pub(super) fn fail(&self, round: &Round) {
        self.change(|known| {
            if known.machine.fail(round.id) {
                known.round = None;
            }
        });
    }

    /// True once in a round.
    pub(super) fn score(&self, id: RoundId) -> bool {
        self.change(|known| known.machine.score(id))
    }

    /// The result is there, and served.
    pub(super) fn settle(&self, id: RoundId, record: Record) {
        self.change(|known| {
            if !known.machine.settle(id) {
                return;
            }
            known.last = Some(record.result());
            if known.results.len() >= MOST_RESULTS {
                known.results.pop_front();
            }
            known.results.push_back((id, record));
        });
    }

    pub(super) fn rest(&self, id: RoundId) {
        self.change(|known| {
            if known.machine.rest(id) {
                let round = known.round.take();
                known.task = round.map(|round| Evaluated {
                    round: id,
                    task: round.task.clone(),
                });
            }
        });
    }

    pub(super) fn last(&self) -> Option<EvaluationResult> {
        self.known().last.clone()
    }

    /// Where an id was used in several sessions, the last use counts.
    pub(super) fn result_of(&self, task_id: &str) -> Found {
        let known = self.known();
        let undecided = known.machine.phase().undecided();
        let mut under_way = known.round.iter();
        if under_way.any(|round| Some(round.id) == undecided && round.task.task_id == task_id) {
            return Found::Pending;
        }
        let mut results = known.results.iter().rev();
        match results.find(|(_, record)| record.task_id == task_id) {
            Some((_, record)) => Found::Result(Box::new(record.clone())),
            None => Found::Unknown,
        }
    }

    /// The round that can still be ended.
    pub(super) fn open_round(&self) -> Option<Arc<Round>> {
        let known = self.known();
        match known.machine.phase() {
            Phase::Setup(_) | Phase::Playing(_) => known.round.clone(),
            _ => None,
        }
    }

    /// The round in which an agent plays, with its agent.
    pub(super) fn played_round(&self) -> Option<(Arc<Round>, AgentLink)> {
        let known = self.known();
        match known.machine.phase() {
            Phase::Playing(_) => known.round.clone().zip(known.agent.clone()),
            _ => None,
        }
    }

    /// Waits until a round has its result or has failed, at most `within`. Says whether it has.
    pub(super) async fn until_decided(&self, id: RoundId, within: Duration) -> bool {
        self.until(within, |phase| phase.undecided() != Some(id))
            .await
    }

    /// Waits until nothing is under way, at most `within`.
    pub(super) async fn until_idle(&self, within: Duration) -> bool {
        self.until(within, |phase| matches!(phase, Phase::Init | Phase::Ready))
            .await
    }

    async fn until(&self, within: Duration, holds: impl FnMut(&Phase) -> bool) -> bool {
        let mut phases = self.phases.subscribe();
        let reached = tokio::time::timeout(within, phases.wait_for(holds)).await;
        matches!(reached, Ok(Ok(_)))
    }

    /// Tries something that needs an idle evaluator; where it is about to be one, that is waited for.
    async fn at_rest<T>(
        &self,
        mut attempt: impl FnMut() -> Result<T, Refused>,
    ) -> Result<T, Refused> {
        let deadline = Instant::now() + PATIENCE;
        let mut phases = self.phases.subscribe();
        loop {
            match attempt() {
                Err(Refused::Settling) => {}
                done => return done,
            }
            let settled = phases.wait_for(|phase| !matches!(phase, Phase::Settling(_)));
            if tokio::time::timeout_at(deadline, settled).await.is_err() {
                return Err(Refused::Settling);
            }
        }
    }
}

impl Known {
    /// The one under way, else the last one.
    fn shown(&self) -> Option<(RoundId, &Task)> {
        let under_way = self.round.as_ref().map(|round| (round.id, &round.task));
        let evaluated = || self.task.as_ref().map(|last| (last.round, &last.task));
        under_way.or_else(evaluated)
    }
}
