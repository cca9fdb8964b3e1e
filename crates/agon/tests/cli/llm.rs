//! `agon llm` against mock models, and against a real HTTP server on this machine.

#[path = "llm/service.rs"]
mod service;

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::support::{Bench, Called};
use service::Service;

const KEY: &str = "sk-cli-test-0123456789abcdef";

/// Without the keys and settings of whoever runs the tests.
fn alone(bench: &Bench, args: &[&str]) -> Command {
    let mut command = bench.agon(args);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.ends_with("_API_KEY") || text.starts_with("LLM_") || text == "AGON_CONFIG" {
            command.env_remove(&name);
        }
    }
    command
        .env("HOME", bench.path("home"))
        .env_remove("XDG_CONFIG_HOME");
    command
}

fn call(bench: &Bench, args: &[&str]) -> Called {
    Called(alone(bench, args).output().unwrap())
}

#[track_caller]
fn hides_the_key(called: &Called) {
    let all = called.stdout() + &called.stderr();
    assert!(!all.contains("0123456789abcdef"), "{all}");
}

/// `[llm.served]`, at `url`.
fn served(bench: &Bench, url: &str) {
    bench.write(
        "config.toml",
        &format!(
            "[llm.served]\nmodel = \"openai/tiny\"\nbase_url = \"{url}/v1\"\napi_key = \"{KEY}\"\n\
             num_retries = 1\ninput_cost_per_token = 0.000001\noutput_cost_per_token = 0.000002\n"
        ),
    );
}

#[test]
fn mock_models_answer_without_anything() {
    let bench = Bench::new();
    let called = call(
        &bench,
        &["llm", "ask", "--model", "mock/echo", "hello", "world"],
    )
    .expect(0);
    assert_eq!(called.stdout(), "hello world\n");
    assert!(called.stderr().contains("tokens in"), "{}", called.stderr());
    assert!(called.stderr().contains("$0.00"), "{}", called.stderr());
    let json = call(
        &bench,
        &["llm", "ask", "-m", "mock/text:yes", "--json", "so?"],
    )
    .expect(0)
    .json();
    assert_eq!(
        (&json["text"], &json["cost"]),
        (&json!("yes"), &json!("$0.00"))
    );

    let mut command = alone(&bench, &["llm", "ask", "-l", "mock/echo", "-"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"from a pipe")
        .unwrap();
    let called = Called(child.wait_with_output().unwrap()).expect(0);
    assert_eq!(called.stdout(), "from a pipe\n");
}

#[test]
fn a_service_is_asked_with_its_key_which_nobody_sees() {
    let service = Service::start();
    let bench = Bench::new();
    served(&bench, service.url());
    for name in ["served", "llm.served", "[llm.served]"] {
        let called = call(
            &bench,
            &["llm", "ask", "-l", name, "--system", "be short", "ping"],
        )
        .expect(0);
        assert_eq!(called.stdout(), "pong\n");
        // 5 tokens in and 1 out, at the prices of the section.
        let said = called.stderr();
        assert!(said.contains("5 tokens in, 1 out, $0.000007"), "{said}");
        hides_the_key(&called);
        let asked = service.next();
        assert_eq!(asked.path(), "/v1/chat/completions");
        assert_eq!(
            asked.header("authorization"),
            Some(&*format!("Bearer {KEY}"))
        );
        assert_eq!(asked.body["model"], "tiny");
        assert_eq!(asked.body["messages"][0]["content"], "be short");
    }
    let called = call(&bench, &["llm", "ask", "-l", "served", "--stream", "ping"]).expect(0);
    assert_eq!(called.stdout(), "pong\n");
    assert_eq!(service.next().body["stream"], true);
    let called = call(&bench, &["llm", "list"]).expect(0);
    hides_the_key(&called);
    assert!(
        called.stdout().contains("[llm.served]  $1.00 / $2.00"),
        "{}",
        called.stdout()
    );
}

#[test]
fn schemas_and_pictures_go_along() {
    let service = Service::start();
    let bench = Bench::new();
    served(&bench, service.url());
    let schema = json!({
        "type": "object", "properties": {"a": {"type": "string"}},
        "required": ["a"], "additionalProperties": false,
    });
    bench.write("schema.json", &schema.to_string());
    let png = bench.path("dot.png");
    std::fs::write(&png, service::DOT).unwrap();
    let args = [
        "llm",
        "ask",
        "-l",
        "served",
        "--schema",
        "schema.json",
        "--image",
        "dot.png",
        "what?",
    ];
    call(&bench, &args).expect(0);
    let body = service.next().body;
    assert_eq!(body["response_format"]["json_schema"]["schema"], schema);
    let parts = body["messages"][0]["content"].to_string();
    assert!(
        parts.contains("data:image/png;base64,iVBORw0KGgo"),
        "{parts}"
    );

    bench.write("not.png", "words");
    let called = call(
        &bench,
        &["llm", "ask", "-l", "served", "--image", "not.png", "x"],
    )
    .expect(2);
    assert!(
        called
            .stderr()
            .contains("not.png is no PNG, JPEG, WebP or GIF"),
        "{}",
        called.stderr()
    );
    bench.write("not.json", "{");
    let called = call(
        &bench,
        &["llm", "ask", "-l", "served", "--schema", "not.json", "x"],
    )
    .expect(2);
    assert!(
        called.stderr().contains("not.json is no JSON"),
        "{}",
        called.stderr()
    );
}

#[test]
fn a_refused_key_is_told_without_it() {
    let service = Service::start();
    let bench = Bench::new();
    served(&bench, service.url());
    let called = call(&bench, &["llm", "ask", "-l", "served", "refuse my key"]).expect(1);
    assert!(
        called.stderr().contains("authentication"),
        "{}",
        called.stderr()
    );
    assert_eq!(called.stdout(), "");
    hides_the_key(&called);
}

#[test]
fn check_asks_each_and_says_what_to_do() {
    let service = Service::start();
    let bench = Bench::new();
    served(&bench, service.url());
    let called = call(&bench, &["llm", "check"]).expect(0);
    assert!(
        called.stdout().starts_with("ok   served: tiny answered in"),
        "{}",
        called.stdout()
    );
    hides_the_key(&called);

    // Nobody listens there: the port was taken and given back.
    let gone = Service::closed();
    served(&bench, &gone);
    let called = call(
        &bench,
        &[
            "llm",
            "check",
            "served",
            "openai/gpt-4o",
            "nothing",
            "mock/echo",
        ],
    );
    let called = called.expect(1);
    let said = called.stdout();
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("FAIL served: network"), "{said}");
    assert!(
        lines[0].ends_with("(look at base_url and the network)"),
        "{said}"
    );
    assert!(
        lines[1].starts_with("FAIL openai/gpt-4o: ") && lines[1].contains("OPENAI_API_KEY"),
        "{said}"
    );
    assert!(lines[2].contains("there is no such section"), "{said}");
    assert!(lines[3].starts_with("ok   mock/echo: "), "{said}");
    hides_the_key(&called);
    let json = call(&bench, &["llm", "check", "served", "--json"])
        .expect(1)
        .json();
    assert_eq!(
        (&json["ok"], &json["fault"]),
        (&json!(false), &json!("network"))
    );
}

#[test]
fn a_tape_answers_when_the_service_and_the_key_are_gone() {
    let service = Service::start();
    let bench = Bench::new();
    served(&bench, service.url());
    let ask = |flag: &str, words: &str| {
        call(
            &bench,
            &["llm", "ask", "-l", "served", flag, "calls.tape", words],
        )
    };
    ask("--record-tape", "ping").expect(0);
    let tape = std::fs::read(bench.path("calls.tape")).unwrap();
    assert!(!String::from_utf8_lossy(&tape).contains("0123456789abcdef"));
    served(&bench, &Service::closed());
    let config = std::fs::read_to_string(bench.path("config.toml")).unwrap();
    bench.write("config.toml", &config.replace(KEY, "sk-XXX"));
    let called = ask("--tape", "ping").expect(0);
    assert_eq!(called.stdout(), "pong\n");
    let called = ask("--tape", "something else").expect(1);
    assert!(
        called.stderr().contains("not_on_tape"),
        "{}",
        called.stderr()
    );
}

#[test]
fn what_is_wrong_is_said_before_anybody_is_asked() {
    let bench = Bench::new();
    bench.write(
        "config.toml",
        &format!("[llm]\nmodle = \"gpt-4o\"\napi_key = \"{KEY}\"\n"),
    );
    let called = call(&bench, &["llm", "ask", "-l", "llm", "x"]).expect(2);
    let said = called.stderr();
    assert!(
        said.contains("config.toml:2: [llm] has an unknown key `modle`, did you mean `model`?"),
        "{said}"
    );
    bench.write(
        "config.toml",
        &format!("[llm]\nmodel = \"gpt-4o\"\napi_key = {KEY}\n"),
    );
    let called = call(&bench, &["llm", "list"]).expect(2);
    assert!(
        called.stderr().contains("config.toml:3: this is no TOML"),
        "{}",
        called.stderr()
    );
    hides_the_key(&called);
    bench.write(
        "config.toml",
        "[llm]\nmodel = \"mock/echo\"\n[llm.eval]\n[mcp]\n",
    );
    let called = call(&bench, &["llm", "ask", "-l", "evla", "x"]).expect(2);
    let said = called.stderr();
    assert!(
        said.contains("did you mean `eval`?; config.toml has: llm, eval;"),
        "{said}"
    );
    assert!(
        said.contains("config.toml:4: [mcp] is not used by Agon"),
        "{said}"
    );
    let called = call(&bench, &["llm", "ask", "x"]).expect(2);
    assert!(
        called
            .stderr()
            .contains("which model? Give --model NAME: llm, eval"),
        "{}",
        called.stderr()
    );
    let called = call(
        &bench,
        &["llm", "ask", "--config", "none.toml", "-l", "llm", "x"],
    )
    .expect(2);
    assert!(
        called.stderr().contains("there is no such file"),
        "{}",
        called.stderr()
    );
}

#[test]
fn the_environment_and_dot_env_are_heard() {
    let bench = Bench::new();
    bench.write("config.toml", "[llm]\nmodel = \"mock/text:file\"\n");
    let ask = |variable: Option<&str>| {
        let mut command = alone(&bench, &["llm", "ask", "-l", "llm", "x"]);
        if let Some(model) = variable {
            command.env("LLM_MODEL", model);
        }
        Called(command.output().unwrap()).expect(0).stdout()
    };
    assert_eq!(ask(None), "file\n");
    bench.write(".env", "LLM_MODEL='mock/text:dotenv'\n");
    assert_eq!(ask(None), "dotenv\n");
    assert_eq!(ask(Some("mock/text:environment")), "environment\n");
}

#[test]
fn list_shows_sections_and_where_keys_come_from() {
    let bench = Bench::new();
    bench.write(
        "config.toml",
        "[llm]\nmodel = \"gpt-4o\"\n[llm.b]\nmodel = \"claude-x\"\napi_key = \"XXX\"\n",
    );
    let mut command = alone(&bench, &["llm", "list", "--json"]);
    command.env("OPENAI_API_KEY", KEY);
    let called = Called(command.output().unwrap()).expect(0);
    hides_the_key(&called);
    let said = called.stdout();
    let rows: Vec<serde_json::Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let brief = |row: &serde_json::Value| {
        let cells = ["name", "provider", "model", "key", "ready"].map(|key| row[key].to_string());
        cells.join(" ").replace('"', "")
    };
    assert_eq!(brief(&rows[0]), "llm openai gpt-4o $OPENAI_API_KEY true");
    assert_eq!(brief(&rows[1]), "b anthropic claude-x placeholder false");
    assert!(
        rows[1]["problem"]
            .as_str()
            .unwrap()
            .contains("ANTHROPIC_API_KEY")
    );
    let empty = Bench::new();
    let said = call(&empty, &["llm", "list"]).expect(0).stdout();
    assert!(
        said.contains("There is no config.toml here.") && said.contains("mock/echo"),
        "{said}"
    );
}
