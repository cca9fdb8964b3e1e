//! However a play ends, no key is down after it and none is pressed; and the end is told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use agon_agent::play::{Cause, Flow, PlayEnd, PlayError, Stop, StopEvent, start};
use agon_desktop::{DisplayAddress, Key};

use super::stage::{PATIENCE, Script, Stage, await_telling, down, end, task, telling, up};

/// Long enough for whoever plays on to be noticed.
const A_WHILE: Duration = Duration::from_millis(50);

#[test]
fn held_keys_are_released_when_a_play_is_stopped() {
    let stage = Stage::new();
    let (script, told) = telling(
        |play| {
            play.sleep(PATIENCE)?;
            Ok(Flow::Continue)
        },
        |play| play.keyboard().press(Key::Right),
    );
    let playing = stage.start(script);
    await_telling(&told);
    assert!(stage.is_down());
    playing.stop().ask(Cause::EnvEnded);
    playing.stop().ask(Cause::Timeout);
    let played = end(&playing);
    assert_eq!(played.end, PlayEnd::Stopped(Cause::EnvEnded));
    assert!(played.player.is_some());
    assert_eq!(stage.keys(), [down("Right"), up("Right")]);
    assert!(playing.wait(Duration::ZERO).is_none(), "it is given once");
    assert!(playing.is_over());
}

#[test]
fn a_player_that_blocks_loses_its_keyboard() {
    let stage = Stage::new();
    let (release, released) = mpsc::channel::<()>();
    let (tried, results) = mpsc::channel();
    let (script, told) = telling(
        move |play| {
            let _ = released.recv();
            // Not through the front door either.
            let desktop = play.desktop();
            let by_hand = desktop.keyboard().press(Key::Left);
            let typed = desktop.keyboard().type_text("b");
            let moved = desktop.windows().make_active(super::stage::TITLE);
            let copied = desktop.clipboard().set("x");
            let _ = tried.send([
                by_hand.is_err(),
                typed.is_err(),
                moved.is_err(),
                copied.is_err(),
                matches!(play.keyboard().press(Key::Left), Err(PlayError::Stopped)),
                matches!(play.frame(), Err(PlayError::Stopped)),
                play.press_at(Duration::ZERO, Key::Left).is_err(),
                play.next_frame(PATIENCE).is_err(),
            ]);
            Ok(Flow::Finish)
        },
        |play| play.keyboard().press(Key::Right),
    );
    let playing = stage.start(script);
    await_telling(&told);
    playing.stop().ask(Cause::Timeout);
    playing.cut();
    assert!(playing.is_cut() && !playing.is_over());
    assert_eq!(stage.keys(), [down("Right"), up("Right")]);
    assert!(playing.wait(Duration::ZERO).is_none());
    let left = playing.abandon();
    assert_eq!(left.end, PlayEnd::Stopped(Cause::Timeout));
    assert!(left.player.is_none());
    drop(release);
    assert_eq!(results.recv_timeout(PATIENCE), Ok([true; 8]));
    assert_eq!(stage.keys(), []);
}

#[test]
fn the_guardian_cuts_without_being_asked() {
    let stage = Stage::new();
    let (_keep, blocked) = mpsc::channel::<()>();
    let (script, told) = telling(
        move |_| {
            let _ = blocked.recv();
            Ok(Flow::Finish)
        },
        |play| play.keyboard().press(Key::Right),
    );
    let playing = stage.start(script);
    await_telling(&told);
    playing.stop().ask(Cause::Asked);
    while stage.is_down() {}
    assert!(!playing.is_over());
}

#[test]
fn a_player_that_types_for_ever_leaves_no_key_down() {
    let stage = Stage::new();
    let (script, told) = telling(
        |play| {
            while play.desktop().keyboard().type_text("aBcDeF").is_ok() {}
            Ok(Flow::Finish)
        },
        |play| play.keyboard().type_text("X"),
    );
    let playing = stage.start(script);
    await_telling(&told);
    playing.stop().ask(Cause::Asked);
    end(&playing);
    assert!(!stage.is_down());
    let keys = stage.keys();
    let presses = keys.iter().filter(|(_, down)| *down).count();
    assert_eq!(presses * 2, keys.len(), "all that went down came up");
}

#[test]
fn a_panic_is_an_end_like_others() {
    let stage = Stage::new();
    let (finished, is_finished) = mpsc::channel();
    let mut script = Script::step(|play| {
        play.keyboard().press(Key::Right)?;
        panic!("out of ideas")
    });
    script.finish = Box::new(move || finished.send(()).unwrap());
    let playing = stage.start(script);
    let played = end(&playing);
    assert_eq!(played.end, PlayEnd::Panicked("out of ideas".to_owned()));
    is_finished.recv_timeout(PATIENCE).unwrap();
    assert_eq!(stage.keys(), [down("Right"), up("Right")]);
    // The same player may be lucky the next time.
    let stop = Stop::new();
    let again = start(played.player.unwrap(), task(), stage.config(), stop).unwrap();
    assert!(matches!(end(&again).end, PlayEnd::Panicked(_)));
}

#[test]
fn errors_are_told_in_words() {
    let stage = Stage::new();
    let agent = Script::step(|_| Err(PlayError::Agent("no model".to_owned())));
    let failed = end(&stage.start(agent)).end;
    assert_eq!(failed, PlayEnd::Failed("no model".to_owned()));
    let mut script = Script::step(|_| panic!("never played"));
    script.init = Box::new(|_| Err(PlayError::Agent("no start".to_owned())));
    let failed = end(&stage.start(script)).end;
    assert_eq!(failed, PlayEnd::Failed("no start".to_owned()));
    // A mistake of its own, though the desktop told it.
    let mistaken = Script::step(|play| {
        play.mouse().move_to(-1, -1)?;
        Ok(Flow::Finish)
    });
    let failed = end(&stage.start(mistaken)).end;
    assert!(matches!(failed, PlayEnd::Failed(_)), "{failed:?}");
}

#[test]
fn a_stop_reaches_the_first_hook_and_the_last() {
    let stage = Stage::new();
    let (tell, told) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let mut script = Script::step(|_| panic!("it was stopped before"));
    script.init = Box::new(move |play| {
        play.keyboard().press(Key::Right)?;
        let _ = tell.send(());
        play.sleep(PATIENCE)
    });
    let after = Arc::new(AtomicBool::new(false));
    let dead = Arc::clone(&after);
    script.finish = Box::new(move || {
        let _ = released.recv();
        let pressed = agon_desktop::registry::CALLABLES.call("keyboard.press", "Left");
        dead.store(pressed.is_err(), Ordering::Relaxed);
    });
    let playing = stage.start(script);
    await_telling(&told);
    playing.stop().ask(Cause::Timeout);
    // The last hook blocks, but has no keyboard.
    while stage.is_down() {}
    assert!(!playing.is_over());
    drop(release);
    assert_eq!(end(&playing).end, PlayEnd::Stopped(Cause::Timeout));
    assert!(after.load(Ordering::Relaxed));
    assert_eq!(stage.keys(), [down("Right"), up("Right")]);
}

#[test]
fn a_play_that_was_stopped_before_it_began_is_not_played() {
    let stage = Stage::new();
    let stop = Stop::new();
    stop.ask(Cause::Asked);
    let mut script = Script::step(|_| panic!("played"));
    script.init = Box::new(|_| panic!("begun"));
    let playing = start(Box::new(script), task(), stage.config(), stop).unwrap();
    assert_eq!(end(&playing).end, PlayEnd::Stopped(Cause::Asked));
}

#[test]
fn a_person_stops_the_play_by_a_key() {
    let stage = Stage::new();
    let (script, told) = telling(
        |play| {
            play.sleep(PATIENCE)?;
            Ok(Flow::Continue)
        },
        |_| Ok(()),
    );
    let playing = stage.start(script);
    await_telling(&told);
    stage.desktop.keyboard().tap(Key::F10).unwrap();
    assert_eq!(end(&playing).end, PlayEnd::Stopped(Cause::Operator));
}

#[test]
fn the_switch_of_a_player_ends_its_task_and_not_the_next() {
    let stage = Stage::new();
    let switch = StopEvent::new();
    let in_play = switch.clone();
    let mut plays = 0;
    let mut script = Script::step(move |play| {
        plays += 1;
        if plays == 2 {
            assert!(!in_play.is_set());
            return Ok(Flow::Finish);
        }
        in_play.set();
        play.sleep(PATIENCE)?;
        Ok(Flow::Continue)
    });
    script.switch = Some(switch.clone());
    let played = end(&stage.start(script));
    assert_eq!(played.end, PlayEnd::Stopped(Cause::Operator));
    // Pressed when nothing is played.
    switch.set();
    let stop = Stop::new();
    let again = start(played.player.unwrap(), task(), stage.config(), stop).unwrap();
    assert_eq!(end(&again).end, PlayEnd::Finished);
    switch.set();
    assert!(!again.stop().is_set());
}

#[test]
fn a_play_that_nobody_holds_is_stopped() {
    let stage = Stage::new();
    let (tell, told) = mpsc::channel();
    let (mut script, begun) = telling(
        |play| {
            play.sleep(PATIENCE)?;
            Ok(Flow::Continue)
        },
        |play| play.keyboard().press(Key::Right),
    );
    script.finish = Box::new(move || tell.send(()).unwrap());
    let playing = stage.start(script);
    await_telling(&begun);
    drop(playing);
    told.recv_timeout(PATIENCE).unwrap();
    assert!(!stage.is_down());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_is_told_to_whoever_waits() {
    let stage = Stage::new();
    let playing = stage.start(Script::step(|play| {
        play.sleep(A_WHILE)?;
        Ok(Flow::Finish)
    }));
    playing.over().await;
    assert!(playing.is_over());
    playing.over().await;
    let (tell, told) = mpsc::channel();
    playing.on_end(move || tell.send(()).unwrap());
    told.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn a_program_that_keeps_the_server_to_itself_holds_nobody_up() {
    let stage = Stage::new();
    let (script, told) = telling(
        |play| {
            play.sleep(PATIENCE)?;
            Ok(Flow::Continue)
        },
        |_| Ok(()),
    );
    let playing = stage.start(script);
    await_telling(&told);
    let grabbed = stage.game.grab_server();
    playing.stop().ask(Cause::Timeout);
    // With the server's patience it would take as long as ours.
    let within = PATIENCE / 4;
    let played = playing.wait(within);
    drop(grabbed);
    assert_eq!(played.unwrap().end, PlayEnd::Stopped(Cause::Timeout));
}

#[test]
fn a_lost_desktop_is_an_end() {
    let stage = Stage::new();
    let (script, told) = telling(
        |play| {
            while play.frame().is_ok() {}
            play.frame()?;
            Ok(Flow::Finish)
        },
        |_| Ok(()),
    );
    let playing = stage.start(script);
    await_telling(&told);
    stage.desktop.end();
    assert!(matches!(end(&playing).end, PlayEnd::ScreenLost(_)));
    let nowhere = DisplayAddress::Named(":4711".to_owned());
    let config = agon_agent::play::PlayConfig::new(nowhere);
    let script = Script::step(|_| Ok(Flow::Finish));
    start(Box::new(script), task(), config, Stop::new()).unwrap_err();
}
