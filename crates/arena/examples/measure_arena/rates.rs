//! How often an agent can look at a fresh frame.

use std::time::Duration;

use agon_agent::play::{Cause, Flow, Play, PlayConfig, Player, Stop, Task, start};

use crate::figure::{Failed, Figure};
use crate::times::Times;
use crate::window::NumberedFrames;

const LASTS: Duration = Duration::from_secs(5);

struct Looks;

impl Player for Looks {
    fn play_env(&mut self, _: &Task, play: &mut Play) -> Flow {
        Flow::of(|| play.frame().map(|_| Flow::Continue))
    }
}

pub(crate) fn loop_rate() -> Result<Vec<Figure>, Failed> {
    let desktop = crate::desktop()?;
    let _window = NumberedFrames::show(&desktop, true)?;
    // What the capture alone would allow.
    let alone = Times::of(500, || Ok(desktop.screen().capture()?))?.p50();
    let config = PlayConfig::new(desktop.address().clone());
    let playing = start(Box::new(Looks), crate::task(), config, Stop::new())?;
    playing.stop().wait(LASTS);
    playing.stop().ask(Cause::Asked);
    let played = playing.wait(LASTS).ok_or("the player did not come back")?;
    let rate = played.stats.steps as f64 / played.stats.played;
    Ok(vec![
        Figure::new("loop_rate_hz", rate, Some(1e3 / alone)).noting(format!(
            "{} steps in {:.1} s, each with a fresh 1280x800 frame while a window draws",
            played.stats.steps, played.stats.played
        )),
    ])
}
