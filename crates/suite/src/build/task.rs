//! A whole task, put together.

use std::path::PathBuf;
use std::sync::Arc;

use agon_core::check::{Check, CheckKind};
use agon_core::files::FileTree;
use agon_core::{
    Digest, EnvironmentKind, HostOnly, Level, Limits, Task, TaskId, User, VerifyOnly, Visible,
};
use serde_json::{Map, Value};

use super::check::{self, Setting};
use super::{
    MaxSteps, digest, environment, hand_in, history, programs, realtime, solution, steps, user,
};
use crate::format::{SuiteFile, TaskFile};
use crate::source::{Node, NodeError};

const MAX_NAME: usize = 200;

/// Everything that lies on disk for one task.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) id: TaskId,
    /// The task file, dates expanded.
    pub(crate) node: Node,
    pub(crate) visible: FileTree,
    pub(crate) verify: FileTree,
    /// The content of `solution/solve.sh`.
    pub(crate) solve: Option<String>,
    /// The suite's folder.
    pub(crate) root: PathBuf,
    /// The row of a dataset that the task was made from.
    pub(crate) instance: Option<Arc<Map<String, Value>>>,
}

pub(crate) fn task(
    draft: Draft,
    suite: &SuiteFile,
    max_steps: Option<&MaxSteps>,
) -> Result<Task, Vec<NodeError>> {
    let node = &draft.node;
    let file: TaskFile = node.read().map_err(|error| vec![error.at(node.head())])?;
    let mut errors = Vec::new();

    let name = file.name.unwrap_or_else(|| draft.id.id().to_owned());
    if name.chars().count() > MAX_NAME || name.contains(char::is_control) {
        errors.push(wrong(
            node,
            "name",
            "a name is one line of at most 200 characters, without tabs, escapes and the like",
        ));
    }
    if file.weight.is_some_and(|weight| weight < 0.0) {
        errors.push(wrong(node, "weight", "a weight can't be negative"));
    }
    let environment = environment::environment(
        file.environment,
        file.desktop_image,
        &suite.defaults.environment,
        node,
        &mut errors,
    );
    let programs = programs::programs(&environment, node, &draft.root, &mut errors);
    let own_steps = file.limits.steps;
    let limits = file.limits.over(&suite.defaults.limits);
    let limits = match &file.realtime {
        // Budgets of turns mean nothing to who takes none.
        Some(_) => {
            let default = realtime::limits();
            limits.filled(own_steps.unwrap_or(default.steps), default)
        }
        None => {
            let steps = steps::steps(max_steps, limits.steps, file.level);
            limits.filled(steps, Limits::default())
        }
    };
    let actions = match file.actions {
        Some(actions) if actions.is_empty() => {
            errors.push(wrong(node, "actions", "a task has to allow some action"));
            actions
        }
        Some(actions) => {
            let able = environment.kind.able_actions();
            if let Some(unable) = actions.iter().find(|kind| !able.contains(kind)) {
                let names: Vec<&str> = able.iter().map(|kind| kind.name()).collect();
                let message = format!(
                    "there is no `{unable}` in a {} environment: it has {}",
                    environment.kind,
                    names.join(", ")
                );
                errors.push(wrong(node, "actions", &message));
            }
            actions
        }
        None => environment.kind.default_actions().to_vec(),
    };
    let setting = Setting {
        environment: &environment,
        verify: &draft.verify,
    };
    let mut checks = node
        .get("checks")
        .map(|list| check::checks(list, &setting, &mut errors))
        .unwrap_or_default();
    let realtime = file.realtime.and_then(|file| {
        let node = node.get("realtime").unwrap_or(node);
        realtime::realtime(file, node, &setting, &mut errors)
    });
    let setup = file.setup_cmd.filter(|command| !is_none(command));
    if environment.kind == EnvironmentKind::None {
        if setup.is_some() {
            errors.push(wrong(node, "setup_cmd", "kind: none has nothing to set up"));
        }
        if checks.iter().any(check::needs_environment) {
            let message = "kind: none has no files: check returned_result or events";
            errors.push(wrong(node, "checks", message));
        }
    }
    if file.partial && checks.len() > 1 {
        checks = vec![Check {
            name: None,
            weight: 1.0,
            kind: CheckKind::All {
                checks,
                partial: true,
            },
        }];
    }
    let solution = solution::solution(node, draft.solve, &mut errors);
    let user = match node.get("user") {
        Some(node) if !node.is_null() => user::user(file.user, node, &mut errors),
        _ => User::default(),
    };
    let hand_in = hand_in::hand_in(file.hand_in, node, &mut errors);
    hand_in::collect(&file.collect, node, &mut errors);
    hand_in::fits(environment.kind, node, &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }

    let unplayable = history::refusal(&draft.visible);
    let mut task = Task {
        name,
        weight: file.weight.unwrap_or_else(|| weight(suite, file.level)),
        level: file.level,
        tags: file.tags,
        instruction: Visible::new(file.task),
        environment,
        setup,
        limits,
        actions,
        realtime,
        visible: Visible::new(draft.visible),
        programs: Visible::new(programs),
        verify: VerifyOnly::new(draft.verify),
        checks: VerifyOnly::new(checks),
        solution: HostOnly::new(solution),
        user: HostOnly::new(user),
        complete: VerifyOnly::new(file.complete_cmd.filter(|command| !is_none(command))),
        hand_in,
        collect: file.collect,
        instance: HostOnly::new(draft.instance),
        unplayable,
        digest: Digest::of(b""),
        played: Digest::of(b""),
        id: draft.id,
    };
    task.played = digest::played(&task, node);
    task.digest = digest::whole(&task, node);
    Ok(task)
}

fn wrong(node: &Node, key: &str, message: &str) -> NodeError {
    NodeError::new(message).at(node.key_span(key).unwrap_or_else(|| node.head()))
}

/// "None" is what writers of test cases mean by nothing.
fn is_none(command: &str) -> bool {
    matches!(command.trim(), "" | "None")
}

fn weight(suite: &SuiteFile, level: Option<Level>) -> f64 {
    level.map_or(1.0, |level| {
        let own = suite.weights.get(&level).copied();
        own.unwrap_or_else(|| level.default_weight())
    })
}
