//! Runs against each other: the same figures as in a report, and pages that stay whole whatever tasks are
//! called.

use agon_report::{Format, RunReport, render};
use agon_store::RunReader;
use serde_json::{Value, json};

use crate::served::Server;

const TWO: &str = "run=plain&run=models";

fn compared(server: &Server) -> Value {
    server
        .get(&format!("/api/compare?{TWO}"))
        .expect(200)
        .json()
}

/// What is embedded in a page.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

/// `agon report plain models --format json`, with the names that the viewer gives.
fn reported(server: &Server) -> Value {
    let readers = ["plain", "models"].map(|name| RunReader::open(&server.run(name)).unwrap());
    let reports: Vec<RunReport<'_>> = readers
        .iter()
        .map(|reader| RunReport::new(reader.manifest(), reader).unwrap())
        .collect();
    let text = render(Format::Json, &reports).unwrap();
    let mut found = serde_json::from_str::<Value>(&text).unwrap()["comparison"].take();
    for (at, name) in ["plain", "models"].into_iter().enumerate() {
        found["runs"][at]["id"] = json!(name);
    }
    found["pairs"][0]["run"] = json!("models");
    found
}

#[test]
fn the_viewer_says_what_a_report_says() {
    let server = Server::start();
    let found = compared(&server);
    assert_eq!(found["common"], 1);
    let pair = &found["pairs"][0];
    assert_eq!((&pair["tasks"], &pair["both"]), (&json!(1), &json!(1)));
    assert_eq!(found.clone(), reported(&server));
    let page = server.get(&format!("/compare?{TWO}")).expect(200).text();
    let embedded = data(&page);
    assert_eq!(embedded["runs"], found["runs"]);
    assert_eq!(embedded["page"]["rows"], found["tasks"]);
    assert!(page.contains("B solves the same tasks as A"), "{page}");
}

#[test]
fn its_tasks_are_given_part_by_part() {
    let server = Server::start();
    let all = compared(&server);
    let ask = |query: &str| server.get(&format!("/api/compare/tasks?{TWO}{query}"));
    let whole = ask("").expect(200).json();
    assert_eq!(whole["rows"], all["tasks"]);
    let kinds = json!({"all": 3, "gained": 0, "lost": 0, "both": 1, "neither": 0, "open": 2});
    assert_eq!((&whole["total"], &whole["kinds"]), (&json!(3), &kinds));
    let part = ask("&offset=1&limit=1").expect(200).json();
    assert_eq!((&part["total"], &part["offset"]), (&json!(3), &json!(1)));
    assert_eq!(part["rows"], json!([all["tasks"][1]]));
    let both = ask("&show=both&against=models&q=GREETING&sort=B&desc=true");
    let both = both.expect(200).json();
    assert_eq!(both["rows"][0]["task"], "files/greeting");
    assert_eq!(
        (&both["total"], &both["kinds"]["all"]),
        (&json!(1), &json!(1))
    );
    for wrong in [
        "&show=won",
        "&against=plain",
        "&sort=C",
        "&desc=maybe",
        "&limit=501",
        "&shown=both",
    ] {
        ask(wrong).expect(400);
    }
    // The page is of what its address says.
    let page = server.get(&format!("/compare?{TWO}&show=both")).expect(200);
    let embedded = data(&page.text());
    assert_eq!(embedded["page"]["rows"], both["rows"]);
    assert_eq!(embedded["query"]["show"], "both");
    server.get(&format!("/compare?{TWO}&show=won")).expect(400);
}

#[test]
fn a_task_that_is_not_planned_is_not_failed() {
    let server = Server::start();
    let found = compared(&server);
    let tasks = found["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 3);
    let broken = tasks
        .iter()
        .find(|task| task["task"] == "files/broken")
        .unwrap();
    assert_eq!(broken["cells"][0]["faulted"], 1);
    assert_eq!(broken["cells"][1], Value::Null);
}

#[test]
fn a_person_is_believed_before_the_checks() {
    let server = Server::start();
    let order = json!({
        "trial": {"task": "files/greeting", "epoch": 1, "attempt": 1},
        "verdict": "fail",
        "comment": "it only looks so",
    });
    server.post("/api/runs/models/reviews", &order);
    let found = compared(&server);
    assert_eq!(found["pairs"][0]["lost"], 1, "{found}");
    assert_eq!(found, reported(&server));
}

#[test]
fn one_task_side_by_side() {
    let server = Server::start();
    let page = server
        .get(&format!("/compare/files/greeting?{TWO}"))
        .expect(200)
        .text();
    let sides = data(&page);
    let sides = sides["sides"].as_array().unwrap();
    for (side, run) in sides.iter().zip(["plain", "models"]) {
        assert_eq!(side["run"], run);
        assert_eq!(side["head"]["run"], run);
        assert_eq!(side["attempts"][0]["outcome"], "passed");
        let rows = side["steps"]["rows"].as_array().unwrap().len();
        assert_eq!(side["steps"]["total"], json!(rows));
    }
    // The attempt that counts, not a later draw.
    let page = server
        .get(&format!("/compare/talk/done?{TWO}"))
        .expect(200)
        .text();
    let sides = data(&page);
    assert_eq!(sides["sides"][0]["attempts"][0]["attempt"], 1);
    assert_eq!(sides["sides"][1]["planned"], false);
    let none = server.get(&format!("/compare/talk/nothing?{TWO}"));
    assert_eq!(none.status, 404);
}

#[test]
fn only_two_to_eight_runs_that_exist_are_compared() {
    let server = Server::start();
    for (query, status) in [
        ("", 400),
        ("run=plain", 400),
        ("run=plain&run=plain", 400),
        ("run=plain&run=nothing", 404),
    ] {
        for address in ["/api/compare", "/compare", "/compare/files/greeting"] {
            let answer = server.get(&format!("{address}?{query}"));
            assert_eq!(answer.status, status, "{address}?{query}");
        }
    }
}

/// Names come from tasks and agents.
#[test]
fn names_stay_text() {
    let server = Server::start();
    let hostile = "</script><img src=x onerror=alert(1)>\u{202e}";
    let file = server.run("plain").join("run.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    manifest["tasks"][0]["name"] = json!(hostile);
    manifest["agent"]["spec"] = json!(hostile);
    manifest["suites"][0]["name"] = json!(hostile);
    std::fs::write(&file, manifest.to_string()).unwrap();
    for address in ["/compare", "/compare/files/greeting"] {
        let page = server.get(&format!("{address}?{TWO}")).expect(200).text();
        assert!(!page.contains("<img"), "{page}");
        let (_, body) = page.split_once("</title>").unwrap();
        let shown = body.split_once("id=\"data\"").unwrap().1;
        let after = shown.split_once("</script>").unwrap().1;
        assert!(!after.contains('\u{202e}'), "{page}");
    }
}
