//! A task, ready to be played: everything expanded, every default filled in.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::action::{Action, ActionKind};
use crate::brief::Brief;
use crate::check::Check;
use crate::digest::Digest;
use crate::environment::Environment;
use crate::files::FileTree;
use crate::hand_in::HandIn;
use crate::id::TaskId;
use crate::level::Level;
use crate::limits::Limits;
use crate::money::Money;
use crate::realtime::Realtime;
use crate::secrecy::{HostOnly, VerifyOnly, Visible};
use crate::seed::Seed;
use crate::sight::SightTest;
use crate::user::User;

/// What shows that a task can be passed; the `oracle` agent plays it.
#[derive(Debug, Clone, PartialEq)]
pub enum Solution {
    Actions(Vec<Action>),
    /// A built-in real-time player, by name.
    Player(String),
}

#[derive(Debug, Clone)]
pub struct Task {
    pub id: TaskId,
    pub name: String,
    pub level: Option<Level>,
    /// Share in the weighted score.
    pub weight: f64,
    pub tags: Vec<String>,
    pub instruction: Visible<String>,
    pub environment: Environment,
    /// `None`: nothing to set up.
    pub setup: Option<String>,
    pub limits: Limits,
    pub actions: Vec<ActionKind>,
    /// The world moves on by itself; without it, agent and world take turns.
    pub realtime: Option<Realtime>,
    pub visible: Visible<FileTree>,
    /// Those of `environment.programs` that the suite brings along, under the paths that it names
    /// them by. The others are of this machine.
    pub programs: Visible<FileTree>,
    pub verify: VerifyOnly<FileTree>,
    pub checks: VerifyOnly<Vec<Check>>,
    pub solution: HostOnly<Option<Solution>>,
    /// Who answers the agent's messages.
    pub user: HostOnly<User>,
    /// A shell script that runs over what the agent left, in a fresh sandbox, before it is graded.
    pub complete: VerifyOnly<Option<String>>,
    pub hand_in: HandIn,
    /// Files of the working folder that are kept one by one, beside the whole.
    pub collect: Vec<String>,
    /// The row of the dataset that the task was made from.
    pub instance: HostOnly<Option<Arc<Map<String, Value>>>>,
    /// Why it can't be played at all: its row of the dataset is not what the benchmark asks for.
    pub unplayable: Option<String>,
    /// Over everything of the task that can change a result.
    pub digest: Digest,
    /// Over the part of it that can change what an agent does: not over checks and solution.
    pub played: Digest,
}

impl Task {
    /// A task with nothing in it but what is to be done and where: no files, no checks.
    pub fn plain(id: TaskId, instruction: impl Into<String>, environment: Environment) -> Self {
        Self {
            name: id.id().to_owned(),
            id,
            level: None,
            weight: 1.0,
            tags: Vec::new(),
            instruction: Visible::new(instruction.into()),
            actions: environment.kind.default_actions().to_vec(),
            environment,
            setup: None,
            limits: Limits::default(),
            realtime: None,
            visible: Visible::new(FileTree::default()),
            programs: Visible::new(FileTree::default()),
            verify: VerifyOnly::new(FileTree::default()),
            checks: VerifyOnly::new(Vec::new()),
            solution: HostOnly::new(None),
            user: HostOnly::new(User::default()),
            complete: VerifyOnly::new(None),
            hand_in: HandIn::default(),
            collect: Vec::new(),
            instance: HostOnly::new(None),
            unplayable: None,
            digest: Digest::of(b""),
            played: Digest::of(b""),
        }
    }

    /// Plays it in another image, which changes what the task is.
    pub fn derive_image(&mut self, image: &str) {
        self.environment.image = Some(image.to_owned());
        for digest in [&mut self.played, &mut self.digest] {
            *digest = Digest::of_parts([digest.bytes().as_slice(), b"image", image.as_bytes()]);
        }
    }

    /// Lowers what the agent's model may cost, which changes what the task is.
    pub fn limit_money(&mut self, most: Money) {
        if self.limits.money.is_some_and(|own| own <= most) {
            return;
        }
        self.limits.money = Some(most);
        let limit = most.to_string();
        for digest in [&mut self.played, &mut self.digest] {
            *digest = Digest::of_parts([digest.bytes().as_slice(), b"money", limit.as_bytes()]);
        }
    }

    /// What an agent is told. `trial` is opaque: it is derived from the seed, not from the name.
    pub fn brief(&self, seed: Seed) -> Brief {
        Brief {
            trial: format!("{:016x}", seed.derive("trial").0),
            instruction: self.instruction.show().clone(),
            actions: self.actions.clone(),
            environment: self.environment.kind.name().to_owned(),
            max_steps: self.limits.steps,
            max_seconds: self.limits.seconds,
            seed: seed.0,
        }
    }

    /// Whether a check looks at what the agent did, rather than at what it left behind.
    pub fn asks_for_actions(&self) -> bool {
        self.checks
            .inspect(|checks| checks.iter().any(Check::asks_for_actions))
    }

    /// Whether a check looks at the screen or at what stands around it.
    pub fn asks_for_sight(&self) -> bool {
        self.checks
            .inspect(|checks| checks.iter().any(Check::asks_for_sight))
    }

    /// Whether letters are read off the screen, by a check or to know whether the world has ended.
    pub fn asks_for_reading(&self) -> bool {
        let ends = |rules: &Realtime| {
            let reads = |test: &SightTest| matches!(test, SightTest::Text { .. });
            rules.ends.on_host().iter().any(reads)
        };
        self.realtime.as_ref().is_some_and(ends)
            || self
                .checks
                .inspect(|checks| checks.iter().any(Check::asks_for_reading))
    }

    /// Whether a check runs a program in a sandbox.
    pub fn checks_run_programs(&self) -> bool {
        self.checks
            .inspect(|checks| checks.iter().any(Check::runs_programs))
    }

    /// Whether a check runs a program of `verify/`.
    pub fn checks_run_scripts(&self) -> bool {
        self.checks
            .inspect(|checks| checks.iter().any(Check::runs_scripts))
    }

    pub fn needs_judge(&self) -> bool {
        self.checks
            .inspect(|checks| checks.iter().any(Check::needs_judge))
    }
}
