//! From the signal to stop to the last key event, with an agent that never stops pressing.

use std::time::{Duration, Instant};

use agon_agent::play::{Cause, Flow, Play, PlayConfig, Player, Stop, Task, start};
use agon_desktop::Key;

use crate::figure::{Failed, Figure};
use crate::times::Times;
use crate::window::{NumberedFrames, Seen};

const ROUNDS: usize = 40;
const WITHIN: Duration = Duration::from_secs(10);
/// Nothing came for this long: that was the last one.
const SILENCE: Duration = Duration::from_millis(300);

/// Never comes back by itself, and never looks at the signal.
struct Hammers;

impl Player for Hammers {
    fn play_env(&mut self, _: &Task, play: &mut Play) -> Flow {
        loop {
            let pressed = play.keyboard().press(Key::Right);
            let released = play.keyboard().release(Key::Right);
            if let Err(error) = pressed.and(released) {
                return Flow::Fail(error);
            }
        }
    }
}

pub(crate) fn stop_to_last_key() -> Result<Vec<Figure>, Failed> {
    let desktop = crate::desktop()?;
    let window = NumberedFrames::show(&desktop, false)?;
    let mut times = Times::default();
    for _ in 0..ROUNDS {
        let config = PlayConfig::new(desktop.address().clone());
        let playing = start(Box::new(Hammers), crate::task(), config, Stop::new())?;
        for _ in 0..100 {
            window.seen.recv_timeout(WITHIN)?;
        }
        playing.stop().ask(Cause::Asked);
        let asked = Instant::now();
        let mut last = asked;
        while let Ok(seen) = window.seen.recv_timeout(SILENCE) {
            if let Seen::Key(_, _, at) = seen {
                last = last.max(at);
            }
        }
        times.add(last.duration_since(asked));
        playing.wait(WITHIN).ok_or("the player did not come back")?;
    }
    Ok(vec![
        Figure::new("stop_to_last_key_ms", times.percentile(1.0), None)
            .noting("the longest of all rounds")
            .noting(times.spread("from stop to last key event")),
    ])
}
