//! Clocks other than the plain one: latency, and worlds that stand still.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_agent::play::{Cause, Flow, PlayConfig, PlayEnd, Stop, World, start};
use agon_core::Seconds;
use agon_core::realtime::WorldClock;
use agon_desktop::Key;

use super::stage::{PATIENCE, Script, Stage, await_telling, down, end, task, telling, up};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn latency_delays_every_action_and_keeps_their_order() {
    let stage = Stage::new();
    let config = PlayConfig {
        clock: WorldClock::Latency {
            delay: Seconds::millis(150),
        },
        ..stage.config()
    };
    let (tell, told) = std::sync::mpsc::channel();
    let playing = stage.start_with(
        config,
        Script::step(move |play| {
            tell.send(agon_desktop::monotonic()).unwrap();
            let keyboard = play.keyboard();
            keyboard.press(Key::Right)?;
            keyboard.release(Key::Right)?;
            keyboard.type_text("ab")?;
            play.press_at(ms(20), Key::Left)?;
            keyboard.press(Key::Up)?;
            play.sleep(PATIENCE)?;
            Ok(Flow::Finish)
        }),
    );
    let asked = told.recv_timeout(PATIENCE).unwrap();
    let keys = stage.gather(8);
    playing.stop().ask(Cause::EnvEnded);
    let stats = end(&playing).stats;
    let names: Vec<&str> = keys.iter().map(|(key, ..)| key.as_str()).collect();
    assert_eq!(names, ["Right", "Right", "a", "a", "b", "b", "Up", "Left"]);
    for (_, _, at) in &keys {
        assert!(*at + ms(1) >= asked + ms(150), "{keys:?} {asked:?}");
    }
    assert!(keys[7].2 + ms(1) >= asked + ms(170), "{keys:?} {asked:?}");
    assert_eq!((stats.actions, stats.scheduled), (5, 1));
}

#[test]
fn what_is_still_on_its_way_at_the_end_never_arrives() {
    let stage = Stage::new();
    let config = PlayConfig {
        clock: WorldClock::Latency {
            delay: Seconds::whole(600),
        },
        ..stage.config()
    };
    let playing = stage.start_with(
        config,
        Script::step(|play| {
            play.keyboard().press(Key::Right)?;
            Ok(Flow::Finish)
        }),
    );
    assert_eq!(end(&playing).stats.actions, 0);
    assert_eq!(stage.keys(), []);
}

/// Writes down what it is told.
#[derive(Debug, Default)]
struct Told(Mutex<Vec<&'static str>>);

impl Told {
    fn note(&self, what: &'static str) {
        self.0.lock().unwrap().push(what);
    }

    fn all(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().clone()
    }
}

impl World for Told {
    fn freeze(&self) -> Result<(), String> {
        self.note("freeze");
        Ok(())
    }

    fn resume(&self) -> Result<(), String> {
        self.note("resume");
        Ok(())
    }
}

fn paused(stage: &Stage, world: Arc<dyn World>, slice: u32) -> PlayConfig {
    PlayConfig {
        clock: WorldClock::Paused {
            slice: Seconds::millis(slice),
        },
        world: Some(world),
        ..stage.config()
    }
}

#[test]
fn the_world_stands_still_while_the_player_thinks() {
    let stage = Stage::new();
    let world = Arc::new(Told::default());
    let notes = Arc::clone(&world);
    let mut steps = 0;
    let script = Script::step(move |play| {
        notes.note("step");
        steps += 1;
        // Thinks for a while, which the world does not see.
        let before = play.elapsed();
        play.stop().wait(ms(60));
        assert_eq!(play.elapsed(), before);
        Ok(if steps == 3 {
            Flow::Finish
        } else {
            Flow::Continue
        })
    });
    let config = paused(&stage, Arc::clone(&world) as Arc<dyn World>, 20);
    let stats = end(&stage.start_with(config, script)).stats;
    let expected = [
        "freeze", "step", "resume", "freeze", "step", "resume", "freeze", "step", "resume",
    ];
    assert_eq!(world.all(), expected);
    assert!(stats.hidden >= 0.18, "{stats:?}");
    assert!(stats.played >= 0.04, "{stats:?}");
    assert_eq!(stats.steps, 3);
}

#[test]
fn sleep_and_holding_a_key_let_the_world_go_on() {
    let stage = Stage::new();
    let world = Arc::new(Told::default());
    let script = Script::step(move |play| {
        let before = play.elapsed();
        play.keyboard().tap(Key::Right, ms(30))?;
        assert!(play.elapsed() >= before + ms(30));
        Ok(Flow::Finish)
    });
    let config = paused(&stage, Arc::clone(&world) as Arc<dyn World>, 20);
    let played = end(&stage.start_with(config, script));
    assert_eq!(played.end, PlayEnd::Finished);
    assert_eq!(world.all(), ["freeze", "resume", "freeze", "resume"]);
    assert_eq!(stage.keys(), [down("Right"), up("Right")]);
}

#[test]
fn outside_of_the_slice_nothing_is_pressed_and_no_key_stays_down() {
    let stage = Stage::new();
    let mut steps = 0;
    let script = Script::step(move |play| {
        steps += 1;
        if steps == 2 {
            return Ok(Flow::Finish);
        }
        // Its release would be long after the slice.
        play.tap_at(ms(1), Key::Right, Duration::from_secs(60))?;
        play.tap_at(Duration::from_secs(30), Key::Left, ms(1))?;
        Ok(Flow::Continue)
    });
    let config = paused(&stage, Arc::new(Told::default()), 1000);
    let stats = end(&stage.start_with(config, script)).stats;
    assert_eq!(stage.keys(), [down("Right"), up("Right")]);
    assert_eq!((stats.scheduled, stats.scheduled_dropped), (4, 2));
    assert_eq!(stats.actions, 2);
}

#[test]
fn a_world_is_let_go_when_its_player_blocks() {
    let stage = Stage::new();
    let world = Arc::new(Told::default());
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (script, told) = telling(
        move |_| {
            let _ = released.recv();
            Ok(Flow::Finish)
        },
        |_| Ok(()),
    );
    let config = paused(&stage, Arc::clone(&world) as Arc<dyn World>, 20);
    let playing = stage.start_with(config, script);
    await_telling(&told);
    playing.stop().ask(Cause::Timeout);
    playing.cut();
    assert_eq!(world.all(), ["freeze", "resume"]);
    assert!(!playing.is_over());
    drop(release);
    assert_eq!(end(&playing).end, PlayEnd::Stopped(Cause::Timeout));
}

/// Told to end while it comes to a stand.
#[derive(Debug)]
struct Slow {
    told: Told,
    stop: Stop,
}

impl World for Slow {
    fn freeze(&self) -> Result<(), String> {
        self.stop.ask(Cause::EnvEnded);
        // Time enough for whoever is quicker.
        let (_keep, nothing) = std::sync::mpsc::channel::<()>();
        let _ = nothing.recv_timeout(ms(50));
        self.told.freeze()
    }

    fn resume(&self) -> Result<(), String> {
        self.told.resume()
    }
}

#[test]
fn no_world_is_left_standing() {
    let stage = Stage::new();
    let stop = Stop::new();
    let world = Arc::new(Slow {
        told: Told::default(),
        stop: stop.clone(),
    });
    let script = Script::step(|_| Ok(Flow::Continue));
    let config = paused(&stage, Arc::clone(&world) as Arc<dyn World>, 20);
    let playing = start(Box::new(script), task(), config, stop).unwrap();
    assert_eq!(end(&playing).end, PlayEnd::Stopped(Cause::EnvEnded));
    playing.cut();
    assert_eq!(world.told.all(), ["freeze", "resume"]);
}

#[derive(Debug)]
struct Stubborn;

impl World for Stubborn {
    fn freeze(&self) -> Result<(), String> {
        Err("it has no brakes".to_owned())
    }

    fn resume(&self) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn a_world_that_does_not_stand_still_ends_the_play() {
    let stage = Stage::new();
    let script = Script::step(|_| Ok(Flow::Finish));
    let config = paused(&stage, Arc::new(Stubborn), 20);
    let PlayEnd::Broken(why) = end(&stage.start_with(config, script)).end else {
        panic!("it played on");
    };
    assert!(why.contains("it has no brakes"), "{why}");
    let without = PlayConfig {
        world: None,
        ..paused(&stage, Arc::new(Stubborn), 20)
    };
    let script = Script::step(|_| Ok(Flow::Finish));
    start(Box::new(script), task(), without, Stop::new()).unwrap_err();
}
