//! An agent that does what a task asks for, for tests of clients.

use std::time::Duration;

use agon_arena::{Agent, Flow, Play, PlayError, Task};
use agon_desktop::Key;
use serde_json::Value;

/// Looks at `success_criteria.agent`: `finish`, `fail`, `panic`, `operator`, `slow` (deaf for most of a
/// second); anything else plays.
pub(super) struct Player;

impl Agent for Player {
    fn play_env(&mut self, task: &Task, play: &mut Play) -> Flow {
        match task.success_criteria.get("agent").and_then(Value::as_str) {
            Some("finish") => Flow::Finish,
            Some("fail") => Flow::Fail(PlayError::Agent("lost my way".to_owned())),
            Some("panic") => panic!("on purpose"),
            Some("operator") => {
                play.stop().signal().set();
                Flow::Continue
            }
            Some("slow") => {
                std::thread::park_timeout(Duration::from_millis(700));
                Flow::Continue
            }
            _ => Flow::of(|| {
                play.keyboard().tap(Key::Left, Duration::from_millis(1))?;
                play.sleep(Duration::from_millis(5))?;
                Ok(Flow::Continue)
            }),
        }
    }
}
