//! `agon desktop`, as a user calls it: a desktop that is left running, seen, controlled and ended;
//! what is left of one whose owner was killed; and what is said when something is wrong.

#[path = "desktop/place.rs"]
mod place;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use self::place::{Place, check_gone, owner, text, wait_for_end};
use crate::support::Called;

fn size_of_png(png: &[u8]) -> (u32, u32) {
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (side(16), side(20))
}

#[test]
fn a_detached_desktop_is_listed_used_and_stopped_without_a_trace() {
    let place = Place::new();
    let out = place.0.path("typed");
    let script = format!(
        "read line; printf %s \"$line\" > {0}.part; mv {0}.part {0}",
        out.display()
    );
    let app = format!("xterm -T writer -e sh -c '{script}'");
    let desktop = place.start(&["--screen", "640x480", "--app", &app]);
    assert_eq!(desktop["id"], "d1");
    assert_eq!(desktop["screen"], "640x480");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(Path::new(text(&desktop["authority"]))), 0o600);
    assert_eq!(mode(&place.folder()), 0o700);

    let listed = place.list();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0], desktop);

    let waited = place.ask(&["window.wait_for", "writer", "30"]);
    assert_eq!(waited["title"], "writer");
    let windows = place.ask(&["window.list"]);
    assert_eq!(windows[0]["class"], "XTerm");
    place.ask(&["window.make_active", "writer"]);
    let active = place.ask(&["window.get_active_window"]);
    assert_eq!(active["title"], "writer");
    assert_eq!(active["rect"].as_array().unwrap().len(), 4);
    place.ask(&["keyboard.type", "hello wörld\n"]);
    let deadline = Instant::now() + Duration::from_secs(30);
    while !out.exists() {
        assert!(Instant::now() < deadline, "nothing was typed");
        place.ask(&["window.list"]);
    }
    assert_eq!(fs::read_to_string(&out).unwrap(), "hello wörld");

    place.call(&["stop", "d1"]).expect(0);
    check_gone(&desktop);
    assert_eq!(place.list(), Vec::<Value>::new());
    assert_eq!(fs::read_dir(place.folder()).unwrap().count(), 0);
}

#[test]
fn keys_and_clipboard_stay_between_calls() {
    let place = Place::new();
    place.start(&[]);
    let down = || place.ask(&["keyboard.get_state"])["buttons"].clone();
    assert_eq!(place.ask(&["keyboard.press", "0x27"]), Value::Null);
    assert_eq!(down(), json!([0x27]));
    place.ask(&["keyboard.press", "ctrl"]);
    assert_eq!(down(), json!([0x11, 0x27, 0xa2]));
    place.ask(&["keyboard.release", "Right"]);
    place.ask(&["keyboard.tap", "shift+a"]);
    place.ask(&["keyboard.tap", "0x20"]);
    place.ask(&["keyboard.release_all_keys"]);
    assert_eq!(down(), json!([]));
    place.ask(&["clipboard.set", "kept"]);
    assert_eq!(place.ask(&["clipboard.get"]), "kept");
    place.ask(&["mouse.move", "0", "7"]);
    place.ask(&["mouse.move_by", "5", "-2"]);
    assert_eq!(place.ask(&["mouse.position"]), json!([5, 5]));
}

#[test]
fn other_programs_reach_it_by_number_and_other_languages_by_socket() {
    let place = Place::new();
    let desktop = place.start(&["--screen", "320x240"]);
    let out = Command::new("xdpyinfo")
        .env("DISPLAY", text(&desktop["display"]))
        .env("XAUTHORITY", text(&desktop["authority"]))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(
        said.contains("320x240 pixels"),
        "{said}{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let refused = Command::new("xdpyinfo")
        .env("DISPLAY", text(&desktop["display"]))
        .env("XAUTHORITY", "/dev/null")
        .output()
        .unwrap();
    assert!(
        !refused.status.success(),
        "a stranger without the cookie came in"
    );

    let mut socket = UnixStream::connect(text(&desktop["calls"])).unwrap();
    let mut answers = BufReader::new(socket.try_clone().unwrap()).lines();
    let mut ask = |line: &str| -> Value {
        writeln!(socket, "{line}").unwrap();
        serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap()
    };
    let moved = ask(r#"{"call": "mouse.move", "args": {"x": 3, "y": 4}}"#);
    assert_eq!(moved, json!({"result": null}));
    assert_eq!(
        ask(r#"{"call": "mouse.position"}"#),
        json!({"result": [3, 4]})
    );
    let unknown = ask(r#"{"call": "mouse.possition"}"#);
    assert!(text(&unknown["error"]).contains("did you mean `mouse.position`"));
    assert!(text(&ask("nonsense")["error"]).contains("expected"));
    assert_eq!(
        ask(r#"{"call": "screen.size"}"#),
        json!({"result": [320, 240]})
    );
}

#[test]
fn screenshots_have_the_size_and_format_that_was_asked_for() {
    let place = Place::new();
    place.start(&["--screen", "640x480", "--app", "xterm -T shot"]);
    let window = place.ask(&["window.wait_for", "shot", "30"]);
    let shot = |args: &[&str], name: &str| {
        place
            .call(&[&["screenshot"], args, &[name]].concat())
            .expect(0);
        fs::read(place.0.path(name)).unwrap()
    };
    assert_eq!(size_of_png(&shot(&[], "all.png")), (640, 480));
    assert_eq!(
        size_of_png(&shot(&["--max", "320x320", "--cursor"], "small.png")),
        (320, 240)
    );
    assert_eq!(
        size_of_png(&shot(&["--region", "10,20,33,44"], "part.png")),
        (33, 44)
    );
    let rect = &window["rect"];
    let sides = (
        rect["width"].as_u64().unwrap(),
        rect["height"].as_u64().unwrap(),
    );
    let (width, height) = size_of_png(&shot(&["--window", "shot"], "window.png"));
    assert_eq!((u64::from(width), u64::from(height)), sides);
    assert_eq!(&shot(&[], "all.webp")[8..12], b"WEBP");
    assert_eq!(&shot(&[], "all.jpg")[..3], b"\xff\xd8\xff");
    let piped = place.call(&["screenshot", "-"]).expect(0);
    assert_eq!(size_of_png(&piped.0.stdout), (640, 480));
}

#[test]
fn several_desktops_are_told_apart() {
    let place = Place::new();
    let first = place.start(&["--screen", "320x200"]);
    let second = place.start(&["--screen", "400x300"]);
    assert_eq!((text(&first["id"]), text(&second["id"])), ("d1", "d2"));
    assert_ne!(first["display"], second["display"]);
    assert_eq!(
        place.ask(&["screen.size", "--desktop", "d2"]),
        json!([400, 300])
    );
    let unsure = place.call(&["call", "screen.size"]).expect(2).stderr();
    assert!(
        unsure.contains("--desktop") && unsure.contains("d1, d2"),
        "{unsure}"
    );
    place.call(&["stop", "d1"]).expect(0);
    check_gone(&first);
    assert_eq!(place.ask(&["screen.size"]), json!([400, 300]));
    // The ID of one that ended is free again.
    let third = place.start(&["--screen", "500x400"]);
    assert_eq!(third["id"], "d1");
    place.call(&["stop", "--all"]).expect(0);
    check_gone(&second);
    check_gone(&third);
}

#[test]
fn what_a_killed_owner_left_is_cleaned() {
    let place = Place::new();
    let desktop = place.start(&["--app", "xterm"]);
    place.ask(&["window.wait_for", "xterm", "30"]);
    let owner = owner(&desktop);
    kill_process(Pid::from_raw(owner.cast_signed()).unwrap(), Signal::KILL).unwrap();
    wait_for_end(owner);
    // Its number may be taken over by any other desktop by now, but its place is ours alone.
    let left = [
        place.folder().join("d1.json"),
        text(&desktop["authority"]).into(),
    ];
    assert!(left.iter().all(|path| path.exists()), "nothing to clean");
    let cleaned = place.clean();
    let desktops = cleaned["desktops"].as_array().unwrap();
    assert!(desktops.contains(&json!("desktop d1")), "{cleaned}");
    // The jail ends by itself, but in its own time.
    let mark = text(&desktop["owner"]).to_owned();
    let deadline = Instant::now() + Duration::from_secs(20);
    let runs = || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let mut lines = processes.map(|entry| fs::read(entry.path().join("cmdline")));
        lines.any(|line| String::from_utf8_lossy(&line.unwrap_or_default()).contains(&mark))
    };
    while runs() {
        assert!(Instant::now() < deadline, "the X server outlives its owner");
    }
    place.clean();
    check_gone(&desktop);
    assert_eq!(fs::read_dir(place.folder()).unwrap().count(), 0);
    assert_eq!(place.list(), Vec::<Value>::new());
}

#[test]
fn in_the_foreground_it_ends_with_a_signal() {
    let place = Place::new();
    let mut child = place
        .agon(&["start", "--screen", "320x200"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut id = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut id).unwrap();
    assert_eq!(id, "d1\n");
    let desktop = place.list().remove(0);
    kill_process(
        Pid::from_raw(child.id().cast_signed()).unwrap(),
        Signal::INT,
    )
    .unwrap();
    assert!(child.wait().unwrap().success());
    let mut said = String::new();
    child.stderr.unwrap().read_to_string(&mut said).unwrap();
    let reach = format!("DISPLAY={}", text(&desktop["display"]));
    assert!(said.contains(&reach) && said.contains("Ctrl-C"), "{said}");
    check_gone(&desktop);
}

#[test]
fn an_owner_whose_server_dies_ends_and_says_so() {
    let place = Place::new();
    let mut child = place
        .agon(&["start"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    let desktop = place.list().remove(0);
    let children = format!("/proc/{0}/task", child.id());
    let jail = fs::read_dir(children)
        .unwrap()
        .flatten()
        .find_map(|thread| {
            let children = fs::read_to_string(thread.path().join("children")).unwrap();
            children
                .split_whitespace()
                .next()
                .map(|pid| pid.parse::<i32>().unwrap())
        });
    kill_process(Pid::from_raw(jail.unwrap()).unwrap(), Signal::KILL).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let mut said = String::new();
    child.stderr.unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("the X server has ended"), "{said}");
    check_gone(&desktop);
}

#[test]
fn what_happens_is_watched_as_lines() {
    let place = Place::new();
    place.start(&[]);
    let mut watch = place
        .agon(&["watch", "--keys"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    // It says nothing when it is ready, so keys are pressed until it tells of one.
    let (heard, first) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let line = lines.next().unwrap().unwrap();
        heard.send(()).unwrap();
        // Dropping the pipe ends the watcher.
        line
    });
    while first.try_recv().is_err() {
        place.ask(&["keyboard.tap", "F10"]);
    }
    let event: Value = serde_json::from_str(&reader.join().unwrap()).unwrap();
    assert_eq!(
        (&event["event"], &event["key"], &event["vk"]),
        (&json!("input"), &json!("F10"), &json!(0x79))
    );
    assert!(watch.wait().unwrap().success());
    place.call(&["watch", "--seconds", "0.01"]).expect(0);
}

#[test]
fn errors_say_what_to_do() {
    let place = Place::new();
    for (args, said) in [
        (&["call", "screen.size"][..], "agon desktop start"),
        (&["screenshot", "x.png"], "agon desktop start"),
        (
            &["call", "screen.size", "--desktop", "d1"],
            "no desktop `d1`: none runs",
        ),
        (&["stop", "d1"], "no desktop `d1`"),
        (
            &["call", "keybord.press", "a"],
            "did you mean `keyboard.press`",
        ),
        (&["call"], "NAME"),
        (&["stop"], "--all"),
        (&["start", "--screen", "0x9"], "is no screen size"),
        (&["screenshot", "x.gif"], ".png, .webp or .jpg"),
        (&["watch", "--seconds", "soon"], "no number of seconds"),
        (
            &["call", "screen.size", "--desktop", ":4711"],
            "display :4711",
        ),
    ] {
        let stderr = place.call(args).expect(2).stderr();
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
    place.call(&["stop", "--all"]).expect(0);
    place.start(&[]);
    for (args, said) in [
        (&["mouse.move", "1"][..], "mouse.move(x, y)"),
        (&["mouse.move", "5000", "1"], "outside of the screen"),
        (&["keyboard.press", "nokey"], "nokey"),
        (&["window.make_active", "nothing"], "there are no windows"),
        (&["mouse.click", "up"], "unknown variant"),
    ] {
        let stderr = place.call(&[&["call"], args].concat()).expect(2).stderr();
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
}

#[test]
fn a_desktop_that_cannot_start_detached_says_why() {
    let place = Place::new();
    let bare = place.0.path("bin");
    fs::create_dir(&bare).unwrap();
    let mut command = place.agon(&["start", "--detach"]);
    let called = Called(command.env("PATH", &bare).output().unwrap()).expect(2);
    assert!(
        called.stderr().contains("apt-get install"),
        "{}",
        called.stderr()
    );
    assert_eq!(fs::read_dir(place.folder()).unwrap().count(), 0);
}

#[test]
fn the_names_are_listed_and_the_doctor_knows_of_desktops() {
    let place = Place::new();
    let listed = place.call(&["call", "--list", "--json"]).expect(0).stdout();
    let names: Vec<Value> = listed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let press = names
        .iter()
        .find(|name| name["name"] == "desktop/keyboard.press")
        .unwrap();
    assert_eq!(press["aliases"], json!(["keyboard.press"]));
    assert_eq!(press["parameters"], "key");
    let doctor = place.0.call(&["doctor"]).stdout();
    let line = doctor
        .lines()
        .find(|line| line.contains("desktops"))
        .unwrap();
    assert!(
        line.starts_with("ok") && line.contains("1280x800"),
        "{line}"
    );
}
