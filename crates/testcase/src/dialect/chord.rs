//! Something that is done while keys are held: the keys down, it, the keys up again.

use agon_core::Action;

pub(super) fn held(keys: Vec<String>, action: Action) -> Vec<Action> {
    let down = keys.iter().map(|key| Action::KeyDown { key: key.clone() });
    let up = keys
        .iter()
        .rev()
        .map(|key| Action::KeyUp { key: key.clone() });
    down.chain([action]).chain(up).collect()
}
