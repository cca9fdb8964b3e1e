//! Everything by its name, on a real desktop: what users of `owa` write, line by line, and what their
//! own crates add.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_desktop::registry::{
    CALLABLES, Context, LISTENERS, Listen, Message, RUNNABLES, Run, activate_module,
    current_desktop, forget_desktop, use_desktop, with_desktop,
};
use agon_desktop::{Desktop, DesktopConfig, DesktopError, Size, StopSignal, Vk};
use serde_json::{Value, json};

use super::probe::Program;

const LONG: Duration = Duration::from_secs(30);

/// Tests of one process share the desktop in use.
static IN_USE: Mutex<()> = Mutex::new(());

fn desktop() -> Arc<Desktop> {
    let config = DesktopConfig {
        size: Size::new(640, 480),
        ..DesktopConfig::default()
    };
    Arc::new(Desktop::start(&config).unwrap())
}

/// A callback, and what it is called with.
fn ear() -> (impl FnMut(Message) + Send + 'static, Receiver<Message>) {
    let (heard, told) = channel();
    let callback = move |message| {
        let _ = heard.send(message);
    };
    (callback, told)
}

#[test]
fn all_names_of_owa_are_there_old_and_new() {
    let module = activate_module("owa.env.desktop").unwrap();
    assert_eq!(activate_module("owa.env.desktop").unwrap(), module);
    let keyboard = [
        "press",
        "release",
        "type",
        "get_state",
        "press_repeat",
        "release_all_keys",
        "get_keyboard_repeat_timing",
    ];
    let mouse = [
        "click",
        "move",
        "position",
        "press",
        "release",
        "scroll",
        "get_state",
        "get_pointer_ballistics_config",
    ];
    let window = [
        "get_active_window",
        "get_window_by_title",
        "get_pid_by_title",
        "when_active",
        "is_active",
        "make_active",
    ];
    let parts = [
        ("keyboard", &keyboard[..]),
        ("mouse", &mouse),
        ("window", &window),
        ("screen", &["capture"]),
    ];
    for (part, names) in parts {
        for name in names {
            let full = format!("desktop/{part}.{name}");
            assert!(CALLABLES.contains(&format!("{part}.{name}")), "{full}");
            assert!(module.callables.contains(&full), "{full}");
        }
    }
    for name in [
        "keyboard",
        "mouse",
        "raw_mouse",
        "keyboard_state",
        "mouse_state",
        "window",
    ] {
        assert!(LISTENERS.contains(name));
        assert!(module.listeners.contains(&format!("desktop/{name}")));
    }
    let gst = activate_module("owa.env.gst").unwrap();
    assert_eq!(
        (gst.listeners, gst.runnables),
        (
            vec!["gst/screen".to_owned()],
            vec!["gst/screen_capture".to_owned()]
        )
    );
    assert!(LISTENERS.contains("screen") && RUNNABLES.contains("screen_capture"));
    assert_eq!(
        activate_module("owa.env.std").unwrap().listeners,
        ["std/tick"]
    );
    assert!(CALLABLES.contains("clock.time_ns") && LISTENERS.contains("clock/tick"));
    let error = activate_module("owa.env.desktob").unwrap_err();
    assert!(error.is_callers() && error.to_string().contains("did you mean `owa.env.desktop`"));
    for name in [
        "gst/omnimodal.appsink_recorder",
        "gst/omnimodal.subprocess_recorder",
    ] {
        assert!(!LISTENERS.contains(name) && !RUNNABLES.contains(name));
    }
}

#[test]
fn an_agent_of_owa_line_by_line() {
    let _in_use = IN_USE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let desktop = desktop();
    let _game = Program::xterm(&desktop, "Super Hexagon");
    use_desktop(Arc::clone(&desktop));
    CALLABLES
        .call("window.wait_for", ("Super Hexagon", 30))
        .unwrap();

    activate_module("owa.env.desktop").unwrap();
    let stop = Arc::new(StopSignal::default());
    let stopping = Arc::clone(&stop);
    let keyboard_listener = LISTENERS
        .configure("keyboard", ())
        .unwrap()
        .start(move |event| {
            if event.vk() == Some(Vk::F10) {
                stopping.set();
            }
        });
    let keyboard_listener = keyboard_listener.unwrap();

    CALLABLES
        .call("window.make_active", "Super Hexagon")
        .unwrap();
    assert_eq!(
        CALLABLES.call("window.is_active", "Hexagon").unwrap(),
        json!(true)
    );
    CALLABLES.call("keyboard.press", Vk::RIGHT).unwrap();
    let state = CALLABLES.call("keyboard.get_state", ()).unwrap();
    assert_eq!(state["buttons"], json!([Vk::RIGHT]));
    CALLABLES.call("keyboard.release", Vk::RIGHT).unwrap();
    assert!(keyboard_listener.is_alive() && !stop.is_set());
    CALLABLES.call("keyboard.tap", "F10").unwrap();
    assert!(stop.wait(LONG), "F10 was not heard");
    keyboard_listener.stop();
    keyboard_listener.join(LONG).unwrap();
    assert!(Arc::ptr_eq(&current_desktop().unwrap(), &desktop));
    forget_desktop();
}

#[test]
fn a_call_acts_on_the_desktop_that_is_meant() {
    let _in_use = IN_USE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let (first, second) = (desktop(), desktop());
    let at = |x: i32| json!([x, x]);
    use_desktop(Arc::clone(&first));
    CALLABLES.call("mouse.move", (11, 11)).unwrap();
    let moved = CALLABLES.get("desktop/mouse.move").unwrap();
    moved.call(&second, json!({"x": 22, "y": 22})).unwrap();
    assert_eq!(CALLABLES.call("mouse.position", ()).unwrap(), at(11));
    assert_eq!(
        CALLABLES.call_on(&second, "mouse.position", ()).unwrap(),
        at(22)
    );
    let inside = with_desktop(&second, || CALLABLES.call("mouse.position", ()).unwrap());
    assert_eq!(inside, at(22));
    let panicked = std::panic::catch_unwind(|| with_desktop(&second, || panic!("on purpose")));
    assert!(panicked.is_err());
    assert_eq!(CALLABLES.call("mouse.position", ()).unwrap(), at(11));
    forget_desktop();
}

#[test]
fn what_is_broken_in_owa_works() {
    let desktop = desktop();
    let call = |name: &str, args: Value| CALLABLES.call_on(&desktop, name, args).unwrap();
    call("mouse.move", json!([100, 50]));
    call("mouse.move", json!([10, 5]));
    assert_eq!(
        call("mouse.position", json!([])),
        json!([10, 5]),
        "absolute"
    );
    call("mouse.press", json!(["right"]));
    let state = call("mouse.get_state", json!([]));
    assert_eq!(
        (&state["x"], &state["buttons"]),
        (&json!(10), &json!(["right"]))
    );
    call("mouse.release", json!(["right"]));

    let (callback, told) = ear();
    let mouse = LISTENERS
        .configure_on(&desktop, "mouse", ())
        .unwrap()
        .start(callback)
        .unwrap();
    let (callback, raw) = ear();
    let raw_mouse = LISTENERS
        .configure_on(&desktop, "raw_mouse", ())
        .unwrap()
        .start(callback)
        .unwrap();
    call("mouse.scroll", json!([40, 25, 0, 1]));
    let moved = told.recv_timeout(LONG).unwrap();
    assert_eq!(moved.json()["event_type"], "move");
    let scrolled = told.recv_timeout(LONG).unwrap();
    let [kind, x, dy] = ["event_type", "x", "dy"].map(|key| scrolled.json()[key].clone());
    assert_eq!(
        (kind, x, dy),
        (json!("scroll"), json!(40), json!(1)),
        "as it was asked for"
    );
    let moved = raw.recv_timeout(LONG).unwrap();
    assert_eq!(
        (&moved.json()["last_x"], &moved.json()["last_y"]),
        (&json!(30), &json!(20))
    );
    assert_eq!(raw.recv_timeout(LONG).unwrap().json()["button_data"], 120);
    drop((mouse, raw_mouse));

    let seconds = call("keyboard.get_keyboard_repeat_timing", json!([]));
    assert!(seconds["keyboard_delay_seconds"].as_f64().unwrap() > 0.1);
    let steps = call(
        "keyboard.get_keyboard_repeat_timing",
        json!({"return_seconds": false}),
    );
    assert!(steps["keyboard_speed"].as_u64().unwrap() <= 31);
    let ballistics = call("mouse.get_pointer_ballistics_config", json!([]));
    assert_eq!(ballistics["MouseSensitivity"], 10);
}

#[test]
fn pictures_are_png_in_base64() {
    use base64::Engine;
    let desktop = desktop();
    let picture = CALLABLES.call_on(&desktop, "screen.capture", ()).unwrap();
    assert_eq!(
        (&picture["width"], &picture["height"]),
        (&json!(640), &json!(480))
    );
    let png = base64::prelude::BASE64_STANDARD
        .decode(picture["base64"].as_str().unwrap())
        .unwrap();
    assert_eq!(&png[1..4], b"PNG");
    assert_eq!(png[16..24], [0, 0, 2, 128, 0, 0, 1, 224]);
    let small = json!({"region": [10, 10, 100, 50], "max": [50, 50], "cursor": true});
    let small = CALLABLES
        .call_on(&desktop, "screen.capture", small)
        .unwrap();
    assert_eq!(
        (&small["width"], &small["height"]),
        (&json!(50), &json!(25))
    );
    for bad in [
        json!({"max": [0, 5]}),
        json!({"region": [700, 0, 9, 9]}),
        json!({"window": "no"}),
    ] {
        let error = CALLABLES
            .call_on(&desktop, "screen.capture", bad)
            .unwrap_err();
        assert!(error.is_callers(), "{error}");
    }
}

#[test]
fn windows_by_name() {
    let desktop = desktop();
    let _term = Program::xterm(&desktop, "Eins");
    let call = |name: &str, args: Value| CALLABLES.call_on(&desktop, name, args);
    call("window.wait_for", json!(["Eins", 30])).unwrap();
    // Where it is then, it stays.
    call("window.make_active", json!(["Eins"])).unwrap();
    let window = call("window.list", json!([])).unwrap()[0].clone();
    let (callback, told) = ear();
    let listener = LISTENERS
        .configure_on(&desktop, "window", ())
        .unwrap()
        .start(callback)
        .unwrap();
    let owa = call("window.get_window_by_title", json!(["Ein"])).unwrap();
    let rect = |key: &str| window["rect"][key].as_i64().unwrap();
    let corners = json!([
        rect("x"),
        rect("y"),
        rect("x") + rect("width"),
        rect("y") + rect("height")
    ]);
    assert_eq!(
        owa,
        json!({"title": "Eins", "rect": corners, "hWnd": window["id"]})
    );
    assert_eq!(told.recv_timeout(LONG).unwrap().json()["title"], "Eins");
    assert!(
        call("window.get_pid_by_title", json!(["Eins"]))
            .unwrap()
            .is_u64()
    );
    let when = |title: &str| call("window.when_active", json!([title, "mouse.position"])).unwrap();
    assert!(when("Eins").is_array());
    assert!(when("Zwei").is_null());
    let itself = json!(["Eins", "window.when_active", ["Eins", "mouse.position"]]);
    assert!(call("window.when_active", itself).unwrap_err().is_callers());
    let moved = call("window.move", json!(["Eins", 50, 60])).unwrap();
    assert_ne!(moved["rect"], window["rect"]);
    assert_eq!(call("window.list", json!([])).unwrap()[0], moved);
    // On a busy machine the program closes its window later than the call waits.
    match call("window.close", json!(["Eins"])) {
        Ok(_) => {}
        Err(DesktopError::Timeout { .. }) => {
            let deadline = Instant::now() + LONG;
            while call("window.list", json!([])).unwrap() != json!([]) {
                assert!(Instant::now() < deadline, "the window is still there");
            }
        }
        Err(error) => panic!("{error}"),
    }
    assert_eq!(call("window.list", json!([])).unwrap(), json!([]));
    let error = call("window.make_active", json!(["Eins"])).unwrap_err();
    assert!(
        matches!(error, DesktopError::NoSuchWindow { .. }),
        "{error}"
    );
    listener.stop();
    listener.join(LONG).unwrap();
}

#[test]
fn frames_come_at_the_rate_and_when_asked_for() {
    let desktop = desktop();
    let (callback, told) = ear();
    let config = json!({"fps": 50, "show_cursor": false});
    let listener = LISTENERS
        .configure_on(&desktop, "screen", config)
        .unwrap()
        .start(callback)
        .unwrap();
    for _ in 0..5 {
        let message = told.recv_timeout(LONG).unwrap();
        let frame = message.frame().unwrap();
        assert_eq!(frame.size(), Size::new(640, 480));
        assert_eq!(message.json()["shape"], json!([640, 480]));
    }
    let message = told.recv_timeout(LONG).unwrap();
    assert!(message.json()["metrics"]["fps"].as_f64().unwrap() > 0.0);
    assert!(message.json()["utc_ns"].is_i64());
    listener.stop();
    listener.join(LONG).unwrap();

    let capture = RUNNABLES
        .configure_on(&desktop, "screen_capture", ())
        .unwrap()
        .start()
        .unwrap();
    let first = capture.grab().unwrap();
    let second = capture.grab().unwrap();
    assert!(second.at() > first.at(), "the second is new");
    let json = capture.call("grab", json!([])).unwrap();
    assert_eq!(json["format"], "png");
    assert!(capture.call("grap", json!([])).unwrap_err().is_callers());
    capture.stop();
    capture.join(LONG).unwrap();
    for bad in [
        json!({"fps": 0}),
        json!({"monitor_idx": 3}),
        json!({"window_name": "no"}),
        json!({"additional_properties": {"a": 1}}),
    ] {
        assert!(
            RUNNABLES
                .configure_on(&desktop, "screen_capture", bad.clone())
                .unwrap_err()
                .is_callers()
        );
        assert!(
            LISTENERS
                .configure_on(&desktop, "gst/screen", bad)
                .unwrap_err()
                .is_callers()
        );
    }
}

#[test]
fn frames_of_a_window_follow_it() {
    let desktop = desktop();
    let term = Program::xterm(&desktop, "Bild");
    let window = desktop.windows().wait_for("Bild", LONG).unwrap();
    let (callback, told) = ear();
    let config = json!({"window_name": "Bild", "fps": 20});
    let listener = LISTENERS
        .configure_on(&desktop, "screen", config)
        .unwrap()
        .start(callback)
        .unwrap();
    let size = told.recv_timeout(LONG).unwrap().frame().unwrap().size();
    assert_eq!(size, window.rect.size());
    drop(term);
    assert!(listener.is_alive(), "a window that is gone may come back");
    drop(listener);
}

#[test]
fn states_and_ticks_come_at_an_interval() {
    let desktop = desktop();
    desktop.keyboard().press("a".parse().unwrap()).unwrap();
    desktop.mouse().move_to(9, 8).unwrap();
    let every = json!({"interval": 0.02});
    let first = |name: &str| {
        let (callback, told) = ear();
        let listener = LISTENERS.configure_on(&desktop, name, every.clone());
        let _listener = listener.unwrap().start(callback).unwrap();
        told.recv_timeout(LONG).unwrap();
        told.recv_timeout(LONG).unwrap().json().clone()
    };
    assert_eq!(first("keyboard_state")["buttons"], json!([0x41]));
    let mouse = first("mouse_state");
    assert_eq!((&mouse["x"], &mouse["y"]), (&json!(9), &json!(8)));
    assert!(first("clock/tick")["number"].is_u64());
    for bad in [
        json!({"interval": -1}),
        json!({"interval": 0}),
        json!({"pause": 1}),
    ] {
        let configured = LISTENERS.configure_on(&desktop, "std/tick", bad);
        assert!(
            configured
                .and_then(|listener| listener.start(drop))
                .is_err()
        );
    }
}

#[test]
fn a_users_own_crate_adds_all_three_kinds() {
    struct Counter(Mutex<u64>);
    impl Run for Counter {
        fn run(&self, stop: &StopSignal) -> Result<(), DesktopError> {
            while !stop.wait(Duration::from_millis(1)) {
                *self.0.lock().unwrap() += 1;
            }
            Ok(())
        }
        fn call(&self, method: &str, _args: Value) -> Result<Value, DesktopError> {
            assert_eq!(method, "count");
            Ok(json!(*self.0.lock().unwrap()))
        }
    }
    let desktop = desktop();
    CALLABLES
        .register("mygame/width", |context: &Context, times: (u32,)| {
            Ok(context.desktop()?.size().width * times.0)
        })
        .unwrap();
    assert_eq!(
        CALLABLES.call_on(&desktop, "mygame/width", 2).unwrap(),
        1280
    );
    LISTENERS
        .register("mygame/echo", |_: &Context, (word,): (String,)| {
            Ok(Listen::new(move |stop, tell| {
                tell(Message::new(word));
                stop.wait(LONG);
                Ok(())
            }))
        })
        .unwrap();
    let (callback, told) = ear();
    let listener = LISTENERS
        .configure("mygame/echo", "hello")
        .unwrap()
        .start(callback)
        .unwrap();
    assert_eq!(told.recv_timeout(LONG).unwrap().json(), "hello");
    listener.stop();
    listener.join(LONG).unwrap();
    RUNNABLES
        .register("mygame/counter", |_: &Context, from: (u64,)| {
            let run: Arc<dyn Run> = Arc::new(Counter(Mutex::new(from.0)));
            Ok(run)
        })
        .unwrap();
    let counter = RUNNABLES
        .configure("mygame/counter", 5)
        .unwrap()
        .start()
        .unwrap();
    assert!(counter.call("count", json!([])).unwrap().as_u64().unwrap() >= 5);
    assert!(counter.grab().unwrap_err().is_callers());
    drop(counter);
    let twice = LISTENERS.register("mygame/echo", |_: &Context, _: Value| {
        Ok(Listen::new(|_, _| Ok(())))
    });
    assert!(twice.unwrap_err().to_string().contains("already"));
}
