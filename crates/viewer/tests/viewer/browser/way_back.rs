//! The browser's way back through the lists of a run: each choice is a step of it, a search is one altogether.

use agon_core::verdict::Outcome;
use agon_store::TrialLine;

use super::run_trials::trials;
use super::stand::{Stand, folder, played};

fn names(lines: &[TrialLine], keep: impl Fn(&TrialLine) -> bool) -> Vec<String> {
    let kept = lines.iter().filter(|line| keep(line));
    kept.map(|line| line.task.to_string()).collect()
}

/// The list, and that nothing but the list has changed.
async fn is_at(stand: &Stand, search: &str, names: &[String]) {
    stand
        .until(&format!("location.search === '{search}'"))
        .await;
    stand.shows(names).await;
    assert!(stand.is_marked().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_choice_is_a_step_of_the_way_back() {
    let root = folder();
    let run = played(root.path(), "some", 120, 7);
    let lines = trials(&run);
    let stand = Stand::open(root).await;
    stand.go("/").await;
    stand.go("/runs/some").await;
    stand.mark().await;
    let browser = &stand.browser;
    let all = names(&lines, |_| true);
    let mail = names(&lines, |line| line.task.category() == "mail");
    let failed = names(&lines, |line| {
        line.task.category() == "mail" && line.outcome == Outcome::Failed
    });
    assert!(
        !failed.is_empty() && failed.len() < mail.len(),
        "{failed:?}"
    );
    let found = names(&lines, |line| line.task.id().contains("task_000"));
    stand.shows(&all).await;

    // A cell of the matrix, a button, the chip of a filter, and a search letter by letter.
    let cell = "a[data-filter='category=mail']";
    browser.click(cell).await.unwrap();
    is_at(&stand, "?category=mail", &mail).await;
    stand.click_text(".outcome-group button", "failed").await;
    is_at(&stand, "?outcome=failed&category=mail", &failed).await;
    stand.click_text(".outcome-group button", "failed").await;
    is_at(&stand, "?category=mail", &mail).await;
    browser.click("#chips .chip").await.unwrap();
    is_at(&stand, "", &all).await;
    browser.click("#search").await.unwrap();
    browser.fill("#search", "task_000").await.unwrap();
    is_at(&stand, "?q=task_000", &found).await;
    browser.press('\u{e00c}').await.unwrap();
    stand.click_text("#heads button", "Task").await;
    let mut sorted = found.clone();
    sorted.sort();
    is_at(&stand, "?q=task_000&sort=task", &sorted).await;

    let value = "return document.querySelector('#search').value";
    for (search, list, typed) in [
        ("?q=task_000", &found, "task_000"),
        ("", &all, ""),
        ("?category=mail", &mail, ""),
        ("?outcome=failed&category=mail", &failed, ""),
        ("?category=mail", &mail, ""),
        ("", &all, ""),
    ] {
        browser.back().await.unwrap();
        is_at(&stand, search, list).await;
        assert_eq!(browser.js(value).await.unwrap(), typed, "{search}");
        // The controls say the same.
        let pressed = search.contains("outcome=failed");
        stand
            .until(&format!(
                "(document.querySelector('.outcome-group [aria-pressed=true]') !== null) === {pressed}"
            ))
            .await;
        let chips = usize::from(search.contains("category"));
        stand
            .until(&format!(
                "document.querySelectorAll('#chips .chip').length === {chips}"
            ))
            .await;
    }
    // And on again, the way that was gone.
    browser.js("history.forward()").await.unwrap();
    is_at(&stand, "?category=mail", &mail).await;
    browser.back().await.unwrap();
    is_at(&stand, "", &all).await;
    browser.back().await.unwrap();
    stand.until("location.pathname === '/'").await;
    stand.close().await;
}
