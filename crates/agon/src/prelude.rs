//! What a program that uses Agon as a library usually needs.

pub use agon_agent::{Agent, AgentError, AgentFactory, AgentSpec, Answer, Reply};
pub use agon_core::{
    Action, ActionKind, Brief, Clock, Environment, Event, EventBody, Fault, FaultClass, Level,
    Limits, Money, Observation, Outcome, Seconds, Seed, SystemClock, Task, TaskId, TrialId, Usage,
    Verdict,
};
pub use agon_desktop::{Desktop, DesktopConfig, DesktopError, Key, KeyCombination};
pub use agon_engine::{Dispatch, Mode, Providers, RunBudget, RunEnd, Table, Watch, dispatch};
pub use agon_llm::{Model, ModelSpec};
pub use agon_predict::{ActionModel, Evaluation, Evaluator, Options, PredictError};
pub use agon_sandbox::{Exec, ExecOutput, Provider, Sandbox, SandboxError};
pub use agon_store::{Manifest, RunFolder, RunReader, RunWriter, TrialLine};
pub use agon_suite::{LoadOptions, Suite, load_suite};
