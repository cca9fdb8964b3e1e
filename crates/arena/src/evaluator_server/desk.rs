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
    /// The last one that an agent was told of, also after its end.
    task: Option<Task>,
    last: Option<EvaluationResult>,
    results: VecDeque<Record>,
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
        let ended = known.results.back();
        let shown = known.shown().map(|task| &task.task_id);
        let ended = ended.filter(|record| Some(&record.task_id) == shown);
        self.events.tell(StateChange {
            state: known.machine.state().name(),
            task_id: shown.cloned(),
            reason: ended.map(|record| record.stop_reason),
            error: ended.and_then(|record| record.error.clone()),
        });
        changed
    }

    pub(super) fn status(&self) -> Status {
        let known = self.known();
        Status {
            state: known.machine.state().name(),
            current_task: known.shown().cloned(),
            ended: None,
        }
    }

    pub(super) fn state(&self) -> EvaluatorState {
        self.known().machine.state()
    }

    pub(super) async fn register(&self, url: PeerUrl) -> Result<(), Refused> {
        self.at_rest(|| {
            self.change(|known| {
                known.machine.register()?;
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

    /// Whether a task of this id was evaluated before, as far as is known.
    pub(super) fn is_repeated(&self, task_id: &str) -> bool {
        let known = self.known();
        let results = &known.results;
        known
            .task
            .as_ref()
            .is_some_and(|task| task.task_id == task_id)
            || results.iter().any(|record| record.task_id == task_id)
    }

    /// The agent is told from here on: it may answer before we are done telling.
    pub(super) fn play(&self, round: &Round) -> bool {
        self.change(|known| {
            known.task = Some(round.task.clone());
            known.machine.play(round.id)
        })
    }

    /// It did not begin.
    pub(super) fn fail(&self, round: &Round) {
        self.change(|known| {
            if known.machine.fail(round.id) {
                known.task = None;
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
            known.results.push_back(record);
        });
    }

    pub(super) fn rest(&self, id: RoundId) {
        self.change(|known| {
            if known.machine.rest(id) {
                known.round = None;
            }
        });
    }

    pub(super) fn last(&self) -> Option<EvaluationResult> {
        self.known().last.clone()
    }

    pub(super) fn result_of(&self, task_id: &str) -> Found {
        let known = self.known();
        let under_way = known.round.as_ref();
        let mut results = known.results.iter().rev();
        match results.find(|record| record.task_id == task_id) {
            Some(record) => Found::Result(Box::new(record.clone())),
            None if under_way.is_some_and(|round| round.task.task_id == task_id) => Found::Pending,
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

    /// Waits until a round has its result or has failed, at most `within`.
    pub(super) async fn until_decided(&self, id: RoundId, within: Duration) {
        let open = |phase: &Phase| matches!(phase, Phase::Setup(of) | Phase::Playing(of) | Phase::Scoring(of) if *of == id);
        let mut phases = self.phases.subscribe();
        // In time or not, there is nothing more to wait for.
        let _ = tokio::time::timeout(within, phases.wait_for(|phase| !open(phase))).await;
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
    fn shown(&self) -> Option<&Task> {
        let under_way = self.round.as_ref().map(|round| &round.task);
        under_way.or(self.task.as_ref())
    }
}
