//! Runs in a browser: how the server is started, found and ended.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Bench, Called};

const TASK: &str = "name: Say red\ntask: Say red.\nenvironment: { kind: none }\n\
    checks: [{ type: returned_result, equals: red }]\nsolution: [{ action: finish, result: red }]\n";

/// Nothing takes so long.
const PATIENCE: Duration = Duration::from_secs(60);

fn played() -> Bench {
    let bench = Bench::new();
    bench.suite(&[("a", TASK)]);
    let run = [
        "run", "suite", "--out", "runs/one", "--agent", "oracle", "--json",
    ];
    bench.call(&run).expect(0);
    bench
}

/// `agon view`, which has said where it can be reached.
pub(crate) struct Viewing {
    process: Child,
    /// What it said.
    line: String,
}

impl Viewing {
    pub(crate) fn start(bench: &Bench, args: &[&str]) -> Self {
        let mut all = vec!["view", "--no-open"];
        all.extend(args);
        let mut command = bench.agon(&all);
        command.env("XDG_CACHE_HOME", bench.path("cache"));
        let mut process = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        Self { process, line }
    }

    pub(crate) fn url(&self) -> &str {
        let start = self
            .line
            .find("http://")
            .unwrap_or_else(|| panic!("{:?}", self.line));
        self.line[start..].split(' ').next().unwrap()
    }

    fn port(&self) -> u16 {
        let address = self.url().split('/').nth(2).unwrap();
        address.rsplit(':').next().unwrap().parse().unwrap()
    }

    fn token(&self) -> &str {
        self.url().split_once("?token=").unwrap().1
    }

    fn get(&self, path: &str) -> String {
        self.get_with(path, &format!("Authorization: Bearer {}\r\n", self.token()))
    }

    fn get_with(&self, path: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Ends it as Ctrl-C does.
    pub(crate) fn interrupt(mut self) -> Called {
        kill_process(Pid::from_child(&self.process), Signal::INT).unwrap();
        let status = self.process.wait().unwrap();
        let mut stderr = Vec::new();
        if let Some(mut said) = self.process.stderr.take() {
            said.read_to_end(&mut stderr).unwrap();
        }
        Called(std::process::Output {
            status,
            stdout: Vec::new(),
            stderr,
        })
    }
}

impl Drop for Viewing {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

#[test]
fn a_folder_of_runs_is_served_until_it_is_interrupted() {
    let bench = played();
    for args in [&["--port", "0"][..], &["runs", "--port", "0"]] {
        let viewing = Viewing::start(&bench, args);
        let port = viewing.port();
        let token = viewing.token();
        let said =
            format!("Viewing 1 run at http://127.0.0.1:{port}/?token={token} (Ctrl-C ends)\n");
        assert_eq!(viewing.line, said);
        let cards = viewing.get("/api/runs");
        assert!(cards.contains("\"passed\":1"), "{cards}");
        viewing.interrupt().expect(0);
    }
}

#[test]
fn a_run_that_is_named_alone_is_opened_there() {
    let bench = played();
    for name in ["one", "runs/one"] {
        let viewing = Viewing::start(&bench, &[name, "--port", "0"]);
        let page = format!("/runs/one?token={}", viewing.token());
        assert!(viewing.url().ends_with(&page), "{}", viewing.line);
        assert!(viewing.get("/runs/one").contains(" 200 "));
        viewing.interrupt().expect(0);
    }
}

/// Somebody who listens must not hold up the end.
#[test]
fn an_open_feed_does_not_hold_up_the_end() {
    let bench = played();
    let viewing = Viewing::start(&bench, &["--port", "0"]);
    let mut stream = TcpStream::connect(("127.0.0.1", viewing.port())).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
        .write_all(
            format!(
                "GET /api/runs/one/feed HTTP/1.1\r\nHost: localhost\r\n\
                 Authorization: Bearer {}\r\n\r\n",
                viewing.token()
            )
            .as_bytes(),
        )
        .unwrap();
    let mut line = String::new();
    let mut feed = BufReader::new(stream);
    feed.read_line(&mut line).unwrap();
    assert!(line.contains(" 200 "), "{line}");
    viewing.interrupt().expect(0);
    let mut rest = Vec::new();
    feed.read_to_end(&mut rest).unwrap();
}

#[test]
fn a_port_that_is_taken_is_left_for_the_next_unless_it_was_asked_for() {
    let bench = played();
    // Whoever has it already will do as well.
    let _ours = TcpListener::bind("127.0.0.1:7357");
    let viewing = Viewing::start(&bench, &[]);
    assert!((7358..=7377).contains(&viewing.port()), "{}", viewing.line);
    viewing.interrupt().expect(0);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let called = bench
        .call(&["view", "--no-open", "--port", &port])
        .expect(2);
    assert!(
        called.stderr().contains("choose another --port"),
        "{}",
        called.stderr()
    );
}

#[test]
fn other_machines_are_given_a_token() {
    let bench = played();
    let viewing = Viewing::start(&bench, &["--host", "0.0.0.0", "--port", "0"]);
    let token = viewing.token();
    assert!(viewing.get_with("/api/runs", "").contains(" 401 "));
    let answer = viewing.get_with(&format!("/?token={token}"), "");
    assert!(answer.contains(" 303 "), "{answer}");
    let called = viewing.interrupt().expect(0);
    assert!(
        called.stderr().contains("Other machines"),
        "{}",
        called.stderr()
    );
}

/// An agent with an open network reaches the port as every program of the machine does.
#[test]
fn nobody_on_this_machine_is_answered_without_the_token() {
    let bench = played();
    let viewing = Viewing::start(&bench, &["--port", "0"]);
    let token = viewing.token().to_owned();
    for path in ["/", "/api/runs", "/runs/one", "/api/runs/one/trials"] {
        let answer = viewing.get_with(path, "");
        assert!(answer.contains(" 401 "), "{path}: {answer}");
        assert!(answer.contains("agon view"), "it says what to do: {answer}");
        assert!(!answer.contains(&token) && !answer.contains("agon-token\" content=\"0"));
        assert!(viewing.get(path).contains(" 200 "), "{path}");
    }
    viewing.interrupt().expect(0);
    // Pages that are open go on after another start.
    let again = Viewing::start(&bench, &["--port", "0"]);
    assert_eq!(again.token(), token);
    again.interrupt().expect(0);
}

#[test]
fn what_can_t_be_shown_is_told() {
    let bench = Bench::new();
    let called = bench.call(&["view", "--no-open"]).expect(2);
    assert!(called.stderr().contains("there is no folder runs/ here"));
    let called = bench.call(&["view", "nothing", "--no-open"]).expect(2);
    assert!(
        called
            .stderr()
            .contains("there is no run and no folder `nothing`")
    );
    let called = bench.call(&["view", "latest", "--no-open"]).expect(2);
    let told = called.stderr();
    assert!(told.contains("there is no run under runs/ yet"), "{told}");
    assert!(!told.contains("`latest`"), "{told}");
    bench
        .call(&["view", "--export", "site", "--port", "1"])
        .expect(2);
}

#[test]
fn a_run_that_can_t_be_read_is_told_and_refused_where_it_was_named() {
    let bench = played();
    let broken = bench.path("runs/broken");
    std::fs::create_dir_all(&broken).unwrap();
    std::fs::write(broken.join("run.json"), "{").unwrap();
    let gone = bench.path("runs/gone");
    std::fs::create_dir_all(&gone).unwrap();
    std::fs::write(gone.join("trials.jsonl"), "").unwrap();
    let viewing = Viewing::start(&bench, &["--port", "0", "--host", "localhost"]);
    assert!(
        viewing
            .line
            .starts_with("Viewing 3 runs at http://127.0.0.1:"),
        "{}",
        viewing.line
    );
    assert!(viewing.get("/api/runs").contains("\"state\":\"broken\""));
    let said = viewing.interrupt().expect(0);
    for told in [
        "can't read runs/broken/run.json: EOF",
        "can't read runs/gone/run.json: No such",
    ] {
        assert!(said.stderr().contains(told), "{}", said.stderr());
    }
    for name in ["runs/broken", "broken", "runs/gone"] {
        for args in [
            &["view", name, "--no-open"][..],
            &["view", name, "--export", "site"],
        ] {
            let called = bench.call(args).expect(2);
            assert!(
                called.stderr().contains("can't read runs/"),
                "{}",
                called.stderr()
            );
        }
    }
    assert!(!bench.path("site").exists());
}

#[test]
fn an_export_is_told_of_and_goes_into_no_run() {
    let bench = played();
    let called = bench
        .call(&["view", "one", "--export", "runs/one/site"])
        .expect(2);
    assert!(
        called.stderr().contains("is in the run folder"),
        "{}",
        called.stderr()
    );
    assert!(!bench.path("runs/one/site").exists());
    let called = bench.call(&["view", "one", "--export", "site"]).expect(0);
    assert!(
        called.stderr().contains("one: 0 of 1 attempt\n"),
        "{}",
        called.stderr()
    );
    assert!(bench.path("site/index.html").is_file());
    assert!(!bench.path("site.part").exists());
}

/// As `agon report one two` has them: the first that is named is what the other is compared with.
#[test]
fn an_export_compares_in_the_order_of_the_names() {
    let bench = played();
    let run = [
        "run", "suite", "--out", "runs/two", "--agent", "noop", "--json",
    ];
    bench.call(&run);
    for (site, names) in [("forth", ["one", "two"]), ("back", ["two", "one"])] {
        bench
            .call(&["view", names[0], names[1], "--export", site])
            .expect(0);
        let page = std::fs::read_to_string(bench.path(site).join("compare/index.html")).unwrap();
        let place = |name: &str| page.find(&format!("/runs/{name}/index.html")).unwrap();
        assert!(place(names[0]) < place(names[1]), "{site}");
    }
    // Of a folder of runs the oldest comes first.
    bench.call(&["view", "--export", "all"]).expect(0);
    let page = std::fs::read_to_string(bench.path("all/compare/index.html")).unwrap();
    let place = |name: &str| page.find(&format!("/runs/{name}/index.html")).unwrap();
    assert!(place("one") < place("two"));
}

#[test]
fn indexes_are_kept_for_a_while_where_there_is_no_place_for_them() {
    let bench = played();
    let mut command = bench.agon(&["view", "one", "--export", "site"]);
    command.env_remove("HOME").env_remove("XDG_CACHE_HOME");
    let made = command.output().unwrap();
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    assert!(bench.path("site/index.html").is_file());
}
