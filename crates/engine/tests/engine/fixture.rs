//! A task that needs no environment.

use agon_core::files::FileTree;
use agon_core::{
    Digest, Environment, EnvironmentKind, HandIn, HostOnly, Limits, Task, TaskId, User, VerifyOnly,
    Visible,
};

pub(crate) fn task() -> Task {
    let environment = Environment::of_kind(EnvironmentKind::None);
    Task {
        id: TaskId::parse("test/faults").unwrap(),
        name: String::new(),
        level: None,
        weight: 1.0,
        tags: Vec::new(),
        instruction: Visible::new(String::new()),
        actions: environment.kind.default_actions().to_vec(),
        realtime: None,
        environment,
        setup: None,
        limits: Limits::default(),
        visible: Visible::new(FileTree::default()),
        programs: Visible::new(FileTree::default()),
        verify: VerifyOnly::new(FileTree::default()),
        checks: VerifyOnly::new(Vec::new()),
        solution: HostOnly::new(None),
        user: HostOnly::new(User::default()),
        complete: VerifyOnly::new(None),
        hand_in: HandIn::default(),
        collect: Vec::new(),
        instance: HostOnly::new(None),
        digest: Digest::of(b""),
        played: Digest::of(b""),
    }
}
