//! A run of predictions that was ended goes on, with what it was begun with and nothing else.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::service::{Answer, Service, command, into_run, predict, prompt};
use crate::support::Bench;

#[test]
fn a_run_that_was_killed_goes_on_without_asking_twice() {
    let bench = Bench::new();
    let awake = Arc::new(AtomicBool::new(false));
    let silent = Arc::clone(&awake);
    let service = Service::start(move |body| {
        match prompt(body).contains("(silence)") && !silent.load(Ordering::SeqCst) {
            true => Answer::Silence,
            false => Answer::Text("{'name': 'press', 'key_name': '4'}".to_owned()),
        }
    });
    service.configure(&bench, "tiny");
    // Three answers, and then a question that is not answered before it is put again.
    let line = |id: usize, title: &str| {
        let window = format!(
            "{{\"title\": \"{title}\", \"left\": 0, \"top\": 0, \"width\": 10, \"height\": 10}}"
        );
        format!(
            "{{\"id\": {id}, \"ref_window\": {window}, \"action\": {{\"name\": \"press\", \
             \"key_name\": \"{id}\"}}, \"active_window\": {window}}}\n"
        )
    };
    let titles = ["a", "b", "c", "(silence)", "e"];
    let data: String = (0..)
        .zip(titles)
        .map(|(id, title)| line(id, title))
        .collect();
    bench.write("keys.jsonl", &data);
    let args = [
        "--model",
        "served",
        "--data",
        "keys.jsonl",
        "--workers",
        "1",
        "--out",
        "run",
    ];
    let mut child = command(&bench, &args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    service.wait_for(4);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(bench.trials().len(), 3);
    awake.store(true, Ordering::SeqCst);
    let json = predict(&bench, &["--resume", "run", "--json"])
        .expect(0)
        .json();
    assert_eq!((&json["trials"], &json["faulted"]), (&5.into(), &0.into()));
    assert_eq!(
        (&json["passed"], &json["coverage"]),
        (&1.into(), &1.0.into())
    );
    let prompts: Vec<String> = service.bodies().iter().map(prompt).collect();
    for title in titles {
        let asked = prompts
            .iter()
            .filter(|text| text.contains(&format!("'title': '{title}'")));
        let times = if title == "(silence)" { 2 } else { 1 };
        assert_eq!(asked.count(), times, "{title}");
    }
}

#[test]
fn only_the_same_is_gone_on_with() {
    let bench = Bench::new();
    let args = [
        "--model",
        "mock/expected",
        "--variants",
        "2",
        "--max-tokens",
        "64",
    ];
    into_run(&bench, &args).expect(0);
    for (other, said) in [
        (&["--max-tokens", "65"][..], "max_tokens: 64 -> 65"),
        (&["--variants", "3"], "variants: 2 -> 3"),
        (
            &["--fixtures", "single_mouse"],
            "fixtures: none -> single_mouse",
        ),
        (&["--max-input-size", "9"], "max_input_size: none -> 9"),
        (&["--model", "mock/wrong"], "mock/expected -> mock/wrong"),
        (&["--seed", "1"], "seed"),
    ] {
        let refused = predict(&bench, &[&["--resume", "run"], other].concat()).expect(2);
        assert!(
            refused.stderr().contains(said),
            "{said}: {}",
            refused.stderr()
        );
    }
    // With --out all of it is said again.
    let refused = into_run(&bench, &["--model", "mock/expected"])
        .expect(2)
        .stderr();
    for said in ["max_tokens: 64 -> 4096", "variants: 2 -> none"] {
        assert!(refused.contains(said), "{refused}");
    }
    let before = bench.trials().len();
    into_run(&bench, &args).expect(0);
    predict(&bench, &["--resume", "run", "--max-tokens", "64"]).expect(0);
    assert_eq!(bench.trials().len(), before);
}

#[test]
fn each_command_names_the_other_for_its_runs() {
    let bench = Bench::new();
    into_run(&bench, &["--model", "mock/expected"]).expect(0);
    let said = bench.call(&["run", "--resume", "run"]).expect(2).stderr();
    assert!(said.contains("agon predict --resume"), "{said}");
    bench.suite(&[(
        "a",
        "task: Wait.\nchecks: [{ type: file, path: f, exists: true }]\n",
    )]);
    bench.call(&["run", "suite", "--out", "other"]).expect(0);
    let said = predict(&bench, &["--resume", "other"]).expect(2).stderr();
    assert!(said.contains("agon run --resume"), "{said}");
}

#[test]
fn answers_are_graded_again_without_a_model() {
    let bench = Bench::new();
    bench.write("config.toml", "[llm.mine]\nmodel = \"mock/echo\"\n");
    let args = ["--model", "mine", "--variants", "3"];
    let first = into_run(&bench, &args).expect(0).json();
    std::fs::remove_file(bench.path("config.toml")).unwrap();
    let again = ["--resume", "run", "--mode", "validate-only", "--json"];
    let second = predict(&bench, &again).expect(0).json();
    assert_eq!(
        (&first["score"], &first["failed"]),
        (&second["score"], &second["failed"])
    );
    let lines = bench.trials();
    let graded = lines.iter().filter(|line| line.is_final && line.regraded);
    assert_eq!(graded.count(), 9);
    let page = bench
        .call(&["report", "run", "--format", "html"])
        .expect(0)
        .stdout();
    assert_eq!(page.matches("<details").count(), 9);
}
