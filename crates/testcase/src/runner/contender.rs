//! A runner entered for a run: cases go to it, and what it answers becomes evidence.

use agon_agent::elsewhere::{Commission, Delivered, Elsewhere};
use agon_agent::{Agent, AgentError, Bundle, Contender, SetupError, TrialContext};
use agon_core::verdict::TurnEnd;
use agon_core::{Digest, Fault, FaultClass, Usage};
use async_trait::async_trait;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::task::spawn_blocking;

use super::command::Program;
use super::contract::{Runner, RunnerConfig, RunnerError};
use super::http::Service;
use crate::results::{Step, Teller, TestCase, TestCaseRun, commands, delivered, is_png};

/// `cmd:PROGRAM ARGS` or `http://URL`.
pub fn contender(spec: &str, config: RunnerConfig) -> Result<Box<dyn Contender>, SetupError> {
    if let Some(line) = spec.strip_prefix("cmd:") {
        let mut program = Program::open(spec, line)?;
        let (digest, bundle) = (program.digest(), program.take_bundle());
        return Ok(Box::new(Entered {
            runner: Box::new(program),
            config,
            digest,
            bundle,
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
        bundle: None,
        unconfined: false,
    })
}

#[derive(Debug)]
struct Entered {
    runner: Box<dyn Runner>,
    config: RunnerConfig,
    digest: Option<Digest>,
    bundle: Option<Bundle>,
    unconfined: bool,
}

impl Contender for Entered {
    fn digest(&self) -> Option<Digest> {
        self.digest
    }

    fn bundle(&self) -> Option<&Bundle> {
        self.bundle.as_ref()
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
        let case = TestCase::to_run(task);
        let mut config = self.config.clone();
        config.max_steps.set(&case.level, task.limits.steps);
        let run = self.runner.run(&case, &config).await;
        let needed = task.checks.inspect(|checks| commands(checks));
        let steps = task.limits.steps;
        let told = match run {
            // Decoding a hundred screens takes its time.
            Ok(run) => spawn_blocking(move || take(run, &needed, steps))
                .await
                .map_err(|error| Fault::new(FaultClass::Internal, error))?,
            Err(error) => Err(error),
        };
        match told {
            Ok(delivered) => Ok(delivered),
            Err(RunnerError::Unreachable(why)) => {
                Err(Fault::new(FaultClass::AgentUnreachable, why))
            }
            Err(error @ RunnerError::Crashed(_)) => Ok(nothing(TurnEnd::Crashed, &error)),
            Err(error @ RunnerError::Garbage(_)) => Ok(nothing(TurnEnd::Garbage, &error)),
        }
    }
}

/// The evidence that an answer is, if nothing of it is missing or broken.
fn take(run: TestCaseRun, needed: &[String], steps: u32) -> Result<Delivered, RunnerError> {
    let told = |command: &&String| {
        let results = &run.command_output_check_results;
        results.iter().any(|result| result.command == **command)
    };
    if let Some(command) = needed.iter().find(|command| !told(command)) {
        return Err(RunnerError::Garbage(format!(
            "command_output_check_results has no output of `{command}`, which a check looks at"
        )));
    }
    let named = run.trajectory.iter().enumerate();
    let named = named.map(|(index, step)| (format!("trajectory[{index}]"), step));
    let result = run.result.iter().map(|step| ("result".to_owned(), step));
    let broken = |step: &Step| {
        let shown = step.screenshot.as_deref().unwrap_or_default();
        !shown.is_empty() && !is_png(shown)
    };
    if let Some((name, _)) = named.chain(result).find(|(_, step)| broken(step)) {
        return Err(RunnerError::Garbage(format!(
            "{name}.screenshot is no whole PNG as a data: URI (leave it empty where there is none)"
        )));
    }
    let run = TestCaseRun {
        max_steps: steps,
        ..run
    };
    Ok(delivered(&run, Teller::Runner))
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
    let needed: Needed = serde_json::from_slice(answer).map_err(|error| {
        garbage(format!(
            "{error} (one JSON object is expected, and nothing beside it: logs belong on stderr)"
        ))
    })?;
    let both = [
        ("trajectory", needed.trajectory),
        (
            "command_output_check_results",
            needed.command_output_check_results,
        ),
    ];
    if let Some((key, _)) = both.iter().find(|(_, there)| there.is_none()) {
        return Err(garbage(format!("`{key}` is missing")));
    }
    TestCaseRun::of_json(answer).map_err(garbage)
}

/// What every answer must have; all else is nice to have.
#[derive(Deserialize)]
struct Needed {
    trajectory: Option<IgnoredAny>,
    command_output_check_results: Option<IgnoredAny>,
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
                "trajectory: invalid type: map, expected a list",
            ),
            (
                r#"{"trajectory": [{}, {"timestamp": "x"}], "command_output_check_results": []}"#,
                "trajectory[1].timestamp: invalid type: string \"x\", expected f64",
            ),
            (
                r#"{"trajectory": [], "command_output_check_results": [], "input_tokens": -5}"#,
                "input_tokens: invalid value",
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
