//! Grading again: what was decided stays decided, by whom it was is told, and nobody is asked or played again
//! for nothing.

use super::*;

/// A runner that answers with this, whatever it is asked.
fn runner(bench: &Bench, answer: &str) -> String {
    let body = format!("import sys\nsys.stdin.read()\n{answer}\n");
    let path = bench.write("runner.py", &body);
    format!("cmd:python3 {}", path.display())
}

fn tells(commands: &[(&str, &str)]) -> String {
    let outputs = commands.iter().map(|(command, output)| {
        let output = json!({ "status": "success", "return_code": 0, "output": output });
        json!({ "command": command, "output": output })
    });
    let answer = json!({
        "trajectory": [], "command_output_check_results": outputs.collect::<Vec<_>>(),
        "result": { "timestamp": 3.0, "action": "It is Paris." },
    });
    format!("print({:?})", answer.to_string())
}

#[test]
fn a_runner_that_told_nothing_has_failed_whenever_it_is_graded() {
    let bench = Bench::new();
    let case = "name: A\ntask: Do.\ndesktop_image: registry.test/desktop:1\nchecks: [{ type: events, must_not: [{ action: run }] }]\n";
    bench.suite(&[("never", case)]);
    let runner = runner(&bench, "sys.exit('no desktop today')");
    bench.run(&["--runner", &runner]).expect(0);
    assert_eq!(bench.trial().outcome, Outcome::Failed);
    bench.call(&["validate", "run"]).expect(0);
    let line = bench.trial();
    assert_eq!((line.outcome, line.regraded), (Outcome::Failed, true));
    assert!(line.reason.contains("no desktop today"), "{}", line.reason);
}

#[test]
fn of_two_outputs_of_a_command_the_same_counts_each_time() {
    let bench = Bench::new();
    let case = "name: A\ntask: Do.\ndesktop_image: registry.test/desktop:1\nchecks: [{ type: command_output, command: cat a, contains: good }]\n";
    bench.suite(&[("twice", case)]);
    let runner = runner(&bench, &tells(&[("cat a", "bad"), ("cat a", "good")]));
    bench.run(&["--runner", &runner]).expect(0);
    let first = bench.trial().outcome;
    bench.call(&["validate", "run"]).expect(0);
    let again = bench.trial();
    assert_eq!((first, again.outcome), (Outcome::Failed, Outcome::Failed));
    assert!(again.regraded);
}

#[test]
fn what_a_runner_tells_can_be_judged_later_and_is_tainted() {
    let bench = Bench::new();
    bench.suite(&[("talk", &PROSE.replace("none", "local"))]);
    let runner = runner(&bench, &tells(&[]));
    bench.run(&["--runner", &runner]).expect(1);
    assert!(bench.trial().elsewhere);
    let judge = bench.judge("judge.jsonl", &[says("pass")]);
    bench
        .call(&["validate", "run", "--judge", &judge])
        .expect(0);
    let line = bench.trial();
    assert_eq!((line.outcome, line.regraded), (Outcome::Passed, true));
    assert!(line.tainted && line.elsewhere);
}

#[test]
fn what_left_nothing_to_be_judged_by_is_played_again() {
    let bench = Bench::new();
    bench.suite(&[("file", PRINTED)]);
    bench.run(&["--agent", "oracle"]).expect(1);
    lose_work(&bench);
    let judge = bench.judge("judge.jsonl", &[says("pass")]);
    let kept = bench
        .call(&["validate", "run", "--judge", &judge])
        .expect(1);
    let advice =
        "1 trial waits for a judge and left nothing to be judged by; played again by: agon run";
    assert!(kept.stderr().contains(advice), "{}", kept.stderr());
    bench
        .call(&["run", "--resume", "run", "--judge", &judge])
        .expect(0);
    let line = bench.trial();
    assert_eq!((line.outcome, line.attempt), (Outcome::Passed, 2));
    assert!(!line.regraded);
}

#[test]
fn a_run_without_a_judge_goes_on_with_one() {
    let bench = Bench::new();
    bench.suite(&[("talk", PROSE)]);
    bench.run(&["--agent", "oracle"]).expect(1);
    let judge = bench.judge("judge.jsonl", &[says("pass")]);
    bench
        .run(&["--agent", "oracle", "--judge", &judge])
        .expect(0);
    assert!(bench.trial().regraded);
    let stamp = bench.reader().manifest().judge.clone().unwrap();
    assert_eq!(stamp.model.name, judge);
    // Nor is it left out, once it has judged.
    let other = bench.judge("other.jsonl", &[says("fail")]);
    bench
        .run(&["--agent", "oracle", "--judge", &other])
        .expect(2);
}

#[test]
fn the_tokens_of_earlier_judges_are_not_those_of_the_agent() {
    let bench = Bench::new();
    bench.suite(&[("talk", PROSE)]);
    let judge = bench.judge("judge.jsonl", &[says("pass")]);
    bench
        .run(&["--agent", "oracle", "--judge", &judge])
        .expect(0);
    for _ in 0..2 {
        bench
            .call(&["validate", "run", "--judge", &judge])
            .expect(0);
        let line = bench.trial();
        assert_eq!((line.judge.tokens(), line.usage.tokens()), (100, 100));
    }
}

/// As if a working folder had been too large to be kept.
fn lose_work(bench: &Bench) {
    let trials = bench.path("run/trials.jsonl");
    let text = std::fs::read_to_string(&trials).unwrap();
    assert!(text.contains("\"work\":"));
    std::fs::write(&trials, text.replace("\"work\":", "\"was\":")).unwrap();
}

fn judge_of(bench: &Bench) -> String {
    bench.reader().manifest().judge.clone().unwrap().model.name
}

#[test]
fn a_judge_that_failed_has_judged_nothing() {
    let bench = Bench::new();
    bench.suite(&[("talk", PROSE)]);
    let judge = bench.judge("judge.jsonl", &[says("pass")]);
    bench
        .run(&["--agent", "oracle", "--judge", &judge])
        .expect(0);
    let nonsense = json!({ "text": "Well." }).to_string();
    let silent = bench.judge("silent.jsonl", &[nonsense]);
    bench
        .call(&["validate", "run", "--judge", &silent])
        .expect(1);
    assert_eq!(judge_of(&bench), judge);
    bench
        .run(&["--agent", "oracle", "--judge", &judge])
        .expect(0);
}

#[test]
fn a_run_is_no_judges_own_whose_verdicts_are_of_two() {
    let bench = Bench::new();
    bench.suite(&[("talk", PROSE), ("file", PRINTED)]);
    let judge = bench.judge("judge.jsonl", &[says("pass")]);
    bench
        .run(&["--agent", "oracle", "--judge", &judge])
        .expect(0);
    lose_work(&bench);
    let other = bench.judge("other.jsonl", &[says("fail")]);
    let again = bench.call(&["validate", "run", "--judge", &other, "--json"]);
    assert_eq!(again.expect(0).json()["passed"], 1);
    assert_eq!(judge_of(&bench), "mixed");
    for name in [&judge, &other] {
        let differs = bench.run(&["--agent", "oracle", "--judge", name]).expect(2);
        let said = differs.stderr();
        assert!(said.contains("agon validate run --judge"), "{said}");
    }
}

#[test]
fn nobody_is_asked_about_what_a_person_has_decided() {
    let bench = Bench::new();
    bench.suite(&[("talk", PROSE)]);
    bench.run(&["--agent", "oracle"]).expect(1);
    bench
        .call(&["review", "run", "--task", "test/talk", "--pass"])
        .expect(0);
    let judge = bench.judge("judge.jsonl", &[says("fail")]);
    let said = bench
        .run(&["--agent", "oracle", "--judge", &judge])
        .expect(0)
        .stderr();
    assert_eq!(bench.trials().len(), 1, "{said}");
    assert!(!said.contains("wait"), "{said}");
}

#[test]
fn a_budget_counts_what_was_spent_before_and_its_end_is_a_fault_of_judging() {
    let bench = Bench::new();
    bench.suite(&[("talk", PROSE)]);
    let judge = bench.judge("judge.jsonl", &[says("pass")]);
    bench
        .run(&["--agent", "oracle", "--judge", &judge])
        .expect(0);
    let args = ["validate", "run", "--judge", &judge, "--budget-tokens"];
    let again = |most| bench.call(&[&args[..], &[most]].concat());
    again("100").expect(1);
    let lines = bench.trials();
    let [first, second] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert!(first.is_final && !second.is_final);
    let fault = second.fault.as_ref().unwrap();
    assert_eq!(fault.class, FaultClass::Judge);
    assert!(fault.message.contains("budget"), "{fault}");
    assert_eq!(second.judge.tokens(), 0);
    again("101").expect(0);
}

#[test]
fn what_waited_for_a_judge_is_paid_for_once() {
    let bench = Bench::new();
    bench.suite(&[("talk", PROSE), ("plain", PLAIN)]);
    bench.run(&["--agent", "oracle"]).expect(1);
    // Plays the other one again, after the judge has used 100 tokens of 150.
    bench
        .call(&["review", "run", "--task", "test/plain", "--fail"])
        .expect(0);
    let judge = bench.judge("judge.jsonl", &[says("pass")]);
    let args = ["--agent", "oracle", "--judge", &judge];
    let more = ["--mode", "rerun-failed", "--budget-tokens", "150"];
    let said = bench.run(&[&args[..], &more[..]].concat()).expect(0);
    assert!(!said.stderr().contains("is spent"), "{}", said.stderr());
    assert_eq!(bench.trials().len(), 4);
}

#[test]
fn a_judge_without_eyes_is_refused_before_anything_is_played() {
    let bench = Bench::new();
    let screen = "name: A\ntask: Do.\nenvironment: { kind: desktop }\nchecks: [{ type: any, checks: [{ type: final_screenshot, value: It is blue. }] }]\n";
    bench.suite(&[("talk", PROSE), ("screen", screen)]);
    let script = bench.judge("judge.jsonl", &[says("pass")]);
    let config = format!("[llm.blind]\nmodel = {script:?}\ndisable_vision = true\n");
    bench.write("config.toml", &config);
    let args = ["--agent", "oracle", "--judge", "blind"];
    let said = bench.run(&args).expect(2).stderr();
    assert!(said.contains("sees no pictures"), "{said}");
    assert!(said.contains("test/screen"), "{said}");
    assert!(!bench.path("run").exists());
    // What can be decided without is.
    std::fs::remove_file(bench.path("suite/test/screen.yaml")).unwrap();
    bench.run(&args).expect(0);
}

#[test]
fn a_judge_that_is_not_let_in_costs_no_second_play() {
    let bench = Bench::new();
    bench.suite(&[("talk", PROSE)]);
    let url = http_service::start(|_| {
        let wrong = json!({ "error": { "message": "wrong key" } });
        Response::json("401 Unauthorized", &wrong)
    });
    let config = format!(
        "[llm.locked]\nmodel = \"openai/gpt-4o\"\nbase_url = \"{url}/v1\"\napi_key = \"k\"\nnum_retries = 1\n"
    );
    bench.write("config.toml", &config);
    let args = ["--agent", "oracle", "--judge", "locked", "--retries", "3"];
    let said = bench.run(&args).expect(1).stderr();
    assert!(said.contains("1 trial waits for a judge"), "{said}");
    let line = bench.trial();
    let fault = line.fault.unwrap();
    assert_eq!((fault.class, line.attempt), (FaultClass::Judge, 1));
    assert!(fault.message.contains("authentication"), "{fault}");
}

const SHARED: &str = "\
name: Shared
task: Write good to a.txt.
environment: { kind: local }
checks:
  - { type: command_output, command: cat a.txt, not_contains: bad }
  - { type: command_output, command: cat a.txt, contains: good }
solution: [{ action: run, command: \"printf 'nothing \\\\377' > a.txt\" }, { action: finish }]
";

#[test]
fn a_byte_that_is_no_text_is_no_way_out_of_a_check() {
    let bench = Bench::new();
    bench.suite(&[("shared", SHARED)]);
    bench.run(&["--agent", "oracle"]).expect(0);
    let line = bench.trial();
    assert_eq!(line.outcome, Outcome::Failed, "{:?}", line.fault);
}
