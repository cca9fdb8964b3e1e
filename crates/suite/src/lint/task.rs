//! Findings about one task.

use std::collections::HashMap;

use agon_core::check::Check;
use agon_core::environment::Network;
use agon_core::{Action, Seconds, Solution, Task};

use super::checks::{cannot_fail, passes_untouched};
use super::{Finding, Severity, prose, realtime, secrets, world};

pub(super) fn findings(task: &Task) -> Vec<Finding> {
    let mut found = Found {
        task,
        findings: Vec::new(),
    };
    if task.instruction.show().trim().is_empty() {
        found.error("the instruction is empty");
    }
    task.checks.inspect(|checks| found.checks(checks));
    found.solution(task.solution.on_host().as_ref());
    if task.environment.network == Network::Open {
        found.note("the environment has an open network: results may change with the world");
    }
    found.limits();
    let more = [
        prose::findings(task),
        world::findings(task),
        realtime::findings(task),
        secrets::repository(task),
    ];
    for (severity, message) in more.into_iter().flatten() {
        found.push(severity, message);
    }
    found.leaks();
    found.findings
}

struct Found<'a> {
    task: &'a Task,
    findings: Vec<Finding>,
}

impl Found<'_> {
    fn checks(&mut self, checks: &[Check]) {
        if checks.is_empty() {
            self.error("there are no checks: the task can't be graded");
            return;
        }
        let prose = checks.iter().filter(|check| check.needs_judge()).count();
        if prose > 0 {
            let total = checks.len();
            self.note(format!(
                "{prose} of {total} checks are prose and need a judge"
            ));
        }
        for check in checks.iter().filter(|check| cannot_fail(check)) {
            self.error(format!("the check `{}` can't fail", check.label()));
        }
        if checks.iter().all(passes_untouched) {
            self.warning("the checks only forbid things: an agent that does nothing passes");
        }
    }

    fn solution(&mut self, solution: Option<&Solution>) {
        let actions = match solution {
            Some(Solution::Actions(actions)) => actions,
            Some(Solution::Player(_)) => return,
            None => {
                self.warning("there is no solution: nothing shows that the task can be passed");
                return;
            }
        };
        let steps = self.task.limits.steps;
        if actions.len() > steps as usize {
            let length = actions.len();
            self.error(format!(
                "the solution takes {length} steps, the limit is {steps}"
            ));
        }
        let refused = actions
            .iter()
            .map(Action::kind)
            .find(|kind| !self.task.actions.contains(kind));
        if let Some(kind) = refused {
            self.error(format!(
                "the solution uses `{kind}`, which the task does not allow"
            ));
        }
    }

    fn limits(&mut self) {
        let limits = &self.task.limits;
        let zero = [
            ("seconds", limits.seconds),
            ("start", limits.start),
            ("setup", limits.setup),
            ("step", limits.step),
            ("command", limits.command),
            ("check", limits.check),
        ];
        for (name, _) in zero.iter().filter(|(_, limit)| limit.get() == 0.0) {
            self.error(format!("limits.{name} is 0: there is no time at all"));
        }
        let longer = |inner: Seconds, outer: Seconds| inner > outer;
        if longer(limits.step, limits.seconds) {
            self.warning("limits.step is longer than limits.seconds");
        }
        if longer(limits.command, limits.seconds) {
            self.warning("limits.command is longer than limits.seconds");
        }
        if longer(limits.quiet, limits.command) {
            self.warning("limits.quiet is longer than limits.command");
        }
        if limits.steps > 1_000 && self.task.realtime.is_none() {
            self.warning(format!("limits.steps is {}: is that meant?", limits.steps));
        }
        if self.task.environment.memory.0 < 16 << 20 {
            self.warning("environment.memory is less than 16 MiB: hardly anything starts");
        }
    }

    /// Files of the grader that the agent can see.
    fn leaks(&mut self) {
        let visible: HashMap<_, _> = self
            .task
            .visible
            .show()
            .entries()
            .iter()
            .filter(|entry| entry.size > 0)
            .map(|entry| (entry.digest, entry.path.display().to_string()))
            .collect();
        let leaks: Vec<String> = self.task.verify.inspect(|verify| {
            let shared = verify.entries().iter().filter_map(|entry| {
                let seen = visible.get(&entry.digest)?;
                let hidden = entry.path.display();
                Some(format!(
                    "visible/{seen} is the same file as verify/{hidden}"
                ))
            });
            shared.collect()
        });
        for leak in leaks {
            self.error(leak);
        }
    }

    fn error(&mut self, message: impl Into<String>) {
        self.push(Severity::Error, message);
    }

    fn warning(&mut self, message: impl Into<String>) {
        self.push(Severity::Warning, message);
    }

    fn note(&mut self, message: impl Into<String>) {
        self.push(Severity::Note, message);
    }

    fn push(&mut self, severity: Severity, message: impl Into<String>) {
        self.findings.push(Finding {
            task: self.task.id.clone(),
            severity,
            message: message.into(),
        });
    }
}
