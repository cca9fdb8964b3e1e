//! A run that is being written, as a browser hears of it: over a real connection, from a real writer in
//! another thread, and stopped by an order.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use agon_core::event::Phase;
use agon_core::{Action, EventBody, Source};
use agon_testkit::GeneratedRun;
use serde_json::{Value, json};

use crate::served::Server;

struct Feed(BufReader<TcpStream>);

impl Feed {
    fn of(server: &Server, run: &str) -> Self {
        let mut stream = server.connect();
        let host = server.host();
        let known = server.bearer();
        let request = format!("GET /api/runs/{run}/feed HTTP/1.1\r\nHost: {host}\r\n{known}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        Self(BufReader::new(stream))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).unwrap();
        assert!(read > 0, "the feed has ended");
        line.trim_end().to_owned()
    }

    /// The next event for which `wanted` has an answer.
    fn until<T>(&mut self, wanted: impl Fn(&str, &Value) -> Option<T>) -> T {
        let mut name = String::new();
        loop {
            let line = self.line();
            if let Some(event) = line.strip_prefix("event: ") {
                event.clone_into(&mut name);
            } else if let Some(data) = line.strip_prefix("data: ")
                && let Some(found) = wanted(&name, &serde_json::from_str(data).unwrap())
            {
                return found;
            }
        }
    }
}

/// The state of the first running trial, whichever way it is told.
fn moment(name: &str, data: &Value) -> Option<Value> {
    match name {
        "progress" => data["running"].get(0).cloned(),
        "moment" => Some(data.clone()),
        _ => None,
    }
}

#[test]
fn what_a_trial_does_is_heard_while_it_does_it() {
    let server = Server::start();
    let run = GeneratedRun::begin(&server.run("now"), 2, "test").unwrap();
    let mut feed = Feed::of(&server, "now");
    let planned = feed.until(|name, data| (name == "progress").then(|| data["planned"].clone()));
    assert_eq!(planned, 2);

    let mut record = run.recorder(0, 1);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            record
                .record(Source::Harness, None, EventBody::Phase(Phase::Running))
                .unwrap();
            run.clock.advance(Duration::from_secs(2));
            for n in 0..20 {
                let action = Action::run(format!("<b>{n}</b>"));
                record
                    .record(Source::Agent, None, EventBody::Action(action))
                    .unwrap();
            }
        });
        let seen =
            feed.until(|name, data| moment(name, data).filter(|moment| moment["step"] == 20));
        assert_eq!(seen["brief"], "$ <b>19</b>");
        assert_eq!(seen["phase"], "running");
        assert_eq!(seen["task"], run.manifest.tasks[0].task.to_string());
    });
    // Its page draws it from data that can't become anything else.
    let page = server.get("/runs/now/live").expect(200).text();
    assert!(page.contains(r"$ \u003cb\u003e19"), "{page}");
    assert!(!page.contains("<b>19"), "{page}");
}

#[test]
fn an_order_to_stop_is_written_and_heard() {
    let server = Server::start();
    let run = GeneratedRun::begin(&server.run("now"), 1, "test").unwrap();
    let mut record = run.recorder(0, 1);
    run.clock.advance(Duration::from_secs(2));
    record
        .record(Source::Harness, None, EventBody::Phase(Phase::Running))
        .unwrap();
    let mut feed = Feed::of(&server, "now");
    feed.until(moment);
    let task = run.manifest.tasks[0].task.to_string();
    let order = json!({ "trial": { "task": task, "epoch": 1, "attempt": 1 }, "by": "Ada" });
    server.post("/api/runs/now/stop", &order).expect(200);
    let heard = feed.until(|name, data| (name == "stopping").then(|| data.clone()));
    assert_eq!(heard, json!({ "task": task, "epoch": 1, "attempt": 1 }));
    let written = std::fs::read_to_string(run.folder.control_file()).unwrap();
    assert!(written.contains(r#""by":"Ada""#), "{written}");
}
