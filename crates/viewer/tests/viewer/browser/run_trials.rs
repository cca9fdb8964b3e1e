//! The list of trials on the page of a run: narrowed down, sorted, walked and linked to.

use std::path::Path;

use agon_core::verdict::Outcome;
use agon_report::duration;
use agon_store::{Review, ReviewVerdict, RunFolder, RunReader, TrialLine};
use serde_json::Value;

use super::stand::{Stand, folder, played};

const MANY: u64 = 1_000;
const ENTER: char = '\u{e007}';

/// The trials of a run as they count, in the order in which they ended.
pub(crate) fn trials(run: &Path) -> Vec<TrialLine> {
    let mut lines = RunReader::open(run).unwrap().trials().unwrap();
    lines.retain(|line| line.is_final);
    lines
}

/// A person says something else than the checks.
pub(crate) fn disagree(run: &Path, line: &TrialLine) {
    let review = Review {
        at: "2026-11-16T12:00:00Z".parse().unwrap(),
        task: line.task.clone(),
        epoch: line.epoch,
        attempt: line.attempt,
        verdict: match line.outcome {
            Outcome::Passed => ReviewVerdict::Fail,
            _ => ReviewVerdict::Pass,
        },
        comment: String::new(),
        reviewer: "Ada".to_owned(),
    };
    review.append(&RunFolder::at(run)).unwrap();
}

fn names(lines: &[TrialLine], keep: impl Fn(&TrialLine) -> bool) -> Vec<String> {
    let kept = lines.iter().filter(|line| keep(line));
    kept.map(|line| line.task.to_string()).collect()
}

async fn many() -> (Stand, Vec<TrialLine>) {
    let root = folder();
    let run = played(root.path(), "many", MANY, 7);
    let lines = trials(&run);
    (Stand::open(root).await, lines)
}

/// Opens a menu of the filters and ticks something in it.
async fn tick(stand: &Stand, menu: &str, text: &str) {
    let details = format!("details[data-name={menu}]");
    let open = format!("document.querySelector('{details}').open");
    stand
        .browser
        .click(&format!("{details} summary"))
        .await
        .unwrap();
    stand.until(&open).await;
    stand.click_text(&format!("{details} label"), text).await;
    // The list and what stands above it are drawn anew: a click before that could meet something else.
    let chip = "[...document.querySelectorAll('#chips .chip')]";
    stand
        .until(&format!(
            "{chip}.some((chip) => chip.textContent.includes('{text}'))"
        ))
        .await;
    // It is shut by a click elsewhere.
    stand.browser.click("#trials-title").await.unwrap();
    stand.until(&format!("!{open}")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_of_the_matrix_narrows_the_list_and_the_address_says_so() {
    let (stand, lines) = many().await;
    stand.go("/runs/many").await;
    let cell = "a[data-filter='category=mail&level=silver']";
    stand.browser.click(cell).await.unwrap();
    let reader = RunReader::open(&stand.folder().join("many")).unwrap();
    let of_cell = |line: &TrialLine| {
        let task = reader
            .manifest()
            .tasks
            .iter()
            .find(|task| task.task == line.task)
            .unwrap();
        line.task.category() == "mail" && task.level.is_some_and(|level| level.name() == "silver")
    };
    let wanted = names(&lines, of_cell);
    assert!(wanted.len() > 5, "{wanted:?}");
    stand.shows(&wanted).await;
    assert_eq!(
        stand.address().await,
        "/runs/many?level=silver&category=mail"
    );
    stand
        .until(&format!(
            "document.querySelector(\"{cell}\").classList.contains('on')"
        ))
        .await;
    let shown = stand.text("#shown").await;
    assert_eq!(shown, format!("{} of 1,000", wanted.len()));
    // A second click takes it back.
    stand.browser.click(cell).await.unwrap();
    stand.until("location.search === ''").await;
    stand.shows(&names(&lines, |_| true)).await;
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_filter_finds_what_it_says() {
    let root = folder();
    let run = played(root.path(), "many", MANY, 7);
    let lines = trials(&run);
    let doubted = [lines[3].clone(), lines[500].clone()];
    doubted.iter().for_each(|line| disagree(&run, line));
    let stand = Stand::open(root).await;
    let reader = RunReader::open(&run).unwrap();
    let level = |line: &TrialLine| {
        let task = reader
            .manifest()
            .tasks
            .iter()
            .find(|task| task.task == line.task);
        task.unwrap().level.map_or("none", |level| level.name())
    };
    stand.go("/runs/many").await;
    let all = names(&lines, |_| true);

    let outcome = ".outcome-group button";
    stand.click_text(outcome, "faulted").await;
    stand
        .shows(&names(&lines, |line| line.outcome == Outcome::Faulted))
        .await;
    assert_eq!(stand.address().await, "/runs/many?outcome=faulted");
    let pressed = "document.querySelector('.outcome-group [aria-pressed=true]').innerText.includes('faulted')";
    stand.until(pressed).await;
    stand.click_text(outcome, "faulted").await;
    stand.until("location.search === ''").await;

    let integrity = names(&lines, |line| line.integrity.is_some());
    assert!(!integrity.is_empty());
    type Choice<'a> = (&'a str, &'a str, &'a str, Vec<String>);
    let choices: Vec<Choice<'_>> = vec![
        (
            "fault",
            "model",
            "fault=model",
            names(&lines, |line| line.fault.is_some()),
        ),
        (
            "level",
            "gold",
            "level=gold",
            names(&lines, |line| level(line) == "gold"),
        ),
        (
            "category",
            "editor",
            "category=editor",
            names(&lines, |line| line.task.category() == "editor"),
        ),
        (
            "check",
            "screen_text",
            "check=screen_text",
            names(&lines, |line| {
                line.failed_checks
                    .iter()
                    .any(|check| check == "screen_text")
            }),
        ),
        (
            "flag",
            "disagreed",
            "flag=disagreed",
            names(&lines, |line| {
                doubted.iter().any(|one| one.task == line.task)
            }),
        ),
        ("flag", "integrity", "flag=integrity", integrity),
        (
            "flag",
            "retried",
            "flag=retried",
            names(&lines, |line| line.retried),
        ),
    ];
    for (menu, text, query, wanted) in choices {
        assert!(!wanted.is_empty() && wanted.len() < all.len(), "{query}");
        tick(&stand, menu, text).await;
        stand
            .until(&format!("location.search === '?{query}'"))
            .await;
        stand.shows(&wanted).await;
        let chip = stand.text("#chips .chip").await;
        assert!(chip.contains(text), "{chip}");
        stand.browser.click("#chips .chip").await.unwrap();
        stand.until("location.search === ''").await;
    }
    stand.shows(&all).await;
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn search_filter_and_order_go_together_and_stand_in_a_link() {
    let (stand, lines) = many().await;
    stand.go("/runs/many").await;
    stand.browser.press('/').await.unwrap();
    stand.browser.fill("#search", "Task_002").await.unwrap();
    let found = |line: &TrialLine| line.task.id().starts_with("task_002");
    stand.shows(&names(&lines, found)).await;
    // Not a letter of what is typed next is a key of the page.
    stand.browser.press('\u{e00c}').await.unwrap();
    stand.click_text(".outcome-group button", "failed").await;
    stand.click_text(".outcome-group button", "passed").await;
    stand.click_text("#heads button", "Cost").await;
    let mut kept: Vec<TrialLine> = lines
        .iter()
        .filter(|line| found(line) && line.outcome != Outcome::Faulted)
        .cloned()
        .collect();
    kept.sort_by_key(|line| std::cmp::Reverse(line.usage.money.unwrap()));
    let wanted = names(&kept, |_| true);
    stand.shows(&wanted).await;
    let sorted = "document.querySelector('#heads [aria-sort=descending]')?.innerText";
    assert_eq!(stand.until(sorted).await, "Cost");
    let link = stand.address().await;
    assert_eq!(
        link,
        "/runs/many?q=Task_002&outcome=failed,passed&sort=cost&desc=true"
    );

    stand.go("/runs/many").await;
    stand.go(&link).await;
    stand.shows(&wanted).await;
    assert_eq!(stand.until(sorted).await, "Cost");
    assert_eq!(
        stand
            .browser
            .js("return document.querySelector('#search').value")
            .await
            .unwrap(),
        "Task_002"
    );

    // The other way round, and then as they ended.
    stand.click_text("#heads button", "Cost").await;
    kept.sort_by_key(|line| line.usage.money.unwrap());
    stand.shows(&names(&kept, |_| true)).await;
    stand.click_text("#heads button", "Cost").await;
    let ended = |line: &TrialLine| found(line) && line.outcome != Outcome::Faulted;
    stand.shows(&names(&lines, ended)).await;
    stand.click_text("#heads button", "Task").await;
    kept.sort_by_key(|line| line.task.to_string());
    stand.shows(&names(&kept, |_| true)).await;
    stand.click_text("#heads button", "Time").await;
    kept.sort_by(|a, b| b.seconds.total().total_cmp(&a.seconds.total()));
    stand.shows(&names(&kept, |_| true)).await;
    stand.browser.press('x').await.unwrap();
    stand
        .until("location.search === '?sort=seconds&desc=true'")
        .await;
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn trials_are_walked_and_opened_by_keys_and_the_way_back_leads_there() {
    let (stand, lines) = many().await;
    let wanted = names(&lines, |line| line.outcome == Outcome::Failed);
    stand.go("/runs/many?outcome=failed").await;
    let current = |at: usize| {
        format!(
            "document.querySelector('#rows .current [data-focus]')?.innerText === '{}'",
            wanted[at]
        )
    };
    // Where one is, there the list is walked.
    stand
        .browser
        .js("document.querySelector('#trials-title').scrollIntoView()")
        .await
        .unwrap();
    stand.browser.press('j').await.unwrap();
    let first = stand
        .until("document.querySelector('#rows .current [data-focus]')?.innerText")
        .await;
    let first = wanted.iter().position(|name| *name == first).unwrap();
    for _ in 0..40 {
        stand.browser.press('j').await.unwrap();
    }
    stand.until(&current(first + 40)).await;
    stand.browser.press('k').await.unwrap();
    let at = first + 39;
    stand.until(&current(at)).await;
    // It is seen.
    let seen = "(() => { const box = document.querySelector('#rows .current').getBoundingClientRect(); const head = document.querySelector('#heads').getBoundingClientRect(); return box.top >= head.bottom - 1 && box.bottom <= innerHeight; })()";
    stand.until(seen).await;

    stand.browser.press(ENTER).await.unwrap();
    let path = format!("/runs/many/trial/{}/1/", wanted[at]);
    stand
        .until(&format!("location.pathname.startsWith('{path}')"))
        .await;
    stand.ready().await;
    let address = stand.address().await;
    assert!(address.contains("outcome=failed"), "{address}");
    // The next of the same list.
    stand.browser.press('j').await.unwrap();
    let next = format!("/runs/many/trial/{}/1/", wanted[at + 1]);
    stand
        .until(&format!("location.pathname.startsWith('{next}')"))
        .await;
    stand.ready().await;

    stand.browser.back().await.unwrap();
    stand
        .until(&format!("location.pathname.startsWith('{path}')"))
        .await;
    stand.browser.back().await.unwrap();
    stand.until("location.pathname === '/runs/many'").await;
    stand.ready().await;
    assert_eq!(stand.address().await, "/runs/many?outcome=failed");
    stand.until(&current(at)).await;
    stand.until(seen).await;
    stand.shows(&wanted).await;
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_rows_near_the_viewport_exist() {
    let (stand, lines) = many().await;
    stand.go("/runs/many").await;
    let rows = "document.querySelectorAll('#rows > *').length";
    let few = |found: &Value| found.as_u64().is_some_and(|rows| 0 < rows && rows < 150);
    assert!(few(&stand.until(rows).await));
    let last = lines[lines.len() - 1].task.to_string();
    stand
        .browser
        .js("window.scrollTo(0, document.documentElement.scrollHeight)")
        .await
        .unwrap();
    let there = format!(
        "[...document.querySelectorAll('#rows [data-focus]')].some((one) => one.innerText === '{last}' && one.getBoundingClientRect().bottom <= innerHeight)"
    );
    stand.until(&there).await;
    assert!(few(&stand.until(rows).await));
    stand
        .until(&format!(
            "document.querySelector('.trials [role=table]').getAttribute('aria-rowcount') === '{}'",
            MANY + 1
        ))
        .await;
    stand.shows(&names(&lines, |_| true)).await;
    assert!(few(&stand.until(rows).await));
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_counted_is_what_is_listed_and_everything_can_be_taken_back() {
    let root = folder();
    let run = played(root.path(), "some", 120, 7);
    let lines = trials(&run);
    let stand = Stand::open(root).await;
    stand.go("/runs/some").await;
    for (word, outcome) in [
        ("passed", Outcome::Passed),
        ("failed", Outcome::Failed),
        ("faulted", Outcome::Faulted),
    ] {
        let wanted = names(&lines, |line| line.outcome == outcome);
        let counted = format!(
            "[...document.querySelectorAll('.outcome-group button')].find((one) => one.textContent.includes('{word}')).querySelector('.count').textContent === '{}'",
            wanted.len()
        );
        stand.until(&counted).await;
        // The key of the bar above is a filter.
        stand
            .browser
            .click(&format!(".outcomes .legend a[href='?outcome={word}']"))
            .await
            .unwrap();
        stand
            .until(&format!("location.search === '?outcome={word}'"))
            .await;
        stand.shows(&wanted).await;
        stand.browser.press('x').await.unwrap();
        stand.until("location.search === ''").await;
    }
    // Several at once, and none of them.
    tick(&stand, "category", "mail").await;
    tick(&stand, "level", "gold").await;
    stand
        .until("document.querySelectorAll('#chips .chip').length === 2")
        .await;
    stand.click_text("#chips button", "Clear all").await;
    stand.until("location.search === ''").await;
    stand.shows(&names(&lines, |_| true)).await;
    // Whose time it was.
    let first = &lines[0];
    let told = stand
        .until(&format!(
            "[...document.querySelectorAll('#rows .row')].find((row) => row.querySelector('[data-focus]')?.innerText === '{}')?.querySelector('.time').title",
            first.task
        ))
        .await;
    let seconds = &first.seconds;
    assert_eq!(
        told,
        format!(
            "agent {}, environment {}, harness {}",
            duration(seconds.agent),
            duration(seconds.environment),
            duration(seconds.harness)
        )
    );
    stand.close().await;
}
