//! Recorded, replayed without the service, and gone on with by the same model alone.

use agon::core::EventBody;

use super::echo::{ASKER, Echo, bench};

const KEY: &str = "sk-5ad1e0c3-taped-77aa";

fn args<'a>(out: &'a str, model: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["run", "suite", "--out", out, "--retries", "0", "--json"];
    args.extend(ASKER);
    args.extend(model);
    args
}

#[test]
fn a_tape_plays_the_run_again_and_a_miss_is_told() {
    let echo = Echo::start();
    let bench = bench(&echo, KEY, &[("a", "hello"), ("b", "good day")]);
    let record = ["--model", "echo", "--record-tape", "calls.tape"];
    bench.call(&args("live", &record)).expect(0);
    let live = echo.requests();
    assert_eq!(live, 2);
    let replay = ["--model", "echo", "--tape", "calls.tape"];
    let json = bench.call(&args("run", &replay)).expect(0).json();
    assert_eq!((json["passed"].as_u64(), echo.requests()), (Some(2), live));
    let reader = bench.reader();
    let stamp = reader.manifest().models[0].clone();
    assert_eq!(
        (stamp.name.as_str(), stamp.provider.as_str()),
        ("echo", "compatible")
    );
    assert!(stamp.tape.is_some() && stamp.host.unwrap().starts_with("127.0.0.1:"));
    for line in bench.trials() {
        assert_eq!((line.usage.calls, line.usage.input_tokens), (1, 70));
        let events = reader.events(&line).unwrap();
        let call = events.iter().find_map(|event| match &event.body {
            EventBody::Model(call) => Some(call),
            _ => None,
        });
        let call = call.unwrap();
        assert!(call.taped && call.tries == 0, "{call:?}");
        let request = reader.said(call.request.as_ref().unwrap()).unwrap();
        assert_eq!(request["model"], "m-1");
        // Long, so that it is kept apart.
        let response = reader.said(call.response.as_ref().unwrap()).unwrap();
        let content = response["choices"][0]["message"]["content"]
            .as_str()
            .unwrap();
        assert!(
            content.len() > 4096 && content.contains("[key]"),
            "{content}"
        );
    }

    bench.suite(&[(
        "a",
        "task: hello there\nchecks: [{ type: returned_result, contains: x }]\n",
    )]);
    let told = bench.call(&args("miss", &replay)).expect(0).stderr();
    // The agent hears that there is none; what differs is for the record.
    assert!(told.contains("not_on_tape"), "{told}");
    assert!(!told.contains("/messages/0/content"), "{told}");
    let reader = agon::prelude::RunReader::open(&bench.path("miss")).unwrap();
    let missed = reader.trials().unwrap().into_iter();
    let mut missed = missed.filter(|line| line.outcome == agon::core::verdict::Outcome::Failed);
    let events = reader.events(&missed.next().unwrap()).unwrap();
    let why = events.iter().find_map(|event| match &event.body {
        EventBody::Model(call) => call.why.clone(),
        _ => None,
    });
    let why = why.unwrap();
    for part in ["/messages/0/content", "hello there"] {
        assert!(why.contains(part), "{part}: {why}");
    }
}

#[test]
fn another_model_is_another_run() {
    let echo = Echo::start();
    let bench = bench(&echo, KEY, &[("a", "hello")]);
    bench
        .run(&[&ASKER[..], &["--model", "echo"]].concat())
        .expect(0);
    for (other, said) in [
        (
            &["--model", "mock/echo"][..],
            "provider: compatible -> mock",
        ),
        (&[], "model: echo -> none"),
    ] {
        let refused = bench.run(&[&ASKER[..], other].concat()).expect(2);
        assert!(refused.stderr().contains(said), "{}", refused.stderr());
    }
    let config = std::fs::read_to_string(bench.path("config.toml")).unwrap();
    bench.write("config.toml", &format!("{config}temperature = 0.7\n"));
    let refused = bench.call(&["run", "--resume", "run"]).expect(2);
    let said = "model echo: temperature: 0.0 -> 0.7";
    assert!(refused.stderr().contains(said), "{}", refused.stderr());
    // Without a word about it, the same model is meant; grading again needs none.
    bench.write("config.toml", &config);
    bench.call(&["run", "--resume", "run"]).expect(0);
    std::fs::remove_file(bench.path("config.toml")).unwrap();
    let again = ["run", "--resume", "run", "--mode", "validate-only"];
    bench.call(&again).expect(0);
    let trial = bench.trial();
    assert_eq!((trial.regraded, trial.usage.calls), (true, 1));
    let events = bench.reader().events(&trial).unwrap();
    let calls = events.iter().filter(|event| event.body.kind() == "model");
    assert_eq!(calls.count(), 1);
}
