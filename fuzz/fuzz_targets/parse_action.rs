//! Any text: no panic, and what was read as actions is read again from what is written.

#![no_main]

use agon_fuzz::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(actions) = parse::parse(text) else {
        return;
    };
    assert!(!actions.is_empty() && actions.len() <= parse::MAX_ACTIONS);
    // In rows: a list around them would be one bracket more than may be open.
    let mut rows = [String::new(), String::new()];
    for action in &actions {
        let json = serde_json::to_value(action).expect("actions are data");
        rows[0] += &format!("{json}\n");
        rows[1] += &format!("{}\n", parse::to_python(&json));
    }
    for written in rows {
        // What is written may be longer than what was read.
        if written.len() <= parse::MAX_BYTES {
            let again = parse::parse(&written).expect("what was written is read");
            assert_eq!(again, actions, "{written}");
        }
    }
});
