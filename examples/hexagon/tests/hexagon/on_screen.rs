//! The real program on a real private desktop.

use std::time::{Duration, Instant};

use agon_desktop::Key;
use agon_hexagon::scene::{BAND, TEXT};
use agon_hexagon::seed;

use super::desk::{Desk, PATIENCE, TITLE};

/// Between two looks.
const SOON: Duration = Duration::from_millis(100);

/// Pixels of the window that have a colour.
fn count(desk: &Desk, colour: u32) -> usize {
    let id = desk.desktop.windows().find(TITLE).unwrap().id;
    let frame = desk.desktop.screen().capture_window(id).unwrap();
    let size = frame.size();
    let all = (0..size.height).flat_map(|y| (0..size.width).map(move |x| (x, y)));
    all.filter(|&(x, y)| frame.colour(x, y) == Some(colour))
        .count()
}

#[test]
fn doing_nothing_ends_with_a_score_and_space_plays_again() {
    let desk = Desk::open(&["--seed", "7"]);
    let window = desk.desktop.windows().find(TITLE).unwrap();
    assert_eq!(window.title, TITLE);
    assert_eq!(window.class, "Hexagon");
    assert_eq!((window.rect.width, window.rect.height), (480, 360));
    assert!(desk.records().is_empty());

    desk.desktop.keyboard().tap(Key::Space).unwrap();
    let record = desk.wait_for_games(1).remove(0);
    assert_eq!(record["game"], 1);
    assert_eq!(record["seed"], 7);
    assert_eq!(record["ended"], "wall");
    let score = record["score"].as_f64().unwrap();
    assert!(score > 1.0, "{score}");
    let frames = record["frames"].as_f64().unwrap();
    assert!(
        frames > 0.0 && frames <= score * 61.0 + 2.0,
        "{frames} in {score}"
    );

    // The end stays on the screen for a moment, so a key must be pressed after that.
    let deadline = Instant::now() + PATIENCE;
    while desk.records().len() < 2 && Instant::now() < deadline {
        desk.desktop.keyboard().tap(Key::Space).unwrap();
        desk.desktop.screen().changed(SOON).unwrap();
    }
    let second = desk.wait_for_games(2).remove(1);
    assert_eq!(second["game"], 2);
    assert_eq!(second["seed"], seed::of_game(7, 2));
}

#[test]
fn the_title_is_drawn_and_a_closed_window_ends_it_well() {
    let mut desk = Desk::open(&[]);
    let deadline = Instant::now() + PATIENCE;
    while count(&desk, TEXT) < 1000 || count(&desk, BAND) < 10_000 {
        assert!(Instant::now() < deadline, "there is no title");
        desk.desktop.screen().changed(SOON).unwrap();
    }
    desk.desktop.windows().close(TITLE).unwrap();
    assert!(desk.wait().success());
    assert!(desk.records().is_empty());
}

#[test]
fn a_game_that_is_cut_short_is_kept_as_such() {
    let mut desk = Desk::open(&["--speed", "0.25", "--start"]);
    desk.desktop.windows().close(TITLE).unwrap();
    assert!(desk.wait().success());
    let records = desk.records();
    assert_eq!(records.len(), 1, "{records:?}");
    assert_eq!(records[0]["ended"], "closed");
}

#[test]
fn it_ends_well_without_its_display() {
    let mut desk = Desk::open(&[]);
    desk.desktop.end();
    assert!(desk.wait().success());
}

#[test]
fn it_ends_after_its_games() {
    let mut desk = Desk::open(&["--start", "--games", "1", "--speed", "4"]);
    assert!(desk.wait().success());
    assert_eq!(desk.records().len(), 1);
}
