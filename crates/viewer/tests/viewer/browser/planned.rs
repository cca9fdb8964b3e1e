//! The page of a trial that is only planned: it becomes that of its attempt when there is one.

use agon_testkit::DesktopTrial;

use super::stand::{Stand, begun, folder};
use super::told::address;

const SIZE: (u32, u32) = (320, 200);
const STATE: &str = "document.querySelector('#state').textContent";

#[tokio::test(flavor = "multi_thread")]
async fn it_becomes_the_page_of_its_attempt_when_that_begins() {
    let root = folder();
    let run = begun(root.path(), "going", 3);
    let stand = Stand::open(root).await;
    stand.go("/runs/going").await;
    let attempt = address(&run, 1);
    let planned = format!("{}/0?sort=task", attempt.strip_suffix("/1").unwrap());
    stand.go(&planned).await;
    stand.until(&format!("{STATE}.includes('missing')")).await;
    let before = stand.until("history.length").await;
    // Another one that begins is not meant.
    let other = DesktopTrial::begin(&run, 0, SIZE).unwrap();
    let mut trial = DesktopTrial::begin(&run, 1, SIZE).unwrap();
    trial.step(&run).unwrap();
    stand
        .until(&format!("location.pathname === '{attempt}'"))
        .await;
    stand.ready().await;
    stand.until(&format!("{STATE}.includes('running')")).await;
    // The list that it was opened from stays, and nobody has to go back twice.
    stand.until("location.search.includes('sort=task')").await;
    assert_eq!(stand.until("history.length").await, before);
    // It is followed from there on.
    trial.step(&run).unwrap();
    stand
        .until("document.querySelector('.step-row.current .step-n').textContent === '2'")
        .await;
    trial.end(&run, 1).unwrap();
    stand.until(&format!("{STATE}.includes('passed')")).await;
    stand.browser.back().await.unwrap();
    stand.until("location.pathname === '/runs/going'").await;
    drop(other);
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_over_in_a_moment_is_found_too() {
    let root = folder();
    let run = begun(root.path(), "going", 2);
    let mut stand = Stand::open(root).await;
    let attempt = address(&run, 0);
    let planned = format!("{}/0", attempt.strip_suffix("/1").unwrap());
    stand.go(&planned).await;
    stand.until(&format!("{STATE}.includes('missing')")).await;
    run.play(0, 1).unwrap();
    run.writer.flush().unwrap();
    let ended = "['passed', 'failed', 'faulted'].some((word) => document.querySelector('#state').textContent.includes(word))";
    stand
        .until(&format!("location.pathname === '{attempt}'"))
        .await;
    stand.until(ended).await;
    // Also while nobody answered.
    let attempt = address(&run, 1);
    let planned = format!("{}/0", attempt.strip_suffix("/1").unwrap());
    stand.go(&planned).await;
    stand.until(&format!("{STATE}.includes('missing')")).await;
    stand.lose().await;
    run.play(1, 1).unwrap();
    run.writer.flush().unwrap();
    stand.find_again().await;
    stand
        .until(&format!("location.pathname === '{attempt}'"))
        .await;
    stand.until(ended).await;
    stand.browser.complaints().await.unwrap();
    stand.close().await;
}
