//! Which instances are played, with what, at what price.

use serde_json::json;

use super::{ids, told};
use crate::scripted::{finish, rows, run};
use crate::support::{Bench, demo_suite};

const FOUR: [(&str, &str); 4] = [
    ("a", "hello"),
    ("b", "hello"),
    ("c", "world"),
    ("d/4", "hello"),
];

#[test]
fn instances_are_chosen_by_id_and_number() {
    let bench = Bench::new();
    bench.words(&FOUR);
    let model = bench.says_hello();
    let chosen: [(&[&str], &[&str]); 4] = [
        (&["--eval-n-limit", "2"], &["a", "b"]),
        (&["--eval-ids", "c,a"], &["a", "c"]),
        (&["--eval-ids", "d/4,words/b"], &["b", "d/4"]),
        (
            &["--eval-ids", "b,c,d_4", "--eval-n-limit", "2"],
            &["b", "c"],
        ),
    ];
    for (number, (args, expected)) in chosen.into_iter().enumerate() {
        let note = format!("try{number}");
        let base = ["-l", &model, "--eval-note", &note];
        bench.bench_run(&[&base[..], args].concat()).expect(0);
        let folder = bench.results(&format!("turns_hello_maxiter_8_N_{note}"));
        assert_eq!(
            ids(&rows(&folder.join("output.jsonl"))),
            expected,
            "{args:?}"
        );
    }
}

/// Whatever field names the rows, other programs know them by what it says.
#[test]
fn a_dataset_with_a_field_of_its_own_for_ids_is_spoken_to_in_its_words() {
    let bench = Bench::new();
    bench.words(&FOUR[..1]);
    let settings = std::fs::read_to_string(bench.path("words/benchmark.toml")).unwrap();
    bench.write("words/benchmark.toml", &format!("id = 'name'\n{settings}"));
    let row = |id: &str| json!({ "name": id, "word": "hello", "expected": "hello" }).to_string();
    let dataset = ["it/11 ü", "b", "c"].map(row).join("\n");
    bench.write("words/dataset.jsonl", &dataset);
    let model = bench.says_hello();
    let folder = bench.results("turns_hello_maxiter_8");
    for (asked, expected) in [
        ("it/11 ü", &["it/11 ü"][..]),
        ("it_11_ü", &["it/11 ü"]),
        ("words/b", &["b", "it/11 ü"]),
    ] {
        let args = ["-l", &model, "--eval-ids", asked];
        bench.bench_run(&args).expect(0);
        assert_eq!(
            ids(&rows(&folder.join("output.jsonl"))),
            expected,
            "{asked}"
        );
    }
    assert!(folder.join("infer_logs").is_dir());
    let run = folder.to_str().unwrap();
    let args = ["export", run, "--format", "openhands", "--out", "again"];
    bench.call(&args).expect(0);
    let again = rows(&bench.path("again/output.jsonl"));
    assert_eq!(ids(&again), ["b", "it/11 ü"]);
}

/// More instances are added to what is there, fewer are played again by nobody.
#[test]
fn a_run_can_be_extended() {
    let bench = Bench::new();
    bench.words(&FOUR);
    let model = bench.says_hello();
    let folder = bench.results("turns_hello_maxiter_8");
    for (args, expected) in [
        (&["--eval-n-limit", "2"][..], &["a", "b"][..]),
        (&["--eval-ids", "d/4"], &["a", "b", "d/4"]),
        (&["--eval-n-limit", "1"], &["a", "b", "d/4"]),
        (&[], &["a", "b", "c", "d/4"]),
    ] {
        let base = ["-l", &model, "-i", "8"];
        bench.bench_run(&[&base[..], args].concat()).expect(0);
        let rows = rows(&folder.join("output.jsonl"));
        assert_eq!(ids(&rows), expected, "{args:?}");
    }
    let lines = rows(&folder.join("trials.jsonl"));
    assert_eq!(lines.len(), 4, "nothing was played twice");
}

#[test]
fn what_is_not_there_is_no_smaller_run() {
    let bench = Bench::new();
    bench.words(&FOUR);
    let refusals: [(&[&str], &str); 6] = [
        (
            &["-c", "oracle", "--eval-ids", "a,nope"],
            "no instance `nope`",
        ),
        (&["-c", "Planner"], "`Planner`"),
        (
            &["-c", "oracle", "-i", "0"],
            "it must be a whole number from 1 to",
        ),
        (
            &["-c", "oracle", "-b", "-1"],
            "it must be an amount of dollars",
        ),
        (&["-c", "CodeActAgent"], "--model NAME"),
        (
            &["-c", "oracle", "--eval-num-workers", "0"],
            "0 is not in 1..=1024",
        ),
    ];
    for (args, said) in refusals {
        let refused = bench.bench_run(args).expect(2);
        assert!(
            refused.stderr().contains(said),
            "{args:?}: {}",
            refused.stderr()
        );
    }
    let left = bench.path("out");
    let files = walk(&left);
    assert!(files.is_empty(), "{files:?}");
}

#[test]
fn what_is_wrong_with_the_agents_settings_is_told_once() {
    let bench = Bench::new();
    bench.words(&[("a", "hello")]);
    let model = "[llm]\nmodel = 'mock/turns:none'\n";
    for (section, wrong) in [
        ("[agent]\nenable_cmd = 7\n", "enable_cmd"),
        ("[condenser]\ntype = 'none'\n", "[condenser]"),
    ] {
        bench.write("config.toml", &format!("{model}{section}"));
        let refused = bench.bench_run(&["-c", "CodeActAgent", "-l", "llm"]);
        let said = refused.expect(2).stderr();
        assert_eq!(said.matches(wrong).count(), 1, "{said}");
    }
}

/// What has slashes in it makes no folders of its own: the layout is known to other programs.
#[test]
fn the_result_folder_is_three_levels_deep() {
    let bench = Bench::new();
    bench.words(&[("a", "hello")]);
    bench.write(
        "agent/none.py",
        "import json, sys\nfor line in sys.stdin:\n    if json.loads(line)['type'] == 'observation':\n        \
         print(json.dumps({'action': 'finish'}), flush=True)\n",
    );
    let agent = "cmd:python3 agent/../agent/none.py";
    let args = ["-c", agent, "--eval-note", "../a/b"];
    let json = bench.bench_run(&args).expect(0).json();
    let folder = "out/Words/cmd:python3 agent_.._agent_none.py/no-model_maxiter_8_N_.._a_b";
    assert_eq!(json["run"], folder);
    assert!(bench.path(folder).join("output.jsonl").is_file());
}

/// Every file below a folder.
fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walk(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[test]
fn reference_solutions_need_no_model() {
    let bench = Bench::new();
    bench.words(&FOUR);
    let json = bench.bench_run(&["-c", "oracle"]).expect(0).json();
    assert_eq!(json["passed"], 4);
    let folder = bench.path("out/Words/oracle/no-model_maxiter_8");
    let rows = rows(&folder.join("output.jsonl"));
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0]["metadata"]["llm_config"], json!({}));
    let nothing = bench.bench_run(&["-c", "noop"]).expect(0).json();
    assert_eq!(nothing["passed"], 0);
}

#[test]
fn money_is_limited_for_each_instance() {
    let bench = Bench::new();
    bench.words(&FOUR[..2]);
    let wasteful = [
        run("true"),
        run("echo hello > out.txt"),
        run("false"),
        finish("Done."),
    ];
    bench.paid_turns("sk-none", &wasteful);
    let base = ["-l", "llm", "-i", "6", "-b", "2"];
    bench.bench_run(&base).expect(0);
    let rows = rows(&bench.results("paid_maxiter_6").join("output.jsonl"));
    for (id, cost) in told(&rows, "/metrics/accumulated_cost") {
        assert_eq!(cost, 2.0, "{id}: two answers of a dollar each");
    }
    for (id, error) in told(&rows, "/error") {
        let error = error.as_str().unwrap().to_owned();
        assert!(error.starts_with("RuntimeError: "), "{id}: {error}");
    }
    assert_eq!(rows[0]["metrics"]["max_budget_per_task"], 2.0);
    assert_eq!(rows[0]["test_result"]["end"], "money_limit");
}

#[test]
fn and_for_the_run() {
    let bench = Bench::new();
    bench.words(&FOUR);
    bench.paid_turns("sk-none", &[run("echo hello > out.txt"), finish("Done.")]);
    let base = ["-l", "llm", "-i", "6", "--eval-num-workers", "1"];
    let spent = bench
        .bench_run(&[&base[..], &["--budget-money", "4"]].concat())
        .expect(1);
    assert!(
        spent
            .stderr()
            .contains("the run's budget of money is spent"),
        "{}",
        spent.stderr()
    );
    let file = bench.results("paid_maxiter_6").join("output.jsonl");
    assert_eq!(ids(&rows(&file)), ["a", "b"]);
    bench.bench_run(&base).expect(0);
    assert_eq!(ids(&rows(&file)), ["a", "b", "c", "d/4"]);
}

#[test]
fn money_needs_a_price() {
    let bench = Bench::new();
    bench.words(&FOUR);
    bench.write(
        "config.toml",
        "[llm]\nmodel = 'openai/of-our-own'\nbase_url = 'http://127.0.0.1:9/v1'\napi_key = 'none'\n",
    );
    let refused = bench.bench_run(&["-l", "llm", "-b", "1"]).expect(2);
    assert!(
        refused.stderr().contains("--prices"),
        "{}",
        refused.stderr()
    );
}

#[test]
fn other_commands_take_a_benchmark_beside_other_suites() {
    let bench = Bench::new();
    bench.words(&FOUR);
    let model = bench.says_hello();
    let demo = demo_suite();
    let both = [
        "run",
        "words",
        demo.to_str().unwrap(),
        "--filter",
        "category(words) or name(/greet/)",
    ];
    let more = [
        "--agent", "codeact", "--model", &model, "--out", "run", "--json",
    ];
    let json = bench.call(&[&both[..], &more].concat()).expect(0).json();
    let tasks = json["tasks"].as_u64().unwrap();
    assert!(tasks > 4, "{json}");
    assert!(json["passed"].as_u64().unwrap() >= 3, "{json}");
    assert!(
        !bench.path("run/output.jsonl").exists(),
        "only `bench run` writes it"
    );

    let listed = bench.call(&["list", "words", "--json"]).expect(0).stdout();
    assert_eq!(listed.lines().count(), 4);
    assert!(listed.contains("\"d_4\""), "{listed}");
    let linted = bench.call(&["lint", "words"]).expect(0);
    assert!(linted.stderr().contains("0 errors"), "{}", linted.stderr());
    bench.write(
        "words/instruction.md.j2",
        "Write {{ expected }} to out.txt.\n",
    );
    let refused = bench.call(&["lint", "words"]).expect(2);
    assert!(
        refused.stderr().contains("expected"),
        "{}",
        refused.stderr()
    );
}
