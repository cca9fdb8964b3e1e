//! `replay:RUN`: plays the recorded actions of another run again, trial by trial.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use agon_core::{Brief, Digest, EventBody, Observation, Source, TrialId};
use agon_store::{RunReader, StoreError, TrialLine};
use async_trait::async_trait;

use crate::contract::{Agent, AgentError, Answer};
use crate::error::SetupError;
use crate::factory::{Contender, TrialContext};
use crate::registry::Kind;
use crate::wire;

pub(crate) const KIND: Kind = Kind {
    name: "replay:",
    argument: "RUN",
    about: "plays the recorded actions of another run again",
    check: |argument| match argument {
        "" => Err("name the run folder, as in `replay:runs/latest`".to_owned()),
        _ => Ok(()),
    },
    open: |argument, _| Ok(Box::new(Record::open(Path::new(argument))?)),
};

#[derive(Debug)]
struct Record {
    run: Arc<RunReader>,
    /// The attempt that counts, for each trial.
    counted: HashMap<TrialId, TrialLine>,
    digest: Digest,
}

impl Record {
    fn open(path: &Path) -> Result<Self, SetupError> {
        let unreadable = |error: StoreError| SetupError::Replay(error.to_string());
        let run = RunReader::open(path).map_err(unreadable)?;
        let mut counted = HashMap::new();
        run.for_each_trial(|line| {
            if line.is_final {
                let trial = TrialId {
                    task: line.task.clone(),
                    epoch: line.epoch,
                };
                counted.insert(trial, line);
            }
        })
        .map_err(unreadable)?;
        let digest = identity(&run, &counted);
        Ok(Self {
            run: Arc::new(run),
            counted,
            digest,
        })
    }
}

/// Which run this is and how far it had come: what is played depends on both.
fn identity(run: &RunReader, counted: &HashMap<TrialId, TrialLine>) -> Digest {
    let mut attempts: Vec<String> = counted
        .iter()
        .map(|(trial, line)| format!("{trial} {}", line.attempt))
        .collect();
    attempts.sort();
    let manifest = run.manifest();
    let head = [manifest.run.as_bytes(), manifest.plan.bytes()];
    Digest::of_parts(
        head.into_iter()
            .chain(attempts.iter().map(String::as_bytes)),
    )
}

impl Contender for Record {
    fn digest(&self) -> Option<Digest> {
        Some(self.digest)
    }

    fn for_trial(&self, context: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(Player {
            run: Arc::clone(&self.run),
            trial: context.trial.to_string(),
            recorded: self.counted.get(context.trial).cloned(),
            answers: VecDeque::new(),
        }))
    }
}

#[derive(Debug)]
struct Player {
    run: Arc<RunReader>,
    trial: String,
    recorded: Option<TrialLine>,
    answers: VecDeque<Answer>,
}

#[async_trait]
impl Agent for Player {
    /// A trial that was never recorded is no fault: there is nothing to play, and it says so. A
    /// record that can't be read is one.
    async fn start(&mut self, _: &Brief) -> Result<(), AgentError> {
        let Some(line) = self.recorded.take() else {
            let run = &self.run.manifest().run;
            let why = format!("the run {run} holds no ended trial {}", self.trial);
            return Err(AgentError::Crashed(why));
        };
        let run = Arc::clone(&self.run);
        let events = tokio::task::spawn_blocking(move || run.events(&line))
            .await
            .map_err(|error| AgentError::Unreachable(error.to_string()))?
            .map_err(|error| AgentError::Unreachable(error.to_string()))?;
        self.answers = events
            .into_iter()
            .filter(|event| event.source == Source::Agent)
            .filter_map(|event| answer(event.body))
            .collect();
        Ok(())
    }

    async fn act(&mut self, _: &Observation) -> Result<Answer, AgentError> {
        self.answers.pop_front().ok_or(AgentError::Left)
    }
}

/// What the agent said, in an event of its own; what was refused is sent again to be refused.
fn answer(body: EventBody) -> Option<Answer> {
    match body {
        EventBody::Action(action) => Some(action.into()),
        EventBody::Refused(text) => Some(wire::read_answer(text.as_bytes()).unwrap_or(
            Answer::NotAnAction {
                text,
                why: "refused when it was recorded".to_owned(),
                condensed: None,
            },
        )),
        _ => None,
    }
}
