//! The description of the API, held against what is answered.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::schema::{check, references};
use crate::served::Server;

/// A trial of each kind of run: files, a desktop, models.
const TRIALS: &[(&str, &str)] = &[
    ("plain", "files/greeting/1/1"),
    ("plain", "files/broken/1/4"),
    ("desktop", "screens/notes/1/1"),
    ("models", "files/greeting/1/1"),
];

/// The address with its parts filled in, for each of the trials.
fn addresses(path: &str, document: &Value) -> Vec<String> {
    let query = match path {
        "/api/compare" | "/api/compare/tasks" => "?run=plain&run=models",
        _ => "",
    };
    assert!(document["paths"][path].is_object(), "{path}");
    let fill = |(run, trial): &(&str, &str)| {
        let filled = path
            .replace("{run}", run)
            .replace("{category}/{task}/{epoch}/{attempt}", trial)
            .replace("{step}", "1")
            .replace("{seq}", "1");
        format!("{filled}{query}")
    };
    let all: BTreeSet<String> = TRIALS.iter().map(fill).collect();
    all.into_iter().collect()
}

/// What there need not be in each of the runs.
fn may_lack(path: &str) -> bool {
    [
        "/request",
        "/response",
        "/steps/{step}",
        "/events/{seq}",
        "/track",
    ]
    .iter()
    .any(|end| path.ends_with(end))
}

#[test]
fn every_answer_is_what_the_description_says() {
    let server = Server::start();
    let document = server.get("/api/openapi.json").expect(200).json();
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() > 10);
    for (path, described) in paths {
        let Some(get) = described.get("get") else {
            continue;
        };
        let content = &get["responses"]["200"]["content"];
        let Some(schema) = content.get("application/json") else {
            // The feed does not end.
            assert!(content.get("text/event-stream").is_some(), "{path}");
            continue;
        };
        let mut answered = 0;
        for address in addresses(path, &document) {
            let answer = server.get(&address);
            if answer.status == 404 && may_lack(path) {
                continue;
            }
            let answer = answer.expect(200).json();
            let faults = check(&document, &schema["schema"], &answer);
            assert!(faults.is_empty(), "{address}: {faults:#?}");
            answered += 1;
        }
        assert!(answered > 0, "{path}");
    }
}

#[test]
fn the_description_is_whole() {
    let server = Server::start();
    let document = server.get("/api/openapi.json").expect(200).json();
    assert_eq!(document["openapi"], "3.1.0");
    // Every reference leads somewhere.
    for reference in references(&document) {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    let mut names = BTreeSet::new();
    for (path, described) in document["paths"].as_object().unwrap() {
        for (method, operation) in described.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name.to_owned()), "{name} is there twice");
            assert!(!operation["summary"].as_str().unwrap().is_empty());
            let parts = path.matches('{').count();
            let parameters = operation["parameters"].as_array().unwrap();
            let in_path = parameters.iter().filter(|one| one["in"] == "path");
            assert_eq!(in_path.count(), parts, "{path}");
            assert_eq!(
                operation["requestBody"].is_object(),
                method == "post",
                "{path}"
            );
        }
    }
}

#[test]
fn a_body_is_read_as_the_description_says() {
    let server = Server::start();
    let document = server.get("/api/openapi.json").expect(200).json();
    let body = &document["paths"]["/api/runs/{run}/reviews"]["post"]["requestBody"];
    let schema = &body["content"]["application/json"]["schema"];
    let trial = json!({ "task": "files/greeting", "epoch": 1, "attempt": 1 });
    let short = json!({ "trial": trial, "verdict": "pass" });
    assert_eq!(check(&document, schema, &short), Vec::<String>::new());
    server.post("/api/runs/plain/reviews", &short).expect(200);
    for wrong in [
        json!({ "verdict": "pass" }),
        json!({ "trial": trial, "verdict": "perhaps" }),
        json!({ "trial": trial, "verdict": "pass", "more": 1 }),
        json!({ "trial": { "task": "a/b" }, "verdict": "pass" }),
    ] {
        assert!(!check(&document, schema, &wrong).is_empty(), "{wrong}");
        server.post("/api/runs/plain/reviews", &wrong).expect(400);
    }
}
