//! A run whose process is gone, and that is played again: pages that are open tell it as it is.

use std::time::Duration;

use agon_testkit::DesktopTrial;

use super::stand::{Stand, begun, folder};
use super::told::{address, listed};

const SIZE: (u32, u32) = (320, 200);
const STATE: &str = "document.querySelector('#state').textContent";

fn title(text: &str) -> String {
    format!("document.querySelector('#steps-title').textContent.startsWith('{text}')")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_runs_sees_a_run_stop_and_go_on() {
    let root = folder();
    let path = root.path().to_owned();
    let run = begun(&path, "going", 2);
    run.play(0, 1).unwrap();
    let mut stand = Stand::open(root).await;
    stand.go("/").await;
    stand.mark().await;
    let says = |word: &str| {
        format!("document.querySelector('#rows .badge')?.textContent.includes('{word}')")
    };
    stand.until(&says("live")).await;
    drop(run);
    stand.until(&says("stopped")).await;
    let run = begun(&path, "going", 2);
    stand.until(&says("live")).await;
    // One that was not there at all.
    drop(run);
    stand.until(&says("stopped")).await;
    let other = begun(&path, "another", 2);
    stand
        .until("document.querySelectorAll('#rows .badge').length === 2")
        .await;
    // The page says that nobody answers, for as long as that is so.
    stand.lose().await;
    stand.until("!document.querySelector('#lost').hidden").await;
    stand.find_again().await;
    stand.until("document.querySelector('#lost').hidden").await;
    assert!(stand.is_marked().await);
    drop(other);
    stand.browser.complaints().await.unwrap();
    stand.close().await;
}

/// A machine that was busy for a moment says nothing about what a look costs.
#[tokio::test(flavor = "multi_thread")]
async fn one_slow_answer_does_not_keep_the_list_of_runs_waiting() {
    let root = folder();
    let run = begun(root.path(), "going", 2);
    run.play(0, 1).unwrap();
    let stand = Stand::open(root).await;
    stand.go("/").await;
    stand
        .browser
        .js(
            "const ask = window.fetch; window.answers = 0; window.fetch = async (...asked) => { \
               const answer = await ask(...asked); window.answers += 1; \
               if (window.answers === 1) await new Promise((done) => setTimeout(done, 2000)); \
               return answer; }",
        )
        .await
        .unwrap();
    stand.until("window.answers > 0").await;
    drop(run);
    stand
        .until("document.querySelector('#rows .badge')?.textContent.includes('stopped')")
        .await;
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_a_trial_follows_its_run_and_begins_anew_with_it() {
    let root = folder();
    let path = root.path().to_owned();
    let run = begun(&path, "killed", 1);
    let mut trial = DesktopTrial::begin(&run, 0, SIZE).unwrap();
    for _ in 0..9 {
        trial.step(&run).unwrap();
    }
    let stand = Stand::open(root).await;
    listed(&run).await;
    let page = address(&run, 0);
    stand.go(&page).await;
    stand.mark().await;
    stand.until(&format!("{STATE}.includes('running')")).await;
    stand.until(&title("9 ")).await;
    stand
        .until("document.querySelector('#follow .danger')")
        .await;
    // Who is asked just now is asked no longer.
    stand.browser.click("#follow .danger").await.unwrap();
    stand.until("document.querySelector('#stop').open").await;

    drop(trial);
    drop(run);
    stand.until(&format!("{STATE}.includes('missing')")).await;
    stand.until("!document.querySelector('#stop').open").await;
    stand
        .until("!document.querySelector('#follow button') && !document.querySelector('.live-tag')")
        .await;
    stand
        .until("document.querySelector('#problems').textContent.includes('never came to its end')")
        .await;
    assert!(stand.is_marked().await);

    let run = begun(&path, "killed", 1);
    run.clock.advance(Duration::from_secs(3600));
    let mut trial = DesktopTrial::begin(&run, 0, SIZE).unwrap();
    for _ in 0..3 {
        trial.step(&run).unwrap();
    }
    stand.until(&format!("{STATE}.includes('running')")).await;
    stand.until(&title("3 ")).await;
    stand.ready().await;
    stand
        .until("/steps\\s*3(?!\\d)/.test(document.querySelector('#facts').textContent)")
        .await;
    stand
        .until("document.querySelector('#problems').hidden")
        .await;
    // It is followed, and all that is told is of the new play: 0.3 s and three steps of 0.1 s.
    stand
        .until("document.querySelector('#follow button[aria-pressed=true]')")
        .await;
    stand
        .until("document.querySelector('.player').textContent.includes('/ 0.60 s')")
        .await;
    trial.step(&run).unwrap();
    stand.until(&title("4 ")).await;
    stand
        .until("document.querySelector('.step-row.current .step-n').textContent === '4'")
        .await;
    trial.end(&run, 0).unwrap();
    run.writer.flush().unwrap();
    stand.until(&format!("{STATE}.includes('passed')")).await;
    stand.close().await;
}

/// Nobody saw that it was gone: it is played again at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_trial_that_is_begun_anew_while_nobody_looks_is_not_taken_for_the_old_one() {
    let root = folder();
    let path = root.path().to_owned();
    let run = begun(&path, "killed", 1);
    let mut trial = DesktopTrial::begin(&run, 0, SIZE).unwrap();
    for _ in 0..9 {
        trial.step(&run).unwrap();
    }
    let mut stand = Stand::open(root).await;
    listed(&run).await;
    stand.go(&address(&run, 0)).await;
    stand.until(&title("9 ")).await;
    stand.lose().await;
    stand.until("!document.querySelector('#lost').hidden").await;
    drop(trial);
    drop(run);
    let run = begun(&path, "killed", 1);
    run.clock.advance(Duration::from_secs(3600));
    let mut trial = DesktopTrial::begin(&run, 0, SIZE).unwrap();
    trial.step(&run).unwrap();
    listed(&run).await;
    stand.find_again().await;
    stand.until(&title("1 ")).await;
    stand.until("document.querySelector('#lost').hidden").await;
    stand.until(&format!("{STATE}.includes('running')")).await;
    // Nobody answered for a while.
    stand.browser.complaints().await.unwrap();
    stand.close().await;
}
