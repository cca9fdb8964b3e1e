//! What is kept of a trial on a screen: every step's screen, the input as the X server saw it, and
//! no picture twice.

use std::collections::BTreeSet;
use std::fs;

use agon::core::observation::ObservationKind;
use agon::core::screen::{ScreenMoment, ScreenView};
use agon::core::verdict::Outcome;
use agon::core::{Digest, EventBody, InputEvent, InputKind};
use serde_json::json;

use super::room::{CLIENT, Played, Room, SIZE, TERMINAL, moment, task, write_done};

fn screens(played: &Played) -> Vec<&ScreenView> {
    let screens = played.events.iter().filter_map(|event| match &event.body {
        EventBody::Observation(seen) => seen.screen.as_ref(),
        EventBody::Screen(record) => Some(&record.screen),
        _ => None,
    });
    screens.collect()
}

#[test]
fn every_step_has_its_screen_and_equal_ones_are_stored_once() {
    let room = Room::new();
    let mut actions = vec![json!({ "action": "move", "x": 300, "y": 230 })];
    actions.extend([
        json!({ "action": "screenshot" }),
        json!({ "action": "screenshot" }),
    ]);
    actions.extend([
        json!({ "action": "think", "thought": "Hm." }),
        write_done(),
        moment(),
    ]);
    actions.extend([
        json!({ "action": "screenshot" }),
        json!({ "action": "screenshot" }),
    ]);
    // A cursor that blinks would be a change.
    let apps = json!({ "environment": { "apps": ["xterm -geometry 40x10+0+0 +bc -uc"] } });
    room.task("a", &json!(actions), &apps);
    room.play(&[]).expect(0);
    let played = room.trial("a");
    assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.line);

    let first = played.events.iter().find_map(|event| match &event.body {
        EventBody::Observation(seen) => Some(seen),
        _ => None,
    });
    assert_eq!(first.unwrap().kind, ObservationKind::Ready);
    assert!(first.unwrap().screen.is_some());
    let steps = played.steps();
    assert_eq!(steps.len(), actions.len());
    for step in steps
        .iter()
        .filter(|step| step.action.kind().name() != "think")
    {
        step.done();
        assert_eq!(step.cursor(), (300, 230));
        let window = step.screen().window.as_ref().unwrap();
        assert_eq!((window.title(), window.class()), ("xterm", "XTerm"));
    }
    let last = played.events.iter().find_map(|event| match &event.body {
        EventBody::Screen(record) => Some(record),
        _ => None,
    });
    let last = last.unwrap();
    assert_eq!(last.what, ScreenMoment::Final);
    assert_eq!(&last.screen, steps[7].screen());

    let screens = screens(&played);
    assert_eq!(screens.len(), 9, "ready, seven steps, final");
    let pictures: BTreeSet<Digest> = screens.iter().map(|screen| screen.picture.blob).collect();
    assert!((2..=4).contains(&pictures.len()), "{pictures:?}");
    let kept = BTreeSet::from_iter(played.line.work.into_iter().chain(pictures));
    let mut blobs = 0;
    for folder in fs::read_dir(room.bench.path("run/blobs"))
        .unwrap()
        .flatten()
    {
        blobs += fs::read_dir(folder.path()).unwrap().count();
    }
    assert_eq!(blobs, kept.len());
    for screen in screens {
        assert_eq!((screen.width as i32, screen.height as i32), SIZE);
        let stored = room.bench.reader().folder().blob(&screen.picture.blob);
        let bytes = fs::read(stored).unwrap();
        assert_eq!(Digest::of(&bytes), screen.picture.blob);
        assert_eq!(bytes.len() as u64, screen.picture.bytes);
    }
}

/// A short form of what the X server saw.
fn told(input: &[&InputEvent]) -> Vec<String> {
    let told = |event: &&InputEvent| match event.kind {
        InputKind::KeyPress => format!("{} down", event.key.as_ref().unwrap()),
        InputKind::KeyRelease => format!("{} up", event.key.as_ref().unwrap()),
        InputKind::ButtonPress => format!("{} down", event.button.unwrap()),
        InputKind::ButtonRelease => format!("{} up", event.button.unwrap()),
        InputKind::Motion => format!("to {},{}", event.x.unwrap(), event.y.unwrap()),
        InputKind::Scroll => format!(
            "scroll {},{}",
            event.dx.unwrap_or_default(),
            event.dy.unwrap_or_default()
        ),
    };
    input.iter().map(told).collect()
}

#[test]
fn what_the_x_server_saw_is_beside_each_action_and_agrees_with_it() {
    let cases = [
        (
            json!({ "action": "click", "x": 20, "y": 30, "button": "right", "count": 2 }),
            "to 20,30|3 down|3 up|3 down|3 up",
        ),
        (json!({ "action": "move", "x": 0, "y": 239 }), "to 0,239"),
        (
            json!({ "action": "drag", "path": [{ "x": 5, "y": 6 }, { "x": 70, "y": 80 }] }),
            "to 5,6|1 down|to 8,9|to 11,13|to 15,17|to 18,21|to 22,25|to 25,29|to 28,33|to 32,37|\
             to 35,41|to 39,44|to 42,48|to 46,52|to 49,56|to 52,60|to 56,64|to 59,68|to 63,72|\
             to 66,76|to 70,80|1 up",
        ),
        (
            json!({ "action": "scroll", "x": 9, "y": 9, "dx": -1, "dy": 2 }),
            "to 9,9|scroll -1,0|scroll 0,1|scroll 0,1",
        ),
        (
            json!({ "action": "key", "keys": "ctrl+l" }),
            "Control_L down|l down|l up|Control_L up",
        ),
        (
            json!({ "action": "key_down", "key": "shift" }),
            "Shift_L down",
        ),
        (json!({ "action": "key_up", "key": "shift" }), "Shift_L up"),
        (
            json!({ "action": "type", "text": "ab" }),
            "a down|a up|b down|b up",
        ),
        (json!({ "action": "screenshot" }), ""),
        (json!({ "action": "wait", "seconds": 0.1 }), ""),
    ];
    let actions: Vec<_> = cases.iter().map(|(action, _)| action).collect();
    let played = Room::played(&json!(actions), &json!({}));
    let steps = played.steps();
    assert_eq!(steps.len(), cases.len());
    let mut before = 0.0;
    for (step, (action, wanted)) in steps.iter().zip(&cases) {
        assert_eq!(told(&step.input).join("|"), *wanted, "{action}");
        for event in &step.input {
            assert!(event.t >= before, "{} after {before}", event.t);
            before = event.t;
        }
    }
    assert!(before < played.events.last().unwrap().t);
}

/// Draws without a pause, beside the terminal.
const PAINTER: &str = r#"
gc = base
x.sendall(struct.pack("<BBHIIII", 55, 0, 5, gc, root, 4, 0))
colour = 0
while True:
    colour = (colour + 997) % (1 << 24)
    x.sendall(struct.pack("<BBHIII", 56, 0, 4, gc, 4, colour))
    x.sendall(struct.pack("<BBHIIhhHH", 70, 0, 5, root, gc, 250, 200, 40, 30))
"#;

#[test]
fn a_screen_that_never_rests_is_waited_for_as_long_as_the_task_says() {
    let room = Room::new();
    let actions = vec![json!({ "action": "key", "keys": "a" }); 2];
    for (id, settle) in [("long", 1.0), ("short", 0.1)] {
        let task = task(
            &json!(actions),
            &json!({ "environment": {
                "apps": [format!("python3 painter.py & {TERMINAL}")], "settle": settle,
            } }),
        );
        let folder = format!("suite/test/{id}");
        room.bench
            .write(&format!("{folder}/task.yaml"), &task.to_string());
        room.bench.write(
            &format!("{folder}/visible/painter.py"),
            &format!("{CLIENT}{PAINTER}"),
        );
    }
    room.play(&["--workers", "1"]).expect(0);
    let took = |id: &str| -> Vec<f64> {
        let played = room.trial(id);
        played.steps().iter().map(|step| step.took).collect()
    };
    let (long, short) = (took("long"), took("short"));
    assert!(long.iter().any(|took| *took >= 1.0), "{long:?}");
    assert!(short.iter().any(|took| *took < 1.0), "{short:?}");
}
