//! Who says something, and words that were not recorded yet.

use agon_store::{Review, RunFolder, requests, running};
use agon_testkit::DesktopTrial;
use serde_json::json;

use super::stand::{Stand, begun, folder, played};
use super::told::{address, listed};

const ESCAPE: char = '\u{e00c}';
const ENTER: char = '\u{e007}';
const ASKED: &str = "document.querySelector('#who')?.open";
const FIRST: &str = "/runs/said/review";

fn said(stand: &Stand) -> Vec<Review> {
    let folder = RunFolder::at(stand.folder().join("said"));
    let text = std::fs::read_to_string(folder.reviews_file()).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// As the viewer finds it out.
fn login() -> String {
    let named = ["AGON_REVIEWER", "USER"].map(|name| std::env::var(name).unwrap_or_default());
    let found = named.into_iter().find(|name| !name.is_empty());
    found.unwrap_or_default()
}

async fn stand() -> Stand {
    let root = folder();
    played(root.path(), "said", 4, 1);
    let stand = Stand::open(root).await;
    stand.go(FIRST).await;
    stand.browser.click("#tab-Review").await.unwrap();
    stand
}

async fn entries(stand: &Stand, count: usize) {
    stand
        .until(&format!(
            "document.querySelectorAll('.review-entry').length === {count}"
        ))
        .await;
}

#[tokio::test]
async fn a_name_is_asked_for_once_before_anything_is_recorded() {
    let stand = stand().await;
    let browser = &stand.browser;
    browser.press('p').await.unwrap();
    stand.until(ASKED).await;
    let offered = browser
        .js("return [document.activeElement.id, document.querySelector('#who-name').value]")
        .await
        .unwrap();
    assert_eq!(offered, json!(["who-name", login()]));
    // A slip of the finger.
    browser.press(ESCAPE).await.unwrap();
    stand.until(&format!("!({ASKED})")).await;
    browser.press('f').await.unwrap();
    stand.until(ASKED).await;
    browser.click("#who-away").await.unwrap();
    stand.until(&format!("!({ASKED})")).await;
    assert_eq!(said(&stand), []);

    browser.click(".review-pass").await.unwrap();
    stand.until(ASKED).await;
    browser
        .js("document.querySelector('#who-name').value = ''")
        .await
        .unwrap();
    browser.fill("#who-name", "Ada").await.unwrap();
    browser.press(ENTER).await.unwrap();
    entries(&stand, 1).await;
    stand
        .until("document.querySelector('#review-name').value === 'Ada'")
        .await;
    // Never again, on no page.
    browser.press('f').await.unwrap();
    entries(&stand, 2).await;
    browser.press('n').await.unwrap();
    stand
        .until("document.querySelector('.review-state')?.textContent.includes('Nobody has')")
        .await;
    stand.ready().await;
    browser.press('p').await.unwrap();
    entries(&stand, 1).await;
    let names: Vec<String> = said(&stand).into_iter().map(|one| one.reviewer).collect();
    assert_eq!(names, ["Ada", "Ada", "Ada"]);
    stand.close().await;
}

#[tokio::test]
async fn a_name_may_stay_empty_on_purpose() {
    let stand = stand().await;
    stand.browser.press('p').await.unwrap();
    stand.until(ASKED).await;
    let js = "document.querySelector('#who-name').value = ''";
    stand.browser.js(js).await.unwrap();
    stand.browser.click("#who-record").await.unwrap();
    entries(&stand, 1).await;
    stand.browser.press('f').await.unwrap();
    entries(&stand, 2).await;
    assert!(said(&stand).iter().all(|one| one.reviewer.is_empty()));
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_stops_a_trial_is_offered_a_name_and_keeps_it() {
    let root = folder();
    let run = begun(root.path(), "said", 1);
    let trial = DesktopTrial::begin(&run, 0, (320, 200)).unwrap();
    let stand = Stand::open(root).await;
    listed(&run).await;
    stand.go(&address(&run, 0)).await;
    stand
        .until("document.querySelector('#follow .danger')")
        .await;
    stand.browser.click("#follow .danger").await.unwrap();
    let offered = stand
        .until("document.querySelector('#stop').open && [document.querySelector('#stop-by').value]")
        .await;
    assert_eq!(offered, json!([login()]));
    let field = "document.querySelector('#stop-by').focus()";
    stand.browser.js(field).await.unwrap();
    stand.browser.press(ENTER).await.unwrap();
    stand.until("!document.querySelector('#stop').open").await;
    stand
        .until("document.querySelector('#follow .danger').disabled")
        .await;
    let (asked, _) = requests(&run.folder, 0).unwrap();
    assert_eq!(asked[0].by, login());
    // This very play is meant, and none that takes its number.
    let (playing, _) = running(&run.folder, 0).unwrap();
    assert_eq!(asked[0].began, Some(playing[0].began));
    drop(trial);
    stand.close().await;
}

#[tokio::test]
async fn a_comment_that_is_not_recorded_waits_as_a_draft() {
    let stand = stand().await;
    let browser = &stand.browser;
    browser
        .js("localStorage.setItem('agon-reviewer', 'Ada')")
        .await
        .unwrap();
    let first = browser.url().await.unwrap();
    let first = first[stand.url.len()..].to_owned();
    let path = first.split('?').next().unwrap();
    browser.press('m').await.unwrap();
    let draft = "It pressed the wrong button.";
    browser.fill("#review-comment", draft).await.unwrap();
    browser.press(ESCAPE).await.unwrap();
    browser.press('j').await.unwrap();
    stand
        .until(&format!("location.pathname !== '{path}'"))
        .await;
    stand.ready().await;
    // It is of the other trial.
    let comment = "[document.querySelector('#review-comment')?.value]";
    assert_eq!(stand.until(comment).await, json!([""]));
    stand.go(&first).await;
    assert_eq!(stand.until(comment).await, json!([draft]));
    browser.press('f').await.unwrap();
    entries(&stand, 1).await;
    assert_eq!(stand.until(comment).await, json!([""]));
    stand.go(&first).await;
    assert_eq!(stand.until(comment).await, json!([""]));
    assert_eq!(said(&stand)[0].comment, draft);
    stand.close().await;
}
