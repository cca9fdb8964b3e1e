//! Windows of real programs and of hostile ones: listed, found, made active, changed, closed.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use agon_core::action::Button;
use agon_desktop::{Desktop, DesktopConfig, DesktopError, Rect, Size, WindowInfo};
use x11rb::connection::Connection;
use x11rb::properties::WmHints;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, PropMode};
use x11rb::wrapper::ConnectionExt as _;

use super::probe::{PATIENCE, Probe, Program, Seen};

const RECT: Rect = Rect {
    x: 100,
    y: 120,
    width: 300,
    height: 200,
};

fn desktop() -> Desktop {
    Desktop::start(&DesktopConfig::default()).unwrap()
}

/// An xterm that is there.
fn xterm(desktop: &Desktop, title: &str) -> (Program, WindowInfo) {
    let program = Program::xterm(desktop, title);
    let window = desktop.windows().wait_for(title, PATIENCE).unwrap();
    (program, window)
}

#[test]
fn real_windows_are_listed_with_all_that_is_known_of_them() {
    let desktop = desktop();
    let windows = desktop.windows();
    assert_eq!(windows.list().unwrap(), []);
    assert_eq!(windows.active().unwrap(), None);
    let (_first, _) = xterm(&desktop, "Erstes Fenster");
    let (_second, _) = xterm(&desktop, "Zweites Fenster – Grüße");
    let list = windows.list().unwrap();
    let mut titles: Vec<&str> = list.iter().map(|window| window.title.as_str()).collect();
    titles.sort_unstable();
    assert_eq!(titles, ["Erstes Fenster", "Zweites Fenster – Grüße"]);
    let found = windows.find("Erstes").unwrap();
    assert_eq!(found.class, "XTerm");
    let pid = windows.pid("Erstes").unwrap().unwrap();
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap();
    assert!(program.ends_with("xterm"), "{program:?}");
    assert_eq!(found.desktop, Some(0));
    assert!(!found.hidden);
    assert!(found.rect.width > 100 && found.rect.height > 100);
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["rect"]["width"], found.rect.width);
}

#[test]
fn a_window_is_made_active_and_gets_what_is_done_then() {
    let desktop = desktop();
    let windows = desktop.windows();
    let (_first, _) = xterm(&desktop, "first one");
    let (_second, _) = xterm(&desktop, "second one");
    for title in ["first", "second", "second", "first"] {
        let active = windows.make_active(title).unwrap();
        assert!(active.title.starts_with(title));
        assert!(windows.is_active(title).unwrap());
        assert_eq!(windows.active().unwrap(), Some(active.clone()));
        // The topmost one too.
        assert_eq!(windows.find("one").unwrap(), active);
        let other = if title == "first" { "second" } else { "first" };
        assert!(!windows.is_active(other).unwrap());
    }
    assert!(!windows.is_active("third").unwrap());
}

#[test]
fn a_minimised_window_comes_back_when_it_is_made_active_or_restored() {
    let desktop = desktop();
    let windows = desktop.windows();
    let (_first, _) = xterm(&desktop, "first");
    let (_second, _) = xterm(&desktop, "second");
    assert!(windows.minimise("first").unwrap().hidden);
    assert!(!windows.is_active("first").unwrap());
    assert!(!windows.make_active("first").unwrap().hidden);
    assert!(windows.minimise("second").unwrap().hidden);
    assert!(!windows.restore("second").unwrap().hidden);
}

#[test]
fn an_exact_title_comes_before_the_topmost_part_of_one() {
    let desktop = desktop();
    let _exact = Probe::titled(&desktop, "notes", RECT);
    let _longer = Probe::titled(&desktop, "notes and more", RECT);
    desktop.windows().wait_for("more", PATIENCE).unwrap();
    desktop.windows().make_active("notes and more").unwrap();
    assert_eq!(desktop.windows().find("notes").unwrap().title, "notes");
    assert_eq!(
        desktop.windows().find("note").unwrap().title,
        "notes and more"
    );
    assert!(desktop.windows().find("").unwrap_err().is_callers());
}

#[test]
fn a_missing_title_is_an_error_that_names_those_there_are() {
    let desktop = desktop();
    let windows = desktop.windows();
    let error = windows.find("absent").unwrap_err();
    assert!(
        error.to_string().contains("there are no windows"),
        "{error}"
    );
    let (_program, _) = xterm(&desktop, "the present one");
    let error = |result: Result<WindowInfo, DesktopError>| {
        let error = result.unwrap_err();
        assert!(error.is_callers());
        assert!(
            matches!(&error, DesktopError::NoSuchWindow { wanted, titles }
            if wanted == "absent" && titles == &["the present one"])
        );
        let said = error.to_string();
        assert!(
            said.contains("absent") && said.contains("`the present one`"),
            "{said}"
        );
    };
    error(windows.find("absent"));
    error(windows.make_active("absent"));
    error(windows.move_to("absent", 1, 1));
    error(windows.maximise("absent"));
    error(windows.wait_for("absent", Duration::from_millis(50)));
    assert!(windows.close("absent").unwrap_err().is_callers());
    assert!(windows.pid("absent").unwrap_err().is_callers());
}

#[test]
fn windows_move_and_change_their_size() {
    let desktop = desktop();
    let windows = desktop.windows();
    let probe = Probe::titled(&desktop, "probe", RECT);
    windows.wait_for("probe", PATIENCE).unwrap();
    let moved = windows.move_to("probe", 333, 222).unwrap();
    assert_eq!((moved.rect.x, moved.rect.y), (333, 222));
    assert_eq!(moved.rect.size(), RECT.size());
    let resized = windows.resize("probe", Size::new(417, 305)).unwrap();
    assert_eq!(
        resized.rect,
        Rect {
            width: 417,
            height: 305,
            ..moved.rect
        }
    );
    assert_eq!(windows.find("probe").unwrap().rect, resized.rect);
    // Where it says it is, there it is: the corner belongs to it, the pixel before does not.
    probe.events();
    desktop.mouse().click_at(333, 222, Button::Left, 1).unwrap();
    let seen = probe.until(|seen| matches!(seen, Seen::Release { .. }));
    assert!(
        seen.iter()
            .any(|seen| matches!(seen, Seen::Press { x: 333, y: 222, .. }))
    );
    let maximised = windows.maximise("probe").unwrap();
    assert_eq!(maximised.rect.width, 1280);
    assert!(maximised.rect.height > 750);
    assert_eq!(windows.restore("probe").unwrap().rect, resized.rect);
    for (x, y) in [(9000, 0), (0, i32::MIN)] {
        assert!(windows.move_to("probe", x, y).unwrap_err().is_callers());
    }
    for size in [Size::new(0, 10), Size::new(10, u32::MAX)] {
        assert!(windows.resize("probe", size).unwrap_err().is_callers());
    }
}

#[test]
fn a_terminal_is_resized_to_whole_characters_and_closed() {
    let desktop = desktop();
    let windows = desktop.windows();
    let (mut program, before) = xterm(&desktop, "terminal");
    let after = windows.resize("terminal", Size::new(401, 303)).unwrap();
    assert_ne!(after.rect.size(), before.rect.size());
    assert!(
        after.rect.width <= 401 && after.rect.width > 380,
        "{:?}",
        after.rect
    );
    windows.close("terminal").unwrap();
    assert_eq!(windows.list().unwrap(), []);
    program.wait();
}

#[test]
fn a_window_that_does_not_close_is_an_error_in_time() {
    let desktop = desktop();
    let probe = Probe::hidden(&desktop, RECT);
    probe.title(AtomEnum::STRING.into(), b"stubborn");
    let (protocols, delete) = (probe.atom("WM_PROTOCOLS"), probe.atom("WM_DELETE_WINDOW"));
    let kind = AtomEnum::ATOM;
    probe
        .x
        .change_property32(PropMode::REPLACE, probe.window, protocols, kind, &[delete])
        .unwrap();
    probe.show();
    desktop.windows().wait_for("stubborn", PATIENCE).unwrap();
    let error = desktop.windows().close("stubborn").unwrap_err();
    assert!(matches!(error, DesktopError::Timeout { .. }), "{error}");
    assert!(error.to_string().contains("stubborn"));
}

#[test]
fn a_window_without_input_never_becomes_active_and_says_so() {
    let desktop = desktop();
    let probe = Probe::hidden(&desktop, RECT);
    probe.title(AtomEnum::STRING.into(), b"deaf");
    let mut hints = WmHints::new();
    hints.input = Some(false);
    hints.set(&probe.x, probe.window).unwrap();
    probe.show();
    desktop.windows().wait_for("deaf", PATIENCE).unwrap();
    let error = desktop.windows().make_active("deaf").unwrap_err();
    assert!(error.is_callers());
    assert!(
        error.to_string().contains("takes no keyboard input"),
        "{error}"
    );
}

#[test]
fn a_window_is_waited_for_until_it_appears_or_gets_its_title() {
    let desktop = desktop();
    let windows = desktop.windows();
    thread::scope(|scope| {
        let (waiting, started) = mpsc::channel();
        let waiter = scope.spawn(move || {
            waiting.send(()).unwrap();
            windows.wait_for("late", PATIENCE).unwrap()
        });
        started.recv().unwrap();
        let (_program, window) = xterm(&desktop, "much too late");
        assert_eq!(waiter.join().unwrap().id, window.id);
    });
    let probe = Probe::titled(&desktop, "before", RECT);
    let window = windows.wait_for("before", PATIENCE).unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(move || windows.wait_for("after", PATIENCE).unwrap());
        probe.title(AtomEnum::STRING.into(), b"after");
        assert_eq!(waiter.join().unwrap().id, window.id);
    });
    let began = Instant::now();
    assert!(
        windows
            .wait_for("never", Duration::from_millis(100))
            .is_err()
    );
    assert!(began.elapsed() >= Duration::from_millis(100));
}

#[test]
fn titles_of_every_encoding_are_read() {
    let desktop = desktop();
    let probe = Probe::hidden(&desktop, RECT);
    let windows = desktop.windows();
    probe.title(AtomEnum::STRING.into(), b"Latin: \xfc\xdf");
    probe.show();
    windows.wait_for("Latin: üß", PATIENCE).unwrap();
    probe.title(probe.atom("UTF8_STRING"), "UTF-8: 世界".as_bytes());
    windows.wait_for("UTF-8: 世界", PATIENCE).unwrap();
    probe.title(
        probe.atom("COMPOUND_TEXT"),
        b"Compound: \xfc \x1b%G\xe4\xb8\x96\x1b%@",
    );
    windows.wait_for("Compound: ü 世", PATIENCE).unwrap();
    let (name, utf8) = (probe.atom("_NET_WM_NAME"), probe.atom("UTF8_STRING"));
    probe.property(name, utf8, "The newer name wins".as_bytes());
    windows.wait_for("newer name", PATIENCE).unwrap();
}

#[test]
fn hostile_titles_are_bounded_and_clean() {
    let desktop = desktop();
    let windows = desktop.windows();
    let probe = Probe::titled(&desktop, "harmless", RECT);
    let id = windows.wait_for("harmless", PATIENCE).unwrap().id;
    let utf8 = probe.atom("UTF8_STRING");
    let title = || {
        let list = windows.list().unwrap();
        list.into_iter()
            .find(|window| window.id == id)
            .unwrap()
            .title
    };
    probe.title(utf8, b"a\x1b]0;x\x07\n\xe2\x80\xaeb\xc2\x9b");
    assert_eq!(title(), "a]0;xb");
    probe.title(utf8, b"\xff\xfe\xc3(\xf0\x9f");
    assert_eq!(title(), "\u{fffd}\u{fffd}\u{fffd}(\u{fffd}");
    probe.title(probe.atom("INTEGER"), b"no text");
    assert_eq!(title(), "");
    probe.title(utf8, &[]);
    assert_eq!(title(), "");
    let class = AtomEnum::WM_CLASS.into();
    probe.property(class, AtomEnum::STRING.into(), &[b'c'; 1 << 20]);
    probe.title(utf8, "ü".repeat(5 << 20).as_bytes());
    assert_eq!(title(), "ü".repeat(512));
    let error = windows.find("absent").unwrap_err();
    assert!(error.to_string().chars().count() < 300);
    let list = windows.list().unwrap();
    assert!(
        list.iter()
            .all(|window| window.class.chars().count() <= 512)
    );
}

#[test]
fn windows_that_come_and_go_are_no_error_of_the_list() {
    let desktop = desktop();
    let windows = desktop.windows();
    let (done, end) = mpsc::channel();
    thread::scope(|scope| {
        let desktop = &desktop;
        scope.spawn(move || {
            for round in 0..60 {
                let probe = Probe::titled(desktop, &format!("fly {round}"), RECT);
                probe.x.destroy_window(probe.window).unwrap();
                probe.x.flush().unwrap();
            }
            done.send(()).unwrap();
        });
        while end.try_recv() == Err(mpsc::TryRecvError::Empty) {
            windows.list().unwrap();
            windows.active().unwrap();
            match windows.make_active("fly") {
                Ok(_) => {}
                Err(error) => assert!(error.is_callers(), "{error}"),
            }
        }
    });
}

#[test]
fn without_a_window_manager_windows_are_found_all_the_same() {
    let desktop = desktop();
    let windows = desktop.windows();
    // The window by which a window manager is known goes, and the window manager with it.
    let probe = Probe::titled(&desktop, "orphan", RECT);
    let root = probe.x.setup().roots[0].root;
    let check = probe.atom("_NET_SUPPORTING_WM_CHECK");
    let asked = probe
        .x
        .get_property(false, root, check, AtomEnum::WINDOW, 0, 1);
    let manager = asked
        .unwrap()
        .reply()
        .unwrap()
        .value32()
        .unwrap()
        .next()
        .unwrap();
    let (gone, lost) = (
        probe.x.kill_client(manager),
        windows.wait_for("orphan", PATIENCE),
    );
    gone.unwrap().check().unwrap();
    lost.unwrap();
    let deadline = Instant::now() + PATIENCE;
    while probe.x.get_geometry(manager).unwrap().reply().is_ok() {
        assert!(Instant::now() < deadline);
    }
    let _second = Probe::titled(&desktop, "second", Rect { x: 300, ..RECT });
    assert_eq!(windows.wait_for("second", PATIENCE).unwrap().rect.x, 300);
    let active = windows.make_active("orphan").unwrap();
    assert_eq!(windows.active().unwrap(), Some(active));
    let titles: Vec<String> = windows
        .list()
        .unwrap()
        .into_iter()
        .map(|window| window.title)
        .collect();
    assert_eq!(titles, ["orphan", "second"]);
    assert_eq!(windows.move_to("orphan", 7, 8).unwrap().rect.x, 7);
    assert_eq!(
        windows
            .resize("orphan", Size::new(50, 60))
            .unwrap()
            .rect
            .size(),
        Size::new(50, 60)
    );
    assert!(matches!(
        windows.maximise("orphan"),
        Err(DesktopError::Unsupported(_))
    ));
}
