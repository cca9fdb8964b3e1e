//! `agon export --format osuniverse` and `agon import`.

use super::*;

#[test]
fn an_exported_run_is_read_by_a_program_of_the_original() {
    let bench = Bench::new();
    plain_suite(&bench);
    bench
        .run(&["--agent", "oracle", "--retries", "0"])
        .expect(1);
    let args = [
        "export",
        "run",
        "--format",
        "osuniverse",
        "--out",
        "results",
    ];
    let called = bench.call(&args).expect(0);
    assert!(
        called.stderr().contains("no file for 1 trial"),
        "{}",
        called.stderr()
    );
    assert_eq!(called.stdout().lines().count(), 3);
    let results = bench.path("results");
    assert_eq!(
        read_by_python(&results),
        [
            "test both finished 1.0 -1.0 command_output+returned_result 2 0 ['hello\\n'] 'done' False",
            "test failed finished 0.0 -1.0 command_output 2 0 ['[looked at without this command]\\nfailed: `b.txt` does not exist'] 'done' False",
            "test passed finished 1.0 -1.0 command_output 2 0 ['[looked at without this command]\\npassed: found \"hello\\\\n\"'] 'done' False",
            "weighted 5 of 6",
        ]
    );
    let passed = file(&results.join("test/passed.json"));
    assert_eq!(passed["agent_yaml"], "oracle");
    assert_eq!(passed["setup_cmd"], "None");
    assert_eq!(passed["checks"][0]["command"], "cat a.txt");
    assert_eq!(passed["ai_comment"].as_str().unwrap().lines().count(), 1);

    // What people say is in the next one.
    review(&bench.path("run"), "failed", "It is fine.");
    let args = [
        "export",
        "run",
        "--format",
        "osuniverse",
        "--out",
        "results",
    ];
    bench.call(&args).expect(0);
    let failed = file(&results.join("test/failed.json"));
    assert_eq!(
        (&failed["human_score"], &failed["human_comment"]),
        (&1.0.into(), &"It is fine.".into())
    );
    assert_eq!(read_by_python(&results).last().unwrap(), "weighted 6 of 6");
}

#[test]
fn screens_are_in_the_files() {
    let bench = Bench::new();
    bench.suite(&[("type", "name: Type\nlevel: paper\ntask: Type.\nenvironment: { kind: desktop, screen: 320x240, apps: [xterm] }\nchecks:\n  - { type: window, title: xterm }\nsolution:\n  - { action: move, x: 10, y: 20 }\n  - { action: click, x: 100, y: 100 }\n  - { action: finish }\n")]);
    bench.run(&["--agent", "oracle"]).expect(0);
    let args = [
        "export",
        "run",
        "--format",
        "osuniverse",
        "--out",
        "results",
    ];
    bench.call(&args).expect(0);
    let lines = read_by_python(&bench.path("results"));
    let [one, weighted] = &lines[..] else {
        panic!("{lines:?}")
    };
    assert!(
        one.starts_with("test type finished 1.0 -1.0 final_screenshot 3 3 []"),
        "{one}"
    );
    assert!(one.ends_with("True"), "the last screen is there: {one}");
    assert_eq!(weighted, "weighted 0.5 of 0.5");
}

#[test]
fn steps_count_as_those_that_the_run_was_given() {
    let bench = Bench::new();
    plain_suite(&bench);
    let only = ["--agent", "oracle", "--level", "silver", "--max-steps", "4"];
    bench.run(&only).expect(0);
    let args = ["export", "run", "--format", "osuniverse", "--out", "out"];
    let called = bench.call(&args).expect(0);
    assert!(!called.stderr().contains("changed"), "{}", called.stderr());
    assert_eq!(file(&bench.path("out/test/passed.json"))["max_steps"], 4);
    bench.write(
        "suite/test/new.yaml",
        "name: A\ntask: Do.\nenvironment: { kind: none }\nchecks: [{ type: returned_result, equals: x }]\n",
    );
    let called = bench.call(&args).expect(0);
    assert!(called.stderr().contains("was changed"), "it does tell");
}

/// How a command ended is not forgotten on the way to the original's form and back.
#[test]
fn a_status_that_is_wrong_stays_wrong_after_export_and_import() {
    let bench = Bench::new();
    let case = "name: A\nlevel: wood\ntask: Do.\nenvironment: { kind: local }\nchecks:\n  - { type: command_output, command: test -f done, exit_status: 0 }\n";
    bench.suite(&[("status", case)]);
    bench.run(&["--agent", "noop"]).expect(0);
    let args = [
        "export",
        "run",
        "--format",
        "osuniverse",
        "--out",
        "results",
    ];
    bench.call(&args).expect(0);
    let outputs = &file(&bench.path("results/test/status.json"))["command_output_check_results"];
    assert_eq!(outputs[0]["output"], "[exit status 1]");
    let args = ["import", "results", "--out", "imported"];
    let called = bench.call(&args).expect(0);
    let made = called.stdout().trim().to_owned();
    let args = ["validate", &made, "--suite", "suite", "--json"];
    let called = bench.call(&args).expect(0);
    assert_eq!(called.json()["passed"], 0, "{}", called.stdout());
    assert_eq!(called.json()["failed"], 1, "{}", called.stdout());
}

/// Files tell of no windows, neither that they are there nor that they are not.
#[test]
fn what_files_do_not_tell_of_decides_nothing() {
    let bench = Bench::new();
    let case = |check: &str| {
        format!(
            "name: A\nlevel: wood\ntask: Do.\nsetup_cmd: None\ndesktop_image: registry.test/desktop:1\nchecks: [{check}]\n"
        )
    };
    bench.suite(&[("a", &case("{ type: window, title: Editor, exists: false }"))]);
    let run = serde_json::json!({
        "id": "a", "category": "test", "level": "wood", "task": "Do.", "trajectory": [], "ai_score": 0.0,
        "result": { "timestamp": 2.0, "action": "x", "screenshot": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==" },
    });
    bench.write("results/test/a.json", &run.to_string());
    let args = ["import", "results", "--out", "imported"];
    let called = bench.call(&args).expect(0);
    let made = called.stdout().trim().to_owned();
    let args = ["validate", &made, "--suite", "suite", "--json"];
    let called = bench.call(&args).expect(1);
    assert_eq!(called.json()["passed"], 0, "{}", called.stdout());
    assert_eq!(called.json()["failed"], 1, "it keeps its verdict");
}

#[test]
fn files_that_were_left_out_are_told_at_the_end() {
    let bench = Bench::new();
    let case = serde_json::json!({ "id": "a", "category": "test", "task": "Do.", "ai_score": 1 });
    bench.write("results/test/a.json", &case.to_string());
    bench.write("results/test/b.json", "{torn");
    let called = bench.call(&["import", "results", "--out", "in"]).expect(2);
    let told = called.stderr();
    assert!(told.contains("b.json"), "{told}");
    assert!(
        told.contains("1 of 2 files could not be imported"),
        "{told}"
    );
    let made = called.stdout().trim().to_owned();
    let report = bench.call(&["report", &made]).expect(0);
    assert!(!report.stdout().contains("network"), "{}", report.stdout());
}

#[test]
fn results_are_imported_reported_and_exported_as_they_were() {
    let bench = Bench::new();
    plain_suite(&bench);
    bench
        .run(&["--agent", "oracle", "--retries", "0"])
        .expect(1);
    let export = |run: &str, out: &str| {
        bench
            .call(&["export", run, "--format", "osuniverse", "--out", out])
            .expect(0);
    };
    export("run", "first");
    let called = bench
        .call(&["import", "first", "--out", "imported"])
        .expect(0);
    assert!(
        called
            .stderr()
            .contains("3 cases, 0 without a score, 0 judged by people"),
        "{}",
        called.stderr()
    );
    let made = called.stdout().trim().to_owned();
    export(&made, "second");
    for id in ["both", "failed", "passed"] {
        let name = format!("test/{id}.json");
        let (first, second) = (
            bench.path("first").join(&name),
            bench.path("second").join(&name),
        );
        assert_eq!(file(&first), file(&second), "{id}");
    }
    let report = bench.call(&["report", &made]).expect(0);
    assert!(report.stdout().contains("failed"), "{}", report.stdout());
    let refused = bench.call(&["import", &made]).expect(2);
    assert!(
        refused.stderr().contains("OSUniverse"),
        "{}",
        refused.stderr()
    );
}

/// What the original's own runner has left, graded by the checks of now.
#[test]
fn imported_results_are_graded_again() {
    let bench = Bench::new();
    let case = "name: Click\nlevel: wood\ntask: Click.\nsetup_cmd: None\ndesktop_image: registry.test/desktop:1\nchecks:\n  - { type: returned_result, contains: clicked }\n  - { type: command_output, command: date, contains: Monday }\n";
    bench.suite(&[("click", case), ("other", case), ("never", case)]);
    for (id, output) in [("click", "Monday"), ("other", "Tuesday")] {
        let run = serde_json::json!({
            "id": id, "category": "test", "level": "wood", "task": "Click.", "max_steps": 25, "status": "finished",
            "trajectory": [{ "timestamp": 1.0, "action": "name='click' parameters={'x': 1, 'y': 2}" }],
            "result": { "timestamp": 2.0, "action": "I clicked." }, "ai_score": -1.0,
            "command_output_check_results": [{ "command": "date", "output": { "status": "success", "output": output } }],
        });
        bench.write(&format!("results/test/{id}.json"), &run.to_string());
    }
    let called = bench
        .call(&["import", "results", "--out", "imported"])
        .expect(0);
    assert!(
        called.stderr().contains("2 without a score"),
        "{}",
        called.stderr()
    );
    let made = called.stdout().trim().to_owned();
    // As often as one likes; from then on it is known where the checks are.
    for more in [&["--suite", "suite"][..], &[]] {
        let args = [&["validate", &made][..], more].concat();
        bench.call(&args).expect(0);
    }
    let args = ["export", &made, "--format", "osuniverse", "--out", "graded"];
    bench.call(&args).expect(0);
    for (id, score) in [("click", 1.0), ("other", 0.0)] {
        let graded = file(&bench.path("graded").join(format!("test/{id}.json")));
        assert_eq!(graded["ai_score"], score, "{id}: {graded}");
        assert!(
            graded["ai_comment"]
                .as_str()
                .unwrap()
                .contains("command_output date"),
            "{graded}"
        );
    }
}
