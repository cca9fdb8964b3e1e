//! A runner entered for a run: cases go to it, and what it answers becomes evidence.

use agon_agent::elsewhere::{Commission, Delivered, Elsewhere};
use agon_agent::{Agent, AgentError, Contender, SetupError, TrialContext};
use agon_core::check::{Check, CheckKind};
use agon_core::verdict::TurnEnd;
use agon_core::{Digest, Fault, FaultClass, Task, Usage};
use async_trait::async_trait;
use serde_json::Value;

use super::command::Program;
use super::contract::{Runner, RunnerConfig, RunnerError};
use super::http::Service;
use crate::results::{TestCase, TestCaseRun, delivered};

/// What every answer must have; all else is nice to have.
const NEEDED: [&str; 2] = ["trajectory", "command_output_check_results"];

/// `cmd:PROGRAM ARGS` or `http://URL`.
pub fn contender(spec: &str, config: RunnerConfig) -> Result<Box<dyn Contender>, SetupError> {
    if let Some(line) = spec.strip_prefix("cmd:") {
        let program = Program::open(spec, line)?;
        let digest = program.digest();
        return Ok(Box::new(Entered {
            runner: Box::new(program),
            config,
            digest,
            unconfined: true,
        }));
    }
    if spec.starts_with("http://") {
        return Ok(entered(Service::open(spec)?, config));
    }
    Err(SetupError::Spec {
        spec: spec.to_owned(),
        why: "a runner is `cmd:PROGRAM ARGS` or `http://URL`".to_owned(),
    })
}

/// A runner that is part of this program.
pub fn entered(runner: impl Runner + 'static, config: RunnerConfig) -> Box<dyn Contender> {
    Box::new(Entered {
        runner: Box::new(runner),
        config,
        digest: None,
        unconfined: false,
    })
}

#[derive(Debug)]
struct Entered {
    runner: Box<dyn Runner>,
    config: RunnerConfig,
    digest: Option<Digest>,
    unconfined: bool,
}

impl Contender for Entered {
    fn digest(&self) -> Option<Digest> {
        self.digest
    }

    fn unconfined(&self) -> bool {
        self.unconfined
    }

    fn for_trial(&self, _context: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError> {
        Err(AgentError::Unreachable(
            "a runner plays whole test cases: it can't take turns".to_owned(),
        ))
    }

    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        Some(self)
    }
}

#[async_trait]
impl Elsewhere for Entered {
    async fn play(&self, commission: &Commission<'_>) -> Result<Delivered, Fault> {
        let task = commission.task;
        if let Some(check) = unseen(task) {
            return Err(Fault::new(
                FaultClass::Check,
                format_args!(
                    "`{check}` looks at files of the environment, and a runner has its own: let this \
                     case be played without --runner, or check the output of a command"
                ),
            ));
        }
        let case = TestCase::of(task);
        let mut config = self.config.clone();
        config.max_steps.set(&case.level, task.limits.steps);
        let run = self.runner.run(&case, &config).await;
        match run.and_then(|run| whole(&case, run)) {
            Ok(run) => Ok(delivered(&TestCaseRun {
                max_steps: task.limits.steps,
                ..run
            })),
            Err(RunnerError::Unreachable(why)) => {
                Err(Fault::new(FaultClass::AgentUnreachable, why))
            }
            Err(error @ RunnerError::Crashed(_)) => Ok(nothing(TurnEnd::Crashed, &error)),
            Err(error @ RunnerError::Garbage(_)) => Ok(nothing(TurnEnd::Garbage, &error)),
        }
    }
}

/// A check that no runner can carry out.
fn unseen(task: &Task) -> Option<String> {
    fn find(checks: &[Check]) -> Option<String> {
        checks.iter().find_map(|check| match &check.kind {
            CheckKind::All { checks, .. } | CheckKind::Any { checks } => find(checks),
            CheckKind::File { .. }
            | CheckKind::Script { .. }
            | CheckKind::Reward { .. }
            | CheckKind::Spreadsheet(_)
            | CheckKind::Document(_) => Some(check.label()),
            _ => None,
        })
    }
    task.checks.inspect(|checks| find(checks))
}

/// Every command that a check runs has to be told of.
fn whole(case: &TestCase, run: TestCaseRun) -> Result<TestCaseRun, RunnerError> {
    let told = |command: &str| {
        let results = &run.command_output_check_results;
        results.iter().any(|result| result.command == command)
    };
    let commands = case
        .checks
        .iter()
        .filter_map(|check| check.command.as_deref());
    match commands.into_iter().find(|command| !told(command)) {
        Some(command) => Err(RunnerError::Garbage(format!(
            "command_output_check_results has no output of `{command}`, which a check looks at"
        ))),
        None => Ok(run),
    }
}

fn nothing(end: TurnEnd, why: &RunnerError) -> Delivered {
    Delivered {
        events: Vec::new(),
        end,
        why: Some(why.to_string()),
        result: None,
        last: None,
        commands: Vec::new(),
        steps: 0,
        usage: Usage::default(),
    }
}

/// What a runner is sent.
pub(super) fn message(testcase: &TestCase, config: &RunnerConfig) -> Result<Vec<u8>, RunnerError> {
    #[derive(serde::Serialize)]
    struct Message<'a> {
        testcase: &'a TestCase,
        config: &'a RunnerConfig,
    }
    let message = Message { testcase, config };
    serde_json::to_vec(&message).map_err(|error| RunnerError::Garbage(error.to_string()))
}

/// One object, whatever comes before or after it is too much.
pub(super) fn read(answer: &[u8]) -> Result<TestCaseRun, RunnerError> {
    let garbage = |why: String| RunnerError::Garbage(why);
    if answer.trim_ascii().is_empty() {
        return Err(garbage("it is empty".to_owned()));
    }
    let value: Value = serde_json::from_slice(answer).map_err(|error| {
        garbage(format!(
            "{error} (one JSON object is expected, and nothing beside it: logs belong on stderr)"
        ))
    })?;
    let missing = NEEDED.iter().find(|key| !value[**key].is_array());
    if let Some(key) = missing {
        return Err(garbage(format!("`{key}` is missing, or is no list")));
    }
    serde_json::from_value(value).map_err(|error| garbage(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_keys_are_needed_and_no_more() {
        let least = br#" {"trajectory": [], "command_output_check_results": []} "#;
        assert_eq!(read(least).unwrap(), TestCaseRun::default());
        for (text, why) in [
            ("", "empty"),
            ("starting\n{}", "stderr"),
            ("{}{}", "stderr"),
            ("{}", "`trajectory` is missing"),
            (r#"{"trajectory": []}"#, "`command_output_check_results`"),
            (
                r#"{"trajectory": {}, "command_output_check_results": []}"#,
                "no list",
            ),
            (
                r#"{"trajectory": [7], "command_output_check_results": []}"#,
                "invalid type",
            ),
        ] {
            let error = read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_runner_is_one_of_two_kinds() {
        for spec in ["", "python3 x.py", "https://x", "ftp://x"] {
            let error = contender(spec, RunnerConfig::default()).unwrap_err();
            assert!(error.to_string().contains("`cmd:PROGRAM ARGS`"), "{error}");
        }
    }
}
