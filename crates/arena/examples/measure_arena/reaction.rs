//! From a frame on the screen to the key event that answers it, with an agent that does nothing but
//! look and press.

use std::time::{Duration, Instant};

use agon_agent::play::{Cause, Flow, Play, PlayConfig, PlayError, Player, Stop, Task, start};
use agon_desktop::Key;

use crate::figure::{Failed, Figure};
use crate::times::Times;
use crate::window::{COLOURS, NumberedFrames, Seen, colour_of_key, key_of, number_of};

const LASTS: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_millis(200);

/// Presses the key of the frame it sees.
struct Answers {
    keys: Vec<Key>,
    /// A pixel of the window.
    looks_at: (u32, u32),
}

impl Player for Answers {
    fn play_env(&mut self, _: &Task, play: &mut Play) -> Flow {
        Flow::of(|| {
            let Some(frame) = play.next_frame(PATIENCE)? else {
                return Ok(Flow::Continue);
            };
            let pixel = frame.colour(self.looks_at.0, self.looks_at.1);
            let number = pixel.and_then(number_of).map(|number| number as usize);
            if let Some(key) = number.and_then(|number| self.keys.get(number)) {
                play.keyboard().press(*key)?;
                play.keyboard().release(*key)?;
            }
            Ok::<_, PlayError>(Flow::Continue)
        })
    }
}

pub(crate) fn frame_to_key() -> Result<Vec<Figure>, Failed> {
    let desktop = crate::desktop()?;
    let window = NumberedFrames::show(&desktop, true)?;
    let place = desktop.windows().find(crate::window::TITLE)?.rect;
    let middle = |start: i32, length: u32| start.cast_unsigned() + length / 2;
    let keys: Result<Vec<Key>, Failed> = (0..COLOURS).map(key_of).collect();
    let answers = Answers {
        keys: keys?,
        looks_at: (middle(place.x, place.width), middle(place.y, place.height)),
    };
    let config = PlayConfig::new(desktop.address().clone());
    let playing = start(Box::new(answers), crate::task(), config, Stop::new())?;
    let began = Instant::now();
    let mut drawn = [None; COLOURS as usize];
    let (mut frames, mut answered) = (0_u32, 0_u32);
    let mut times = Times::default();
    while began.elapsed() < LASTS {
        match window.seen.recv_timeout(LASTS)? {
            Seen::Drawn(number, at) => {
                drawn[(number % COLOURS) as usize] = Some(at);
                frames += 1;
            }
            Seen::Key(code, true, at) => {
                let slot = colour_of_key(code).and_then(|colour| drawn.get_mut(colour as usize));
                // Each frame is answered once.
                if let Some(shown) = slot.and_then(Option::take)
                    && began.elapsed() > Duration::from_secs(1)
                {
                    times.add(at.duration_since(shown));
                    answered += 1;
                }
            }
            Seen::Key(..) => {}
        }
    }
    playing.stop().ask(Cause::Asked);
    let played = playing.wait(LASTS).ok_or("the player did not come back")?;
    if answered < frames / 2 {
        return Err(format!("of {frames} frames only {answered} were answered").into());
    }
    let note = format!(
        "{answered} answers to {frames} frames; {} missed by the player's own count",
        played.stats.frames_missed
    );
    Ok(vec![
        Figure::new("frame_to_key_p50_ms", times.p50(), None)
            .noting(times.spread("from frame to key"))
            .noting(note),
        Figure::new("frame_to_key_p99_ms", times.percentile(0.99), None),
    ])
}
