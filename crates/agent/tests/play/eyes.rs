//! What a player sees: the screen as it is now, and every change of it.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use agon_agent::play::{Cause, Flow, PlayEnd};
use agon_desktop::Key;

use super::stage::{PATIENCE, Script, Stage, TITLE, await_telling, end, telling};

const RED: u32 = 0xff_00_00;
const GREEN: u32 = 0x00_ff_00;
const BLUE: u32 = 0x00_00_ff;

#[test]
fn a_frame_shows_the_screen_as_it_is_now() {
    let stage = Stage::new();
    stage.game.paint(RED);
    let playing = stage.start(Script::step(|play| {
        let rect = play.window().rect()?;
        let (x, y) = (rect.x as u32 + 50, rect.y as u32 + 50);
        let frame = play.frame()?;
        assert_eq!(frame.colour(x, y), Some(RED));
        assert_eq!((frame.size().width, frame.size().height), (1280, 800));
        assert_eq!(play.window().frame()?.colour(50, 50), Some(RED));
        assert_eq!(play.window().info()?.title, TITLE);
        assert!(play.frame_base64()?.starts_with("iVBORw0KGgo"), "a PNG");
        play.keyboard().tap(Key::Right, Duration::ZERO)?;
        Ok(Flow::Finish)
    }));
    let played = end(&playing);
    assert_eq!(played.end, PlayEnd::Finished);
    assert_eq!(played.stats.frames_seen, 3);
    assert!(played.stats.latency.is_some());
}

#[test]
fn changed_frames_come_once_and_the_newest_first() {
    let stage = Stage::new();
    let (want, wanted) = mpsc::channel();
    let playing = stage.start(Script::step(move |play| {
        let rect = play.window().rect()?;
        let (x, y) = (rect.x as u32 + 50, rect.y as u32 + 50);
        // As it is at the beginning, and no more until it changes.
        assert!(play.next_frame(PATIENCE)?.is_some());
        assert!(play.next_frame(Duration::ZERO)?.is_none());
        for colour in [GREEN, BLUE] {
            want.send(colour).unwrap();
            let mut seen = None;
            while seen != Some(colour) {
                seen = play.next_frame(PATIENCE)?.unwrap().colour(x, y);
            }
        }
        let last = play.frames(3)?;
        assert_eq!(last.last().unwrap().colour(x, y), Some(BLUE));
        assert!(last.windows(2).all(|pair| pair[0].at() < pair[1].at()));
        Ok(Flow::Finish)
    }));
    for _ in 0..2 {
        stage.game.paint(wanted.recv_timeout(PATIENCE).unwrap());
    }
    let played = end(&playing);
    assert_eq!(played.end, PlayEnd::Finished);
    assert!(played.stats.frames_seen >= 3, "{played:?}");
}

#[test]
fn frames_that_were_not_looked_at_are_counted() {
    let stage = Stage::new();
    // Looks now and then only.
    let by_one = Script::step(|play| {
        play.next_frame(PATIENCE)?;
        play.sleep(Duration::from_millis(60))?;
        Ok(Flow::Continue)
    });
    let by_three = Script::step(|play| {
        play.frames(3)?;
        play.sleep(Duration::from_millis(60))?;
        Ok(Flow::Continue)
    });
    for script in [by_one, by_three] {
        let playing = stage.start(script);
        let deadline = Instant::now() + PATIENCE;
        let mut colour = 0;
        while playing.stats().frames_missed == 0 && Instant::now() < deadline {
            colour += 1;
            stage.game.paint(colour);
        }
        playing.stop().ask(Cause::EnvEnded);
        let stats = end(&playing).stats;
        assert!(
            stats.frames_missed > 0 && stats.frames_seen > 0,
            "{stats:?}"
        );
    }
}

#[test]
fn whoever_waits_for_a_frame_is_woken_by_the_stop() {
    let stage = Stage::new();
    let (script, told) = telling(
        |play| {
            // Nothing changes any more.
            while play.next_frame(Duration::from_secs(3600))?.is_some() {}
            Ok(Flow::Finish)
        },
        |play| play.next_frame(PATIENCE).map(drop),
    );
    let playing = stage.start(script);
    await_telling(&told);
    playing.stop().ask(Cause::Timeout);
    assert_eq!(end(&playing).end, PlayEnd::Stopped(Cause::Timeout));
}
