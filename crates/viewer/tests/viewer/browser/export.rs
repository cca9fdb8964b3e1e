//! Runs that were exported: their pages opened from a disk and from a plain web server, and the same lists as
//! the viewer's own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use agon_core::Level;
use agon_store::ReviewVerdict;
use agon_viewer::{Library, Run, export};
use serde_json::{Value, json};

use super::stand::{Stand, folder, played};
use crate::fixture::{self, Writing};

/// All that filters and sorts tell apart.
const QUERIES: [&str; 40] = [
    "",
    "attempts=true",
    "outcome=failed",
    "outcome=passed,faulted",
    "outcome=missing",
    "outcome=running",
    "fault=start",
    "fault=environment,check",
    "attempts=true&fault=start",
    "level=gold",
    "level=none",
    "level=paper,none&desc=true",
    "category=files",
    "category=files,web",
    "category=nothing",
    "check=file%20greeting.txt",
    "check=one%5C,%20two",
    "check=answer&attempts=true",
    "flag=reviewed",
    "flag=unreviewed",
    "flag=unreviewed&attempts=true",
    "flag=disagreed",
    "flag=integrity,tainted",
    "flag=retried",
    "flag=rerun,elsewhere",
    "flag=operator",
    "q=task",
    "q=GREETING%20files",
    "q=:",
    "q=disk%20gone&sort=task",
    "q=%C3%9Cbel&desc=true",
    "desc=true",
    "sort=task",
    "sort=task&desc=true&attempts=true",
    "sort=level&desc=true",
    "sort=outcome",
    "sort=score&desc=true",
    "sort=measured",
    "sort=steps&desc=true&attempts=true",
    "sort=seconds&outcome=failed,passed&q=task&level=none,wood,paper",
];
/// As above, without a word of its own for each.
const FURTHER: [&str; 4] = [
    "sort=seconds&desc=true",
    "sort=tokens",
    "sort=cost&desc=true",
    "sort=cost&flag=unreviewed&category=files,code,mail",
];

/// Every kind of result, two epochs, and what people say of them.
pub(super) fn rich(path: &Path) -> Writing {
    let ids = [
        "files/copy",
        "files/rename",
        "files/Übel",
        "web/search",
        "web/index.html",
        "mail/ask",
        "code/__proto__",
        "code/constructor",
    ];
    let levels = [
        Some(Level::Gold),
        None,
        Some(Level::Paper),
        Some(Level::Wood),
    ];
    let tasks = ids.iter().enumerate();
    let tasks = tasks
        .map(|(n, id)| fixture::stamp(id, levels[n % 4]))
        .collect();
    let run = Writing::begin(path, &fixture::manifest(3, tasks));
    let mut reviewed = Vec::new();
    for n in 0..ids.len() as u32 * 3 - 3 {
        let id = ids[n as usize % ids.len()];
        let (luck, epoch) = (n * 7 % 11, 1 + n / ids.len() as u32);
        let mut line = fixture::nth_line(n);
        line.task = fixture::task_id(id);
        line.epoch = epoch;
        line.steps = luck % 4;
        line.measured = (luck % 3 == 0).then(|| f64::from(luck) / 2.0);
        line.elsewhere = luck == 5;
        line.integrity = (luck == 6).then(|| "a forged verdict".to_owned());
        if luck == 7 {
            line.failed_checks = vec!["one, two".to_owned(), "answer".to_owned()];
            line.end = Some(agon_core::verdict::TurnEnd::Operator);
        }
        if luck % 4 == 0 {
            let mut first = fixture::faulted(id, epoch, 1, agon_core::FaultClass::Start);
            first.is_final = false;
            run.end(first);
            line.attempt = 2;
            line.retried = true;
            line.rerun = luck == 8;
        }
        run.end(line.clone());
        if luck % 5 == 1 {
            reviewed.push(line);
        }
    }
    for (n, line) in reviewed.iter().enumerate() {
        let said = [
            ReviewVerdict::Pass,
            ReviewVerdict::Fail,
            ReviewVerdict::Clear,
        ][n % 3];
        run.review(line, said, "anna");
    }
    run
}

/// `rich`, `many` and `screens`, as a viewer has them.
fn runs(root: &Path) -> Vec<Arc<Run>> {
    drop(rich(&root.join("rich")));
    played(root, "many", 30, 1);
    agon_testkit::long_trial(&root.join("screens"), 120, (640, 400)).unwrap();
    let library = Library::new(vec![root.to_owned()], root.join(".cache")).unwrap();
    library.runs().unwrap()
}

/// A site beside the runs.
fn site(root: &Path) -> PathBuf {
    let into = root.join(".site");
    let exported = export(&runs(root), &root.join(".cache"), &into, |_| {}).unwrap();
    assert!(exported.files > 100 && exported.bytes > 100_000);
    into
}

fn address(site: &Path, place: &str) -> String {
    format!("file://{}/{place}", site.display())
}

async fn show(stand: &Stand, address: &str) {
    stand.browser.open(address).await.unwrap();
    stand.ready().await;
}

/// Whatever a page has loaded, it has loaded from there.
async fn nothing_from_elsewhere(stand: &Stand, from: &str) {
    let from = json!(from);
    let script = format!(
        "return performance.getEntriesByType('resource').map(one => one.name) \
         .filter(name => !name.startsWith({from}) && !name.startsWith('data:'))"
    );
    let found = stand.browser.js(&script).await.unwrap();
    assert_eq!(found, json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_opens_from_a_disk() {
    let folder = folder();
    let site = site(folder.path());
    let root = address(&site, "");
    let stand = Stand::open(folder).await;
    let browser = &stand.browser;

    show(&stand, &address(&site, "index.html")).await;
    stand
        .until("document.querySelectorAll('#rows .row').length === 3")
        .await;
    nothing_from_elsewhere(&stand, &root).await;
    assert_eq!(stand.text("#compare").await, "Compare all");
    browser.click("#compare").await.unwrap();
    stand
        .until("document.body.dataset.page === 'compare'")
        .await;
    stand.ready().await;
    stand
        .until("document.querySelectorAll('#rows .row').length > 5")
        .await;
    nothing_from_elsewhere(&stand, &root).await;

    browser.fill("#search", "browser/task_00000").await.unwrap();
    stand
        .until("document.querySelectorAll('#rows .row').length === 1")
        .await;
    browser.click("#rows a").await.unwrap();
    stand
        .until("document.body.dataset.page === 'sidebyside'")
        .await;
    stand.ready().await;
    stand
        .until("document.querySelectorAll('.lane').length === 3")
        .await;
    stand
        .until("[...document.images].some(image => image.naturalWidth === 640)")
        .await;
    browser.click("#next").await.unwrap();
    stand
        .until(
            "document.querySelector('.lane.pictured .lane-events').innerText.includes('number 1 ')",
        )
        .await;
    nothing_from_elsewhere(&stand, &root).await;

    show(&stand, &address(&site, "runs/rich/index.html")).await;
    stand
        .until("document.querySelectorAll('#rows .row').length > 10")
        .await;
    // Titles of a file are addresses of files.
    browser.click("a.brand").await.unwrap();
    stand.until("document.body.dataset.page === 'runs'").await;

    let trial = "runs/screens/trial/browser/task_00000/1/1/index.html";
    show(&stand, &address(&site, &format!("{trial}?step=77"))).await;
    stand
        .until("document.querySelector('.stage-caption').innerText.startsWith('Step 77')")
        .await;
    stand
        .until("document.querySelector('.screen-image').naturalWidth === 640")
        .await;
    browser.press('\u{e014}').await.unwrap();
    stand
        .until("document.querySelector('.stage-caption').innerText.startsWith('Step 78')")
        .await;
    stand.until("location.search === '?step=78'").await;
    // Without being allowed to read its own pictures, a browser subtracts them.
    browser.press('d').await.unwrap();
    stand
        .until("!document.querySelector('.screen-canvas').hidden")
        .await;
    for tab in ["Step", "Checks", "Task", "Review", "Raw"] {
        browser.click(&format!("#tab-{tab}")).await.unwrap();
        stand
            .until("document.querySelector('#panel-body').innerText.length > 5")
            .await;
    }
    nothing_from_elsewhere(&stand, &root).await;
    stand.close().await;
}

/// Of three runs, two have tasks in common: they can be chosen, and come in the order of the export.
#[tokio::test(flavor = "multi_thread")]
async fn two_runs_of_an_export_are_compared_alone() {
    let folder = folder();
    let root = folder.path();
    for (name, luck) in [("one", 1), ("two", 2)] {
        played(root, name, 8, luck);
    }
    drop(rich(&root.join("other")));
    let library = Library::new(vec![root.to_owned()], root.join(".cache")).unwrap();
    let runs = ["two", "other", "one"].map(|name| library.run(name).unwrap());
    let site = root.join(".site");
    export(&runs, &root.join(".cache"), &site, |_| {}).unwrap();
    let stand = Stand::open(folder).await;
    let browser = &stand.browser;
    show(&stand, &address(&site, "index.html")).await;
    for name in ["one", "two"] {
        let box_of = format!("#rows input[aria-label='Compare {name}']");
        browser.click(&box_of).await.unwrap();
    }
    assert_eq!(stand.text("#compare").await, "Compare 2");
    browser.click("#compare").await.unwrap();
    let page = "document.body.dataset.page";
    stand.until(&format!("{page} === 'compare'")).await;
    stand.ready().await;
    let named = "[...document.querySelectorAll('.runs-compared td a')].map(one => one.innerText)";
    assert_eq!(stand.until(named).await, json!(["two", "one"]));
    stand
        .until("document.querySelectorAll('#rows .row').length === 8")
        .await;
    // A question that the page was not written with.
    browser.fill("#search", "task_00003").await.unwrap();
    stand
        .until("document.querySelectorAll('#rows .row').length === 1")
        .await;
    browser.click("#rows a").await.unwrap();
    stand.until(&format!("{page} === 'sidebyside'")).await;
    stand.ready().await;
    let lanes = "[...document.querySelectorAll('.lane-head')].map(one => [one.querySelector('.run-sign').innerText, one.querySelector('p a').innerText])";
    let wanted = json!([["A", "two"], ["B", "one"]]);
    assert_eq!(stand.until(lanes).await, wanted);
    browser.click(".sides-bar a").await.unwrap();
    stand.until(&format!("{page} === 'compare'")).await;
    stand.ready().await;
    assert_eq!(stand.until(named).await, json!(["two", "one"]));
    // Three are all, which need not be chosen; one is nothing to compare.
    show(&stand, &address(&site, "index.html")).await;
    browser.click("#rows input").await.unwrap();
    stand
        .until("document.querySelector('#compare').disabled")
        .await;
    stand.close().await;
}

/// Of each run, every so many of the queries. Returns how many different lists there were.
async fn compare_lists(runs: &[(&str, usize)]) -> usize {
    let folder = folder();
    let site = site(folder.path());
    let stand = Stand::open(folder).await;
    let mut kinds = std::collections::HashSet::new();
    for (run, step) in runs {
        let queries = QUERIES.into_iter().chain(FURTHER).step_by(*step);
        let queries: Vec<&str> = queries.collect();
        stand.go(&format!("/runs/{run}")).await;
        let asked: Vec<String> = queries
            .iter()
            .map(|query| format!("/api/runs/{run}/trials?limit=500&{query}"))
            .collect();
        let script = format!(
            "const done = arguments[0]; \
             Promise.all({}.map(one => fetch(one).then(answer => answer.json()))) \
                .then(all => done(all.map(page => page.rows)), error => done(String(error)));",
            json!(asked)
        );
        let expected = stand.browser.js_async(&script).await.unwrap();
        // High enough for every row.
        stand.browser.resize(1440, 3000).await.unwrap();
        for (query, expected) in queries.iter().zip(expected.as_array().unwrap()) {
            let rows = expected.as_array().unwrap();
            let place = format!("runs/{run}/index.html?{query}");
            show(&stand, &address(&site, &place)).await;
            let expected = rows.iter().map(named).collect::<Vec<_>>();
            kinds.insert(json!(expected).to_string());
            let wanted = if rows.is_empty() {
                "No trial matches".to_owned()
            } else {
                String::new()
            };
            stand
                .until(&format!(
                    "{DRAWN}.length === {} && document.body.innerText.includes({})",
                    rows.len(),
                    json!(wanted)
                ))
                .await;
            let drawn = stand.browser.js(&format!("return {DRAWN}")).await.unwrap();
            assert_eq!(drawn, json!(expected), "{run} {query}");
        }
    }
    stand.close().await;
    kinds.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_from_a_disk_are_those_of_the_viewer() {
    let kinds = compare_lists(&[("rich", 1), ("many", 6)]).await;
    assert!(kinds > 30, "only {kinds} different lists");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_form_all_lists_from_a_disk_are_those_of_the_viewer() {
    let kinds = compare_lists(&[("rich", 1), ("many", 1)]).await;
    assert!(kinds > 40, "only {kinds} different lists");
}

/// The rows of a table, from the top.
const DRAWN: &str = "[...document.querySelectorAll('#rows .row:not(.waiting)')] \
    .sort((a, b) => a.getAttribute('aria-rowindex') - b.getAttribute('aria-rowindex')) \
    .map(row => { const at = row.querySelector('.task a, .task span'); \
        const end = at.href ? at.pathname.split('/').slice(-3, -1) : ['-', '0']; \
        return [at.textContent, end[0], end[1], row.querySelector('.badge').innerText.slice(1).trim()]; })";

/// What a row of the API is drawn as.
fn named(row: &Value) -> Value {
    let attempt = &row["attempt"];
    let epoch = if *attempt == json!(0) {
        "-".to_owned()
    } else {
        row["epoch"].to_string()
    };
    json!([row["task"], epoch, attempt.to_string(), row["state"]])
}

/// The web server that everybody has.
struct Plain {
    process: Child,
    url: String,
}

impl Plain {
    fn start(folder: &Path) -> Self {
        let mut process = Command::new("python3")
            .args(["-u", "-m", "http.server", "--bind", "127.0.0.1", "0"])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Serving HTTP on 127.0.0.1 port 40001 (http://127.0.0.1:40001/) ...
        let mut line = String::new();
        let output = process.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        let url = line.split_once('(').unwrap().1.split_once("/)").unwrap().0;
        Self {
            url: url.to_owned(),
            process,
        }
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_works_on_any_web_server() {
    let folder = folder();
    let plain = Plain::start(&site(folder.path()));
    let stand = Stand::open(folder).await;
    let browser = &stand.browser;
    show(&stand, &format!("{}/index.html", plain.url)).await;
    browser.click("#rows a[href*='screens']").await.unwrap();
    stand.until("document.body.dataset.page === 'run'").await;
    stand.ready().await;
    browser.click("#rows .row a").await.unwrap();
    stand.until("document.body.dataset.page === 'trial'").await;
    stand.ready().await;
    browser.press('\u{e010}').await.unwrap();
    stand
        .until("document.querySelector('.stage-caption').innerText.startsWith('End')")
        .await;
    stand
        .until("document.querySelector('.screen-image').naturalWidth === 640")
        .await;
    nothing_from_elsewhere(&stand, &plain.url).await;
    browser.back().await.unwrap();
    stand.until("document.body.dataset.page === 'run'").await;
    // The neighbours of a trial are those of the list that it was opened from.
    let list = "outcome=failed&sort=task&desc=true";
    show(
        &stand,
        &format!("{}/runs/many/index.html?{list}", plain.url),
    )
    .await;
    stand
        .until("document.querySelectorAll('#rows .row a').length > 3")
        .await;
    let names = browser
        .js("return [...document.querySelectorAll('#rows .row a')].slice(0, 2).map(one => one.textContent)")
        .await
        .unwrap();
    browser.click("#rows .row a").await.unwrap();
    stand.until("document.body.dataset.page === 'trial'").await;
    stand.ready().await;
    stand.until(&format!("document.querySelector('#walk a') && document.querySelector('#walk a').title.startsWith({})", names[1])).await;
    browser.press('j').await.unwrap();
    stand
        .until(&format!("document.title.startsWith({})", names[1]))
        .await;
    nothing_from_elsewhere(&stand, &plain.url).await;
    stand.close().await;
}
