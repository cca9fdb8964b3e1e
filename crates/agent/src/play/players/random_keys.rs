//! `random-keys`: holds Left, Right or nothing for random times. The same seed presses the same keys.

use std::time::Duration;

use agon_core::Seed;
use agon_desktop::Key;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::super::context::Play;
use super::super::contract::{Flow, PlayError, Player};
use super::super::task::Task;
use super::list::PlayerKind;

pub(super) const PLAYER: PlayerKind = PlayerKind::new(
    "random-keys",
    "",
    "holds Left, Right or nothing for random times, by the trial's seed",
    |_| Ok(Box::new(|| Box::new(RandomKeys { rng: Seed(0).rng() }))),
);

/// Milliseconds that a key is held, or none.
const HOLD: std::ops::Range<u64> = 30..400;

#[derive(Debug)]
struct RandomKeys {
    rng: ChaCha8Rng,
}

impl RandomKeys {
    fn draw(&mut self) -> (Option<Key>, Duration) {
        let key = match self.rng.random_range(0..3) {
            0 => Some(Key::Left),
            1 => Some(Key::Right),
            _ => None,
        };
        (key, Duration::from_millis(self.rng.random_range(HOLD)))
    }
}

impl Player for RandomKeys {
    fn init_task(&mut self, _: &Task, play: &mut Play) -> Result<(), PlayError> {
        self.rng = Seed(play.seed()).derive("random keys").rng();
        play.window().make_active()
    }

    fn play_env(&mut self, _: &Task, play: &mut Play) -> Flow {
        let (key, hold) = self.draw();
        Flow::of(|| {
            match key {
                Some(key) => play.keyboard().tap(key, hold)?,
                None => play.sleep(hold)?,
            }
            Ok(Flow::Continue)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same_keys() {
        let drawn = |seed: u64| -> Vec<_> {
            let mut player = RandomKeys {
                rng: Seed(seed).rng(),
            };
            (0..50).map(|_| player.draw()).collect()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        assert!(drawn(1).iter().any(|(key, _)| *key == Some(Key::Left)));
        assert!(drawn(1).iter().any(|(key, _)| *key == Some(Key::Right)));
    }
}
