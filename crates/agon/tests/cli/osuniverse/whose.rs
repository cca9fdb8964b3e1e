//! Whose work it is: models that a runner asks itself, agents that it is told of, and judges of either.

use agon::core::verdict::Outcome;

use super::*;

const CASE: &str = "name: Click\nlevel: wood\ntask: Click.\nsetup_cmd: None\ndesktop_image: registry.test/desktop:1\nchecks: [{ type: returned_result, value: It says that it clicked. }]\n";

/// A judge that always says so.
fn judge(bench: &Bench, name: &str) -> String {
    let says = serde_json::json!({
        "analysis": "It says so.", "confidence": 0.9, "evidence": [], "verdict": "pass",
    });
    let path = bench.write(
        name,
        &serde_json::json!({ "text": says.to_string() }).to_string(),
    );
    format!("mock/script:{}", path.display())
}

/// A runner that writes down what it hears, and answers.
fn runner(bench: &Bench, answer: &str) -> String {
    let text = format!(
        "import json, sys\nmessage = json.load(sys.stdin)\njson.dump(message, open({:?}, 'w'))\n\
         print(json.dumps({{'trajectory': [], 'command_output_check_results': [], 'result': {{'timestamp': 1.0, \
         'action': {answer:?}}}}}))\n",
        bench.path("heard.json").display()
    );
    let path = bench.write("runner.py", &text);
    format!("cmd:python3 {}", path.display())
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.suite(&[("click", CASE)]);
    bench
}

#[test]
fn a_runner_asks_a_model_that_nobody_here_knows() {
    let bench = bench();
    let runner = runner(&bench, "I clicked.");
    let judge = judge(&bench, "judge.jsonl");
    let args = [
        "--runner",
        &runner,
        "--agent-model",
        "surferx-7b",
        "--agent-model-base-url",
        "http://localhost:1/v1",
    ];
    let judged = [&args[..], &["--judge", &judge]].concat();
    bench.run(&judged).expect(0);
    let config = file(&bench.path("heard.json"))["config"].clone();
    assert_eq!(config["agent_model"], "surferx-7b");
    assert_eq!(config["agent_model_base_url"], "http://localhost:1/v1");
    let manifest = bench.reader().manifest().clone();
    let model = &manifest.models[0];
    assert_eq!(
        (&*model.name, &*model.provider, model.host.as_deref()),
        ("surferx-7b", "runner", Some("localhost:1"))
    );
    let report = bench.call(&["report", "run"]).expect(0).stdout();
    assert!(report.contains("model surferx-7b, judge mock/"), "{report}");
    // The same again goes on with it, and whoever grades it needs no address of anybody.
    bench.run(&judged).expect(0);
    bench.call(&["run", "--resume", "run"]).expect(0);
    let graded = bench.call(&["validate", "run", "--judge", &judge]);
    let said = graded.expect(0).stderr();
    assert!(said.contains("1 trial to grade again"), "{said}");
    let other = [&judged[..], &["--agent-model", "surferx-8b"]].concat();
    let mut other: Vec<&str> = other;
    let place = other.iter().position(|arg| *arg == "surferx-7b").unwrap();
    other.drain(place - 1..=place);
    let refused = bench.run(&other).expect(2).stderr();
    assert!(refused.contains("surferx-7b -> surferx-8b"), "{refused}");
}

#[test]
fn a_runners_model_does_not_judge_itself_unasked() {
    let bench = bench();
    let runner = runner(&bench, "I clicked.");
    let judge = judge(&bench, "judge.jsonl");
    let args = ["--runner", &runner, "--model", &judge, "--judge", &judge];
    let refused = bench.run(&args).expect(2).stderr();
    assert!(refused.contains("--judge-may-be-agent"), "{refused}");
    bench
        .run(&[&args[..], &["--judge-may-be-agent"]].concat())
        .expect(0);
    let again = ["validate", "run", "--judge", &judge];
    let refused = bench.call(&again).expect(2).stderr();
    assert!(refused.contains("--judge-may-be-agent"), "{refused}");
}

#[test]
fn results_of_a_model_that_nobody_here_knows_are_judged() {
    let bench = bench();
    let run = serde_json::json!({
        "id": "click", "category": "test", "level": "wood", "task": "Click.", "max_steps": 25, "status": "finished",
        "agent_yaml": "agents/theirs.yaml", "agent_model": "gpt-4o",
        "trajectory": [{ "timestamp": 1.0, "action": "name='click' parameters={'x': 1, 'y': 2}" }],
        "result": { "timestamp": 2.0, "action": "I clicked." }, "ai_score": -1.0,
        "command_output_check_results": [],
    });
    bench.write("results/test/click.json", &run.to_string());
    let made = bench.call(&["import", "results", "--out", "imported"]);
    let made = made.expect(0).stdout().trim().to_owned();
    let judge = judge(&bench, "judge.jsonl");
    let args = ["validate", &made, "--suite", "suite", "--judge", &judge];
    bench.call(&args).expect(0);
    let report = bench.call(&["report", &made]).expect(0).stdout();
    assert!(report.contains("1 passed"), "{report}");
    assert!(report.contains("model gpt-4o"), "{report}");
}

#[test]
fn what_a_runner_is_told_of_its_agent_stays_the_same() {
    let bench = bench();
    let runner = runner(&bench, "I did not.");
    let yaml = bench
        .write("agent.yaml", "type: one\n")
        .display()
        .to_string();
    let no = says_no(&bench);
    let args = ["--runner", &runner, "--agent-yaml", &yaml, "--judge", &no];
    bench.run(&args).expect(0);
    assert_eq!(bench.trial().outcome, Outcome::Failed);
    fs::remove_file(bench.path("heard.json")).unwrap();
    bench
        .call(&["run", "--resume", "run", "--mode", "rerun-failed"])
        .expect(0);
    let heard = file(&bench.path("heard.json"));
    assert_eq!(heard["config"]["agent_yaml"], yaml.as_str());
    let without = ["--runner", &runner, "--judge", &no];
    let refused = bench.run(&without).expect(2).stderr();
    assert!(refused.contains("another agent"), "{refused}");
    bench.write("agent.yaml", "type: two\n");
    let refused = bench.run(&args).expect(2).stderr();
    assert!(refused.contains("--agent-yaml was"), "{refused}");
    let lonely = ["--agent", "oracle", "--agent-yaml", &yaml];
    let refused = bench.run(&lonely).expect(2).stderr();
    assert!(refused.contains("--runner"), "{refused}");
}

fn says_no(bench: &Bench) -> String {
    let path = judge(bench, "no.jsonl");
    let text = fs::read_to_string(bench.path("no.jsonl")).unwrap();
    bench.write("no.jsonl", &text.replace("pass", "fail"));
    path
}

#[test]
fn what_is_wrong_with_a_runner_is_said_of_the_runner() {
    let bench = bench();
    let refused = bench.run(&["--runner", "foo"]).expect(2).stderr();
    assert!(refused.contains("--runner foo: "), "{refused}");
    assert!(!refused.contains("agent `"), "{refused}");
}
