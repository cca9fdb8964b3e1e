//! A transcript of which only a part is in the page: whatever is jumped to, read or still being played, its
//! steps follow each other.

use agon_core::observation::ObservationKind;
use agon_core::{Action, Observation};

use super::stand::{Stand, begun, folder};
use super::told::{Told, address, listed};

/// Numbers of the steps that are in the page, if each follows the one before it and one is marked.
fn ordered(wanted: &str) -> String {
    format!(
        "(() => {{ const turns = [...document.querySelectorAll('.turn')].map(turn => Number(turn.dataset.n)); \
         return turns.length && turns.every((n, at) => !at || n === turns[at - 1] + 1) && ({wanted}) && turns; }})()"
    )
}

fn step(told: &mut Told<'_>, n: u32) {
    told.pass(200);
    let text: String = (0..n % 12).map(|line| format!("{line} of {n}\n")).collect();
    let seen = Observation::new(ObservationKind::Output, text);
    told.act(Action::run(format!("echo {n}")), seen);
}

#[tokio::test]
async fn jumps_and_scrolling_keep_the_order_of_steps() {
    let folder = folder();
    let run = begun(folder.path(), "order", 1);
    let mut told = Told::begin(&run, 0);
    for n in 1..=240 {
        step(&mut told, n);
    }
    told.end(Vec::new());
    let stand = Stand::open(folder).await;
    stand.go(&address(&run, 0)).await;
    let browser = &stand.browser;
    // Far jumps, one right after the other, while further steps are on their way.
    let jumps = [('\u{e010}', 241), ('\u{e011}', 0)];
    for _ in 0..4 {
        for (key, n) in jumps {
            browser.press(key).await.unwrap();
            stand
                .until(&ordered(&format!(
                    "turns.includes({n}) && document.querySelector('.turn.current') && document.querySelector('.turn.current').dataset.n === '{n}'"
                )))
                .await;
        }
        for (key, _) in jumps {
            browser.press(key).await.unwrap();
        }
    }
    stand
        .until("document.querySelector('.step-row.current .step-n').textContent === 'Start'")
        .await;
    // To the end by scrolling: what comes into sight becomes the step that is shown.
    let mut most = 0;
    for _ in 0..400 {
        let at = browser
            .js("const all = document.querySelector('.transcript'); all.scrollTop += 600; \
                 return [document.querySelectorAll('.turn').length, !!document.querySelector('.turn[data-n=\"241\"]')];")
            .await
            .unwrap();
        // Further steps come while somebody scrolls.
        stand
            .until(&ordered("(all => turns.includes(241) || all.scrollHeight - all.clientHeight - all.scrollTop > 300)(document.querySelector('.transcript'))"))
            .await;
        most = most.max(at[0].as_u64().unwrap());
        if at[1] == true {
            break;
        }
    }
    assert!(most <= 90, "{most} steps were in the page");
    stand.until(&ordered("turns.includes(241)")).await;
    stand
        .until("Number(document.querySelector('.step-row.current .step-n').textContent) > 200 || document.querySelector('.step-row.current .step-n').textContent === 'End'")
        .await;
    stand.close().await;
}

#[tokio::test]
async fn a_transcript_grows_while_it_is_read() {
    let folder = folder();
    let run = begun(folder.path(), "grows", 1);
    let mut told = Told::begin(&run, 0);
    for n in 1..=3 {
        step(&mut told, n);
    }
    let stand = Stand::open(folder).await;
    listed(&run).await;
    stand.go(&address(&run, 0)).await;
    stand.until(&ordered("turns.includes(3)")).await;
    stand.browser.js("window.same = true;").await.unwrap();
    for n in 4..=30 {
        step(&mut told, n);
        if n % 9 == 0 {
            stand.until(&ordered(&format!("turns.includes({n})"))).await;
        }
    }
    stand
        .until(&ordered("document.querySelector('.turn.current') && document.querySelector('.turn.current').dataset.n === '30'"))
        .await;
    // Whoever reads the beginning stays there.
    stand.browser.press('\u{e011}').await.unwrap();
    stand
        .until(&ordered(
            "document.querySelector('.turn.current').dataset.n === '0'",
        ))
        .await;
    for n in 31..=40 {
        step(&mut told, n);
    }
    stand
        .until("document.querySelector('#steps-title').textContent.startsWith('40 ')")
        .await;
    stand
        .until(&ordered(
            "document.querySelector('.turn.current').dataset.n === '0'",
        ))
        .await;
    told.end(Vec::new());
    stand
        .until("document.querySelector('#state').textContent.includes('passed')")
        .await;
    stand.browser.press('\u{e010}').await.unwrap();
    stand.until(&ordered("turns.includes(41)")).await;
    stand.until("window.same").await;
    stand.close().await;
}

/// Answers come late and in any order, and somebody's hand is on the wheel all the time.
#[tokio::test]
async fn steps_that_come_from_two_sides_are_there_once() {
    let folder = folder();
    let run = begun(folder.path(), "late", 1);
    let mut told = Told::begin(&run, 0);
    step(&mut told, 1);
    let stand = Stand::open(folder).await;
    stand.browser.delay_answers(7).await.unwrap();
    listed(&run).await;
    stand.go(&address(&run, 0)).await;
    let scrolls = "setInterval(() => document.querySelector('.transcript')?.dispatchEvent(new Event('scroll')), 5);";
    stand.browser.js(scrolls).await.unwrap();
    for n in 2..=40 {
        step(&mut told, n);
        if n % 3 == 0 {
            let title =
                format!("document.querySelector('#steps-title').textContent.startsWith('{n} ')");
            stand.until(&title).await;
        }
    }
    stand
        .until(&ordered(
            "document.querySelector('.turn.current')?.dataset.n === '40'",
        ))
        .await;
    told.end(Vec::new());
    stand.close().await;
}
