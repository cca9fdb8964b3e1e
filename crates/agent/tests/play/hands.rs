//! What a player presses arrives, on time and in order, and is counted.

use std::time::Duration;

use agon_agent::play::{Cause, Flow, PlayEnd, PlayError};
use agon_core::action::Button;
use agon_desktop::registry::CALLABLES;
use agon_desktop::{DesktopError, Key};

use super::stage::{PATIENCE, Script, Stage, down, end, up};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn keys_and_buttons_arrive_and_are_counted() {
    let stage = Stage::new();
    let playing = stage.start(Script::step(|play| {
        assert!(play.window().is_active()?);
        let keyboard = play.keyboard();
        keyboard.tap(Key::Right, ms(1))?;
        keyboard.type_text("a")?;
        keyboard.press(Key::Left)?;
        keyboard.release_all()?;
        play.mouse().click_at(10, 20, Button::Left, 1)?;
        assert_eq!(play.mouse().position()?.x, 10);
        Ok(Flow::Finish)
    }));
    let played = end(&playing);
    assert_eq!(played.end, PlayEnd::Finished);
    let expected = [
        down("Right"),
        up("Right"),
        down("a"),
        up("a"),
        down("Left"),
        up("Left"),
    ];
    assert_eq!(stage.keys(), expected);
    assert_eq!((played.stats.actions, played.stats.steps), (6, 1));
    assert_eq!(played.stats.latency, None, "it has seen no frame");
}

#[test]
fn what_is_called_by_name_acts_on_the_played_desktop() {
    let stage = Stage::new();
    let playing = stage.start(Script::step(|_| {
        CALLABLES.call("keyboard.press", "space")?;
        CALLABLES.call("keyboard.release", "space")?;
        Ok(Flow::Finish)
    }));
    assert_eq!(end(&playing).end, PlayEnd::Finished);
    assert_eq!(stage.keys(), [down("space"), up("space")]);
}

#[test]
fn scheduled_keys_are_pressed_in_order_and_never_early() {
    let stage = Stage::new();
    let (tell, told) = std::sync::mpsc::channel();
    let playing = stage.start(Script::step(move |play| {
        tell.send(agon_desktop::monotonic()).unwrap();
        play.tap_at(ms(350), Key::Right, ms(20))?;
        play.press_at(ms(10), Key::Left)?;
        play.release_at(ms(30), Key::Left)?;
        play.sleep(PATIENCE)?;
        Ok(Flow::Finish)
    }));
    let asked = told.recv_timeout(PATIENCE).unwrap();
    let keys = stage.gather(4);
    playing.stop().ask(Cause::EnvEnded);
    let stats = end(&playing).stats;
    let expected = [
        ("Left", true, 10),
        ("Left", false, 30),
        ("Right", true, 350),
        ("Right", false, 370),
    ];
    assert_eq!(keys.len(), expected.len(), "{keys:?}");
    for ((key, down, at), (wanted, goes_down, after)) in keys.iter().zip(expected) {
        assert_eq!((key.as_str(), *down), (wanted, goes_down), "{keys:?}");
        // The server's clock has milliseconds.
        assert!(*at + ms(1) >= asked + ms(after), "{keys:?} {asked:?}");
    }
    assert_eq!((stats.scheduled, stats.scheduled_dropped), (4, 0));
    assert_eq!(stats.actions, 4);
}

#[test]
fn what_is_scheduled_for_later_than_the_end_is_dropped_and_counted() {
    let stage = Stage::new();
    let playing = stage.start(Script::step(|play| {
        play.press_at(Duration::MAX, Key::Right)?;
        play.tap_at(Duration::from_secs(600), Key::Left, ms(1))?;
        Ok(Flow::Finish)
    }));
    let stats = end(&playing).stats;
    assert_eq!((stats.scheduled, stats.scheduled_dropped), (3, 3));
    assert_eq!(stage.keys(), []);
}

#[test]
fn the_panic_key_is_for_people() {
    let stage = Stage::new();
    let playing = stage.start(Script::step(|play| {
        let refused = play.keyboard().press(Key::F10).unwrap_err();
        assert!(matches!(
            refused,
            PlayError::Desktop(DesktopError::Invalid(_))
        ));
        play.press_at(ms(1), Key::F10).unwrap_err();
        Ok(Flow::Finish)
    }));
    assert_eq!(end(&playing).end, PlayEnd::Finished);
    assert_eq!(stage.keys(), []);
}
