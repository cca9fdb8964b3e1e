//! The page of a run that goes on: what ends is seen without a reload, and nobody loses their place.

use std::time::Duration;

use agon_testkit::DesktopTrial;
use serde_json::json;

use super::stand::{Stand, begun, folder};

#[tokio::test(flavor = "multi_thread")]
async fn a_trial_that_ends_appears_and_place_and_focus_stay() {
    let root = folder();
    let run = begun(root.path(), "going", 60);
    for n in 0..40 {
        run.play(n, 3).unwrap();
    }
    run.writer.flush().unwrap();
    let stand = Stand::open(root).await;
    stand.go("/runs/going").await;
    stand.mark().await;
    let at = |n: usize| run.manifest.tasks[n].task.to_string();
    let row = |n: usize| {
        format!(
            "[...document.querySelectorAll('#rows [role=row]')].find((row) => row.querySelector('[data-focus]')?.innerText === '{}')",
            at(n)
        )
    };
    stand
        .until("document.querySelector('#state').innerText.includes('live')")
        .await;
    stand
        .until("document.querySelector('#progress').innerText.includes('40 of 60')")
        .await;
    // Somebody reads in the middle of the list.
    stand
        .browser
        .js("document.querySelector('#rows').scrollIntoView(); window.scrollBy(0, 30 * 32 - 300)")
        .await
        .unwrap();
    stand.until(&format!("!!({})", row(35))).await;
    stand
        .browser
        .js(&format!(
            "({}).querySelector('a').focus({{ preventScroll: true }})",
            row(35)
        ))
        .await
        .unwrap();
    let place = format!("({}).getBoundingClientRect().top", row(35));
    let before = stand.until(&place).await.as_f64().unwrap();
    let revision = "Number(document.querySelector('#overview [data-revision]').dataset.revision)";
    let drawn = stand
        .browser
        .js(&format!("return {revision}"))
        .await
        .unwrap();

    for n in 40..43 {
        run.play(n, 3).unwrap();
    }
    stand
        .until("document.querySelector('#progress').innerText.includes('43 of 60')")
        .await;
    for n in 40..43 {
        let word = format!(
            "['passed', 'failed', 'faulted'].some((word) => ({})?.innerText.includes(word))",
            row(n)
        );
        stand.until(&word).await;
    }
    stand.until(&format!("{revision} > {drawn}")).await;
    stand
        .until("document.querySelector('.cards').innerText.includes('coverage')")
        .await;
    let held = stand
        .browser
        .js("return document.activeElement.innerText")
        .await
        .unwrap();
    assert_eq!(held, json!(at(35)));
    let after = stand.until(&place).await.as_f64().unwrap();
    assert!((before - after).abs() < 2.0, "{before} {after}");
    assert!(stand.is_marked().await);
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_run_is_told_and_what_runs_is_a_row() {
    let root = folder();
    let run = begun(root.path(), "going", 3);
    run.play(0, 1).unwrap();
    run.play(1, 1).unwrap();
    let mut trial = DesktopTrial::begin(&run, 2, (320, 240)).unwrap();
    run.clock.advance(Duration::from_secs(2));
    trial.step(&run).unwrap();
    run.writer.flush().unwrap();
    let stand = Stand::open(root).await;
    stand.go("/runs/going").await;
    stand.mark().await;
    stand
        .until("document.querySelector('#running').innerText === '1'")
        .await;
    stand.until("[...document.querySelectorAll('#rows .badge')].some((one) => one.innerText.includes('running'))").await;
    let steps = "(() => { const at = [...document.querySelectorAll('#heads [role=columnheader]')].findIndex((head) => head.innerText === 'Steps'); \
        return [...document.querySelectorAll('#rows [role=row]')].find((row) => row.innerText.includes('running')).children[at].innerText; })()";
    assert_eq!(stand.until(steps).await, json!("–"));
    stand
        .until("document.querySelector('.caveats')?.innerText.includes('1 running, 0 missing')")
        .await;
    let link = stand
        .until("document.querySelector('#to-live').getAttribute('href')")
        .await;
    assert_eq!(link, json!("/runs/going/live"));
    trial.end(&run, 2).unwrap();
    stand
        .until("document.querySelector('#progress').innerText.includes('3 of 3')")
        .await;
    drop(run);
    stand
        .until("document.querySelector('#state').innerText.includes('complete')")
        .await;
    stand
        .until("document.querySelector('#to-live').hidden")
        .await;
    stand.until("![...document.querySelectorAll('#rows .badge')].some((one) => one.innerText.includes('running'))").await;
    stand
        .until("document.querySelector('.cards').innerText.includes('coverage 100.0 %')")
        .await;
    assert!(stand.is_marked().await);
    stand.browser.press('l').await.unwrap();
    stand
        .until("location.pathname === '/runs/going/live'")
        .await;
    stand.ready().await;
    stand.close().await;
}

/// A list that was asked for before a trial ended comes after one that was asked for later.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_overtaken_is_not_the_last_word() {
    let root = folder();
    let run = begun(root.path(), "going", 8);
    let pass = |n: usize| {
        let trial = DesktopTrial::begin(&run, n, (320, 240)).unwrap();
        trial.end(&run, n).unwrap();
    };
    pass(0);
    let stand = Stand::open(root).await;
    stand.go("/runs/going").await;
    stand
        .until("document.querySelector('#progress').innerText.includes('1 of 8')")
        .await;
    stand
        .browser
        .js("const ask = window.fetch; window.answers = 0; \
             const released = new Promise((done) => (window.release = done)); \
             window.fetch = async (...asked) => { \
               const answer = await ask(...asked); \
               if (!String(asked[0]).includes('outcome=passed')) return answer; \
               window.answers += 1; \
               if (window.answers === 1) await released; \
               return answer; }")
        .await
        .unwrap();
    stand.click_text(".outcome-group button", "passed").await;
    stand.until("window.answers === 1").await;
    pass(1);
    stand
        .until("document.querySelector('#progress').innerText.includes('2 of 8')")
        .await;
    stand.until("window.answers >= 2").await;
    stand.browser.js("window.release()").await.unwrap();
    stand
        .shows(&[0, 1].map(|n| run.manifest.tasks[n].task.to_string()))
        .await;
    stand.close().await;
}

/// What stands still looks like a run in which nothing happens, unless it is told.
#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_that_is_gone_is_missed() {
    let root = folder();
    let run = begun(root.path(), "going", 2);
    run.play(0, 1).unwrap();
    run.writer.flush().unwrap();
    let mut stand = Stand::open(root).await;
    stand.go("/runs/going").await;
    stand
        .until("document.querySelector('#progress').innerText.includes('1 of 2')")
        .await;
    stand.lose().await;
    stand.until("!document.querySelector('#lost').hidden").await;
    stand.find_again().await;
    stand.until("document.querySelector('#lost').hidden").await;
    stand.close().await;
}
