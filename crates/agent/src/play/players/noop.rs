//! `noop`: does nothing to the end. What it survives, a game gives away.

use std::time::Duration;

use super::super::context::Play;
use super::super::contract::{Flow, Player};
use super::super::task::Task;
use super::list::PlayerKind;

pub(super) const PLAYER: PlayerKind =
    PlayerKind::new("noop", "", "does nothing to the end", |_| {
        Ok(Box::new(|| Box::new(Noop)))
    });

/// Of the world's time, between two looks at nothing.
const NAP: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Noop;

impl Player for Noop {
    fn play_env(&mut self, _: &Task, play: &mut Play) -> Flow {
        Flow::of(|| {
            play.sleep(NAP)?;
            Ok(Flow::Continue)
        })
    }
}
