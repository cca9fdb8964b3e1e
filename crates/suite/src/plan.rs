//! The frozen plan of a run: tasks times epochs, with a key per task. Trials are made one at a time
//! as they are asked for, so that a plan of a million trials is as small as its tasks.

use std::collections::HashSet;
use std::sync::Arc;

use agon_core::digest::Hasher;
use agon_core::{Digest, Seed, Task, TaskId, TrialId};

use crate::facts::{Facts, SuiteFacts, TaskFacts};
use crate::load::Suite;

/// Who plays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentIdentity {
    /// As given on the command line.
    pub spec: String,
    /// Over the agent's own files, where it has any.
    pub digest: Option<Digest>,
}

impl AgentIdentity {
    pub(crate) fn feed(&self, hasher: &mut Hasher) {
        hasher.part(self.spec.as_bytes());
        hasher.part(&self.digest.map_or_else(Vec::new, |d| d.bytes().to_vec()));
    }
}

#[derive(Debug, Clone)]
pub struct Plan {
    tasks: Vec<Arc<Task>>,
    epochs: u32,
    seed: Seed,
    agent: AgentIdentity,
    checkers: String,
}

/// What a plan is made of, beside the tasks.
#[derive(Debug, Clone)]
pub struct PlanOptions {
    pub epochs: u32,
    pub seed: Seed,
    pub agent: AgentIdentity,
    /// Which versions of the checks grade the run.
    pub checkers: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum PlanError {
    #[error("the task `{0}` is in two suites: run them apart, or rename the category of one")]
    Twice(TaskId),
    #[error("a run needs at least one epoch")]
    NoEpochs,
}

/// One attempt to be made.
#[derive(Debug, Clone)]
pub struct PlannedTrial {
    pub task: Arc<Task>,
    /// Counted from 1.
    pub epoch: u32,
    /// The same in every run with the same `--seed`.
    pub seed: Seed,
}

impl PlannedTrial {
    pub fn id(&self) -> TrialId {
        TrialId {
            task: self.task.id.clone(),
            epoch: self.epoch,
        }
    }
}

impl Plan {
    /// The tasks keep their order.
    pub fn new(
        tasks: impl IntoIterator<Item = Task>,
        options: PlanOptions,
    ) -> Result<Self, PlanError> {
        if options.epochs == 0 {
            return Err(PlanError::NoEpochs);
        }
        let mut tasks: Vec<_> = tasks.into_iter().map(Arc::new).collect();
        // A list that was made from one of tasks keeps the room that they took.
        tasks.shrink_to_fit();
        let mut seen = HashSet::new();
        if let Some(task) = tasks.iter().find(|task| !seen.insert(&task.id)) {
            return Err(PlanError::Twice(task.id.clone()));
        }
        Ok(Self {
            tasks,
            epochs: options.epochs,
            seed: options.seed,
            agent: options.agent,
            checkers: options.checkers,
        })
    }

    pub fn tasks(&self) -> &[Arc<Task>] {
        &self.tasks
    }

    pub fn epochs(&self) -> u32 {
        self.epochs
    }

    pub fn seed(&self) -> Seed {
        self.seed
    }

    pub fn agent(&self) -> &AgentIdentity {
        &self.agent
    }

    pub fn checkers(&self) -> &str {
        &self.checkers
    }

    /// How many trials there are.
    pub fn len(&self) -> usize {
        self.tasks.len().saturating_mul(self.epochs as usize)
    }

    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// All tasks of the first epoch, then all of the second, so that a run that is cut short has
    /// seen every task.
    pub fn trials(&self) -> impl Iterator<Item = PlannedTrial> + '_ {
        (1..=self.epochs)
            .flat_map(move |epoch| self.tasks.iter().map(move |task| self.trial(task, epoch)))
    }

    pub fn trial(&self, task: &Arc<Task>, epoch: u32) -> PlannedTrial {
        PlannedTrial {
            task: Arc::clone(task),
            epoch,
            seed: self.seed.derive(&format!("{}#{epoch}", task.id)),
        }
    }

    /// The resume key of a task: a finished trial counts only while this is the same.
    pub fn key(&self, task: &Task) -> Digest {
        let json = |value: Result<String, serde_json::Error>| value.unwrap_or_default();
        let mut hasher = Hasher::default();
        hasher.part(b"key 1");
        hasher.part(task.digest.bytes());
        self.agent.feed(&mut hasher);
        hasher.part(json(serde_json::to_string(&task.environment)).as_bytes());
        hasher.part(json(serde_json::to_string(&task.limits)).as_bytes());
        hasher.part(self.checkers.as_bytes());
        hasher.finish()
    }

    /// Everything that a resume has to find unchanged. `suites` are those the tasks came from.
    pub fn facts<'s>(&self, suites: impl IntoIterator<Item = &'s Suite>) -> Facts {
        Facts {
            suites: suites
                .into_iter()
                .map(|suite| SuiteFacts {
                    name: suite.name.clone(),
                    digest: suite.digest,
                })
                .collect(),
            agent: self.agent.clone(),
            seed: self.seed.0,
            epochs: self.epochs,
            checkers: self.checkers.clone(),
            tasks: self
                .tasks
                .iter()
                .map(|task| TaskFacts {
                    task: task.id.clone(),
                    steps: task.limits.steps,
                    key: self.key(task),
                })
                .collect(),
        }
    }
}
