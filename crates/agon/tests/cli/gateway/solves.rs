//! The example agent, and what is recorded of its calls.

use std::fs;
use std::path::Path;

use agon::core::Purpose;
use serde_json::json;

use super::stage::Stage;

#[test]
fn the_example_agent_solves_a_task_with_a_model() {
    let stage = Stage::new();
    let task = json!({
        "task": "Write hello to greeting.txt.",
        "checks": [{ "type": "file", "path": "greeting.txt", "contains": "hello" }],
    });
    stage.bench.suite(&[("asking", &task.to_string())]);
    let example =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/python/gateway_agent.py");
    stage
        .bench
        .write("agents/agent.py", &fs::read_to_string(example).unwrap());
    let usage = json!({ "input_tokens": 100, "output_tokens": 10 });
    let write = json!({ "path": "greeting.txt", "content": "hello\n" });
    stage.script(&json!([
        { "tool_calls": [{ "name": "write", "input": write }], "usage": usage },
        { "tool_calls": [{ "name": "run", "input": { "command": "cat greeting.txt" } }], "usage": usage },
        { "text": "It is written.", "usage": usage },
    ]));
    stage.run("cmd", "mock/script:script.json", &[]).expect(0);

    let trial = stage.bench.trial();
    assert_eq!(
        (
            trial.usage.calls,
            trial.usage.input_tokens,
            trial.usage.output_tokens
        ),
        (3, 300, 30)
    );
    let calls = stage.calls();
    assert_eq!(calls.len(), 3);
    assert!(
        calls
            .iter()
            .all(|call| call.purpose == Purpose::Gateway && call.fault.is_none())
    );
    let last = serde_json::to_string(&calls[2]).unwrap();
    assert!(
        last.contains("greeting.txt") && last.contains("It is written."),
        "{last}"
    );
}

#[test]
fn both_vendors_forms_and_streams_are_answered_in_a_sandbox() {
    let stage = Stage::new();
    stage.agent(
        r#"
think(said(ask(hello())))
think(ask(hello(max_tokens=9), "/messages")[1]["content"][0]["text"])
think(ask({"input": "hello"}, "/responses")[1]["output"][0]["content"][0]["text"])
bare = os.environ["ANTHROPIC_BASE_URL"]
think(ask(hello(max_tokens=9), "/v1/messages", bare)[1]["content"][0]["text"])
request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions",
                                 data=json.dumps(hello(stream=True)).encode())
with urllib.request.urlopen(request, timeout=60) as response:
    think(response.headers["content-type"] + response.read().decode()[-14:])
with urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/models") as response:
    think(json.load(response)["data"][0]["id"] == os.environ["AGON_MODEL"])
"#,
    );
    stage.run("cmd", "mock/echo", &[]).expect(0);
    let wanted = [
        "hello",
        "hello",
        "hello",
        "hello",
        "text/event-streamdata: [DONE]\n\n",
        "True",
    ];
    assert_eq!(stage.thoughts(), wanted);
    assert_eq!(stage.calls().len(), 5);
}

#[test]
fn only_the_runs_model_can_be_asked() {
    let stage = Stage::new();
    stage.agent(
        r#"
for model in [os.environ["AGON_MODEL"], os.environ["LLM_MODEL"], "agon", "default", "gpt-4o", "mock/text:x"]:
    status, body = ask(hello(model=model))
    think(f"{status} {body.get('error', {}).get('message', '')}")
"#,
    );
    stage.run("cmd", "mock/echo", &[]).expect(0);
    let thoughts = stage.thoughts();
    assert!(
        thoughts[..4].iter().all(|said| said == "200 "),
        "{thoughts:?}"
    );
    for refused in &thoughts[4..] {
        assert!(
            refused.starts_with("404 ") && refused.contains("`agon`"),
            "{refused}"
        );
    }
    let calls = stage.calls();
    let asked = calls.iter().filter(|call| call.fault.is_none()).count();
    assert_eq!((asked, calls.len()), (4, 6));
}

#[test]
fn a_program_of_the_host_needs_the_key_of_its_trial() {
    let stage = Stage::new();
    stage.agent(
        r#"
think(said(ask(hello())))
think(ask(hello(), key="agon")[0])
"#,
    );
    stage.run("cmd-host", "mock/echo", &[]).expect(0);
    assert_eq!(stage.thoughts(), ["hello", "401"]);
    assert_eq!(stage.calls().len(), 1);
}

#[test]
fn without_a_model_there_is_no_gateway() {
    let stage = Stage::new();
    stage.agent("think(sorted(name for name in os.environ if 'API' in name or 'BASE' in name))");
    stage
        .bench
        .run(&["--agent", "cmd:python3 agents/agent.py"])
        .expect(0);
    assert_eq!(stage.thoughts(), ["[]"]);
}
