//! One task of two runs side by side: what is said of the place at which both are.

use agon_testkit::{DesktopTrial, painted};

use super::stand::{Stand, begun, folder};

const RIGHT: char = '\u{e014}';
const END: char = '\u{e010}';

#[tokio::test(flavor = "multi_thread")]
async fn the_place_is_the_start_a_step_of_all_or_the_end() {
    let root = folder();
    for (name, steps) in [("one", 4), ("two", 2)] {
        let run = begun(root.path(), name, 1);
        let mut trial = DesktopTrial::begin(&run, 0, (320, 200)).unwrap();
        for _ in 0..steps {
            trial.step(&run).unwrap();
        }
        trial.end(&run, 0).unwrap();
        run.writer.flush().unwrap();
    }
    let stand = Stand::open(root).await;
    stand
        .go("/compare/browser/task_00000?run=one&run=two")
        .await;
    let says = |words: &str| {
        format!(
            "document.querySelector('#where').innerText === '{words}' && document.querySelector('#place').getAttribute('aria-valuetext') === '{words}'"
        )
    };
    stand.until(&says("start")).await;
    stand
        .until("['#previous', '#next'].map((name) => document.querySelector(name).getAttribute('aria-label')).join() === 'Back,On'")
        .await;
    for n in 1..=4 {
        stand.browser.press(RIGHT).await.unwrap();
        stand.until(&says(&format!("step {n} of 4"))).await;
    }
    stand.browser.press(RIGHT).await.unwrap();
    stand.until(&says("end")).await;
    // There is nothing beyond it.
    stand.browser.press(RIGHT).await.unwrap();
    stand.browser.press(END).await.unwrap();
    stand.until(&says("end")).await;
    stand.browser.click("#previous").await.unwrap();
    stand.until(&says("step 4 of 4")).await;
    // Each picture is of its own run and step; the shorter one is at its end.
    let alts =
        "[...document.querySelectorAll('.lane .screen-image')].map((one) => one.alt).join('; ')";
    stand
        .until(&format!(
            "{alts} === 'Screen of run A before step 4; Screen of run B before step 3'"
        ))
        .await;
    // Before and after are what they are called: screen n is what came of step n.
    for (key, one, two) in [('-', 3, 2), ('b', 4, 2), ('b', 3, 2)] {
        if key == 'b' {
            stand.browser.press(key).await.unwrap();
        }
        let [one, two] = [one, two].map(|n| painted(n, 320, 200).blob.to_hex());
        stand
            .until(&format!(
                "[...document.querySelectorAll('.lane .screen-image')].map((image) => image.src.split('/').pop()).join() === '{one},{two}'"
            ))
            .await;
    }
    stand.close().await;
}
