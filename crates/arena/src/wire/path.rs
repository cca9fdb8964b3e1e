//! The paths of both servers. Those marked as additions are ours; the originals never ask for them.

pub const AGENT_STATUS: &str = "/agent/status";
pub const AGENT_REGISTER_EVALUATOR: &str = "/agent/register_evaluator";
pub const AGENT_TASK_START: &str = "/agent/task/start";
pub const AGENT_TASK_STOP: &str = "/agent/task/stop";
pub const AGENT_KILL: &str = "/agent/kill";
/// Addition: as if the server had just been started (INIT, nothing registered, all ids forgotten).
pub const AGENT_RESET: &str = "/agent/reset";
/// Addition: the operator stops the task; the evaluator is told so.
pub const AGENT_ABORT: &str = "/agent/abort";
/// Addition: state changes as server-sent events.
pub const AGENT_EVENTS: &str = "/agent/events";

pub const EVALUATOR_STATUS: &str = "/evaluator/status";
pub const EVALUATOR_REGISTER_AGENT: &str = "/evaluator/register_agent";
pub const EVALUATOR_EVALUATION_START: &str = "/evaluator/evaluation/start";
pub const EVALUATOR_AGENT_FINISHED: &str = "/evaluator/agent_finished";
pub const EVALUATOR_EVALUATION_RESULTS: &str = "/evaluator/evaluation/results";
/// Addition: as if the server had just been started.
pub const EVALUATOR_RESET: &str = "/evaluator/reset";
/// Addition: the operator stops the evaluation; it is scored all the same.
pub const EVALUATOR_ABORT: &str = "/evaluator/evaluation/abort";
/// Addition: an older result.
pub const EVALUATOR_RESULTS_OF: &str = "/evaluator/evaluation/results/{task_id}";
/// Addition: state changes as server-sent events.
pub const EVALUATOR_EVENTS: &str = "/evaluator/events";
