//! Addresses, what browsers may keep, and what is written.

use std::io::{BufRead, BufReader, Write};

use agon_store::RunFolder;
use serde_json::{Value, json};

use crate::served::Server;

const NOTES: &str = "/api/runs/desktop/trial/screens/notes/1/1";

/// A blob of the desktop run that is a picture.
fn shot(server: &Server) -> String {
    let steps = server.get(&format!("{NOTES}/steps")).expect(200).json();
    let rows = steps["rows"].as_array().unwrap();
    let shot = rows.iter().find_map(|row| row["shot"].as_str());
    shot.unwrap().to_owned()
}

#[test]
fn every_page_is_there() {
    let server = Server::start();
    for path in [
        "/",
        "/runs/plain",
        "/runs/plain?outcome=failed&sort=score&desc=true",
        "/runs/plain/overview",
        "/runs/plain/live",
        "/runs/desktop/trial/screens/notes/1/1?step=2",
        "/compare?run=plain&run=models",
        "/compare/files/greeting?run=plain&run=models",
    ] {
        let answer = server.get(path).expect(200);
        let kind = answer.header("content-type").unwrap();
        assert_eq!(kind, "text/html; charset=utf-8", "{path}");
    }
}

#[test]
fn what_is_not_there_is_told_in_the_form_that_was_asked_for() {
    let server = Server::start();
    for path in [
        "/runs/nothing",
        "/nothing",
        "/runs/plain/trial/files/nothing/1/1",
    ] {
        let answer = server.get(path).expect(404);
        assert!(
            answer
                .header("content-type")
                .unwrap()
                .starts_with("text/html")
        );
        // Nothing on it can be changed, so it gets no token.
        let token = server.token();
        assert!(!answer.text().contains(&token), "{path}");
    }
    for path in [
        "/api/nothing",
        "/api/runs/nothing",
        "/api/runs/plain/trial/files/nothing/1/1",
        "/api/runs/plain/trial/files/greeting/1/9",
        &format!("/runs/plain/blobs/{}", "0".repeat(64)),
        "/assets/000000000000/dom.js",
    ] {
        let answer = server.get(path).expect(404);
        assert!(
            !answer.json()["error"].as_str().unwrap().is_empty(),
            "{path}"
        );
    }
    for path in [
        "/api/runs/plain/trials?outcome=perfect",
        "/api/runs/plain/trials?limit=many",
        "/api/runs/plain/trials?offset=-1",
        "/api/runs/plain/trials?limit=501",
        "/api/runs/plain/trials?outcom=failed",
        "/api/runs/plain?outcome=failed",
        "/runs/plain?outcom=failed",
        "/runs/plain/review?sort=task&aftr=a/b/1/1",
        "/api/runs/desktop/trial/screens/notes/1/1/steps?count=501",
        "/api/runs/desktop/trial/screens/notes/1/1/steps?form=1",
        "/api/runs/plain/trial/files/greeting/x/1",
        "/api/compare?run=plain",
        "/api/compare?run=plain&run=plain",
        "/runs/plain/blobs/abc",
    ] {
        server.get(path).expect(400);
    }
    for method in ["DELETE", "PUT", "OPTIONS", "PATCH"] {
        server.ask(method, "/api/runs", &[], b"").expect(405);
    }
    // A list that is narrowed to nothing is one.
    let none = server.get("/api/runs/plain/trials?category=nope&check=nope");
    assert_eq!(none.expect(200).json()["total"], 0);
}

#[test]
fn shortened_addresses_lead_to_pages_of_this_server() {
    let server = Server::start();
    for (path, leads) in [
        ("/runs", "/"),
        ("/runs?q=a%26b", "/?q=a%26b"),
        ("/runs/", "/runs"),
        ("/runs/plain/", "/runs/plain"),
        ("/runs/plain//?outcome=failed", "/runs/plain?outcome=failed"),
        ("/api/runs/", "/api/runs"),
        ("//evil.example/", "/evil.example"),
        ("/\\evil.example/", "/%5Cevil.example"),
    ] {
        let answer = server.get(path).expect(303);
        assert_eq!(answer.header("location"), Some(leads), "{path}");
    }
    server.get("/runs/nothing").expect(404);
}

#[test]
fn who_sends_something_wrong_is_told_what() {
    let server = Server::start();
    let token = server.token();
    let path = "/api/runs/plain/reviews";
    let json = ("Content-Type", "application/json");
    let told = |headers: &[(&str, &str)], body: &str, status: u16| {
        let answer = server.ask("POST", path, headers, body.as_bytes());
        answer.expect(status).json()["error"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let missing = told(&[json], "{}", 403);
    assert!(missing.contains("send X-Agon-Token"), "{missing}");
    let old = told(&[json, ("X-Agon-Token", "old")], "{}", 403);
    assert!(old.contains("started again"), "{old}");
    let ours = [json, ("X-Agon-Token", token.as_str())];
    let large = told(&ours, &"x".repeat(65 << 10), 413);
    assert_eq!(large, "a body has at most 65536 bytes");
    assert_eq!(told(&ours, "nonsense", 400), "the body is no JSON");
    for body in ["[]", "3", "null", r#"{"trial": 3, "verdict": "pass"}"#] {
        let wrong = told(&ours, body, 400);
        assert!(wrong.contains("object"), "{wrong}");
        assert!(!wrong.contains("struct"), "{wrong}");
    }
    let review = |comment: &str, reviewer: &str| {
        let key = json!({ "task": "files/greeting", "epoch": 1, "attempt": 1 });
        json!({ "trial": key, "verdict": "pass", "comment": comment, "reviewer": reviewer })
    };
    let long = told(&ours, &review(&"x".repeat(10_001), "").to_string(), 400);
    assert!(long.contains("10000 characters at most"), "{long}");
    assert!(!server.run("plain").join("reviews.jsonl").exists());
    let card = server
        .post(path, &review("", "a\nb\0\u{202e}<i>"))
        .expect(200)
        .json();
    assert_eq!(card["standing"]["reviewer"], "a b<i>");
}

#[test]
fn what_has_not_changed_is_not_sent_again() {
    let server = Server::start();
    for path in [
        "/",
        "/runs/plain",
        "/api/runs/plain/trials",
        "/api/runs/plain",
        NOTES,
    ] {
        let first = server.get(path).expect(200);
        let tag = first.header("etag").unwrap().to_owned();
        assert_eq!(first.header("cache-control"), Some("private, no-cache"));
        let again = server
            .get_with(path, &[("If-None-Match", &tag)])
            .expect(304);
        assert!(again.body.is_empty());
        assert_eq!(again.header("etag"), Some(tag.as_str()));
        server
            .get_with(path, &[("If-None-Match", "\"other\"")])
            .expect(200);
    }
    let review = json!({
        "trial": { "task": "files/greeting", "epoch": 1, "attempt": 1 }, "verdict": "fail",
    });
    let tag = server.get("/api/runs/plain/trials");
    let tag = tag.header("etag").unwrap();
    server.post("/api/runs/plain/reviews", &review).expect(200);
    let path = "/api/runs/plain/trials";
    server.get_with(path, &[("If-None-Match", tag)]).expect(200);
}

#[test]
fn pictures_are_sent_as_stored_and_kept_for_ever() {
    let server = Server::start();
    let digest = shot(&server);
    let path = server.run("desktop").join("blobs");
    let stored = std::fs::read(path.join(&digest[..2]).join(&digest[2..])).unwrap();
    let blob = server
        .get(&format!("/runs/desktop/blobs/{digest}"))
        .expect(200);
    assert_eq!(blob.body, stored);
    let small = server
        .get(&format!("/runs/desktop/thumbs/{digest}"))
        .expect(200);
    for answer in [&blob, &small] {
        assert!(answer.header("content-type").unwrap().starts_with("image/"));
        let keep = answer.header("cache-control").unwrap();
        assert_eq!(keep, "private, max-age=31536000, immutable");
    }
}

#[test]
fn assets_are_found_where_pages_say() {
    let server = Server::start();
    let page = server.get("/").text();
    let start = page.find("/assets/").unwrap();
    let path = &page[start..start + page[start..].find('"').unwrap()];
    let answer = server.get(path).expect(200);
    assert!(
        answer
            .header("cache-control")
            .unwrap()
            .contains("immutable")
    );
    let base = path.rsplit_once('/').unwrap().0;
    let script = server.get(&format!("{base}/source.js")).expect(200);
    assert_eq!(
        script.header("content-type"),
        Some("text/javascript; charset=utf-8")
    );
}

#[test]
fn trials_come_in_pages() {
    let server = Server::start();
    let all = server
        .get("/api/runs/plain/trials?attempts=true&limit=500")
        .expect(200)
        .json();
    let total = all["total"].as_u64().unwrap();
    let one = server
        .get("/api/runs/plain/trials?attempts=true&offset=2&limit=1")
        .expect(200)
        .json();
    assert_eq!(one["total"].as_u64(), Some(total));
    assert_eq!(one["rows"].as_array().unwrap().len(), 1);
    assert_eq!(one["rows"][0], all["rows"][2]);
}

#[test]
fn a_review_is_appended_and_shown() {
    let server = Server::start();
    let key = json!({ "task": "files/greeting", "epoch": 1, "attempt": 1 });
    let review =
        json!({ "trial": key, "verdict": "fail", "comment": "no\u{7}", "reviewer": "anna" });
    let card = server
        .post("/api/runs/plain/reviews", &review)
        .expect(200)
        .json();
    assert_eq!(card["standing"]["verdict"], "fail");
    assert_eq!(card["standing"]["comment"], "no");
    let head = server
        .get("/api/runs/plain/trial/files/greeting/1/1")
        .expect(200)
        .json();
    assert_eq!(head["state"], "failed");
    assert_eq!(head["review"]["history"].as_array().unwrap().len(), 1);
    let clear = json!({ "trial": key, "verdict": "clear" });
    let card = server
        .post("/api/runs/plain/reviews", &clear)
        .expect(200)
        .json();
    assert_eq!(card["standing"], Value::Null);
    let lines = std::fs::read_to_string(server.run("plain").join("reviews.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 2);
}

#[test]
fn only_what_counts_can_be_reviewed_and_only_what_runs_be_stopped() {
    let server = Server::start();
    let order = |task: &str, attempt: u32| json!({ "trial": { "task": task, "epoch": 1, "attempt": attempt }, "verdict": "pass" });
    let reviews = "/api/runs/plain/reviews";
    server.post(reviews, &order("files/broken", 1)).expect(400);
    server.post(reviews, &order("files/nothing", 1)).expect(404);
    server.post(reviews, &order("../../etc", 1)).expect(400);
    server.post(reviews, &json!({ "trial": 3 })).expect(400);
    server.post(reviews, &json!([])).expect(400);
    let stop = json!({ "trial": { "task": "files/greeting", "epoch": 1, "attempt": 1 } });
    server.post("/api/runs/plain/stop", &stop).expect(400);
    assert!(!server.run("plain").join("reviews.jsonl").exists());
    assert!(!server.run("plain").join("control.jsonl").exists());
}

#[test]
fn a_trial_that_is_being_played_is_asked_to_stop() {
    let server = Server::start();
    let run = server.run("plain");
    let attempt = json!({
        "task": "files/greeting", "epoch": 1, "attempt": 7, "began": "2026-11-16T12:00:00Z",
    });
    std::fs::write(run.join("running.jsonl"), format!("{attempt}\n")).unwrap();
    let order = |attempt: u32| json!({ "trial": { "task": "files/greeting", "epoch": 1, "attempt": attempt }, "by": "anna" });
    let path = "/api/runs/plain/stop";
    // What a process left that is gone.
    server.post(path, &order(7)).expect(400);
    let _played = RunFolder::at(&run).lock().unwrap();
    server.post(path, &order(8)).expect(400);
    assert!(!run.join("control.jsonl").exists());
    server.post(path, &order(7)).expect(200);
    let lines = std::fs::read_to_string(run.join("control.jsonl")).unwrap();
    let line: Value = serde_json::from_str(&lines).unwrap();
    assert_eq!(line["order"], "stop");
    assert_eq!(line["task"], "files/greeting");
    assert_eq!((&line["attempt"], &line["by"]), (&json!(7), &json!("anna")));
    assert_eq!(line.get("began"), None);
}

/// A run that was killed and goes on plays an attempt of the same number: whoever looks at a page of the first
/// one does not mean the second.
#[test]
fn who_means_an_earlier_play_of_an_attempt_stops_nothing() {
    let server = Server::start();
    let run = server.run("plain");
    let list = |began: &[&str]| {
        let line = |began: &&str| {
            json!({ "task": "files/greeting", "epoch": 1, "attempt": 7, "began": began })
                .to_string()
                + "\n"
        };
        let text: String = began.iter().map(line).collect();
        std::fs::write(run.join("running.jsonl"), text).unwrap();
    };
    let order = |began: Value| json!({ "trial": { "task": "files/greeting", "epoch": 1, "attempt": 7 }, "began": began });
    let (before, now) = ("2026-11-16T12:00:00.123456789Z", "2026-11-16T12:05:00.5Z");
    let path = "/api/runs/plain/stop";
    let _played = RunFolder::at(&run).lock().unwrap();
    list(&[before]);
    server.post(path, &order(json!(before))).expect(200);
    list(&[now]);
    let refused = server.post(path, &order(json!(before))).expect(400).json();
    let why = refused["error"].as_str().unwrap();
    assert!(
        why.contains("began anew at 2026-11-16T12:05:00.5Z"),
        "{why}"
    );
    server.post(path, &order(json!("yesterday"))).expect(400);
    server.post(path, &order(json!(now))).expect(200);
    server.post(path, &order(Value::Null)).expect(200);
    let lines = std::fs::read_to_string(run.join("control.jsonl")).unwrap();
    let told: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["began"].take())
        .collect();
    assert_eq!(told, [json!(before), json!(now), Value::Null]);
    let head = server.get("/api/runs/plain/trial/files/greeting/1/7");
    assert_eq!(head.expect(200).json()["began"], now);
}

/// Two people at once lose nothing.
#[test]
fn reviews_at_the_same_time_are_all_kept() {
    let server = Server::start();
    let token = server.token();
    std::thread::scope(|scope| {
        for person in 0..8 {
            let (server, token) = (&server, &token);
            scope.spawn(move || {
                for n in 0..10 {
                    let body = json!({
                        "trial": { "task": "files/greeting", "epoch": 1, "attempt": 1 },
                        "verdict": "pass", "comment": format!("{n}"), "reviewer": format!("{person}"),
                    });
                    let headers = [("Content-Type", "application/json"), ("X-Agon-Token", token)];
                    let path = "/api/runs/plain/reviews";
                    server.ask("POST", path, &headers, body.to_string().as_bytes()).expect(200);
                }
            });
        }
    });
    let head = server
        .get("/api/runs/plain/trial/files/greeting/1/1")
        .expect(200)
        .json();
    assert_eq!(head["review"]["history"].as_array().unwrap().len(), 80);
}

#[test]
fn the_next_unreviewed_trial_is_found_from_anywhere() {
    let server = Server::start();
    let next = |query: &str| {
        let answer = server
            .get(&format!("/runs/plain/review{query}"))
            .expect(303);
        answer.header("location").unwrap().to_owned()
    };
    let first = next("?sort=task");
    assert_eq!(first, "/runs/plain/trial/files/broken/1/4?sort=task");
    let second = next("?sort=task&after=files/broken/1/4");
    assert_eq!(second, "/runs/plain/trial/files/greeting/1/1?sort=task");
    let third = next("?sort=task&after=files/greeting/1/1&step=2");
    assert_eq!(third, "/runs/plain/trial/talk/done/1/1?sort=task");
    assert_eq!(next("?sort=task&after=talk/done/1/1"), first);
    // Earlier attempts can't be reviewed: a list of them leads to trials all the same.
    let listed = next("?sort=task&attempts=true&after=files/broken/1/2");
    assert!(!listed.contains("/files/broken/1/1"), "{listed}");
    let api = |query: &str| server.get(&format!("/api/runs/plain/unreviewed{query}"));
    let found = api("?sort=task&after=files/broken/1/4").expect(200).json();
    assert_eq!(found["task"], "files/greeting");
    api("?after=nonsense").expect(400);
    let review = |task: &str, attempt: u32| {
        let key = json!({ "task": task, "epoch": 1, "attempt": attempt });
        let review = json!({ "trial": key, "verdict": "pass" });
        server.post("/api/runs/plain/reviews", &review).expect(200);
    };
    // The first one was passed over. The second leaves the list by being reviewed; it goes on after it.
    review("files/greeting", 1);
    let third = next("?sort=task&flag=unreviewed&after=files/greeting/1/1");
    let rest = "?sort=task&flag=unreviewed";
    assert_eq!(third, format!("/runs/plain/trial/talk/done/1/1{rest}"));
    review("files/broken", 4);
    review("talk/done", 1);
    assert_eq!(next("?sort=task"), "/runs/plain?sort=task");
    assert_eq!(next("?attempts=true"), "/runs/plain?attempts=true");
    assert_eq!(api("").expect(200).json(), Value::Null);
}

#[test]
fn the_state_of_a_run_can_be_asked_for() {
    let server = Server::start();
    let path = "/api/runs/plain/live";
    let state = server.get(path).expect(200).json();
    assert_eq!(
        (&state["live"], &state["planned"]),
        (&json!(false), &json!(3))
    );
    assert_eq!(state["running"], json!([]));
    let run = server.run("plain");
    let attempt = json!({
        "task": "files/greeting", "epoch": 1, "attempt": 7, "began": "2026-11-16T12:00:00Z",
    });
    std::fs::write(run.join("running.jsonl"), format!("{attempt}\n")).unwrap();
    let _played = RunFolder::at(&run).lock().unwrap();
    let state = server.get(path).expect(200).json();
    assert_eq!(state["live"], true);
    assert_eq!(state["running"][0]["attempt"], 7);
    server.get("/api/runs/nothing/live").expect(404);
}

#[test]
fn a_feed_begins_with_the_state_and_ends_with_the_server() {
    let server = Server::start();
    let mut stream = server.connect();
    let request = format!(
        "GET /api/runs/plain/feed HTTP/1.1\r\nHost: {}\r\n{}\r\n",
        server.host(),
        server.bearer()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert!(lines.next().unwrap().contains(" 200 "));
    let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    assert!(
        head.iter()
            .any(|line| line.to_lowercase() == "content-type: text/event-stream")
    );
    let mut body = lines.skip_while(|line| !line.starts_with("event: "));
    assert_eq!(body.next().unwrap(), "event: progress");
    let data = body
        .find_map(|line| Some(line.strip_prefix("data: ")?.to_owned()))
        .unwrap();
    let progress: Value = serde_json::from_str(&data).unwrap();
    assert_eq!(progress["live"], false);
    assert_eq!(progress["planned"], 3);
    drop(server);
    assert!(body.all(|line| !line.starts_with("event: ")));
}

#[test]
fn only_so_many_listen() {
    let server = Server::start();
    let request = format!(
        "GET /api/runs/plain/feed HTTP/1.1\r\nHost: {}\r\n{}\r\n",
        server.host(),
        server.bearer()
    );
    let listen = || {
        let mut stream = server.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        (line, reader)
    };
    let open: Vec<_> = (0..64).map(|_| listen()).collect();
    assert!(open.iter().all(|(line, _)| line.contains(" 200 ")));
    assert!(listen().0.contains(" 503 "));
    // Pages are answered meanwhile.
    server.get("/").expect(200);
}
