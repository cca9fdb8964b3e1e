//! What answers is part of the run: a script or an address that has changed is another run.

use super::echo::{ASKER, Echo, bench};

const KEY: &str = "sk-c5512e90-stamped-41ff";

#[test]
fn another_script_or_address_is_another_run() {
    let echo = Echo::start();
    let bench = bench(&echo, KEY, &[("a", "hello")]);
    let scripted = [&ASKER[..], &["--model", "mock/script:answers.json"]].concat();
    bench.write("answers.json", "[{ \"text\": \"choices\" }]");
    bench.run(&scripted).expect(0);
    bench.run(&scripted).expect(0);
    bench.write("answers.json", "[{ \"text\": \"other choices\" }]");
    let refused = bench.run(&scripted).expect(2).stderr();
    assert!(refused.contains("content: "), "{refused}");
    // Grading again asks nobody, and says so to whoever names a model.
    let again = ["run", "--resume", "run", "--mode", "validate-only"];
    let told = "grading again asks no agent";
    let graded = bench
        .call(&[&again[..], &["--model", "mock/echo"]].concat())
        .expect(0);
    assert!(graded.stderr().contains(told), "{}", graded.stderr());
    let graded = bench.call(&again).expect(0);
    assert!(!graded.stderr().contains(told), "{}", graded.stderr());

    let config = std::fs::read_to_string(bench.path("config.toml")).unwrap();
    let mut served = vec!["run", "suite", "--out", "served"];
    served.extend(ASKER);
    served.extend(["--model", "echo"]);
    bench.call(&served).expect(0);
    bench.write("config.toml", &config.replace("/v1", "/v1/deployments/two"));
    let refused = bench.call(&served).expect(2).stderr();
    let told = "model echo: path: \"/v1\" -> \"/v1/deployments/two\"";
    assert!(refused.contains(told), "{refused}");
    let headers = "completion_kwargs = { extra_headers = { x-kind = \"b\" } }\n";
    bench.write("config.toml", &format!("{config}{headers}"));
    let refused = bench.call(&served).expect(2).stderr();
    let told = "model echo: headers: none -> {\"x-kind\":\"b\"}";
    assert!(refused.contains(told), "{refused}");
}
