//! What a trial hands in: its working folder completed by the task's own script, single files, or what was
//! changed in a repository. Each test plays a real run.

use agon::core::verdict::Outcome;
use agon::prelude::{EventBody, TrialLine};
use serde_json::{Value, json};

use crate::support::Bench;

const REPOSITORY: &str = "\
mkdir -p repo/src && cd repo && printf 'one\\ntwo\\nthree\\n' > src/text && printf 'old\\0' > binary && \
echo kept > ignored.log && echo '*.log' > .gitignore && touch gone && git init -q && git add -A && \
git -c user.name=t -c user.email=t commit -q -m start && echo made > untracked && echo out > ../beside";

fn commands(task: &Value, commands: &[&str]) -> String {
    let actions: Vec<_> = commands
        .iter()
        .map(|command| json!({ "action": "run", "command": command }))
        .collect();
    let mut whole = json!({ "task": "Do it.", "solution": actions });
    for (key, value) in task.as_object().unwrap() {
        whole[key] = value.clone();
    }
    whole.to_string()
}

/// What was kept under a name: all of its versions in a trial.
fn kept(bench: &Bench, line: &TrialLine, name: &str) -> Vec<Vec<u8>> {
    let reader = bench.reader();
    let events = reader.events(line).unwrap();
    let blobs = events.iter().filter_map(|event| match &event.body {
        EventBody::Kept(kept) if kept.what == name => Some(kept.blob),
        _ => None,
    });
    blobs
        .map(|blob| std::fs::read(reader.unpack_blob(&blob).unwrap()).unwrap())
        .collect()
}

fn notes(bench: &Bench, line: &TrialLine) -> String {
    let events = bench.reader().events(line).unwrap();
    let notes = events.into_iter().filter_map(|event| match event.body {
        EventBody::Note(text) => Some(text),
        _ => None,
    });
    notes.collect::<Vec<_>>().join("\n")
}

fn played(bench: &Bench, task: &str) -> TrialLine {
    bench.suite(&[("one", task)]);
    bench.run(&["--agent", "oracle"]).expect(0);
    bench.trial()
}

#[test]
fn a_script_completes_what_the_agent_left_and_files_are_kept_one_by_one() {
    let bench = Bench::new();
    let task = json!({
        "complete_cmd": "#!/bin/bash\n[[ $(cat in) == 7 ]] && echo $(( $(cat in) * 6 )) > out; echo said; echo bad >&2",
        "collect": ["out", "in", "missing", "large", "folder"],
        "checks": [{ "type": "file", "path": "out", "equals": "42\n" }],
    });
    let line = played(
        &bench,
        &commands(&task, &["echo 7 > in; mkdir folder; truncate -s 2M large"]),
    );
    assert_eq!(line.outcome, Outcome::Passed, "{line:?}");
    assert_eq!(kept(&bench, &line, "file:out"), [b"42\n"]);
    assert_eq!(kept(&bench, &line, "file:in"), [b"7\n"]);
    let said = kept(&bench, &line, "complete").concat();
    assert_eq!(String::from_utf8_lossy(&said), "said\n\n[stderr]\nbad\n");
    let notes = notes(&bench, &line);
    for (file, why) in [
        ("missing", "not there"),
        ("large", "over the cap"),
        ("folder", "no file"),
    ] {
        let told = notes.lines().find(|note| note.starts_with(file));
        assert!(told.is_some_and(|note| note.contains(why)), "{notes}");
    }

    bench
        .run(&["--agent", "oracle", "--mode", "validate-only"])
        .expect(0);
    let again = bench.trial();
    assert!(again.regraded);
    assert_eq!((again.outcome, again.score), (line.outcome, line.score));
    assert_eq!(
        kept(&bench, &again, "file:out"),
        [b"42\n"],
        "recorded anew, once"
    );
}

#[test]
fn a_script_that_fails_is_told_and_what_is_there_is_graded() {
    let bench = Bench::new();
    let task = json!({
        "complete_cmd": "echo half > out; echo no more >&2; exit 3",
        "checks": [{ "type": "file", "path": "out", "equals": "half\n" }],
    });
    let line = played(&bench, &commands(&task, &["true"]));
    assert_eq!(line.outcome, Outcome::Passed, "{line:?}");
    let notes = notes(&bench, &line);
    assert!(
        notes.contains("complete: exit status 3: no more"),
        "{notes}"
    );
}

#[test]
fn a_script_does_not_hide_that_something_is_missing() {
    let bench = Bench::new();
    // Deeper than any name can say.
    let hide = "for i in {1..300}; do mkdir dddddddddddddddddddd; cd dddddddddddddddddddd; done; touch secret";
    let completing = json!({
        "complete_cmd": "touch done",
        "checks": [{ "type": "file", "path": "secret", "exists": false }],
    });
    let mut patched = completing.clone();
    patched["setup_cmd"] = json!(REPOSITORY);
    patched["hand_in"] = json!({ "patch": "repo" });
    for task in [completing, patched] {
        let line = played(&bench, &commands(&task, &[hide]));
        assert_eq!((line.outcome, line.score), (Outcome::Failed, 0.0));
        assert_eq!(line.integrity.as_deref(), Some("left out of the archive"));
        let notes = notes(&bench, &line);
        assert!(notes.contains("complete was not run"), "{notes}");
        std::fs::remove_dir_all(bench.path("run")).unwrap();
    }
}

#[test]
fn a_script_runs_where_no_program_of_the_agent_lives() {
    let bench = Bench::new();
    let task = json!({
        "complete_cmd": "ls /tmp ~ > seen; all=$(ps -eo args) && echo \"$all\" | grep -c '^sleep' >> seen; true",
        "checks": [
            { "type": "file", "path": "seen", "not_contains": "planted" },
            // It has looked: at the folder, and at the programs.
            { "type": "file", "path": "seen", "contains": "/tmp:\n" },
            { "type": "file", "path": "seen", "contains": "\n0\n" },
        ],
    });
    let agent = "touch /tmp/planted ~/planted; (setsid sleep 100 &)";
    let line = played(&bench, &commands(&task, &[agent]));
    assert_eq!(line.outcome, Outcome::Passed, "{line:?}");
}

#[test]
fn a_patch_holds_every_kind_of_change_in_the_repository_and_nothing_else() {
    let bench = Bench::new();
    let verify = "\
set -e; cd repo; [ \"$(cat src/text)\" = \"$(printf 'one\\n2\\nthree')\" ]; [ -x src/run ]; \
[ \"$(readlink link)\" = src/text ]; [ ! -e gone ]; [ \"$(cat 'a b/\u{fc}')\" = new ]; \
[ \"$(od -An -c binary | tr -d ' ')\" = 'new\\0' ]; [ \"$(cat untracked)\" = changed ]; \
[ \"$(cat ignored.log)\" = kept ]; [ ! -e build.log ]; [ ! -e ../left ]; [ \"$(cat ../beside)\" = out ]; \
[ \"$(cat crlf)\" = \"$(printf 'a\\r')\" ]; [ -d .git ]; [ \"$(cat nested/file)\" = inner ]; \
[ ! -e nested/.git ]; [ ! -e pipe ]; echo all";
    let task = json!({
        "setup_cmd": REPOSITORY,
        "hand_in": { "patch": "repo" },
        "checks": [{ "type": "command_output", "command": verify, "equals": "all\n", "exit_status": 0 }],
    });
    let agent = "\
cd repo; sed -i s/two/2/ src/text; printf '#!/bin/sh\\n' > src/run; chmod +x src/run; ln -s src/text link; \
rm gone; mkdir 'a b'; echo new > 'a b/\u{fc}'; printf 'new\\0' > binary; echo changed > untracked; \
echo lost > ignored.log; echo x > build.log; echo x > ../left; echo x > ../beside; printf 'a\\r\\n' > crlf; \
echo '* text=auto eol=lf' > .gitattributes; git init -q nested; echo inner > nested/file; mkfifo pipe";
    let line = played(&bench, &commands(&task, &[agent]));
    assert_eq!(line.outcome, Outcome::Passed, "{line:?}");
    assert_eq!(line.integrity, None);
    let patch = kept(&bench, &line, "patch").concat();
    let patch = String::from_utf8_lossy(&patch);
    assert!(
        patch.contains("--- a/src/text\n+++ b/src/text\n"),
        "{patch}"
    );
    assert!(patch.contains("GIT binary patch"), "{patch}");
    assert!(!patch.contains("ignored.log"), "{patch}");
}

#[test]
fn the_working_folder_itself_can_be_the_repository() {
    let bench = Bench::new();
    let setup = "echo old > file && git init -q && git add -A && \
        git -c user.name=t -c user.email=t commit -q -m start";
    let task = json!({
        "setup_cmd": setup,
        "hand_in": { "patch": ".", "protected": ["**/secret", "fixed"] },
        "checks": [
            { "type": "file", "path": "file", "equals": "new\n" },
            { "type": "file", "path": "a/b/secret", "exists": false },
            { "type": "file", "path": "fixed", "exists": false },
        ],
    });
    let agent = "echo new > file; mkdir -p a/b; echo x > a/b/secret; echo x > fixed";
    let line = played(&bench, &commands(&task, &[agent]));
    assert_eq!(line.outcome, Outcome::Passed, "{line:?}");
    assert_eq!(
        line.integrity.as_deref(),
        Some("protected files were changed")
    );
}

#[test]
fn a_patch_that_is_too_large_fails() {
    let bench = Bench::new();
    let task = json!({
        "setup_cmd": REPOSITORY,
        "hand_in": { "patch": "repo" },
        "checks": [{ "type": "file", "path": "repo/src/text" }],
    });
    let line = played(
        &bench,
        &commands(&task, &["head -c 12M /dev/urandom > repo/noise"]),
    );
    assert_eq!(line.outcome, Outcome::Failed, "{line:?}");
    assert!(
        line.reason.contains("larger than 10 MiB"),
        "{}",
        line.reason
    );
}

#[test]
fn a_set_up_without_a_repository_is_no_failure_of_the_agent() {
    let bench = Bench::new();
    for setup in ["mkdir repo", "mkdir repo && git init -q repo", "true"] {
        let task = json!({
            "setup_cmd": setup,
            "hand_in": { "patch": "repo" },
            "checks": [{ "type": "file", "path": "repo/x" }],
        });
        bench.suite(&[("one", &commands(&task, &["touch repo/x"]))]);
        bench.run(&["--agent", "oracle", "--retries", "0"]);
        let line = bench.trial();
        let fault = line
            .fault
            .unwrap_or_else(|| panic!("{setup}: {:?}", line.outcome));
        assert!(fault.message.contains("hand_in"), "{setup}: {fault:?}");
        std::fs::remove_dir_all(bench.path("run")).unwrap();
    }
}
