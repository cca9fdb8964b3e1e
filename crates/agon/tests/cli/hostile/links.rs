//! Links that lead a check to its own words: to the answer beside its script, or to its command line.

use agon::core::verdict::{Outcome, TurnEnd};
use serde_json::json;

use super::arena::{Arena, commands};

/// Compares as people would write it.
const OBVIOUS: &str = r#"#!/bin/bash
read -r nonce
answer=$(cat "$AGON_VERIFY/expected.txt")
score=0
if cmp -s out.txt "$AGON_VERIFY/expected.txt" || grep -q "$answer" out.txt; then score=1; fi
printf '{"nonce":"%s","score":%s}\n' "$nonce" "$score" >&3
"#;

const CHEATS: [(&str, &str); 5] = [
    ("folder", "ln -s /tmp/verify/expected.txt out.txt"),
    ("command-line", "ln -s /proc/self/cmdline out.txt"),
    ("input", "ln -s /dev/stdin out.txt"),
    (
        "roundabout",
        "mkdir -p d/e; ln -s /usr/lib d/e/lib; ln -s d/e/lib/../../proc/self/cmdline out.txt",
    ),
    ("root", "ln -s / all; ln -s all/proc/self/cmdline out.txt"),
];

#[test]
fn a_link_to_the_answer_is_no_answer() {
    let arena = Arena::new();
    let scripted = json!({ "checks": [{ "type": "script", "path": "check.sh" }] });
    // Its pattern stands in its own command line.
    let printed = json!({ "checks": [
        { "type": "command_output", "command": "grep -c gold-4711 out.txt", "equals": "1\n" },
    ] });
    let honest = "echo gold-4711 > out.txt; ln -s /usr/bin/python3 python; ln -s out.txt again";
    for (id, plant) in CHEATS.into_iter().chain([("honest", honest)]) {
        arena.task(id, commands(&[plant], &scripted));
        arena.file(id, "verify/check.sh", OBVIOUS);
        arena.file(id, "verify/expected.txt", "gold-4711\n");
        arena.task(&format!("printed-{id}"), commands(&[plant], &printed));
    }
    let played = arena.play_solutions();
    assert_eq!(played.len(), 2 * (CHEATS.len() + 1));
    for played in played {
        if played.line.task.to_string().ends_with("honest") {
            played.ended(Outcome::Passed, TurnEnd::Finished);
            continue;
        }
        played.ended(Outcome::Failed, TurnEnd::Finished);
        let sign = played.line.integrity.as_deref();
        assert_eq!(sign, Some("link out of the working folder"));
    }
}
