//! A whole task, put together.

use std::path::PathBuf;

use agon_core::check::{Check, CheckKind};
use agon_core::digest::Hasher;
use agon_core::files::FileTree;
use agon_core::{
    Digest, EnvironmentKind, HandIn, HostOnly, Level, Limits, Solution, Task, TaskId, User,
    VerifyOnly, Visible,
};

use super::check::{self, Setting};
use super::{MaxSteps, environment, programs, realtime, solution, steps};
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
            "a name is one line of at most 200 characters",
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
    if !errors.is_empty() {
        return Err(errors);
    }

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
        user: HostOnly::new(User::Script(file.user.replies)),
        complete: VerifyOnly::new(None),
        hand_in: HandIn::default(),
        collect: Vec::new(),
        instance: HostOnly::new(None),
        digest: Digest::of(b""),
        played: Digest::of(b""),
        id: draft.id,
    };
    task.played = played(&task, node);
    task.digest = digest(&task, node);
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

/// Scripts are what users once were: written as then, so that digests stay what they were.
fn user(user: &User) -> String {
    match user {
        User::Script(replies) => serde_json::to_string(replies).unwrap_or_default(),
        User::Fixed(words) => format!("fixed {words}"),
        User::Nudge(nudge) => format!("nudge {}", serde_json::to_string(nudge).unwrap_or_default()),
        User::Rules(rules) => format!("rules {}", serde_json::to_string(rules).unwrap_or_default()),
        User::Persona(persona) => {
            format!(
                "persona {}",
                serde_json::to_string(persona).unwrap_or_default()
            )
        }
        User::Own(own) => format!("own {}", own.digest()),
        User::Person => "person".to_owned(),
    }
}

/// Over everything that can change what an agent does.
fn played(task: &Task, node: &Node) -> Digest {
    let json = |value: Result<String, serde_json::Error>| value.unwrap_or_default();
    let mut hasher = Hasher::default();
    for part in [
        "played 1".to_owned(),
        task.id.to_string(),
        task.instruction.show().clone(),
        json(serde_json::to_string(&task.environment)),
        json(serde_json::to_string(&task.setup)),
        json(serde_json::to_string(&task.limits)),
        json(serde_json::to_string(&task.actions)),
        user(task.user.on_host()),
    ] {
        hasher.part(part.as_bytes());
    }
    hasher.part(task.visible.show().digest().bytes());
    // What most tasks don't have is no part of their digests, so that those stay what they were.
    if !task.programs.show().is_empty() {
        hasher.part(b"programs");
        hasher.part(task.programs.show().digest().bytes());
    }
    if let (Some(realtime), Some(node)) = (&task.realtime, node.get("realtime")) {
        realtime::feed(realtime, node, &mut hasher);
    }
    hasher.finish()
}

/// Over everything that can change a result. Name, level, weight and tags can't; the suite's digest
/// covers those that reports use.
fn digest(task: &Task, node: &Node) -> Digest {
    let mut hasher = Hasher::default();
    hasher.part(b"task 1");
    hasher.part(task.played.bytes());
    let solution = match task.solution.on_host() {
        Some(Solution::Actions(actions)) => serde_json::to_string(actions).unwrap_or_default(),
        Some(Solution::Player(player)) => format!("player {player}"),
        None => "null".to_owned(),
    };
    hasher.part(solution.as_bytes());
    for key in ["checks", "partial"] {
        hasher.part(key.as_bytes());
        if let Some(value) = node.get(key) {
            value.feed(&mut hasher);
        }
    }
    hasher.part(task.verify.inspect(FileTree::digest).bytes());
    hasher.finish()
}
