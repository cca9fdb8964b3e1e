//! Files of the original become runs, and runs become files again.

use std::fs;
use std::path::Path;

use agon_core::verdict::{Outcome, TurnEnd};
use agon_core::{Action, EventBody, FaultClass, TaskId};
use agon_store::{Review, ReviewVerdict, Reviews, RunReader, TrialLine};
use serde_json::{Value, json};

use super::picture::tests::PIXEL;
use super::*;

/// As the original writes it, with all that its own runner can leave.
fn full() -> Value {
    json!({
        "id": "date", "name": "Desktop - Date", "category": "desktop", "level": "wood",
        "task": "Which day is it?", "setup_cmd": "None", "desktop_image": "registry/desktop:1",
        "checks": [
            { "type": "returned_result", "value": "Today." },
            { "type": "command_output", "command": "date", "value": "Today." },
        ],
        "agent_yaml": "agents/react/agent.yaml", "agent_model": "gpt-4o", "max_steps": 25,
        "status": "finished",
        "result": { "timestamp": 1_746_000_012.75, "action": "Monday", "thought": "", "screenshot": PIXEL },
        "trajectory": [
            { "timestamp": 1_746_000_001.123_456, "action": "name='move_mouse' parameters={'x': 3, 'y': 4}",
              "thought": "I look.", "screenshot": PIXEL },
            { "timestamp": 1_746_000_005.5, "action": "Starting task 'x'", "thought": "", "screenshot": null },
            { "timestamp": 1_746_000_009.0, "action": "name='result' parameters={'value': 'Monday'}",
              "thought": "It is Monday.", "screenshot": "not a picture" },
        ],
        "command_output_check_results": [
            { "command": "date", "output": { "status": "error", "output": "no", "return_code": 1 } },
        ],
        "input_tokens": 1200, "output_tokens": 34, "ai_score": 1.0, "ai_comment": "Fine.\nIndeed.",
        "human_score": 0.0, "human_comment": "It was Tuesday.",
        "validation_input_tokens": 500, "validation_output_tokens": 60,
    })
}

fn put(folder: &Path, name: &str, content: &Value) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, serde_json::to_vec(content).unwrap()).unwrap();
}

fn exported(run: &Path, out: &Path) -> Exported {
    let reader = RunReader::open(run).unwrap();
    let book = Book::new(reader.manifest(), Cases::new());
    export(&reader, &book, out).unwrap()
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn line<'a>(lines: &'a [TrialLine], task: &str) -> &'a TrialLine {
    let task = TaskId::parse(task).unwrap();
    lines.iter().find(|line| line.task == task).unwrap()
}

#[test]
fn a_folder_of_results_becomes_a_run_and_comes_back_as_it_was() {
    let root = tempfile::tempdir().unwrap();
    let from = root.path().join("results");
    put(&from, "desktop/date.json", &full());
    let mut open = full();
    for (key, value) in [
        ("id", json!("open")),
        ("ai_score", json!(-1.0)),
        ("ai_comment", json!(null)),
        ("human_score", json!(-1.0)),
        ("human_comment", json!(null)),
        ("status", json!("failed")),
    ] {
        open[key] = value;
    }
    put(&from, "desktop/open.json", &open);
    assert!(is_results(&from));
    let made = import(&from, &root.path().join("runs")).unwrap();
    assert_eq!(made.left_out, Vec::<String>::new());
    assert_eq!((made.cases, made.ungraded, made.reviewed), (2, 1, 1));

    let reader = RunReader::open(&made.run).unwrap();
    assert_eq!(reader.manifest().agent.spec, "agents/react/agent.yaml");
    assert_eq!(reader.manifest().models[0].name, "gpt-4o");
    assert_eq!(reader.manifest().created.as_second(), 1_746_000_001);
    let lines = reader.trials().unwrap();
    let date = line(&lines, "desktop/date");
    assert_eq!((date.outcome, date.score), (Outcome::Passed, 1.0));
    assert_eq!((date.end, date.steps), (Some(TurnEnd::Finished), 3));
    assert_eq!(
        (date.usage.input_tokens, date.judge.input_tokens),
        (1700, 500)
    );
    let events = reader.events(date).unwrap();
    let actions: Vec<&Action> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Action(action) => Some(action),
            _ => None,
        })
        .collect();
    let finish = Action::Finish {
        result: Some("Monday".to_owned()),
    };
    assert_eq!(actions, [&Action::Move { x: 3, y: 4 }, &finish]);
    let reviews = Reviews::read(reader.folder()).unwrap();
    let said = reviews.verdict(date).unwrap();
    assert_eq!(said.verdict, ReviewVerdict::Fail);
    assert_eq!(
        (said.comment.as_str(), said.reviewer.as_str()),
        ("It was Tuesday.", "imported")
    );
    let undecided = line(&lines, "desktop/open");
    let fault = undecided.fault.as_ref().unwrap();
    assert_eq!(fault.class, FaultClass::NeedsJudge);

    let out = root.path().join("out");
    let told = exported(&made.run, &out);
    assert_eq!((told.written.len(), told.faulted), (2, 0));
    assert_eq!(read(&out.join("desktop/date.json")), full());
    assert_eq!(read(&out.join("desktop/open.json")), open);
}

#[test]
fn what_people_say_later_stands_in_the_file() {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), "results/desktop/date.json", &full());
    let made = import(&root.path().join("results"), root.path()).unwrap();
    let reader = RunReader::open(&made.run).unwrap();
    let out = root.path().join("out");
    let scores = |verdict, comment: &str| {
        let review = Review {
            at: reader.manifest().created,
            task: TaskId::new("desktop", "date").unwrap(),
            epoch: 1,
            attempt: 1,
            verdict,
            comment: comment.to_owned(),
            reviewer: "ada".to_owned(),
        };
        review.append(reader.folder()).unwrap();
        exported(&made.run, &out);
        let file = read(&out.join("desktop/date.json"));
        (file["human_score"].clone(), file["human_comment"].clone())
    };
    assert_eq!(
        scores(ReviewVerdict::Pass, "Right."),
        (json!(1.0), json!("Right."))
    );
    assert_eq!(scores(ReviewVerdict::Clear, ""), (json!(-1.0), json!(null)));
    assert_eq!(
        scores(ReviewVerdict::Fail, "No."),
        (json!(0.0), json!("No."))
    );
}

#[test]
fn old_files_lack_keys_and_bad_ones_are_left_out() {
    let root = tempfile::tempdir().unwrap();
    let old =
        json!({ "id": "a", "category": "games", "task": "Play.", "trajectory": [], "ai_score": 0 });
    put(root.path(), "r/games/a.json", &old);
    // The name of the file stands in for what is missing.
    put(
        root.path(),
        "r/games/b.json",
        &json!({ "task": "Play.", "result": null }),
    );
    put(
        root.path(),
        "r/games/c.json",
        &json!({ "task": "Play.", "trajectory": 7 }),
    );
    put(
        root.path(),
        "r/games/d.json",
        &json!({ "id": "../x", "category": "games", "task": "Play." }),
    );
    put(root.path(), "r/games/e.json", &json!({ "unrelated": true }));
    put(root.path(), "r/games/f.json", &old);
    fs::write(root.path().join("r/games/torn.json"), "{\"id\": \"torn").unwrap();
    let made = import(&root.path().join("r"), &root.path().join("runs")).unwrap();
    assert_eq!((made.cases, made.ungraded), (2, 1));
    assert_eq!(made.left_out.len(), 5, "{:?}", made.left_out);
    let lines = RunReader::open(&made.run).unwrap().trials().unwrap();
    assert_eq!(line(&lines, "games/a").outcome, Outcome::Failed);
    assert_eq!(line(&lines, "games/b").outcome, Outcome::Faulted);
}

#[test]
fn what_is_no_folder_of_results_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let runs = root.path().join("runs");
    assert!(!is_results(root.path()) && !is_results(&root.path().join("nowhere")));
    let error = import(root.path(), &runs).unwrap_err().to_string();
    assert!(error.contains("<category>/<id>.json"), "{error}");
    put(root.path(), "r/desktop/date.json", &full());
    put(root.path(), "r/run.json", &json!({}));
    let error = import(&root.path().join("r"), &runs)
        .unwrap_err()
        .to_string();
    assert!(error.contains("run folder already"), "{error}");
    assert!(!runs.exists(), "no half run is left");
    let one = import(&root.path().join("r/desktop/date.json"), &runs).unwrap();
    assert_eq!(one.cases, 1);
}

#[test]
fn only_files_that_are_behind_are_written_again() {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), "results/desktop/date.json", &full());
    let made = import(&root.path().join("results"), root.path()).unwrap();
    let reader = RunReader::open(&made.run).unwrap();
    let book = Book::new(reader.manifest(), Cases::new());
    let out = root.path().join("out");
    put(&out, "desktop/.unfinished-1", &json!({}));
    assert_eq!(refresh(&reader, &book, &out).unwrap().written.len(), 1);
    assert!(!out.join("desktop/.unfinished-1").exists());
    assert_eq!(refresh(&reader, &book, &out).unwrap().written.len(), 0);
    let path = out.join("desktop/date.json");
    let old = fs::File::options().write(true).open(&path).unwrap();
    old.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(refresh(&reader, &book, &out).unwrap().written.len(), 1);
    // So are those that somebody else has changed since.
    fs::write(&path, "{\"broken").unwrap();
    assert_eq!(refresh(&reader, &book, &out).unwrap().written.len(), 1);
    assert_eq!(read(&path), full());
    assert_eq!(refresh(&reader, &book, &out).unwrap().written.len(), 0);
}

#[test]
fn categories_that_a_run_folder_needs_for_itself_are_refused() {
    let task = |category: &str| TaskId::new(category, "a").unwrap();
    fit(&[task("desktop"), task("games")]).unwrap();
    let error = fit(&[task("desktop"), task("blobs")])
        .unwrap_err()
        .to_string();
    assert!(error.contains("`blobs`"), "{error}");
}
