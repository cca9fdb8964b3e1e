//! The key of a service is in the user's configuration and goes to the service; it is in nothing that a
//! run leaves behind, even if the service says it back in every way it can.

use std::fs;

use super::echo::{ASKER, Echo, bench};
use crate::secrets::Secret;

const IN_FILE: &str = "sk-4f1c77e2-in-the-file-90ab";
const IN_ENVIRONMENT: &str = "sk-b3d09a51-in-the-environment-17cd";

#[test]
fn a_key_is_in_nothing_that_a_run_wrote() {
    let echo = Echo::start();
    let questions = [
        ("answer", "write"),
        ("error", "an error, please"),
        ("page", "a page, please"),
    ];
    let bench = bench(&echo, IN_FILE, &questions);
    let mut said = Vec::new();
    for (model, out) in [("echo", "of-file"), ("llm", "of-environment")] {
        let tape = format!("{out}.tape");
        let mut args = vec!["run", "suite", "--out", out, "--retries", "0", "--json"];
        args.extend(ASKER);
        args.extend(["--model", model, "--record-tape", &tape]);
        let mut command = bench.agon(&args);
        if model == "llm" {
            command.env("LLM_API_KEY", IN_ENVIRONMENT);
        }
        let before = echo.requests();
        said.push(crate::support::Called(command.output().unwrap()));
        assert!(
            echo.requests() >= before + 4,
            "{}",
            said[said.len() - 1].stderr()
        );
        for format in ["table", "md", "json", "csv", "junit", "html"] {
            let report = bench.call(&["report", out, "--format", format]);
            assert_eq!(report.status(), 0, "{}", report.stderr());
            said.push(report);
        }
        let mut ask = bench.agon(&["llm", "ask", "--model", model, "--json", "an error, please"]);
        ask.env("LLM_API_KEY", IN_ENVIRONMENT);
        said.push(crate::support::Called(ask.output().unwrap()));
        let mut list = bench.agon(&["llm", "list", "--json"]);
        list.env("LLM_API_KEY", IN_ENVIRONMENT);
        said.push(crate::support::Called(list.output().unwrap()));
    }
    fs::remove_file(bench.path("config.toml")).unwrap();
    let place = bench.path("");
    for key in [IN_FILE, IN_ENVIRONMENT] {
        let secret = Secret::new(key);
        assert_eq!(secret.files_with(&place), Vec::<std::path::PathBuf>::new());
        for called in &said {
            secret.assert_unsaid(called);
        }
    }
    // The service did say it, everywhere: what it said is there without the key.
    let hidden = Secret::new("Bearer [key]");
    let files = hidden.files_with(&place);
    for name in [
        "of-file.tape",
        "of-environment.tape",
        "of-file/blobs",
        "of-environment/blobs",
    ] {
        let found = files.iter().any(|file| file.starts_with(bench.path(name)));
        assert!(found, "{name} is not among {files:?}");
    }
}

#[test]
fn the_search_finds_what_is_hidden() {
    let bench = crate::support::Bench::new();
    let secret = Secret::new("sk-0123456789-abcdef");
    bench.write("a/plain", "x sk-0123456789-abcdef y");
    bench.write("b/encoded", "eHh4eHNrLTAxMjM0NTY3ODktYWJjZGVmeXl5eQ==");
    bench.write("c/hex", "736b2d303132333435363738392d616263646566");
    bench.write("d/sk-0123456789-abcdef", "");
    bench.write("e/other", "sk-0123456789-abcdeg");
    assert_eq!(secret.files_with(&bench.path("")).len(), 4);
    // And in a packed blob.
    bench.write("suite/test/a.yaml", "task: Wait.\nchecks: [{ type: file, path: f, exists: true }]\nsolution: [{ action: write, path: f, content: sk-0123456789-abcdef }]\n");
    bench.run(&["--agent", "oracle"]).expect(0);
    let blobs = secret.files_with(&bench.path("run/blobs"));
    assert_eq!(blobs.len(), 1, "{blobs:?}");
}
