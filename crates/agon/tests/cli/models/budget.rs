//! The run's budget stops trials before their next call; they are no failures, and are played again when
//! there is more.

use agon::core::FaultClass;
use agon::core::verdict::Outcome;

use super::echo::{ASKER, Echo, bench};

#[test]
fn a_run_stops_before_the_call_that_it_can_not_pay() {
    let echo = Echo::start();
    let tasks = [
        ("a", "write"),
        ("b", "write"),
        ("c", "write"),
        ("d", "write"),
    ];
    let bench = bench(&echo, "sk-budget-00112233", &tasks);
    let model = [
        "--model",
        "echo",
        "--workers",
        "1",
        "--budget-tokens",
        "300",
    ];
    let called = bench.run(&[&ASKER[..], &model].concat()).expect(1);
    // 100 tokens for each call: the third is the last.
    assert_eq!(echo.requests(), 3, "{}", called.stderr());
    let told = "the run's budget of tokens is spent";
    assert!(called.stderr().contains(told), "{}", called.stderr());
    let lines = bench.trials();
    let outcomes: Vec<_> = lines.iter().map(|line| line.outcome).collect();
    assert_eq!(outcomes, [Outcome::Passed, Outcome::Faulted]);
    let fault = lines[1].fault.as_ref().unwrap();
    assert_eq!(
        (fault.class, fault.message.as_str()),
        (FaultClass::Model, told)
    );

    // What was spent counts: nothing more is played for the same budget.
    let again = [
        "run",
        "--resume",
        "run",
        "--json",
        "--workers",
        "1",
        "--budget-tokens",
    ];
    bench.call(&[&again[..], &["300"]].concat()).expect(1);
    assert_eq!(echo.requests(), 3);
    let more = bench.call(&[&again[..], &["10000"]].concat()).expect(0);
    assert_eq!(more.json()["passed"], 4, "{}", more.stderr());
    assert_eq!(echo.requests(), 9);
    let report = bench.call(&["report", "run"]).expect(0).stdout();
    assert!(report.contains("9 calls"), "{report}");
    assert!(report.contains("630 in, 270 out"), "{report}");
}
