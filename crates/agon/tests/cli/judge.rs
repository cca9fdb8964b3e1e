//! Judges through the command line: who is asked, what is recorded, and that a judge who fails costs no
//! verdict and no second play.

use agon::core::verdict::Outcome;
use agon::core::{EventBody, FaultClass, Source};
use serde_json::json;

use crate::http_service::{self, Response};
use crate::support::{Bench, Called};

#[path = "judge/again.rs"]
mod again;

const PROSE: &str = "\
name: Talk
task: Say what the capital of France is.
environment: { kind: none }
checks: [{ type: returned_result, value: It names Paris. }]
solution: [{ action: finish, result: It is Paris. }]
";

const PRINTED: &str = "\
name: File
task: Write hello to a.txt.
environment: { kind: local }
checks: [{ type: command_output, command: cat a.txt, value: It says hello. }]
solution: [{ action: run, command: echo hello > a.txt }, { action: finish }]
";

const PLAIN: &str = "\
name: Plain
task: Say done.
environment: { kind: none }
checks: [{ type: returned_result, equals: done }]
solution: [{ action: finish, result: done }]
";

fn says(verdict: &str) -> String {
    let answer = json!({
        "analysis": "The answer was looked at.",
        "confidence": 0.9,
        "evidence": [{ "step": null, "what": "what it said" }],
        "verdict": verdict,
    });
    json!({ "text": answer.to_string(), "usage": { "input_tokens": 70, "output_tokens": 30 } })
        .to_string()
}

impl Bench {
    /// A judge that gives these answers, the last again and again.
    fn judge(&self, name: &str, answers: &[String]) -> String {
        let path = self.write(name, &answers.join("\n"));
        format!("mock/script:{}", path.display())
    }
}

#[test]
fn a_judge_decides_about_prose_and_says_why() {
    let bench = Bench::new();
    bench.suite(&[("talk", PROSE), ("file", PRINTED)]);
    let judge = bench.judge("judge.jsonl", &[says("pass")]);
    bench
        .run(&["--agent", "oracle", "--judge", &judge])
        .expect(0);
    let reader = bench.reader();
    let stamp = reader.manifest().judge.clone().unwrap();
    assert_eq!((stamp.model.name, stamp.votes), (judge, 1));
    for line in bench.trials() {
        assert_eq!(line.outcome, Outcome::Passed);
        assert_eq!((line.judge.tokens(), line.usage.tokens()), (100, 100));
        let events = reader.events(&line).unwrap();
        let judged = events.iter().find_map(|event| match &event.body {
            EventBody::Check(check) => check.judged.clone(),
            _ => None,
        });
        let judged = judged.unwrap();
        assert_eq!(judged.votes.len(), 1);
        assert_eq!(judged.votes[0].reasoning, "The answer was looked at.");
        assert_eq!(judged.votes[0].evidence[0].what, "what it said");
        let asked = |event: &&agon::core::Event| matches!(event.body, EventBody::Model(_));
        let call = events.iter().find(asked).unwrap();
        assert_eq!(call.source, Source::Grader);
    }
}

#[test]
fn what_waited_for_a_judge_is_graded_from_its_record() {
    let bench = Bench::new();
    bench.suite(&[("talk", PROSE), ("file", PRINTED)]);
    let said = bench.run(&["--agent", "oracle"]).expect(1).stderr();
    assert!(
        said.contains("2 trials wait for a judge: agon validate"),
        "{said}"
    );
    let judge = bench.judge("judge.jsonl", &[says("fail")]);
    bench
        .call(&["validate", "run", "--judge", &judge])
        .expect(0);
    let lines = bench.trials();
    assert_eq!(lines.len(), 4);
    for line in lines.iter().filter(|line| line.is_final) {
        assert_eq!((line.outcome, line.regraded), (Outcome::Failed, true));
        assert_eq!((line.played_in, line.attempt), (Some(1), 2));
        assert_eq!(line.judge.tokens(), 100);
    }
    assert_eq!(
        bench.reader().manifest().judge.clone().unwrap().model.name,
        judge
    );
    // Another judge may see it otherwise.
    let other = bench.judge("other.jsonl", &[says("pass")]);
    let called = bench.call(&["validate", "run", "--judge", &other, "--json"]);
    assert_eq!(called.expect(0).json()["passed"], 2);
    // Going on is with the same judge, and there is nothing left to do.
    bench.call(&["run", "--resume", "run"]).expect(0);
    let differs = bench
        .run(&["--agent", "oracle", "--judge", &judge])
        .expect(2);
    assert!(
        differs.stderr().contains("agon validate run --judge"),
        "{}",
        differs.stderr()
    );
}

#[test]
fn a_judge_who_says_nothing_sensible_is_a_fault_and_nobody_plays_again() {
    let bench = Bench::new();
    bench.suite(&[("talk", PROSE)]);
    let judge = bench.judge(
        "judge.jsonl",
        &[json!({ "text": "It passed, surely." }).to_string()],
    );
    let args = ["--agent", "oracle", "--judge", &judge, "--retries", "3"];
    bench.run(&args).expect(1);
    let line = bench.trial();
    assert_eq!(line.fault.clone().unwrap().class, FaultClass::Judge);
    assert_eq!((line.outcome, line.attempt), (Outcome::Faulted, 1));
    let events = bench.reader().events(&line).unwrap();
    let calls = events
        .iter()
        .filter(|event| matches!(event.body, EventBody::Model(_)));
    assert_eq!(calls.count(), 6, "two tries each of three hearings");
}

#[test]
fn a_judge_who_was_down_can_be_asked_later() {
    let bench = Bench::new();
    bench.suite(&[("talk", PROSE)]);
    let down = json!({ "fault": "bad_answer", "why": "not now" }).to_string();
    let judge = bench.judge("judge.jsonl", &[down]);
    let first = bench
        .run(&["--agent", "oracle", "--judge", &judge])
        .expect(1);
    assert!(
        first.stderr().contains("1 trial waits for a judge"),
        "{}",
        first.stderr()
    );
    bench.write("judge.jsonl", &says("pass"));
    bench
        .call(&["validate", "run", "--judge", &judge])
        .expect(0);
    assert_eq!(bench.trial().outcome, Outcome::Passed);
    assert_eq!(bench.trials().len(), 2);
}

#[test]
fn nobody_judges_himself_unasked() {
    let bench = Bench::new();
    bench.suite(&[("talk", PROSE)]);
    let judge = bench.judge("judge.jsonl", &[says("pass")]);
    let args = ["--agent", "oracle", "--model", &judge, "--judge", &judge];
    let said = bench.run(&args).expect(2).stderr();
    assert!(said.contains("--judge-may-be-agent"), "{said}");
    assert!(!bench.path("run").exists());
    let mut asked = args.to_vec();
    asked.push("--judge-may-be-agent");
    bench.run(&asked).expect(0);
}

#[test]
fn an_even_number_of_votes_has_no_majority() {
    let bench = Bench::new();
    bench.suite(&[("talk", PROSE)]);
    let said = bench.run(&["--judge-votes", "2"]).expect(2).stderr();
    assert!(said.contains("odd number"), "{said}");
    let judge = bench.judge("judge.jsonl", &[says("pass"), says("fail"), says("fail")]);
    let args = ["--agent", "oracle", "--judge", &judge, "--judge-votes", "3"];
    bench.run(&args).expect(0);
    let line = bench.trial();
    assert_eq!((line.outcome, line.judge.calls), (Outcome::Failed, 3));
}

#[test]
fn a_judge_is_calibrated_against_programs_and_people() {
    let bench = Bench::new();
    bench.suite(&[("plain", PLAIN), ("talk", PROSE)]);
    let judge = bench.judge("judge.jsonl", &[says("pass")]);
    bench
        .run(&["--agent", "oracle", "--judge", &judge])
        .expect(0);
    // Nobody but the judge has spoken about what it judged, and it was not asked about the other.
    let alone = bench.call(&["judge", "calibrate", "run"]).expect(2);
    assert!(alone.stderr().contains("agon review"), "{}", alone.stderr());
    let strict = bench.judge("strict.jsonl", &[says("fail")]);
    let asked = bench.call(&["judge", "calibrate", "run", "--judge", &strict, "--json"]);
    let found = asked.expect(0).json();
    assert_eq!(found["programs"]["false_fail"], 1);
    assert_eq!(
        (&found["programs"]["trials"], &found["unknown"]),
        (&1.into(), &1.into())
    );
    bench
        .call(&[
            "review",
            "run",
            "--task",
            "test/talk",
            "--fail",
            "--comment",
            "It is Lyon.",
        ])
        .expect(0);
    let people = bench
        .call(&["judge", "calibrate", "run"])
        .expect(0)
        .stdout();
    assert!(people.contains("against people: 1 trial"), "{people}");
    assert!(people.contains("false pass  test/talk#1"), "{people}");
}

#[test]
fn a_judge_does_not_answer_for_what_programs_decide() {
    let bench = Bench::new();
    let mixed = PROSE.replace(
        "checks: [",
        "checks: [{ type: returned_result, equals: nothing else }, ",
    );
    bench.suite(&[("talk", &mixed)]);
    let judge = bench.judge("judge.jsonl", &[says("pass")]);
    bench
        .run(&["--agent", "oracle", "--judge", &judge])
        .expect(0);
    assert_eq!(bench.trial().outcome, Outcome::Failed);
    bench
        .call(&["review", "run", "--task", "test/talk", "--fail"])
        .expect(0);
    // The prose was rightly passed; that is no false pass. And nobody is asked whom only the environment names.
    let mut command = bench.agon(&["judge", "calibrate", "run"]);
    command.env("AGON_JUDGE", &judge);
    let said = Called(command.output().unwrap()).expect(2).stderr();
    assert!(said.contains("give a judge with --judge"), "{said}");
    let asked = bench.call(&["judge", "calibrate", "run", "--judge", &judge]);
    let found = asked.expect(0).stdout();
    assert!(found.contains("against people: 1 trial"), "{found}");
    assert!(!found.contains("$$"), "{found}");
}

#[test]
fn who_needs_a_judge_is_said_before_anything_is_played() {
    let bench = Bench::new();
    bench.suite(&[("plain", PLAIN), ("talk", PROSE)]);
    let note = "note: 1 of 2 tasks needs a judge: name one with --judge, or they wait";
    for (more, status) in [(&["--dry-run"][..], 0), (&[], 1)] {
        let args = [&["--agent", "oracle"][..], more].concat();
        let said = bench.run(&args).expect(status).stderr();
        assert!(said.contains(note), "{said}");
    }
    let judge = bench.judge("judge.jsonl", &[says("pass")]);
    let args = ["--agent", "oracle", "--judge", &judge, "--dry-run"];
    let said = bench.run(&args).expect(0).stderr();
    assert!(!said.contains("a judge"), "{said}");
}

#[test]
fn a_folder_without_a_run_is_named() {
    let bench = Bench::new();
    bench.suite(&[("plain", PLAIN)]);
    let said = bench.run(&["--mode", "validate-only"]).expect(2).stderr();
    assert!(said.contains("run is not there"), "{said}");
}

#[test]
fn a_model_on_this_machine_has_no_address() {
    let bench = Bench::new();
    bench.suite(&[("plain", PLAIN)]);
    let args = [
        "--model",
        "mock/echo",
        "--base-url",
        "http://127.0.0.1:1/v1",
    ];
    let said = bench.run(&args).expect(2).stderr();
    assert!(said.contains("has no address"), "{said}");
}
