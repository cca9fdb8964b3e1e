//! Where it ends: with the budget, with the service, with the trial.

use agon::core::verdict::TurnEnd;
use agon::core::{FaultClass, ModelFault};
use serde_json::json;

use super::stage::Stage;

#[test]
fn a_spent_budget_stops_the_next_call() {
    let stage = Stage::new();
    stage.task(json!({ "tokens": 250 }));
    stage.script(&json!([{ "text": "yes", "usage": { "input_tokens": 90, "output_tokens": 10 } }]));
    stage.agent("answers = [ask(hello())[0] for _ in range(6)]\nthink(answers)");
    stage.run("cmd", "mock/script:script.json", &[]);
    let trial = stage.bench.trial();
    assert_eq!((trial.usage.calls, trial.usage.input_tokens), (3, 270));
    let calls = stage.calls();
    let faults: Vec<_> = calls.iter().map(|call| call.fault).collect();
    assert_eq!(faults[..3], [None, None, None]);
    assert!(
        faults[3..]
            .iter()
            .all(|fault| *fault == Some(ModelFault::Budget)),
        "{faults:?}"
    );
    assert_eq!(trial.end, Some(TurnEnd::TokenLimit));
}

#[test]
fn whoever_is_told_so_can_still_finish() {
    let stage = Stage::new();
    stage.task(json!({ "tokens": 50 }));
    stage.script(&json!([{ "text": "yes", "usage": { "input_tokens": 40, "output_tokens": 10 } }]));
    stage.agent(
        r#"
first, second = ask(hello()), ask(hello())
assert (first[0], second[0]) == (200, 402) and "budget" in second[1]["error"]["message"], second
"#,
    );
    stage.run("cmd", "mock/script:script.json", &[]).expect(0);
    assert_eq!(stage.bench.trial().end, Some(TurnEnd::Finished));
    assert_eq!(stage.calls().len(), 2);
}

#[test]
fn an_agent_that_breaks_over_a_failed_service_is_not_to_blame() {
    let stage = Stage::new();
    stage.script(&json!([{ "fault": "authentication", "why": "no such key" }]));
    stage.agent("sys.exit(said(ask(hello())))");
    stage.run("cmd", "mock/script:script.json", &["--retries", "0"]);
    let trial = stage.bench.trial();
    let text = serde_json::to_string(&trial).unwrap();
    assert!(text.contains("no such key"), "{text}");
    let fault = trial.fault.map(|fault| fault.class);
    assert_eq!(fault, Some(FaultClass::ModelSetup), "{text}");
}

#[test]
fn when_a_trial_is_over_its_gateway_is_gone() {
    let stage = Stage::new();
    let notes = stage.bench.path("notes.json");
    let agent = format!(
        r#"
notes = {:?}
if os.path.exists(notes):
    old = json.load(open(notes))
    try: think(ask(hello(), base=old["base"], key=old["key"])[0])
    except urllib.error.URLError as error: think(type(error.reason).__name__)
else:
    json.dump({{"base": os.environ["OPENAI_BASE_URL"], "key": os.environ["OPENAI_API_KEY"]}}, open(notes, "w"))
    think(said(ask(hello())))
"#,
        notes.display().to_string()
    );
    stage.agent(&agent);
    stage
        .run(
            "cmd-host",
            "mock/echo",
            &["--epochs", "2", "--workers", "1"],
        )
        .expect(0);
    let reader = stage.bench.reader();
    let trials = stage.bench.trials();
    let mut thoughts: Vec<String> = Vec::new();
    for trial in trials.iter().filter(|line| line.is_final) {
        for event in reader.events(trial).unwrap() {
            if let agon::prelude::EventBody::Action(agon::core::Action::Think { thought }) =
                event.body
            {
                thoughts.push(thought);
            }
        }
    }
    thoughts.sort();
    assert_eq!(thoughts, ["ConnectionRefusedError", "hello"]);
}
