//! Runs against each other, as a page says it; and one task of them side by side.

use std::path::Path;
use std::time::Duration;

use agon_core::Action;
use agon_report::{Format, RunReport, maybe_percent, render};
use agon_store::RunReader;
use agon_testkit::{DesktopTrial, painted};
use serde_json::{Value, json};

use super::stand::{Stand, begun, folder, played};
use super::told::Told;

const TWO: &str = "run=one&run=two";
const RIGHT: char = '\u{e014}';
const LEFT: char = '\u{e012}';
const END: char = '\u{e010}';
const HOME: char = '\u{e011}';

/// The comparison of a report: `agon report one two --format json`.
pub(super) fn reported(root: &Path) -> Value {
    let readers = ["one", "two"].map(|name| RunReader::open(&root.join(name)).unwrap());
    let reports: Vec<RunReport<'_>> = readers
        .iter()
        .map(|reader| RunReport::new(reader.manifest(), reader).unwrap())
        .collect();
    let text = render(Format::Json, &reports).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["comparison"].take()
}

/// What a run made of a task; nothing where it was not graded.
fn solved(task: &Value, run: usize) -> Option<bool> {
    let cell = &task["cells"][run];
    let number = |name: &str| cell[name].as_u64().unwrap_or_default();
    (number("graded") > 0).then(|| number("passed") * 2 > number("graded"))
}

pub(super) fn kind(task: &Value) -> &'static str {
    match (solved(task, 0), solved(task, 1)) {
        (Some(false), Some(true)) => "gained",
        (Some(true), Some(false)) => "lost",
        (Some(true), Some(true)) => "both",
        (Some(false), Some(false)) => "neither",
        _ => "open",
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_figures_are_those_of_a_report() {
    let root = folder();
    played(root.path(), "one", 120, 1);
    played(root.path(), "two", 120, 2);
    let stand = Stand::open(root).await;
    let report = reported(stand.folder());
    stand.go(&format!("/compare?{TWO}")).await;

    let pair = &report["pairs"][0];
    let words = stand
        .text(".pair-words")
        .await
        .replace('\u{a0}', " ")
        .replace('−', "-");
    assert_eq!(json!(words), pair["words"]);
    let legend = stand.text(".pair figcaption").await;
    for kind in ["gained", "lost", "both", "neither"] {
        assert!(
            legend.contains(&format!("{} {kind}", pair[kind])),
            "{legend}"
        );
    }
    let runs = stand.until("[...document.querySelectorAll('.runs-compared tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText))").await;
    for (at, run) in report["runs"].as_array().unwrap().iter().enumerate() {
        let cells = &runs[at];
        assert_eq!(cells[0], run["sign"]);
        assert_eq!(cells[3], maybe_percent(run["score"].as_f64()));
        let steps = format!("{:.1}", run["steps"].as_f64().unwrap());
        assert!(cells[4].as_str().unwrap().starts_with(&steps), "{cells}");
        let money = format!("${:.4}", run["money"].as_f64().unwrap());
        assert!(cells[6].as_str().unwrap().starts_with(&money), "{cells}");
        assert_eq!(cells[7], format!("{} of 120", run["graded"]));
        assert_eq!(cells[8], json!(run["faulted"].to_string()));
    }
    let note = stand.text("#runs-title + .note").await;
    assert!(
        note.contains(&format!("the {} tasks", report["common"])),
        "{note}"
    );
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_that_were_gained_and_lost_are_found() {
    let root = folder();
    played(root.path(), "one", 120, 1);
    played(root.path(), "two", 120, 2);
    let stand = Stand::open(root).await;
    let report = reported(stand.folder());
    let tasks = report["tasks"].as_array().unwrap();
    let names = |keep: &dyn Fn(&Value) -> bool| -> Vec<String> {
        let kept = tasks.iter().filter(|task| keep(task));
        kept.map(|task| task["task"].as_str().unwrap().to_owned())
            .collect()
    };
    stand.go(&format!("/compare?{TWO}")).await;
    stand.shows(&names(&|_| true)).await;
    for wanted in ["gained", "lost", "both", "neither", "open"] {
        let found = names(&|task| kind(task) == wanted);
        assert!(!found.is_empty(), "{wanted}");
        let button = format!("#show [data-kind={wanted}]");
        let count = stand.text(&format!("{button} .soft")).await;
        assert_eq!(count, found.len().to_string());
        stand.browser.click(&button).await.unwrap();
        stand.shows(&found).await;
        let link = stand.address().await;
        assert_eq!(link, format!("/compare?{TWO}&show={wanted}"));
        stand.go(&link).await;
        stand.shows(&found).await;
        let pressed = "document.querySelector('#show [aria-pressed=true]').dataset.kind";
        assert_eq!(stand.until(pressed).await, json!(wanted));
    }
    let gained = names(&|task| kind(task) == "gained");
    stand
        .browser
        .click("#show [data-kind=gained]")
        .await
        .unwrap();
    stand.shows(&gained).await;
    let points = stand.rows().await;
    assert!(
        points
            .iter()
            .all(|row| row.cells.contains(&"+100.0".to_owned())),
        "{points:?}"
    );
    stand.browser.press('/').await.unwrap();
    stand.browser.fill("#search", "mail").await.unwrap();
    stand
        .shows(&names(&|task| {
            kind(task) == "gained" && task["task"].as_str().unwrap().starts_with("mail/")
        }))
        .await;
    stand.browser.press('\u{e00c}').await.unwrap();
    stand.browser.press('j').await.unwrap();
    let first = stand
        .until("document.querySelector('#rows .current a')?.innerText")
        .await;
    stand.browser.press('\u{e007}').await.unwrap();
    let there = format!("/compare/{}", first.as_str().unwrap());
    stand
        .until(&format!("location.pathname === '{there}'"))
        .await;
    stand.ready().await;
    stand.browser.back().await.unwrap();
    stand.until("location.pathname === '/compare'").await;
    stand.ready().await;
    assert_eq!(
        stand.address().await,
        format!("/compare?{TWO}&show=gained&q=mail")
    );
    stand.close().await;
}

/// The same clicks in both, the second one at a slower pace.
fn desktops(root: &Path) {
    for (name, steps, pause) in [("one", 12, 0), ("two", 5, 350)] {
        let run = begun(root, name, 2);
        let mut trial = DesktopTrial::begin(&run, 0, (640, 400)).unwrap();
        for _ in 0..steps {
            run.clock.advance(Duration::from_millis(pause));
            trial.step(&run).unwrap();
        }
        trial.end(&run, 0).unwrap();
        run.play(1, 1).unwrap();
        run.writer.flush().unwrap();
    }
}

/// The steps that both columns show.
async fn at(stand: &Stand, one: u64, two: u64) {
    let each = "[...document.querySelectorAll('.lane')].map((lane) => lane.querySelector('.lane-steps .current')?.getAttribute('aria-rowindex'))";
    // The first row of a list is the second of its table.
    let wanted = json!([(one + 2).to_string(), (two + 2).to_string()]);
    stand
        .until(&format!("JSON.stringify({each}) === '{wanted}'"))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_trials_move_together_by_step_and_by_time() {
    let root = folder();
    desktops(root.path());
    let stand = Stand::open(root).await;
    stand
        .go(&format!("/compare/browser/task_00000?{TWO}"))
        .await;
    assert_eq!(
        stand
            .browser
            .js("return document.querySelectorAll('.lane').length")
            .await
            .unwrap(),
        json!(2)
    );
    at(&stand, 0, 0).await;
    stand
        .until("document.querySelector('#where').innerText === 'start'")
        .await;
    for n in 1..=3 {
        stand.browser.press(RIGHT).await.unwrap();
        at(&stand, n, n).await;
    }
    // Each column shows its own screen, of that step.
    stand.until("[...document.querySelectorAll('.lane')].every((lane) => lane.querySelector('.screen-image').naturalWidth === 640)").await;
    stand.until("[...document.querySelectorAll('.lane')].every((lane) => lane.querySelector('.screen-image').alt.endsWith('before step 3'))").await;
    stand.until("[...document.querySelectorAll('.lane-events')].every((one) => one.innerText.includes('number 3'))").await;
    stand.browser.press('b').await.unwrap();
    stand.until("[...document.querySelectorAll('.lane')].every((lane) => lane.querySelector('.screen-image').alt.endsWith('after step 3'))").await;
    stand.browser.press(LEFT).await.unwrap();
    at(&stand, 2, 2).await;
    // The shorter one waits at its end.
    stand.browser.press(END).await.unwrap();
    at(&stand, 13, 6).await;
    stand.browser.press(HOME).await.unwrap();
    at(&stand, 0, 0).await;
    stand.browser.click("#next").await.unwrap();
    at(&stand, 1, 1).await;
    assert_eq!(
        stand.address().await,
        format!("/compare/browser/task_00000?{TWO}&sync=step&at=1")
    );

    let times = stand.until("JSON.parse(document.querySelector('#data').textContent).sides.map((side) => side.steps.rows.map((row) => row.t))").await;
    let step = |run: usize, time: f64| {
        let times = times[run].as_array().unwrap().iter();
        times.filter(|t| t.as_f64().unwrap() <= time).count() as u64 - 1
    };
    stand.browser.click("#sync [data-sync=time]").await.unwrap();
    stand.until("document.querySelector('#sync [data-sync=time]').getAttribute('aria-pressed') === 'true'").await;
    stand.browser.press(HOME).await.unwrap();
    at(&stand, 0, 0).await;
    let mut apart = false;
    let mut before = 0.0;
    for _ in 0..8 {
        stand.browser.press(RIGHT).await.unwrap();
        let place = format!(
            "Number(new URLSearchParams(location.search).get('at')) > {before} && Number(new URLSearchParams(location.search).get('at'))"
        );
        let place = stand.until(&place).await.as_f64().unwrap();
        let (one, two) = (step(0, place / 1e3), step(1, place / 1e3));
        at(&stand, one, two).await;
        apart |= one > two + 1;
        before = place;
    }
    assert!(apart, "the slower one is behind: {times}");
    // The same link, opened anew.
    let (one, two) = (step(0, before / 1e3), step(1, before / 1e3));
    let link = stand.address().await;
    assert!(link.contains("sync=time"), "{link}");
    stand.go("/").await;
    stand.go(&link).await;
    at(&stand, one, two).await;
    stand.browser.press(LEFT).await.unwrap();
    stand
        .until(&format!(
            "Number(new URLSearchParams(location.search).get('at')) < {before}"
        ))
        .await;
    // A step that is clicked in one column takes the other along.
    stand.browser.press('s').await.unwrap();
    stand.browser.press('s').await.unwrap();
    stand.until("document.querySelector('#sync [data-sync=step]').getAttribute('aria-pressed') === 'true'").await;
    stand.browser.press(HOME).await.unwrap();
    at(&stand, 0, 0).await;
    stand
        .click_on("document.querySelectorAll('.lane')[1].querySelectorAll('.step-open')[4]")
        .await;
    at(&stand, 4, 4).await;
    stand.browser.click(".sides-bar a.button").await.unwrap();
    stand.until("location.pathname === '/compare'").await;
    stand.close().await;
}

/// As many as can be compared, in the smallest window: only the table moves, and its tasks stay.
#[tokio::test(flavor = "multi_thread")]
async fn eight_runs_are_no_wider_than_the_window() {
    let root = folder();
    let names: Vec<String> = (1..=8).map(|n| format!("run{n}")).collect();
    for (luck, name) in (1..).zip(&names) {
        played(root.path(), name, 40, luck);
    }
    let stand = Stand::open(root).await;
    let browser = &stand.browser;
    browser.resize(1024, 768).await.unwrap();
    stand
        .go(&format!("/compare?run={}", names.join("&run=")))
        .await;
    let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
    stand.until(fits).await;
    let left =
        "Math.round(document.querySelector('#rows [data-focus]').getBoundingClientRect().left)";
    let before = stand.until(left).await;
    let end =
        "const table = document.querySelector('#tasks'); table.scrollLeft = table.scrollWidth";
    browser.js(end).await.unwrap();
    let seen = "(last => last.right <= innerWidth && last.width > 50)(document.querySelector('#rows .cell:last-child').getBoundingClientRect())";
    stand.until(seen).await;
    assert_eq!(stand.until(left).await, before);
    // The last task is found by keys, below the heads of its columns.
    let last = "document.querySelector('#tasks').scrollTop = 1e6";
    browser.js(last).await.unwrap();
    stand
        .until("document.querySelector('#rows [aria-rowindex=\"41\"]')")
        .await;
    let heads = "(at => at('#heads').top >= at('#tasks').top - 1 && at('#heads').top <= at('#tasks').top + 2)(name => document.querySelector(name).getBoundingClientRect())";
    stand.until(heads).await;
    stand.close().await;
}

/// Also where it changed nothing, and in the smallest window.
#[tokio::test(flavor = "multi_thread")]
async fn side_by_side_tells_what_was_done() {
    let root = folder();
    for name in ["one", "two"] {
        let run = begun(root.path(), name, 1);
        let mut told = Told::begin(&run, 0);
        told.ready(told.screen(painted(1, 320, 200), (320, 200), (1, 2)));
        for _ in 0..2 {
            let screen = told.screen(painted(1, 320, 200), (320, 200), (1, 2));
            let keys = json!({"action": "key", "keys": "ctrl+s"});
            let action: Action = serde_json::from_value(keys).unwrap();
            told.act_on_screen(action, screen);
        }
        told.end(Vec::new());
    }
    let stand = Stand::open(root).await;
    stand.browser.resize(1024, 768).await.unwrap();
    stand
        .go(&format!("/compare/browser/task_00000?{TWO}"))
        .await;
    stand
        .until("document.querySelectorAll('.lane-steps .step-still').length >= 4")
        .await;
    let told = "[...document.querySelectorAll('.lane-steps .step-row:has(.step-still)')].every(row => { \
        const [whole, brief] = [row, row.querySelector('.step-brief')].map(one => one.getBoundingClientRect()); \
        return brief.height >= 14 && brief.bottom <= whole.bottom && row.innerText.includes('ctrl+s') \
            && row.innerText.includes('screen unchanged') && parseFloat(getComputedStyle(row.querySelector('.step-kind')).fontSize) > 8; })";
    stand.until(told).await;
    stand.close().await;
}
