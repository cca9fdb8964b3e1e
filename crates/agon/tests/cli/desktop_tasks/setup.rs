//! Programs of a task that don't come up: the fault says which and why, and nothing hangs.

use agon::core::FaultClass;
use agon::core::verdict::Outcome;
use serde_json::json;

use super::room::{Room, TERMINAL};

#[track_caller]
fn no_window(apps: &[&str], phrases: &[&str]) {
    let room = Room::new();
    let changes = json!({ "environment": { "apps": apps }, "limits": { "start": 4 } });
    room.task("a", &json!([]), &changes);
    room.play(&[]).expect(1);
    let played = room.trial("a");
    assert_eq!(played.line.outcome, Outcome::Faulted);
    let fault = played.line.fault.unwrap();
    assert_eq!(fault.class, FaultClass::Setup, "{fault}");
    for phrase in phrases {
        assert!(fault.message.contains(phrase), "`{phrase}`: {fault}");
    }
}

#[test]
fn an_app_that_does_not_exist_is_named() {
    no_window(
        &["no-such-app --with words"],
        &["`no-such-app --with words`", "status 127", "not found"],
    );
}

#[test]
fn an_app_that_ends_at_once_says_why() {
    no_window(
        &[TERMINAL, "echo the disk is full >&2; exit 3"],
        &["`echo the disk is full", "status 3", ": the disk is full"],
    );
}

#[test]
fn an_app_that_can_not_use_the_display_says_why() {
    no_window(
        &["DISPLAY=:7 xterm"],
        &["status 1", "Can't open display: :7"],
    );
}

#[test]
fn an_app_that_opens_no_window_is_waited_for_no_longer_than_the_start() {
    no_window(
        &[TERMINAL, "echo thinking; sleep 1000"],
        &["sleep 1000", "after 4 s", "thinking"],
    );
}

#[test]
fn an_app_that_goes_to_the_background_may() {
    let apps = json!({ "environment": { "apps": [format!("{TERMINAL} &")] } });
    let played = Room::played(&json!([{ "action": "screenshot" }]), &apps);
    assert!(played.steps()[0].screen().window.is_some());
}

#[test]
fn a_desktop_without_apps_is_empty() {
    let none = json!({ "environment": { "apps": [] } });
    let played = Room::played(&json!([{ "action": "screenshot" }]), &none);
    assert_eq!(played.steps()[0].screen().window, None);
}

#[test]
fn a_screen_that_is_none_is_refused_before_anything_starts() {
    let room = Room::new();
    for screen in ["0x0", "wide", "99999x99999", "640"] {
        let changes = json!({ "environment": { "screen": screen } });
        room.task("a", &json!([]), &changes);
        let said = room.play(&[]).expect(2).stderr();
        assert!(said.contains(screen), "{said}");
    }
    assert!(!room.bench.path("run").exists());
}
