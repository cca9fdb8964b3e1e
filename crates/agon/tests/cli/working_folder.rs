//! Containers whose working folder is one of their image: what is in it is what the task starts with, and
//! what is left in it is handed in.

use std::collections::BTreeMap;

use agon::core::EventBody;
use agon::core::verdict::Outcome;
use agon::prelude::TrialLine;
use serde_json::json;

use crate::rewards::WithGit;
use crate::support::Bench;

/// A repository of one commit in the image's /testbed.
const TESTBED: &str = "\
RUN mkdir -p /testbed/repo && cd /testbed/repo && echo old > file && touch gone fixed && echo '*.o' > .gitignore \
&& touch built.o && git init -q && git add -A && git -c user.name=t -c user.email=t commit -q -m start \
&& echo theirs > /testbed/beside";

const EVALUATE: &str = r#"#!/bin/sh
read -r nonce
score=1
expect() { [ "$1" = "$2" ] || { echo "$1 is not $2"; score=0; }; }
expect "$(pwd)" /testbed
expect "$(cat repo/file)" new
expect "$(cat hint)" hint
expect "$(cat made)" /testbed
expect "$(cat beside)" theirs
expect "$(cd repo && echo *)" "built.o file fixed"
expect "$(ls -d /planted /work/* 2>/dev/null)" ""
expect "$(cd repo && git rev-list --count HEAD)" 1
printf '{"nonce":"%s","score":%s}\n' "$nonce" "$score" >&3
"#;

fn suite(bench: &Bench, image: &str, more: &str, commands: &[(&str, &str)]) {
    let settings = format!(
        "category = \"repair\"\n[environment]\nkind = \"container\"\nimage = \"{image}\"\ncwd = \"/testbed\"\n{more}"
    );
    bench.write("suite/benchmark.toml", &settings);
    let rows: Vec<_> = commands
        .iter()
        .map(|(id, solution)| json!({ "instance_id": id, "solution": solution }).to_string())
        .collect();
    bench.write("suite/dataset.jsonl", &rows.join("\n"));
    bench.write(
        "suite/instruction.md",
        "Renew repo/file and remove repo/gone.\n",
    );
    bench.write("suite/initialize.sh", "pwd > made\n");
    bench.write("suite/visible/hint", "hint\n");
    bench.write("suite/solution.sh.j2", "{{ solution }}\n");
    bench.write("suite/verify/evaluate.sh", EVALUATE);
}

fn played(bench: &Bench, more: &[&str]) -> BTreeMap<String, TrialLine> {
    let called = bench.run(&[&["--agent", "oracle", "--workers", "2"], more].concat());
    assert_eq!(called.expect(0).json()["faulted"], 0);
    let mut lines = bench.trials();
    lines.retain(|line| line.is_final);
    let named = |line: TrialLine| (line.task.id().to_owned(), line);
    lines.into_iter().map(named).collect()
}

fn patch(bench: &Bench, line: &TrialLine) -> String {
    let reader = bench.reader();
    let events = reader.events(line).unwrap();
    let blob = events.iter().find_map(|event| match &event.body {
        EventBody::Kept(kept) if kept.what == "patch" => Some(kept.blob),
        _ => None,
    });
    let path = reader.unpack_blob(&blob.unwrap()).unwrap();
    String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
}

const HONEST: &str = "[ \"$(pwd)\" = /testbed ] && cat hint && cd repo && echo new > file && rm gone; touch /planted";
const FORGED: &str = "printf '#!/bin/sh\\necho new\\n' > /usr/bin/cat; rm repo/gone";

#[test]
fn container_repositories_of_an_image_are_handed_in_as_a_patch() {
    let bench = Bench::new();
    let image = WithGit::make(&bench, TESTBED);
    let more = "[collect]\npatch = \"repo\"\nprotected = [\"fixed\"]\nfiles = [\"repo/file\"]\n";
    let with_history =
        format!("{HONEST}; rm -rf .git; echo x > fixed; touch ../beside2; echo > ../beside");
    suite(
        &bench,
        &image.0,
        more,
        &[
            ("honest", HONEST),
            ("careless", &with_history),
            ("cheat", FORGED),
            ("idle", "true"),
        ],
    );
    let first = played(&bench, &[]);
    assert_eq!(first.len(), 4);
    for (id, line) in &first {
        let passes = ["honest", "careless"].contains(&id.as_str());
        let outcome = if passes {
            Outcome::Passed
        } else {
            Outcome::Failed
        };
        assert_eq!(line.outcome, outcome, "{id}: {line:?}");
        assert!(!line.tainted, "{line:?}");
    }
    let taken = patch(&bench, &first["honest"]);
    assert!(
        taken.contains("-old\n+new\n") && taken.contains("deleted file"),
        "{taken}"
    );
    assert_eq!(taken, patch(&bench, &first["careless"]));
    assert_eq!(patch(&bench, &first["idle"]), "");
    let mark = Some("protected files were changed".to_owned());
    assert_eq!(first["careless"].integrity, mark);

    let again = played(&bench, &["--mode", "validate-only"]);
    for (id, line) in &again {
        assert!(line.regraded);
        assert_eq!(
            (line.outcome, &line.reason),
            (first[id].outcome, &first[id].reason)
        );
    }
}

#[test]
fn container_folders_of_an_image_are_handed_in_as_they_were_left() {
    let bench = Bench::new();
    let image = WithGit::make(&bench, TESTBED);
    suite(
        &bench,
        &image.0,
        "",
        &[
            ("honest", HONEST.trim_end_matches("; touch /planted")),
            // All else that was changed is there as well.
            ("planted", HONEST),
            ("cheat", FORGED),
        ],
    );
    let lines = played(&bench, &[]);
    assert_eq!(lines["planted"].score, 0.0, "{lines:?}");
    assert_eq!(
        (lines["honest"].score, lines["cheat"].score),
        (1.0, 0.0),
        "{lines:?}"
    );
    assert!(lines.values().all(|line| !line.tainted));

    // Where the agent was, its own programs grade it, and that is said.
    let bench = Bench::new();
    suite(
        &bench,
        &image.0,
        "fresh_checks = false\n",
        &[("honest", "cd repo && echo new > file && rm gone")],
    );
    let lines = played(&bench, &[]);
    assert_eq!(lines["honest"].score, 1.0, "{lines:?}");
    assert!(lines["honest"].tainted);
}

#[test]
fn container_files_are_read_and_written_in_the_folder_of_the_image() {
    let bench = Bench::new();
    let image = WithGit::make(&bench, TESTBED);
    let task = json!({
        "task": "Copy it.",
        "environment": { "kind": "container", "image": image.0, "cwd": "/testbed/", "fresh_checks": true },
        "solution": [
            { "action": "read", "path": "beside" },
            { "action": "write", "path": "copy", "content": "theirs\n" },
            { "action": "run", "command": "rm beside; cd /; pwd > /testbed/where" },
        ],
        "checks": [
            { "type": "file", "path": "copy", "equals": "theirs\n" },
            { "type": "file", "path": "where", "equals": "/\n" },
            { "type": "file", "path": "beside", "exists": false },
            { "type": "command_output", "command": "pwd; cat /testbed/copy; ls", "equals": "/testbed\ntheirs\ncopy\nrepo\nwhere\n" },
        ],
    });
    bench.suite(&[("one", &task.to_string())]);
    let line = played(&bench, &[]).remove("one").unwrap();
    assert_eq!(line.outcome, Outcome::Passed, "{line:?}");
}
