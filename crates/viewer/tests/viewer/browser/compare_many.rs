//! Comparisons of many tasks: only what is looked at is in the page, from a server and from a disk.

use std::path::Path;

use agon_viewer::{Library, export};
use serde_json::{Value, json};

use super::compare::{kind, reported};
use super::export::rich;
use super::stand::{Stand, folder, played};

const TASKS: u64 = 3_000;
const TWO: &str = "run=one&run=two";
/// The name in a row, by its place in the list.
const NAMED: &str =
    "document.querySelector('#rows [aria-rowindex=\"AT\"] [data-focus]')?.innerText";

const END: &str = "document.documentElement.scrollHeight";

async fn row_says(stand: &Stand, place: usize, task: &Value) {
    let named = NAMED.replace("AT", &(place + 2).to_string());
    stand.until(&format!("{named} === {task}")).await;
}

async fn scroll(stand: &Stand, to: &str) {
    let script = format!("window.scrollTo(0, {to})");
    stand.browser.js(&script).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_looked_at_is_in_the_page() {
    let root = folder();
    played(root.path(), "one", TASKS, 1);
    played(root.path(), "two", TASKS, 2);
    let stand = Stand::open(root).await;
    let report = reported(stand.folder());
    let tasks = report["tasks"].as_array().unwrap();
    stand.go(&format!("/compare?{TWO}")).await;

    let sent = "JSON.parse(document.querySelector('#data').textContent).page.rows.length";
    assert_eq!(stand.until(sent).await, json!(100));
    let size = "document.querySelector('#data').textContent.length";
    let size = stand.until(size).await.as_u64().unwrap();
    assert!(size < 80_000, "{size} characters for 100 of 3,000 tasks");
    let drawn = "document.querySelectorAll('#rows [role=row]').length";
    assert!(stand.until(drawn).await.as_u64().unwrap() < 60);
    assert_eq!(stand.text("#shown").await, "3,000 tasks");

    row_says(&stand, 0, &tasks[0]["task"]).await;
    scroll(&stand, END).await;
    row_says(&stand, tasks.len() - 1, &tasks.last().unwrap()["task"]).await;

    let lost: Vec<&Value> = tasks.iter().filter(|task| kind(task) == "lost").collect();
    assert!(lost.len() > 200, "{}", lost.len());
    scroll(&stand, "0").await;
    stand.browser.click("#show [data-kind=lost]").await.unwrap();
    let shown = format!("{} tasks", lost.len());
    stand
        .until(&format!(
            "document.querySelector('#shown').innerText === '{shown}'"
        ))
        .await;
    row_says(&stand, 0, &lost[0]["task"]).await;
    scroll(&stand, END).await;
    row_says(&stand, lost.len() - 1, &lost.last().unwrap()["task"]).await;

    let wanted = &lost[lost.len() / 2]["task"];
    let words = wanted.as_str().unwrap().to_uppercase();
    stand.browser.press('/').await.unwrap();
    stand.browser.fill("#search", &words).await.unwrap();
    stand
        .until("document.querySelector('#shown').innerText === '1 task'")
        .await;
    row_says(&stand, 0, wanted).await;
    let counts = stand.until("Object.fromEntries([...document.querySelectorAll('#show button')].map((one) => [one.dataset.kind, one.querySelector('.soft').innerText]))").await;
    let one =
        json!({"all": "1", "gained": "0", "lost": "1", "both": "0", "neither": "0", "open": "0"});
    assert_eq!(counts, one);
    stand.close().await;
}

const QUERIES: [&str; 16] = [
    "",
    "desc=true",
    "show=gained",
    "show=lost&desc=true",
    "show=open",
    "show=both&sort=level",
    "against=three&show=open&sort=C",
    "against=three&sort=level&desc=true",
    "sort=task",
    "sort=task&desc=true&show=open",
    "sort=A",
    "sort=B&desc=true",
    "sort=C&show=open",
    "q=TASK_0001",
    "q=%C3%9CBEL%20files",
    "q=gold&sort=B",
];

/// A site of three runs, of which one has other tasks.
fn site(root: &Path) -> std::path::PathBuf {
    played(root, "one", 104, 1);
    played(root, "two", 104, 3);
    drop(rich(&root.join("three")));
    let cache = root.join(".cache");
    let library = Library::new(vec![root.to_owned()], cache.clone()).unwrap();
    let runs = ["one", "two", "three"].map(|name| library.run(name).unwrap());
    let into = root.join(".site");
    export(&runs, &cache, &into, |_| {}).unwrap();
    into
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_from_a_disk_is_that_of_the_viewer() {
    let folder = folder();
    let site = site(folder.path());
    let stand = Stand::open(folder).await;
    let runs = "run=one&run=two&run=three";
    stand.go(&format!("/compare?{runs}")).await;
    let asked: Vec<String> = QUERIES
        .iter()
        .map(|query| format!("/api/compare/tasks?limit=500&{runs}&{query}"))
        .collect();
    let script = format!(
        "const done = arguments[0]; \
         Promise.all({}.map(one => fetch(one).then(answer => answer.json()))) \
            .then(done, error => done(String(error)));",
        json!(asked)
    );
    let expected = stand.browser.js_async(&script).await.unwrap();
    let expected = expected.as_array().unwrap();
    // High enough for every row.
    stand.browser.resize(1440, 6500).await.unwrap();
    let mut lists = std::collections::HashSet::new();
    for (query, expected) in QUERIES.iter().zip(expected) {
        let page = format!("file://{}/compare/index.html?{query}", site.display());
        stand.browser.open(&page).await.unwrap();
        stand.ready().await;
        let names: Vec<String> = expected["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["task"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(expected["total"], json!(names.len()), "{query}");
        stand.shows(&names).await;
        for (kind, tasks) in expected["kinds"].as_object().unwrap() {
            let count = stand.text(&format!("#show [data-kind={kind}] .soft")).await;
            assert_eq!(json!(count), json!(tasks.to_string()), "{query} {kind}");
        }
        lists.insert(names);
    }
    assert!(lists.len() > 12, "only {} different lists", lists.len());
    stand.close().await;
}
