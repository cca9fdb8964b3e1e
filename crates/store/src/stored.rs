//! The types on disk, format 1. They are kept apart from the types the program works with: fields
//! are only ever added, unknown fields are ignored on reading, and files of every past version stay
//! in the tests.

use std::collections::BTreeMap;

use agon_core::digest::Hasher;
use agon_core::fault::Fault;
use agon_core::verdict::{Outcome, TurnEnd, Verdict};
use agon_core::{Digest, Level, Seconds, TaskId, TimeSplit, TrialId, Usage};
use jiff::Timestamp;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The format number that `run.json` carries. Readers refuse a newer one.
pub const FORMAT: u32 = 1;

/// `run.json`: everything that decides what the run's numbers mean, written before the first trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = with_digest)]
pub struct Manifest {
    pub format: u32,
    pub run: String,
    pub created: Timestamp,
    /// Version of `agon` that began the run.
    pub agon: String,
    pub suites: Vec<SuiteStamp>,
    pub agent: AgentStamp,
    /// The models that the run may ask; the first is that of its agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelStamp>,
    /// Who decides about checks that are prose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeStamp>,
    pub seed: u64,
    pub epochs: u32,
    /// The clock by which dates in task files were expanded; a resume expands by the same.
    pub dates_from: Timestamp,
    /// Over suite digests, agent, limits, seed, epochs and checker version: what a resume compares.
    pub plan: Digest,
    /// Which versions of the checks grade this run.
    pub checkers: String,
    /// What the selection options were, as given.
    #[serde(default)]
    pub selection: BTreeMap<String, String>,
    pub tasks: Vec<TaskStamp>,
    /// What the programs of this machine were that tasks show to their agents.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, Digest>,
    pub host: HostStamp,
}

impl Manifest {
    /// What `plan` must be: a digest over suites, agent, seed, epochs, checkers and tasks.
    pub fn plan_digest(&self) -> Digest {
        let mut hasher = Hasher::default();
        hasher.part(b"plan 1");
        for suite in &self.suites {
            hasher.part(suite.name.as_bytes());
            hasher.part(suite.digest.bytes());
        }
        hasher.part(self.agent.spec.as_bytes());
        let agent = self.agent.digest;
        hasher.part(&agent.map_or_else(Vec::new, |digest| digest.bytes().to_vec()));
        hasher.part(&self.seed.to_le_bytes());
        hasher.part(&self.epochs.to_le_bytes());
        hasher.part(self.checkers.as_bytes());
        for task in &self.tasks {
            hasher.part(task.task.to_string().as_bytes());
            hasher.part(task.key.bytes());
        }
        hasher.finish()
    }
}

/// The digest of the file is no part of what a manifest says: it is added when that is written.
fn with_digest(schema: &mut Schema) {
    let digest = schemars::json_schema!({
        "description": "Over the text of the file before it; older versions wrote none.",
        "type": "string",
        "pattern": "^[0-9a-f]{64}$",
    });
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("digest".to_owned(), digest.into());
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteStamp {
    pub name: String,
    pub path: String,
    pub digest: Digest,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentStamp {
    /// As given on the command line.
    pub spec: String,
    /// Over the agent's own files, where it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Ran outside of any sandbox (`cmd-host:`): every report says so.
    #[serde(default)]
    pub unconfined: bool,
    /// Which files of its folder were its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<AgentFiles>,
}

/// What of an agent's folder went to it, and what did not. Lists are bounded; counts are whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentFiles {
    /// Its folder holds something of the run: only program text and what was asked for went in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// How many files and links went in.
    #[serde(default)]
    pub count: u64,
    /// Their names in the folder, up to a thousand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<String>,
    /// What stayed outside, up to a thousand; a folder that stayed outside as a whole is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// How many more did.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_left_out: u64,
    /// Where files of the agent hold what the suite's checks expect, up to a hundred: a sign that it knows the
    /// answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerSign>,
    /// How many tasks have such signs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub answered_tasks: u64,
}

/// A file or folder that an agent was not given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    pub name: String,
    pub why: String,
}

/// A file of the agent that holds something of a task's answer. The answer itself is not told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerSign {
    /// As the agent's folder names it.
    pub file: String,
    pub task: TaskId,
    /// What it holds: `what a check expects`, `verify/check.py`, `the solution`.
    pub what: String,
}

/// A model, as far as it decides what is answered. Never a key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelStamp {
    /// As it was asked for: a section of `config.toml`, or `openai/gpt-4o`.
    pub name: String,
    pub provider: String,
    /// As the provider knows it.
    pub model: String,
    /// Where the service is; nothing for models on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Everything that was said about it and can change its answers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Value>,
    /// Of the tape that answered in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tape: Option<Digest>,
}

/// A judge, as far as it decides what is judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeStamp {
    pub model: ModelStamp,
    /// How often it is asked about each check.
    pub votes: u32,
    /// Over what it is told beside the evidence.
    pub prompts: Digest,
}

impl JudgeStamp {
    /// Of a run in which not all verdicts are by the same judge.
    pub fn mixed() -> Self {
        Self {
            model: ModelStamp {
                name: MIXED.to_owned(),
                provider: String::new(),
                model: MIXED.to_owned(),
                host: None,
                settings: BTreeMap::new(),
                tape: None,
            },
            votes: 0,
            prompts: Digest::of(b""),
        }
    }

    /// Nobody of that name can be asked.
    pub fn is_mixed(&self) -> bool {
        self.votes == 0 && self.model.name == MIXED
    }
}

/// Stands for the name of a judge.
const MIXED: &str = "mixed";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskStamp {
    pub task: TaskId,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    pub weight: f64,
    pub steps: u32,
    pub seconds: Seconds,
    /// `none`, `local`, `container`, `desktop`.
    pub environment: String,
    /// The environment has the host's network.
    #[serde(default)]
    pub network: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The resume key: task, agent, environment, limits and checkers.
    pub key: Digest,
    /// The part of the task that decides what an agent does: what `validate-only` must find
    /// unchanged.
    pub played: Digest,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostStamp {
    pub os: String,
    pub kernel: String,
    pub cpus: u32,
    pub memory_mib: u64,
    /// What enforces limits in the local sandbox, such as `cgroup v1 (memory, pids)` or `rlimits`.
    #[serde(default)]
    pub limits: String,
    /// `bubblewrap 0.8.0`, `docker 20.10.24 (API 1.41)`, as far as they are used.
    #[serde(default)]
    pub engines: Vec<String>,
}

/// One line of `trials.jsonl`: an attempt that ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialLine {
    pub task: TaskId,
    pub epoch: u32,
    /// Counted from 1 over all attempts of this trial, reruns included.
    pub attempt: u32,
    /// Exactly one line per trial is final; the others are attempts that were retried, or draws after the
    /// first verdict.
    #[serde(rename = "final")]
    pub is_final: bool,
    pub outcome: Outcome,
    /// From 0 to 1; 0 for a faulted attempt, which reports never count as a score.
    pub score: f64,
    /// What a check measured in its own unit, such as the score that a game shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<TurnEnd>,
    pub steps: u32,
    pub seconds: TimeSplit,
    #[serde(default, skip_serializing_if = "Usage::is_empty")]
    pub usage: Usage,
    /// What judges used; a part of `usage`.
    #[serde(default, skip_serializing_if = "Usage::is_empty")]
    pub judge: Usage,
    /// This attempt came after a fault of an earlier one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retried: bool,
    /// This attempt came after a verdict: a further draw by `--mode rerun-failed`, which never counts, or
    /// graded again by `validate-only`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rerun: bool,
    /// Graded again, not played again: its time and usage are those of the attempt it was played in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub regraded: bool,
    /// The attempt that it was played in, where that is another one: it was graded again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played_in: Option<u32>,
    /// Somebody else played it in an environment of his own: all evidence is what he tells.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub elsewhere: bool,
    /// A check ran where the agent had been.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tainted: bool,
    /// Signs of tampering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrity: Option<String>,
    /// Why it failed, in a few words: the first check that did not pass.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Names of the checks that did not pass, at most 16 of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_checks: Vec<String>,
    pub events: EventsAt,
    /// The frozen working folder: a blob (tar, zstd), if it was not too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Digest>,
    /// Entries of the working folder that could not be taken; nothing passes over such a folder.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    pub key: Digest,
    pub at: Timestamp,
    /// Over this line and the `chain` of the line before; lines of older versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<Digest>,
}

impl TrialLine {
    /// An attempt and what it came to. It is final; what nobody says of it, such as how long it took, is
    /// nothing.
    pub fn new(
        trial: TrialId,
        attempt: u32,
        result: Result<&Verdict, &Fault>,
        events: EventsAt,
        key: Digest,
        at: Timestamp,
    ) -> Self {
        let TrialId { task, epoch } = trial;
        let line = Self {
            task,
            epoch,
            attempt,
            is_final: true,
            outcome: Outcome::Faulted,
            score: 0.0,
            measured: None,
            fault: None,
            end: None,
            steps: 0,
            seconds: TimeSplit::default(),
            usage: Usage::default(),
            judge: Usage::default(),
            retried: false,
            rerun: false,
            regraded: false,
            played_in: None,
            elsewhere: false,
            tainted: false,
            integrity: None,
            reason: String::new(),
            failed_checks: Vec::new(),
            events,
            work: None,
            left_out: 0,
            key,
            at,
            chain: None,
        };
        line.with_result(result)
    }

    /// Played again after it had been graded. The first verdict counts; this one stands beside it.
    pub const fn is_further_draw(&self) -> bool {
        self.rerun && !self.regraded
    }

    /// The same with another result: everything that a verdict or a fault decides by itself. The reason in
    /// words is left empty, because it is also about how the turn ended.
    pub fn with_result(self, result: Result<&Verdict, &Fault>) -> Self {
        let verdict = result.ok();
        Self {
            outcome: match verdict {
                Some(verdict) if verdict.passed => Outcome::Passed,
                Some(_) => Outcome::Failed,
                None => Outcome::Faulted,
            },
            score: verdict.map_or(0.0, |verdict| verdict.score),
            measured: verdict.and_then(Verdict::measured),
            fault: result.err().cloned(),
            tainted: verdict.is_some_and(Verdict::tainted),
            integrity: verdict.and_then(Verdict::integrity).map(str::to_owned),
            reason: String::new(),
            failed_checks: verdict.map(Verdict::failed_checks).unwrap_or_default(),
            ..self
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Where an attempt's events are, relative to the run folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsAt {
    /// `trials/<category>/<task>/<epoch>.<attempt>/events.jsonl`, or a shared segment file.
    pub file: String,
    /// First byte of this attempt's lines in that file.
    pub at: u64,
    pub bytes: u64,
    /// Of the line there that holds the verdict or the fault; older versions wrote none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Digest>,
}
