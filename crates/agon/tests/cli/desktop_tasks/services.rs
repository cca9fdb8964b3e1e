//! Services that die under a case in a container: the model of the agent, or the judge. The right fault,
//! and nothing left behind.

use std::net::TcpListener;

use agon::core::FaultClass;
use agon::core::verdict::Outcome;
use serde_json::json;

use super::faults::Live;

/// A service that hangs up on everybody.
fn dead_service() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for caller in listener.incoming() {
            drop(caller);
        }
    });
    format!(
        "[llm.dead]\nmodel = \"openai/m\"\nbase_url = \"http://{address}/v1\"\napi_key = \"k\"\n\
         num_retries = 1\n"
    )
}

#[test]
fn container_case_whose_model_is_down_is_a_fault_and_played_again() {
    let config = dead_service();
    let by = ["react", "--model", "dead", "--retries", "1"];
    let (status, trials) = Live::played_by(&json!({}), &by, &config).end();
    assert_eq!(status, Some(1), "{trials:?}");
    assert_eq!(trials.len(), 2, "{trials:?}");
    for line in trials {
        assert_eq!(line.outcome, Outcome::Faulted);
        let fault = line.fault.unwrap();
        assert_eq!(fault.class, FaultClass::Model, "{fault}");
    }
}

#[test]
fn container_case_whose_judge_is_down_is_a_fault_that_can_be_judged_later() {
    let config = dead_service();
    let prose = json!({ "checks": [
        { "type": "command_output", "command": "cat done.txt", "value": "It says done." },
    ] });
    let by = ["oracle", "--judge", "dead", "--retries", "1"];
    let (status, trials) = Live::played_by(&prose, &by, &config).end();
    assert_eq!(status, Some(1), "{trials:?}");
    assert_eq!(trials.len(), 1, "nobody has to play again: {trials:?}");
    let fault = trials[0].fault.as_ref().unwrap();
    assert_eq!(fault.class, FaultClass::Judge, "{fault}");
}
