//! One sitting: the title, game after game, and what is remembered between them. Keys and steps go in;
//! records of finished games come out. No clock and no pixels.

use crate::score::{Ended, Record, Score};
use crate::seed;
use crate::world::{RATE, Turn, World};

/// The end of a game is shown at least so long before another begins: a key that was meant for the
/// game does not take it away.
const PAUSE: u32 = RATE / 2;
/// How long the end of the last game is shown before the program ends.
const FAREWELL: u32 = RATE;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Left,
    Right,
    Space,
}

#[derive(Debug, Clone)]
pub struct Rules {
    pub seed: u64,
    pub speed: f64,
    /// Begins without a key.
    pub start: bool,
    /// The program ends after so many games.
    pub games: Option<u32>,
}

#[derive(Debug)]
enum Phase {
    Title,
    Playing(World),
    Over { world: World, steps: u32 },
}

/// What is to be seen.
#[derive(Debug, Clone, Copy)]
pub enum View<'a> {
    Title,
    Playing(&'a World),
    Over {
        world: &'a World,
        last: Score,
        best: Score,
    },
}

#[derive(Debug)]
pub struct Game {
    rules: Rules,
    phase: Phase,
    /// The game that is played or was played last, from one.
    number: u32,
    frames: u32,
    best: Score,
    left: bool,
    right: bool,
    /// The turn that was asked for last wins while both are held.
    latest: Turn,
    space: bool,
}

impl Game {
    pub fn new(rules: Rules) -> Self {
        let mut game = Self {
            rules,
            phase: Phase::Title,
            number: 0,
            frames: 0,
            best: Score::default(),
            left: false,
            right: false,
            latest: Turn::None,
            space: false,
        };
        if game.rules.start {
            game.begin();
        }
        game
    }

    fn begin(&mut self) {
        self.number += 1;
        self.frames = 0;
        self.phase = Phase::Playing(World::new(self.seed(), self.rules.speed));
    }

    const fn seed(&self) -> u64 {
        seed::of_game(self.rules.seed, self.number)
    }

    /// A key that is held and pressed again, as keyboards repeat it, changes nothing.
    pub fn press(&mut self, key: Key) {
        match key {
            Key::Left if !self.left => {
                self.left = true;
                self.latest = Turn::Left;
            }
            Key::Right if !self.right => {
                self.right = true;
                self.latest = Turn::Right;
            }
            Key::Space if !self.space => {
                self.space = true;
                self.start_if_possible();
            }
            Key::Left | Key::Right | Key::Space => {}
        }
    }

    pub const fn release(&mut self, key: Key) {
        match key {
            Key::Left => self.left = false,
            Key::Right => self.right = false,
            Key::Space => self.space = false,
        }
    }

    pub const fn release_all(&mut self) {
        self.left = false;
        self.right = false;
        self.space = false;
    }

    fn start_if_possible(&mut self) {
        match self.phase {
            Phase::Title => self.begin(),
            Phase::Over { steps, .. } if steps >= PAUSE && !self.was_last() => self.begin(),
            Phase::Playing(_) | Phase::Over { .. } => {}
        }
    }

    const fn turn(&self) -> Turn {
        match (self.left, self.right) {
            (true, true) => self.latest,
            (true, false) => Turn::Left,
            (false, true) => Turn::Right,
            (false, false) => Turn::None,
        }
    }

    /// One step of the world. The record of a game comes with the step that ends it.
    pub fn step(&mut self) -> Option<Record> {
        let turn = self.turn();
        match &mut self.phase {
            Phase::Title => None,
            Phase::Over { steps, .. } => {
                *steps = steps.saturating_add(1);
                None
            }
            Phase::Playing(world) => {
                world.step(turn);
                if world.is_alive() {
                    return None;
                }
                let world = world.clone();
                self.best = self.best.max(world.score());
                let record = self.record(world.score(), Ended::Wall);
                self.phase = Phase::Over { world, steps: 0 };
                Some(record)
            }
        }
    }

    /// The record of a game that is cut short.
    pub fn close(&self) -> Option<Record> {
        match &self.phase {
            Phase::Playing(world) => Some(self.record(world.score(), Ended::Closed)),
            Phase::Title | Phase::Over { .. } => None,
        }
    }

    const fn record(&self, score: Score, ended: Ended) -> Record {
        Record {
            game: self.number,
            seed: self.seed(),
            score,
            frames: self.frames,
            ended,
        }
    }

    /// Told for each picture that was shown.
    pub const fn shown(&mut self) {
        self.frames = self.frames.saturating_add(1);
    }

    fn was_last(&self) -> bool {
        self.rules.games.is_some_and(|games| self.number >= games)
    }

    /// Whether all games were played and their end was seen.
    pub fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Over { steps, .. } if steps >= FAREWELL && self.was_last())
    }

    pub const fn view(&self) -> View<'_> {
        match &self.phase {
            Phase::Title => View::Title,
            Phase::Playing(world) => View::Playing(world),
            Phase::Over { world, .. } => View::Over {
                world,
                last: world.score(),
                best: self.best,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        Rules {
            seed: 5,
            speed: 1.0,
            start: false,
            games: None,
        }
    }

    fn until_over(game: &mut Game) -> Record {
        (0..60 * RATE).find_map(|_| game.step()).unwrap()
    }

    #[test]
    fn space_starts_and_retries_with_the_next_seed() {
        let mut game = Game::new(rules());
        assert!(game.step().is_none() && matches!(game.view(), View::Title));
        game.press(Key::Space);
        assert!(matches!(game.view(), View::Playing(_)));
        game.shown();
        let first = until_over(&mut game);
        assert_eq!((first.game, first.seed, first.frames), (1, 5, 1));
        assert_eq!(first.ended, Ended::Wall);

        // A held key is no new press, and a press right after the end is not meant for a retry.
        for _ in 0..PAUSE - 1 {
            game.press(Key::Space);
            game.step();
        }
        game.release(Key::Space);
        game.press(Key::Space);
        assert!(matches!(game.view(), View::Over { .. }));
        game.step();
        game.release(Key::Space);
        game.press(Key::Space);
        assert!(matches!(game.view(), View::Playing(_)));
        let second = until_over(&mut game);
        assert_eq!((second.game, second.seed), (2, seed::of_game(5, 2)));
        let View::Over { last, best, .. } = game.view() else {
            panic!("it is over");
        };
        assert_eq!(last, second.score);
        assert_eq!(best, first.score.max(second.score));
    }

    #[test]
    fn repeated_presses_do_not_stutter() {
        let mut game = Game::new(Rules {
            start: true,
            ..rules()
        });
        game.press(Key::Left);
        for _ in 0..20 {
            game.press(Key::Left);
            game.step();
        }
        let View::Playing(world) = game.view() else {
            panic!("it is played");
        };
        assert!((world.angle() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn the_later_of_two_keys_wins() {
        let mut game = Game::new(rules());
        game.press(Key::Left);
        game.press(Key::Right);
        assert_eq!(game.turn(), Turn::Right);
        game.press(Key::Left);
        assert_eq!(game.turn(), Turn::Right);
        game.release(Key::Right);
        assert_eq!(game.turn(), Turn::Left);
        game.release_all();
        assert_eq!(game.turn(), Turn::None);
    }

    #[test]
    fn it_ends_after_the_last_game_was_seen() {
        let mut game = Game::new(Rules {
            start: true,
            games: Some(1),
            ..rules()
        });
        assert_eq!(game.close().unwrap().ended, Ended::Closed);
        until_over(&mut game);
        assert!(!game.is_done() && game.close().is_none());
        for _ in 0..FAREWELL {
            game.step();
        }
        game.press(Key::Space);
        assert!(game.is_done());
    }
}
