//! `agon solve`: one task from the command line, in a folder of the user's.

#[path = "solve/container.rs"]
mod container;
#[path = "solve/ends.rs"]
mod ends;
#[path = "solve/going_on.rs"]
mod going_on;
#[path = "solve/hidden.rs"]
mod hidden;
#[path = "solve/refused.rs"]
mod refused;
#[path = "solve/sessions.rs"]
mod sessions;
#[path = "solve/stuck.rs"]
mod stuck;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::scripted::{finish, run};
use crate::support::Bench;

/// A working folder `project` and a model that greets.
fn greeter(bench: &Bench) -> String {
    fs::create_dir(bench.path("project")).unwrap();
    bench.turns(
        "greet",
        &[run("echo hello > greeting.txt"), finish("It is written.")],
    )
}

/// The only session folder.
#[track_caller]
fn session(bench: &Bench) -> PathBuf {
    let mut found: Vec<PathBuf> = sessions(bench);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn sessions(bench: &Bench) -> Vec<PathBuf> {
    let entries = fs::read_dir(bench.path("runs")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The events of a session's trajectory.
#[track_caller]
fn trajectory(bench: &Bench) -> Vec<Value> {
    let text = fs::read_to_string(session(bench).join("trajectory.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What stands in the events under a name, such as `action` or `observation`.
fn named(events: &[Value], what: &str) -> Vec<String> {
    let name = |event: &Value| event[what].as_str().map(str::to_owned);
    events.iter().filter_map(name).collect()
}
