//! Keys that the window manager takes for itself: it has done what they say before anything else is
//! pressed, and takes none of those that follow.

use std::process::Command;

use agon_desktop::{Desktop, DesktopConfig, Key, KeyCombination, Rect};

use super::probe::{PATIENCE, Probe, Seen};

/// Of the letter, on the layout that Xvfb starts with.
const LETTER_A: u8 = 38;

fn has_the_letter(probe: &Probe) -> bool {
    let pressed = |seen| matches!(seen, Seen::KeyPress { code: LETTER_A, .. });
    probe.events().into_iter().any(pressed)
}

/// Two windows, of which the second is active.
fn two(desktop: &Desktop) -> [Probe; 2] {
    let rect = Rect {
        x: 100,
        y: 100,
        width: 300,
        height: 200,
    };
    let both = ["one", "other"].map(|title| {
        let probe = Probe::titled(desktop, title, rect);
        desktop.windows().wait_for(title, PATIENCE).unwrap();
        probe
    });
    for title in ["one", "other"] {
        desktop.windows().make_active(title).unwrap();
    }
    both
}

#[test]
fn the_window_switcher_is_over_when_its_keys_are_released() {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let windows = two(&desktop);
    let switch: KeyCombination = "alt+Tab".parse().unwrap();
    for turn in 0..20 {
        desktop.keyboard().combination(&switch).unwrap();
        desktop.keyboard().type_text("a").unwrap();
        let got = windows.each_ref().map(has_the_letter);
        assert_eq!(got, [turn % 2 == 0, turn % 2 == 1], "turn {turn}");
    }
}

#[test]
fn the_same_keys_one_by_one_switch_too() {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let windows = two(&desktop);
    let keyboard = desktop.keyboard();
    for turn in 0..20 {
        keyboard.press(Key::Alt).unwrap();
        keyboard.press(Key::Tab).unwrap();
        keyboard.release(Key::Tab).unwrap();
        keyboard.release(Key::Alt).unwrap();
        keyboard.type_text("a").unwrap();
        let got = windows.each_ref().map(has_the_letter);
        assert_eq!(got, [turn % 2 == 0, turn % 2 == 1], "turn {turn}");
    }
}

#[test]
fn a_window_manager_that_hangs_keeps_no_keys_from_programs() {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let probe = Probe::cover(&desktop);
    let manager = child(desktop.process().unwrap(), "openbox").unwrap();
    signal("-STOP", manager);
    let combination: KeyCombination = "ctrl+a".parse().unwrap();
    for _ in 0..3 {
        desktop.keyboard().combination(&combination).unwrap();
        assert!(has_the_letter(&probe));
        assert_eq!(desktop.keyboard().state().unwrap().keys, []);
    }
    signal("-CONT", manager);
}

fn signal(signal: &str, process: u32) {
    let sent = Command::new("kill")
        .arg(signal)
        .arg(process.to_string())
        .status();
    assert!(sent.unwrap().success());
}

/// The process of this name below another one.
fn child(parent: u32, name: &str) -> Option<u32> {
    let children = format!("/proc/{parent}/task/{parent}/children");
    let children = std::fs::read_to_string(children).ok()?;
    let mut children = children.split_whitespace().filter_map(|id| id.parse().ok());
    children.find_map(|id: u32| {
        let called = std::fs::read_to_string(format!("/proc/{id}/comm")).ok()?;
        (called.trim() == name)
            .then_some(id)
            .or_else(|| child(id, name))
    })
}
