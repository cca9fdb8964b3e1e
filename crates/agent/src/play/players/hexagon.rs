//! `hexagon`: plays the game Hexagon Run by looking at its pixels. It reads nothing but the screen and
//! presses nothing but keys; what it knows of the game is how it looks and how fast one turns.

pub mod eyes;
pub mod policy;

use std::time::Duration;

use agon_desktop::screen::Frame;
use agon_desktop::{Key, Rect};

use self::eyes::{Picture, Sight};
use self::policy::{Policy, Turn};
use super::super::context::Play;
use super::super::contract::{Flow, PlayError, Player};
use super::super::task::Task;
use super::list::PlayerKind;

const LANES: usize = 6;

pub(super) const PLAYER: PlayerKind = PlayerKind::new(
    "hexagon",
    "",
    "plays Hexagon Run by looking at its pixels: finds the gaps and turns to them",
    |_| Ok(Box::new(|| Box::new(Hexagon::default()))),
);

/// Between two looks while nothing changes.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long Space is held; a game that is over takes it only after a moment.
const TAP: Duration = Duration::from_millis(40);

#[derive(Debug, Default)]
struct Hexagon {
    policy: Policy,
    /// Where the window is; looked up again when the game is not seen there.
    window: Option<Rect>,
    held: Option<Key>,
    /// A game was seen being played.
    has_played: bool,
}

impl Player for Hexagon {
    fn init_task(&mut self, _: &Task, play: &mut Play) -> Result<(), PlayError> {
        *self = Self {
            policy: Policy::with_delay(play.delay()),
            ..Self::default()
        };
        play.window().make_active()
    }

    fn play_env(&mut self, _: &Task, play: &mut Play) -> Flow {
        Flow::of(|| self.step(play))
    }
}

impl Hexagon {
    fn step(&mut self, play: &mut Play) -> Result<Flow, PlayError> {
        let window = match self.window {
            Some(window) => window,
            None => *self.window.insert(play.window().rect()?),
        };
        // A game that waits for a key shows nothing new.
        let frame = match play.next_frame(PATIENCE)? {
            Some(frame) => frame,
            None => play.frame()?,
        };
        match eyes::look(&part(&frame, window)) {
            Some(Sight::Playing(field)) => {
                self.has_played = true;
                let turn = self.policy.decide(&field, play.elapsed());
                self.turn(play, turn)?;
            }
            Some(Sight::Title | Sight::Over) if self.has_played => {
                self.turn(play, Turn::None)?;
                return Ok(Flow::Finish);
            }
            Some(Sight::Title | Sight::Over) => {
                self.turn(play, Turn::None)?;
                play.keyboard().tap(Key::Space, TAP)?;
            }
            None => self.window = None,
        }
        Ok(Flow::Continue)
    }

    /// Keys are held as long as the turn is the same.
    fn turn(&mut self, play: &Play, turn: Turn) -> Result<(), PlayError> {
        let wanted = match turn {
            Turn::Left => Some(Key::Left),
            Turn::Right => Some(Key::Right),
            Turn::None => None,
        };
        if self.held == wanted {
            return Ok(());
        }
        if let Some(key) = self.held.take() {
            play.keyboard().release(key)?;
        }
        if let Some(key) = wanted {
            play.keyboard().press(key)?;
        }
        self.held = wanted;
        Ok(())
    }
}

fn part(frame: &Frame, window: Rect) -> Picture<'_> {
    let origin = frame.origin();
    Picture {
        pixels: frame.pixels(),
        stride: frame.size().width as usize,
        left: window.x.saturating_sub(origin.x),
        top: window.y.saturating_sub(origin.y),
        width: window.width,
        height: window.height,
    }
}
