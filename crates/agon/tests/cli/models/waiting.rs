//! A service that says nothing, or only that it is busy, until the agent's step is over: that is no
//! failure of the agent. One that wastes its own time fails, whatever it asked meanwhile.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use agon::core::verdict::{Outcome, TurnEnd};
use agon::core::{FaultClass, ModelFault};
use agon::prelude::EventBody;
use serde_json::json;

use crate::support::Bench;

/// How it treats whoever asks.
#[derive(Clone, Copy)]
enum Manner {
    Silent,
    Busy,
    Prompt,
}

/// The address of a service of such a manner.
fn service(manner: Manner) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream, manner));
        }
    });
    base_url
}

fn serve(mut stream: TcpStream, manner: Manner) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let lower = head.to_lowercase();
    let length = lower.split("content-length: ").nth(1)?.lines().next()?;
    let mut body = vec![0; length.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    let (status, answer) = match manner {
        Manner::Silent => {
            // Until whoever asked has gone.
            reader.read_exact(&mut [0]).ok()?;
            return None;
        }
        Manner::Busy => {
            let error = json!({ "error": { "message": "too many of you" } });
            ("429 Too Many Requests\r\nretry-after: 60", error)
        }
        Manner::Prompt => {
            let answer = json!({
                "id": "x", "object": "chat.completion", "created": 0, "model": "m",
                "choices": [{ "index": 0, "finish_reason": "stop",
                    "message": { "role": "assistant", "content": "yes" } }],
                "usage": { "prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10 },
            });
            ("200 OK", answer)
        }
    };
    let answer = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n",
        answer.len()
    );
    stream.write_all((head + &answer).as_bytes()).ok()
}

/// `ask(wait)` asks, and hangs up after so many seconds.
const AGENT: &str = r#"
import json, os, sys, time, urllib.request
def ask(wait):
    body = {"messages": [{"role": "user", "content": "hello"}]}
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions", data=json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]})
    try:
        urllib.request.urlopen(request, timeout=wait).read()
    except OSError:
        pass
sys.stdin.readline()
sys.stdin.readline()
"#;

fn play(manner: Manner, step: u32, code: &str) -> Bench {
    let bench = Bench::new();
    let task = json!({
        "task": "Ask.",
        "limits": { "step": step },
        "checks": [{ "type": "returned_result", "equals": "done" }],
    });
    bench.suite(&[("asking", &task.to_string())]);
    bench.write(
        "agents/agent.py",
        &format!("{AGENT}{code}\ntime.sleep(600)\n"),
    );
    let base_url = service(manner);
    let config = format!("[llm.it]\nmodel = \"openai/m\"\nbase_url = \"{base_url}\"\n");
    bench.write("config.toml", &config);
    let agent = ["--agent", "cmd:python3 agents/agent.py"];
    bench.run(&[&agent[..], &["--model", "it", "--retries", "0"]].concat());
    bench
}

/// Each takes a whole step: all at once.
fn all<T: Copy + Sync>(cases: &[T], check: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(|| check(*case));
        }
    });
}

#[test]
fn a_service_that_keeps_the_agent_waiting_is_a_fault() {
    let cases = [(Manner::Silent, "timeout"), (Manner::Busy, "rate_limit")];
    all(&cases, |(manner, told)| {
        let bench = play(manner, 10, "ask(600)");
        let trial = bench.trial();
        let fault = trial.fault.clone().unwrap();
        assert_eq!(fault.class, FaultClass::Model, "{}", fault.message);
        assert!(fault.message.contains(told), "{}", fault.message);
        let events = bench.reader().events(&trial).unwrap();
        let call = events.iter().find_map(|event| match &event.body {
            EventBody::Model(call) => Some(call),
            _ => None,
        });
        assert_eq!(call.unwrap().fault, Some(ModelFault::Cancelled));
    });
}

#[test]
fn an_agent_that_wastes_its_own_time_fails() {
    let cases = [
        // Asks nobody.
        (Manner::Silent, ""),
        // Hangs up at once.
        (Manner::Prompt, "ask(0.001)"),
        (Manner::Prompt, "ask(600)"),
        // Asks when its step is nearly over.
        (Manner::Silent, "time.sleep(7)\nask(600)"),
    ];
    all(&cases, |(manner, code)| {
        let trial = play(manner, 8, code).trial();
        let found = (trial.outcome, trial.end);
        let expected = (Outcome::Failed, Some(TurnEnd::Silent));
        assert_eq!(found, expected, "{code}: {:?}", trial.fault);
    });
}
