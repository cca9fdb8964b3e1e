//! The loop of the program: time goes into the game, keys too; scores and pictures come out.

use std::time::Instant;

use crate::error::HexagonError;
use crate::game::{Game, View};
use crate::options::Options;
use crate::pacing::{Frames, Steps};
use crate::scene::Scene;
use crate::score::Record;
use crate::score_file::ScoreFile;
use crate::window::{News, Window};

/// Plays until the window is closed, all games are played, or the display is gone: all three are
/// good ends.
pub fn run(options: &Options) -> Result<(), HexagonError> {
    match sit(options) {
        Err(HexagonError::Gone(_)) => Ok(()),
        ended => ended,
    }
}

fn sit(options: &Options) -> Result<(), HexagonError> {
    let scores = options.score_file.as_deref().map(ScoreFile::open);
    let mut scores = scores.transpose()?;
    let window = Window::open(&options.title, options.size)?;
    let mut sitting = Sitting {
        window,
        scene: Scene::new(options.size.0, options.size.1),
        game: Game::new(options.rules()),
        is_stale: true,
        is_due: false,
    };
    let ended = sitting.play(&mut scores);
    keep(&mut scores, sitting.game.close())?;
    ended
}

fn keep(scores: &mut Option<ScoreFile>, record: Option<Record>) -> Result<(), HexagonError> {
    match (scores, record) {
        (Some(scores), Some(record)) => scores.append(&record),
        _ => Ok(()),
    }
}

struct Sitting {
    window: Window,
    scene: Scene,
    game: Game,
    /// What the window shows is not what it should.
    is_stale: bool,
    /// It is time for a frame.
    is_due: bool,
}

impl Sitting {
    fn play(&mut self, scores: &mut Option<ScoreFile>) -> Result<(), HexagonError> {
        let now = Instant::now();
        let (mut steps, mut frames) = (Steps::new(now), Frames::new(now));
        while !self.game.is_done() {
            self.window.wait(frames.next())?;
            let now = Instant::now();
            // Time before keys: a key counts from when it came, not from the last frame on.
            for _ in 0..steps.due(now) {
                if let Some(record) = self.game.step() {
                    keep(scores, Some(record))?;
                    self.is_stale = true;
                }
            }
            while let Some(news) = self.window.next_news()? {
                match news {
                    News::Press(key) => self.game.press(key),
                    News::Release(key) => self.game.release(key),
                    News::FocusLost => self.game.release_all(),
                    News::Exposed => self.is_stale = true,
                    News::Closed => return Ok(()),
                }
            }
            self.is_due |= frames.due(now);
            if self.is_due && self.window.is_ready() {
                self.is_due = false;
                self.draw()?;
            }
        }
        Ok(())
    }

    fn draw(&mut self) -> Result<(), HexagonError> {
        let moves = matches!(self.game.view(), View::Playing(_));
        if self.is_stale || moves {
            self.scene.draw(self.game.view());
            self.window.show(self.scene.canvas())?;
            self.game.shown();
            self.is_stale = false;
        }
        Ok(())
    }
}
