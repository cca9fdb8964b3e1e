//! A window is there before anything is drawn on it: who waits for its content gets that.

use std::sync::mpsc;
use std::time::Duration;

use agon_desktop::{Desktop, DesktopConfig, Rect};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ConnectionExt as _, CreateGCAux, Rectangle};
use x11rb::wrapper::ConnectionExt as _;

use super::probe::{PATIENCE, Probe, Program};

const QUIET: Duration = Duration::from_millis(50);

const PLACE: Rect = Rect {
    x: 100,
    y: 100,
    width: 300,
    height: 200,
};

fn blank(desktop: &Desktop, title: &str) -> Probe {
    let probe = Probe::titled(desktop, title, PLACE);
    desktop.windows().wait_for(title, PATIENCE).unwrap();
    probe
}

/// A black square on the white window.
fn draw(probe: &Probe) {
    let x = &probe.x;
    let pen = x.generate_id().unwrap();
    let black = CreateGCAux::new().foreground(x.setup().roots[0].black_pixel);
    x.create_gc(pen, probe.window, &black).unwrap();
    let square = Rectangle {
        x: 10,
        y: 10,
        width: 20,
        height: 20,
    };
    x.poly_fill_rectangle(probe.window, pen, &[square]).unwrap();
    x.sync().unwrap();
}

#[test]
fn a_blank_window_is_waited_for_until_it_is_drawn_on() {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    assert!(desktop.wait_for_content(QUIET, PATIENCE).unwrap());
    let probe = blank(&desktop, "slow");
    assert!(desktop.screen().stable(QUIET, PATIENCE).unwrap());
    let (send, back) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            send.send(desktop.wait_for_content(QUIET, PATIENCE))
                .unwrap()
        });
        // Far longer than the screen has to rest: who goes by that alone is back by then.
        back.recv_timeout(10 * QUIET).unwrap_err();
        draw(&probe);
        assert!(back.recv_timeout(PATIENCE).unwrap().unwrap());
    });
}

#[test]
fn a_window_that_stays_blank_is_not_waited_for_for_ever() {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let probe = blank(&desktop, "blank");
    assert!(!desktop.wait_for_content(QUIET, 4 * QUIET).unwrap());
    // One that nobody sees has nothing to show.
    desktop.windows().minimise("blank").unwrap();
    assert!(desktop.wait_for_content(QUIET, PATIENCE).unwrap());
    drop(probe);
}

#[test]
fn an_empty_terminal_has_content() {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let _xterm = Program::xterm(&desktop, "empty");
    desktop.windows().wait_for("empty", PATIENCE).unwrap();
    assert!(desktop.wait_for_content(QUIET, PATIENCE).unwrap());
}
