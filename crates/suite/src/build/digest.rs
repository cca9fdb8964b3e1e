//! The digests of a task: over what can change what an agent does, and over what can change a result.
//! What most tasks don't have is no part of them, so that digests stay what they were.

use agon_core::digest::Hasher;
use agon_core::files::FileTree;
use agon_core::{Digest, HandIn, Solution, Task, User};

use super::realtime;
use crate::source::Node;

/// Scripts are what users once were: written as then.
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
pub(super) fn played(task: &Task, node: &Node) -> Digest {
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
pub(super) fn whole(task: &Task, node: &Node) -> Digest {
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
    if let HandIn::Patch(rules) = &task.hand_in {
        hasher.part(b"hand_in");
        hasher.part(serde_json::to_string(rules).unwrap_or_default().as_bytes());
    }
    task.complete.inspect(|script| {
        if let Some(script) = script {
            hasher.part(b"complete");
            hasher.part(script.as_bytes());
        }
    });
    if !task.collect.is_empty() {
        hasher.part(b"collect");
        let files = serde_json::to_string(&task.collect).unwrap_or_default();
        hasher.part(files.as_bytes());
    }
    hasher.finish()
}
