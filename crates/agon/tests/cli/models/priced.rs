//! Money that nobody can count is no limit: that is said before anything is played.

use serde_json::json;

use super::echo::{ASKER, Echo, bench};

const KEY: &str = "sk-91b7aa20-priced-55ee";

#[test]
fn a_budget_of_money_needs_a_price() {
    let echo = Echo::start();
    let bench = bench(&echo, KEY, &[("a", "hello")]);
    let model = ["--model", "echo", "--budget-money", "1"];
    let refused = bench.run(&[&ASKER[..], &model].concat()).expect(2);
    for part in [
        "--budget-money",
        "`echo`",
        "--prices",
        "input_cost_per_token",
    ] {
        assert!(
            refused.stderr().contains(part),
            "{part}: {}",
            refused.stderr()
        );
    }
    assert!(!bench.path("run").exists());
    assert_eq!(echo.requests(), 0);
    let config = std::fs::read_to_string(bench.path("config.toml")).unwrap();
    let priced = "input_cost_per_token = 0.001\noutput_cost_per_token = 0.001\n";
    bench.write("config.toml", &format!("{config}{priced}"));
    bench.run(&[&ASKER[..], &model].concat()).expect(0);
    assert_eq!(echo.requests(), 1);
}

#[test]
fn so_does_a_task_that_limits_money() {
    let echo = Echo::start();
    let bench = bench(&echo, KEY, &[]);
    let task = json!({
        "task": "hello", "limits": { "money": "0.5" },
        "checks": [{ "type": "returned_result", "contains": "choices" }],
    });
    bench.suite(&[("a", &task.to_string())]);
    let refused = bench
        .run(&[&ASKER[..], &["--model", "echo"]].concat())
        .expect(2);
    let told = "limits.money of test/a";
    assert!(refused.stderr().contains(told), "{}", refused.stderr());
    // What costs nothing can be counted.
    bench
        .run(&[&ASKER[..], &["--model", "mock/text:choices"]].concat())
        .expect(0);
}
