//! `one-key`: presses one key over and over, whatever happens. The agent of Agon's forebears.

use std::time::Duration;

use agon_desktop::Key;

use super::super::context::Play;
use super::super::contract::{Flow, PlayError, Player};
use super::super::task::Task;
use super::list::PlayerKind;

pub(super) const PLAYER: PlayerKind = PlayerKind::new(
    "one-key",
    "[:KEY]",
    "presses one key over and over: Right, or the one given",
    |argument| {
        let key = match argument {
            Some(name) => name.parse().map_err(|error| format!("{error}"))?,
            None => Key::Right,
        };
        Ok(Box::new(move || Box::new(OneKey { key })))
    },
);

/// Down and up for so long.
const HOLD: Duration = Duration::from_millis(50);

#[derive(Debug)]
struct OneKey {
    key: Key,
}

impl Player for OneKey {
    fn init_task(&mut self, _: &Task, play: &mut Play) -> Result<(), PlayError> {
        play.window().make_active()
    }

    fn play_env(&mut self, _: &Task, play: &mut Play) -> Flow {
        Flow::of(|| {
            play.keyboard().tap(self.key, HOLD)?;
            play.sleep(HOLD)?;
            Ok(Flow::Continue)
        })
    }
}
