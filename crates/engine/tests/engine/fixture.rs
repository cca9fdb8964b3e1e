//! A task that needs no environment.

use agon_core::{Environment, EnvironmentKind, Task, TaskId};

pub(crate) fn task() -> Task {
    let environment = Environment::of_kind(EnvironmentKind::None);
    Task::plain(TaskId::parse("test/faults").unwrap(), "", environment)
}
