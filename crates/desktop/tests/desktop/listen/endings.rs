//! Listeners end as they should: told to, by a panic, with their server; and drop what nobody reads.

use std::sync::mpsc;
use std::time::Duration;

use agon_desktop::listen::Event;
use agon_desktop::{Desktop, DesktopError, Key, ListenConfig, Listener};
use rustix::process::{Pid, Signal, kill_process};

use super::{PATIENCE, RELEASE, desktop, input, inputs, next, nothing_else};

fn kill_server(desktop: &Desktop) {
    let pid = i32::try_from(desktop.process().unwrap()).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_callback_is_called_until_it_is_stopped() {
    let desktop = desktop();
    let (tell, told) = mpsc::channel();
    let handle = desktop
        .listen_with(&ListenConfig::keyboard(), move |event| {
            tell.send(event).unwrap()
        })
        .unwrap();
    desktop.keyboard().tap(Key::Right).unwrap();
    told.recv_timeout(PATIENCE).unwrap();
    told.recv_timeout(PATIENCE).unwrap();
    assert!(handle.is_alive());
    handle.stop();
    assert!(handle.join(PATIENCE).unwrap());
    assert!(!handle.is_alive());
    desktop.keyboard().tap(Key::Right).unwrap();
    assert_eq!(
        told.recv_timeout(PATIENCE),
        Err(mpsc::RecvTimeoutError::Disconnected)
    );
}

#[test]
fn a_callback_that_panics_ends_its_own_listener_only() {
    let desktop = desktop();
    let other = desktop.listen(&ListenConfig::keyboard()).unwrap();
    let handle = desktop
        .listen_with(&ListenConfig::keyboard(), |event| {
            panic!("at {:?}", event.t())
        })
        .unwrap();
    desktop.keyboard().tap(Key::Right).unwrap();
    let error = handle.join(PATIENCE).unwrap_err();
    assert!(matches!(error, DesktopError::Callback(_)), "{error}");
    inputs(&other, 2);
    nothing_else(&desktop, &other);
}

#[test]
fn what_nobody_reads_is_dropped_and_counted() {
    let desktop = desktop();
    let config = ListenConfig {
        keep: 4,
        ..ListenConfig::keyboard()
    };
    let listener = desktop.listen(&config).unwrap();
    let log = desktop.input_log().unwrap();
    for _ in 0..50 {
        desktop.keyboard().tap(Key::Right).unwrap();
    }
    desktop.keyboard().tap(Key::F1).unwrap();
    let last = |listener: &Listener| {
        let mut read = 0;
        loop {
            read += 1;
            let event = input(listener);
            if (event.kind, event.key.as_deref()) == (RELEASE, Some("F1")) {
                return read;
            }
        }
    };
    assert_eq!(last(&listener) + listener.dropped(), 102);
    log.sync(PATIENCE).unwrap();
    assert_eq!(log.take().0.len(), 102, "a log has place for them");
}

#[test]
fn a_server_that_is_killed_ends_listeners_with_an_error() {
    let desktop = desktop();
    let listener = desktop.listen(&ListenConfig::default()).unwrap();
    let log = desktop.input_log().unwrap();
    let key = desktop.panic_key(Key::F10).unwrap();
    kill_server(&desktop);
    let last = listener.events().last().unwrap();
    assert!(matches!(last, Err(DesktopError::Gone(_))), "{last:?}");
    let again = listener.next(Duration::ZERO).unwrap_err();
    assert!(matches!(again, DesktopError::Gone(_)), "{again}");
    for handle in [listener.handle(), log.handle(), key.handle()] {
        assert!(matches!(handle.join(PATIENCE), Err(DesktopError::Gone(_))));
        assert!(!handle.is_alive());
    }
    assert!(log.sync(PATIENCE).is_err());
    assert!(!key.signal().is_set());
    assert!(desktop.listen(&ListenConfig::default()).is_err());
}

#[test]
fn a_listener_that_listens_to_nothing_is_a_mistake() {
    let desktop = desktop();
    assert!(
        desktop
            .listen(&ListenConfig::NOTHING)
            .unwrap_err()
            .is_callers()
    );
    let never = ListenConfig {
        mouse_state: Some(Duration::ZERO),
        ..ListenConfig::NOTHING
    };
    assert!(desktop.listen(&never).unwrap_err().is_callers());
    let tick = ListenConfig {
        tick: Some(Duration::from_millis(1)),
        ..ListenConfig::NOTHING
    };
    let listener = desktop.listen(&tick).unwrap();
    let numbers: Vec<u64> = (0..5)
        .map(|_| match next(&listener) {
            Event::Tick(tick) => tick.number,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(
        numbers[0] >= 1 && numbers.is_sorted_by(|a, b| a < b),
        "{numbers:?}"
    );
    listener.handle().stop();
    assert!(
        listener.events().all(|event| event.is_ok()),
        "it ends without an error"
    );
}
