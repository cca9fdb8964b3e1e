//! The players that come with Agon.

use agon_agent::play::players::find;
use agon_agent::play::{Cause, PlayConfig, PlayEnd, Stop, start};

use super::stage::{PATIENCE, Stage, down, end, task, up};

fn watch(spec: &str, enough: usize) -> Vec<(String, bool)> {
    let stage = Stage::new();
    let config = PlayConfig {
        seed: 7,
        ..stage.config()
    };
    let playing = start(find(spec).unwrap(), task(), config, Stop::new()).unwrap();
    let mut keys = Vec::new();
    while keys.len() < enough {
        assert!(!playing.is_over(), "{:?}", playing.wait(PATIENCE));
        keys.extend(stage.keys());
    }
    playing.stop().ask(Cause::EnvEnded);
    assert_eq!(end(&playing).end, PlayEnd::Stopped(Cause::EnvEnded));
    assert!(!stage.is_down());
    keys
}

#[test]
fn one_key_presses_one_key() {
    let keys = watch("one-key:Left", 4);
    for pair in keys.chunks_exact(2) {
        assert_eq!(pair, [down("Left"), up("Left")]);
    }
    assert_eq!(watch("one-key", 1)[0], down("Right"));
}

#[test]
fn random_keys_are_those_of_the_seed() {
    let (one, other) = (watch("random-keys", 8), watch("random-keys", 8));
    assert_eq!(one[..8], other[..8]);
}

#[test]
fn noop_does_nothing() {
    assert_eq!(watch("noop", 0), []);
}
