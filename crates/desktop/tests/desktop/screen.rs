//! Screens by their pixels: a client draws what it knows, and captures must show exactly that.

mod client;
mod trouble;

use std::time::Duration;

use agon_desktop::screen::{CaptureOptions, Frame, PictureFormat, Settle, StreamConfig, Way};
use agon_desktop::{Desktop, DesktopConfig, DesktopError, Point, Rect, Size};
use x11rb::protocol::xproto::ConnectionExt as _;

use client::Client;

const BACKGROUND: u32 = 0x2e_34_40;
const RED: u32 = 0xff_00_00;
const GREEN: u32 = 0x00_80_01;
const BLUE: u32 = 0x03_02_ff;

/// Far longer than anything here takes.
const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(60);

fn start() -> (Desktop, Client) {
    let config = DesktopConfig {
        size: Size::new(320, 200),
        ..DesktopConfig::default()
    };
    let desktop = Desktop::start(&config).unwrap();
    let client = Client::connect(&desktop);
    (desktop, client)
}

fn rect(x: i32, y: i32, width: u32, height: u32) -> Rect {
    Rect {
        x,
        y,
        width,
        height,
    }
}

fn part(x: i32, y: i32, width: u32, height: u32) -> CaptureOptions {
    CaptureOptions {
        region: Some(rect(x, y, width, height)),
        ..CaptureOptions::default()
    }
}

/// The four corners of what `rect` shows.
fn corners(frame: &Frame, rect: Rect) -> [Option<u32>; 4] {
    let (x, y) = (rect.x as u32, rect.y as u32);
    let (right, bottom) = (x + rect.width - 1, y + rect.height - 1);
    [(x, y), (right, y), (x, bottom), (right, bottom)].map(|(x, y)| frame.colour(x, y))
}

#[test]
fn pixels_are_where_they_were_drawn() {
    let (desktop, client) = start();
    let area = rect(11, 23, 57, 41);
    client.window(area, RED);
    for way in [Way::Best, Way::Socket] {
        let options = CaptureOptions {
            way,
            ..CaptureOptions::default()
        };
        let frame = desktop.screen().capture_with(&options).unwrap();
        assert_eq!(frame.size(), Size::new(320, 200));
        assert_eq!(corners(&frame, area), [Some(RED); 4]);
        let around = rect(10, 22, 59, 43);
        assert_eq!(corners(&frame, around), [Some(BACKGROUND); 4]);
        assert_eq!(corners(&frame, frame.size().rect()), [Some(BACKGROUND); 4]);
        let red = frame
            .pixels()
            .chunks(4)
            .filter(|pixel| pixel[..3] == [0, 0, 255]);
        assert_eq!(red.count(), 57 * 41);
    }
}

#[test]
fn both_ways_show_the_same() {
    let (desktop, client) = start();
    client.window(rect(0, 0, 100, 100), GREEN);
    client.window(rect(50, 50, 100, 100), BLUE);
    let by = |way, region, cursor| {
        let options = CaptureOptions {
            region,
            cursor,
            way,
        };
        desktop.screen().capture_with(&options).unwrap()
    };
    for region in [None, Some(rect(40, 30, 71, 53))] {
        for cursor in [false, true] {
            let (shared, plain) = (
                by(Way::Best, region, cursor),
                by(Way::Socket, region, cursor),
            );
            assert_eq!(shared, plain);
            assert_eq!(shared.hash(), plain.hash());
            assert_eq!(shared.origin(), plain.origin());
            assert!(plain.at() > shared.at());
        }
    }
}

#[test]
fn regions_are_cut_at_the_edges_of_the_screen() {
    let (desktop, client) = start();
    client.window(rect(0, 0, 20, 20), RED);
    let screen = desktop.screen();
    let frame = screen.capture_with(&part(-10, -10, 40, 40)).unwrap();
    assert_eq!(
        (frame.size(), frame.origin()),
        (Size::new(30, 30), Point { x: 0, y: 0 })
    );
    assert_eq!(corners(&frame, rect(0, 0, 20, 20)), [Some(RED); 4]);
    let frame = screen.capture_with(&part(319, 199, 1000, 1000)).unwrap();
    assert_eq!(
        (frame.size(), frame.origin()),
        (Size::new(1, 1), Point { x: 319, y: 199 })
    );
    for (x, y) in [(320, 0), (0, 200), (-5, 0), (i32::MIN, i32::MAX)] {
        let error = screen.capture_with(&part(x, y, 5, 5)).unwrap_err();
        assert!(matches!(error, DesktopError::Outside { .. }), "{error}");
    }
    let error = screen.capture_with(&part(0, 0, 0, 5)).unwrap_err();
    assert!(error.is_callers(), "{error}");
}

#[test]
fn a_window_is_captured_as_it_is_seen() {
    let (desktop, client) = start();
    let window = client.window(rect(-10, 150, 40, 100), BLUE);
    let frame = desktop.screen().capture_window(window).unwrap();
    assert_eq!(frame.size(), Size::new(30, 50));
    assert_eq!(corners(&frame, frame.size().rect()), [Some(BLUE); 4]);
    client.window(rect(5, 160, 4, 4), RED);
    let frame = desktop.screen().capture_window(window).unwrap();
    assert_eq!(frame.colour(5, 10), Some(RED));

    client.x.unmap_window(window).unwrap();
    client.sync();
    let hidden = desktop.screen().capture_window(window).unwrap_err();
    assert!(
        hidden.is_callers() && hidden.to_string().contains("hidden"),
        "{hidden}"
    );
    client.x.destroy_window(window).unwrap();
    client.sync();
    let gone = desktop.screen().capture_window(window).unwrap_err();
    assert!(
        gone.is_callers() && gone.to_string().contains("no window"),
        "{gone}"
    );
}

#[test]
fn the_pointer_is_drawn_when_asked_for() {
    let (desktop, client) = start();
    client.move_pointer(100, 90);
    let screen = desktop.screen();
    let with = |region| CaptureOptions {
        region,
        cursor: true,
        ..CaptureOptions::default()
    };
    let without = screen.capture().unwrap();
    let drawn = screen.capture_with(&with(None)).unwrap();
    assert_eq!(without.cursor(), Some(Point { x: 100, y: 90 }));
    assert_eq!(drawn.cursor(), without.cursor());
    let differing: Vec<(u32, u32)> = (0..200)
        .flat_map(|y| (0..320).map(move |x| (x, y)))
        .filter(|(x, y)| without.colour(*x, *y) != drawn.colour(*x, *y))
        .collect();
    assert!(!differing.is_empty());
    for (x, y) in differing {
        assert!(x.abs_diff(100) < 40 && y.abs_diff(90) < 40, "{x} {y}");
    }
    // A part of the screen has the same pixels in it.
    let region = screen
        .capture_with(&with(Some(rect(95, 85, 10, 10))))
        .unwrap();
    for (x, y) in [(0, 0), (5, 5), (6, 7), (9, 9)] {
        assert_eq!(region.colour(x, y), drawn.colour(x + 95, y + 85), "{x} {y}");
    }
    client.move_pointer(0, 0);
    assert_eq!(
        screen.capture_with(&with(None)).unwrap().cursor(),
        Some(Point { x: 0, y: 0 })
    );
}

#[test]
fn frames_stay_as_they_are_while_others_are_taken() {
    let (desktop, client) = start();
    let screen = desktop.screen();
    let window = client.window(rect(0, 0, 320, 200), 0);
    // More than there are pieces of shared memory.
    let frames: Vec<Frame> = (0..20)
        .map(|colour| {
            client.fill(window, rect(0, 0, 320, 200), colour);
            screen.capture().unwrap()
        })
        .collect();
    for (colour, frame) in (0..).zip(&frames) {
        assert_eq!(corners(frame, frame.size().rect()), [Some(colour); 4]);
    }
    // They outlive the desktop.
    drop(desktop);
    assert_eq!(frames[7].colour(5, 5), Some(7));
}

#[test]
fn equal_screens_are_equal_whatever_is_in_the_fourth_byte() {
    let (desktop, client) = start();
    let window = client.window(rect(0, 0, 320, 200), 0);
    let shown = |pixel| {
        client.fill(window, rect(0, 0, 320, 200), pixel);
        desktop.screen().capture().unwrap()
    };
    let (a, b, c) = (shown(0x0012_3456), shown(0xff12_3456), shown(0x0012_3457));
    assert_ne!(a.pixels(), b.pixels(), "the server keeps the fourth byte");
    assert_eq!(a, b);
    assert_eq!(a.hash(), b.hash());
    assert_eq!(
        a.encode(PictureFormat::Png).unwrap(),
        b.encode(PictureFormat::Png).unwrap()
    );
    assert_ne!(a, c);
    assert_ne!(a.hash(), c.hash());
}

#[test]
fn a_drawn_change_settles() {
    let (desktop, client) = start();
    let window = client.window(rect(0, 0, 100, 100), RED);
    let screen = desktop.screen();
    let settle = Settle::by_drawing(LONG, SHORT, LONG);
    let watch = screen.watch().unwrap();
    for colour in [GREEN, BLUE] {
        client.fill(window, rect(0, 0, 10, 10), colour);
        let rest = watch.settle(&settle, None).unwrap();
        assert!(rest.changed && rest.at_rest, "{rest:?}");
        assert_eq!(screen.capture().unwrap().colour(9, 9), Some(colour));
    }
    // Nothing was done since: captures and moves of the pointer are no changes.
    screen.capture().unwrap();
    client.move_pointer(50, 50);
    let rest = watch
        .settle(&Settle::by_drawing(SHORT, SHORT, LONG), None)
        .unwrap();
    assert!(!rest.changed && rest.at_rest, "{rest:?}");
}

#[test]
fn a_screen_that_never_rests_does_not_settle() {
    let (desktop, client) = start();
    let window = client.window(rect(0, 0, 100, 100), RED);
    let screen = desktop.screen();
    let watch = screen.watch().unwrap();
    let drawing = client.draws_all_the_time(window);
    let (quiet, within) = (Duration::from_secs(5), Duration::from_millis(300));
    let rest = watch
        .settle(&Settle::by_drawing(LONG, quiet, within), None)
        .unwrap();
    assert!(rest.changed && !rest.at_rest, "{rest:?}");
    assert!(!screen.stable(quiet, within).unwrap());
    assert!(screen.changed(LONG).unwrap());
    drop(drawing);
    assert!(screen.stable(SHORT, LONG).unwrap());
}

#[test]
fn drawing_the_same_again_is_no_change() {
    let (desktop, client) = start();
    let window = client.window(rect(0, 0, 100, 100), RED);
    let screen = desktop.screen();
    let before = screen.capture().unwrap();
    let drawing = client.fills_all_the_time(window, RED);
    assert!(!screen.changed(SHORT).unwrap());
    assert!(!screen.changed_from(&before, SHORT).unwrap());
    assert!(screen.stable(SHORT, LONG).unwrap());
    drop(drawing);
    client.fill(window, rect(99, 99, 1, 1), GREEN);
    assert!(screen.changed_from(&before, LONG).unwrap());
}

#[test]
fn a_blinking_cursor_is_at_rest() {
    let (desktop, client) = start();
    let window = client.window(rect(0, 0, 100, 100), RED);
    let blinking = client.blinks(window, [GREEN, BLUE]);
    let quiet = Duration::from_millis(300);
    assert!(desktop.screen().stable(quiet, LONG).unwrap());
    drop(blinking);
}

#[test]
fn a_stream_gives_every_change_once() {
    let (desktop, client) = start();
    let window = client.window(rect(0, 0, 100, 100), 1);
    let config = StreamConfig {
        fps: 200,
        cursor: false,
        keep: 4,
    };
    let stream = desktop.screen().stream(config).unwrap();
    let colour_of = |frame: &Frame| frame.colour(5, 5).unwrap();
    let first = stream.next(LONG).unwrap().unwrap();
    assert_eq!(colour_of(&first), 1);
    for colour in 2..40 {
        client.fill(window, rect(0, 0, 100, 100), colour);
        let frame = stream.next(LONG).unwrap().unwrap();
        assert_eq!(colour_of(&frame), colour);
    }
    assert_eq!(stream.dropped(), 0);
    assert_eq!(stream.captured(), 39);
    let last: Vec<u32> = stream
        .last(3)
        .iter()
        .map(|frame| colour_of(frame))
        .collect();
    assert_eq!(last, [37, 38, 39]);
    assert_eq!(stream.last(100).len(), 4);
    // Nothing changes, so there is nothing more, and nothing was captured in vain.
    assert!(stream.next(SHORT).unwrap().is_none());
    assert_eq!(stream.captured(), 39);
}

#[test]
fn a_stream_drops_the_oldest_and_counts_them() {
    let (desktop, client) = start();
    let window = client.window(rect(0, 0, 100, 100), RED);
    let config = StreamConfig {
        fps: 240,
        cursor: false,
        keep: 3,
    };
    let stream = desktop.screen().stream(config).unwrap();
    let drawing = client.draws_all_the_time(window);
    let reader = desktop.screen().stream(config).unwrap();
    while reader.captured() < 20 {
        reader.next(LONG).unwrap().unwrap();
    }
    drop(drawing);
    // Both are at rest now.
    while reader.next(SHORT * 3).unwrap().is_some() {}
    while stream.captured() < 4 {
        client.fill(window, rect(0, 0, 1, 1), stream.captured() as u32);
    }
    let (captured, dropped) = (stream.captured(), stream.dropped());
    assert!(
        captured >= 4 && dropped >= captured - 3,
        "{captured} {dropped}"
    );
    let mut given = 0;
    while stream.next(SHORT * 3).unwrap().is_some() {
        given += 1;
    }
    assert_eq!(stream.captured(), stream.dropped() + given);
}

#[test]
fn moves_of_the_pointer_are_in_a_stream_that_draws_it() {
    let (desktop, client) = start();
    client.move_pointer(10, 10);
    let stream = |cursor| {
        let config = StreamConfig {
            fps: 100,
            cursor,
            keep: 4,
        };
        let stream = desktop.screen().stream(config).unwrap();
        stream.next(LONG).unwrap().unwrap();
        stream
    };
    let (with, without) = (stream(true), stream(false));
    client.move_pointer(200, 100);
    let moved = loop {
        let frame = with.next(LONG).unwrap().unwrap();
        if frame.cursor() == Some(Point { x: 200, y: 100 }) {
            break frame;
        }
    };
    assert_ne!(moved.colour(201, 102), Some(BACKGROUND));
    assert!(without.next(SHORT).unwrap().is_none());
}

#[test]
fn what_makes_no_sense_is_said() {
    let (desktop, _client) = start();
    for (fps, keep) in [(0, 1), (241, 1), (60, 0), (60, 65)] {
        let config = StreamConfig {
            fps,
            cursor: false,
            keep,
        };
        let error = desktop.screen().stream(config).unwrap_err();
        assert!(error.is_callers(), "{error}");
    }
    let frame = desktop.screen().capture().unwrap();
    for quality in [0, 101] {
        let error = frame.encode(PictureFormat::Jpeg { quality }).unwrap_err();
        assert!(error.is_callers(), "{error}");
    }
}
