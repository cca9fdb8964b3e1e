//! What happens while nobody sees a page: it is told when somebody looks again.

use agon_store::{Review, ReviewVerdict};
use agon_testkit::DesktopTrial;
use serde_json::json;

use super::run_trials::trials;
use super::stand::{Stand, begun, folder};
use super::told::{address, listed};

const SIZE: (u32, u32) = (320, 200);
const STATE: &str = "document.querySelector('#state').textContent";

/// As when another tab is opened, or this one is looked at again.
async fn is_seen(stand: &Stand, seen: bool) {
    let script = format!(
        "for (const [name, value] of [['hidden', {}], ['visibilityState', {}]]) \
           Object.defineProperty(document, name, {{ configurable: true, get: () => value }}); \
         document.dispatchEvent(new Event('visibilitychange'));",
        !seen,
        json!(if seen { "visible" } else { "hidden" })
    );
    stand.browser.js(&script).await.unwrap();
}

/// Waits until the viewer itself knows something: a page could know it, too.
async fn known(stand: &Stand, api: &str, expression: &str) {
    loop {
        let answer = stand
            .browser
            .js_async(&format!(
                "const done = arguments[0]; fetch('/api{api}').then((answer) => answer.json()).then((found) => done({expression}));"
            ))
            .await
            .unwrap();
        if answer == json!(true) {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trial_that_ended_meanwhile_is_told_as_ended() {
    let root = folder();
    let run = begun(root.path(), "going", 1);
    let mut trial = DesktopTrial::begin(&run, 0, SIZE).unwrap();
    trial.step(&run).unwrap();
    let stand = Stand::open(root).await;
    listed(&run).await;
    let page = address(&run, 0);
    stand.go(&page).await;
    stand.mark().await;
    stand.until(&format!("{STATE}.includes('running')")).await;
    stand
        .until("document.querySelector('#follow .danger')")
        .await;
    is_seen(&stand, false).await;
    for _ in 0..3 {
        trial.step(&run).unwrap();
    }
    trial.end(&run, 0).unwrap();
    run.writer.flush().unwrap();
    known(&stand, &page, "found.state === 'passed'").await;
    // Nobody sees it, and it asks nobody.
    let state = stand.until(STATE).await;
    assert!(state.as_str().unwrap().contains("running"), "{state}");

    is_seen(&stand, true).await;
    stand.until(&format!("{STATE}.includes('passed')")).await;
    stand
        .until("!document.querySelector('#follow button') && !document.querySelector('.live-tag')")
        .await;
    stand
        .until("document.querySelector('#steps-title').textContent.startsWith('4 steps')")
        .await;
    // What people said meanwhile as well.
    is_seen(&stand, false).await;
    let line = trials(run.folder.path()).remove(0);
    let at = "2026-11-16T12:00:00Z".parse().unwrap();
    let said = Review::of(&line, ReviewVerdict::Fail, "", "Eve", at);
    said.append(&run.folder).unwrap();
    known(&stand, &page, "found.state === 'failed'").await;
    is_seen(&stand, true).await;
    stand.until(&format!("{STATE}.includes('failed')")).await;
    assert!(stand.is_marked().await);
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_and_tiles_are_as_they_are_when_they_are_seen_again() {
    let root = folder();
    let run = begun(root.path(), "going", 3);
    let trial = DesktopTrial::begin(&run, 0, SIZE).unwrap();
    let stand = Stand::open(root).await;
    listed(&run).await;
    stand.go("/runs/going/live").await;
    stand.mark().await;
    stand
        .until("document.querySelectorAll('.tile').length === 1")
        .await;
    is_seen(&stand, false).await;
    trial.end(&run, 0).unwrap();
    run.play(1, 1).unwrap();
    run.writer.flush().unwrap();
    known(&stand, "/runs/going/live", "found.running.length === 0").await;
    is_seen(&stand, true).await;
    stand
        .until("document.querySelectorAll('.tile').length === 0")
        .await;
    stand
        .until("document.querySelector('#tally').innerText === '2 of 3 trials'")
        .await;
    assert!(stand.is_marked().await);

    stand.go("/runs/going").await;
    stand.mark().await;
    stand
        .until("document.querySelector('#progress').innerText.includes('2 of 3')")
        .await;
    is_seen(&stand, false).await;
    run.play(2, 1).unwrap();
    run.writer.flush().unwrap();
    drop(run);
    known(&stand, "/runs/going", "found.card.state === 'complete'").await;
    is_seen(&stand, true).await;
    stand
        .until("document.querySelector('#state').innerText.includes('complete')")
        .await;
    stand
        .until("[...document.querySelectorAll('#rows .badge')].every((one) => !one.innerText.includes('missing'))")
        .await;
    assert!(stand.is_marked().await);
    stand.close().await;
}

/// Of the questions about the trial, the second and all later ones wait until `window.open` is called.
fn waits(page: &str) -> String {
    format!(
        "const ask = window.fetch; let asked = 0; const opened = new Promise((open) => (window.open = open)); \
         window.fetch = async (address, options) => {{ \
           if (address === '/api{page}') {{ asked += 1; if (asked > 1) await opened; }} \
           return ask(address, options); }};"
    )
}

/// It may end between any two questions of a page: the last of it is shown all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_trial_that_ends_while_it_is_asked_for_is_shown_whole() {
    let root = folder();
    let run = begun(root.path(), "ends", 1);
    let mut trial = DesktopTrial::begin(&run, 0, SIZE).unwrap();
    trial.step(&run).unwrap();
    let stand = Stand::open(root).await;
    listed(&run).await;
    let page = address(&run, 0);
    stand.go(&page).await;
    stand.until(&format!("{STATE}.includes('running')")).await;
    is_seen(&stand, false).await;
    stand.browser.js(&waits(&page)).await.unwrap();
    trial.step(&run).unwrap();
    is_seen(&stand, true).await;
    stand
        .until("document.querySelector('#steps-title').textContent.startsWith('2 steps')")
        .await;
    trial.step(&run).unwrap();
    trial.end(&run, 0).unwrap();
    run.writer.flush().unwrap();
    stand.browser.js("window.open();").await.unwrap();
    stand.until(&format!("{STATE}.includes('passed')")).await;
    stand
        .until("(words => words.includes('after the turn: finished') && !words.includes('not ended'))(document.querySelector('#steps').textContent)")
        .await;
    stand
        .until("document.querySelector('#steps-title').textContent.startsWith('3 steps')")
        .await;
    stand.close().await;
}
