//! Servers that die or stop: an error in time, never a hang, and what was captured stays.

use agon_desktop::DesktopError;
use agon_desktop::screen::{Settle, StreamConfig};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::Window;

use super::client::{Stopped, end_server};
use super::{LONG, RED, SHORT, rect, start};

#[test]
fn a_server_that_is_killed_is_an_error_everywhere() {
    let (desktop, client) = start();
    let window: Window = client.window(rect(0, 0, 100, 100), RED);
    let screen = desktop.screen();
    let config = StreamConfig {
        fps: 60,
        cursor: true,
        keep: 2,
    };
    let stream = screen.stream(config).unwrap();
    let watch = screen.watch().unwrap();
    let frame = screen.capture().unwrap();
    std::thread::scope(|scope| {
        // In the middle of a wait.
        let waits = scope.spawn(|| screen.changed(LONG));
        let settles = scope.spawn(|| {
            let settle = Settle::by_drawing(LONG, LONG, LONG);
            watch.settle(&settle, None)
        });
        stream.next(LONG).unwrap().unwrap();
        end_server(&desktop);
        assert!(matches!(
            waits.join().unwrap(),
            Err(DesktopError::Gone(_) | DesktopError::Io { .. })
        ));
        assert!(matches!(
            settles.join().unwrap(),
            Err(DesktopError::Gone(_))
        ));
    });
    assert!(matches!(screen.capture(), Err(DesktopError::Gone(_))));
    assert!(matches!(
        screen.capture_window(window),
        Err(DesktopError::Gone(_))
    ));
    assert!(screen.stable(SHORT, LONG).is_err());
    assert!(screen.watch().is_err());
    assert!(screen.stream(config).is_err());
    let ended = loop {
        match stream.next(LONG) {
            Ok(frame) => assert!(frame.is_some()),
            Err(error) => break error,
        }
    };
    assert!(matches!(ended, DesktopError::Gone(_)), "{ended}");
    // What was captured before is still there.
    assert_eq!(frame.colour(5, 5), Some(RED));
    assert!(!stream.last(1).is_empty());
    drop(client.x.flush());
}

#[test]
fn a_server_that_stopped_is_an_error_and_no_hang() {
    let (desktop, _client) = start();
    let screen = desktop.screen();
    let config = StreamConfig {
        fps: 60,
        cursor: false,
        keep: 2,
    };
    let stream = screen.stream(config).unwrap();
    let watch = screen.watch().unwrap();
    let stopped = Stopped::new(&desktop);
    let settle = Settle::by_drawing(SHORT, SHORT, SHORT);
    std::thread::scope(|scope| {
        let settles = scope.spawn(|| watch.settle(&settle, None));
        let captures = scope.spawn(|| screen.capture().map(drop));
        let stable = scope.spawn(|| screen.stable(SHORT, SHORT));
        assert!(matches!(
            settles.join().unwrap(),
            Err(DesktopError::Gone(_))
        ));
        assert!(matches!(
            captures.join().unwrap(),
            Err(DesktopError::Gone(_))
        ));
        assert!(stable.join().unwrap().is_err());
    });
    // Its end does not wait for the server.
    drop(stream);
    drop(stopped);
}
