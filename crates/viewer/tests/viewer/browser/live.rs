//! The page of running trials, with a real writer beside it: tiles come, show what happens, and go; a person
//! stops a trial; a viewer that is gone is missed.

use agon_core::observation::ObservationKind;
use agon_core::{Action, Clock, Observation, SystemClock};
use agon_store::{Order, requests, running};
use agon_testkit::{DesktopTrial, GeneratedRun};
use serde_json::json;

use super::stand::{Stand, begun, folder};
use super::told::Told;

const SIZE: (u32, u32) = (640, 400);

/// Its clock says what a page thinks of as now.
fn begun_now(root: &std::path::Path, trials: u64) -> GeneratedRun {
    let run = begun(root, "going", trials);
    let behind = SystemClock::default().now().duration_since(run.clock.now());
    run.clock.advance(behind.try_into().unwrap());
    run
}

async fn watched(trials: u64) -> (Stand, GeneratedRun) {
    let root = folder();
    let run = begun_now(root.path(), trials);
    let stand = Stand::open(root).await;
    stand.go("/runs/going/live").await;
    stand.mark().await;
    witness(&stand).await;
    (stand, run)
}

/// Remembers what tiles said: one whose trial has ended is soon gone.
async fn witness(stand: &Stand) {
    stand
        .browser
        .js("const last = new Map(); window.said = []; \
             const look = () => { for (const tile of document.querySelectorAll('#tiles .tile')) { \
               const name = tile.getAttribute('aria-label'); \
               const over = tile.querySelector('.tile-over')?.textContent || ''; \
               const words = name + ': ' + tile.querySelector('.tag').textContent + ' ' + over; \
               if (last.get(name) !== words) window.said.push(words); \
               last.set(name, words); } }; \
             new MutationObserver(look).observe(document.querySelector('#tiles'), \
               { subtree: true, childList: true, characterData: true });")
        .await
        .unwrap();
}

/// Whether the tile of a task has said this at any time.
fn said(run: &GeneratedRun, n: usize, words: &str) -> String {
    let name = &run.manifest.tasks[n].name;
    format!("window.said.some((one) => one.startsWith('{name}: ') && one.includes('{words}'))")
}

async fn tiles(stand: &Stand, count: usize) {
    stand
        .until(&format!(
            "document.querySelectorAll('#tiles .tile').length === {count}"
        ))
        .await;
}

/// Of the tile of a task: what is found in it.
fn of(run: &GeneratedRun, n: usize, what: &str) -> String {
    let name = &run.manifest.tasks[n].name;
    format!("document.querySelector('[aria-label=\"{name}\"] {what}')")
}

#[tokio::test(flavor = "multi_thread")]
async fn tiles_come_show_what_happens_and_go() {
    let (stand, run) = watched(4).await;
    stand
        .until(
            "document.querySelector('#nothing').innerText.includes('Nothing to be seen right now')",
        )
        .await;
    let mut one = DesktopTrial::begin(&run, 0, SIZE).unwrap();
    // Nobody does anything more: it is seen once it has lasted.
    tiles(&stand, 1).await;
    stand
        .until(&format!(
            "{}?.naturalWidth === 640",
            of(&run, 0, "img[data-shot]")
        ))
        .await;
    let mut last = String::new();
    for _ in 0..12 {
        last = one.step(&run).unwrap().to_string();
    }
    let newest = |n: usize, shot: &str| {
        let image = of(&run, n, &format!("img[data-shot=\"{shot}\"]"));
        format!("{image}?.naturalWidth === 640")
    };
    stand.until(&newest(0, &last)).await;
    let foot = format!(
        "{}.innerText.replace(/\\s+/g, ' ')",
        of(&run, 0, ".tile-foot")
    );
    stand
        .until(&format!("{foot}.includes('Step 12 of 30')"))
        .await;
    stand
        .until(&format!(
            "{}.style.width === '40%'",
            of(&run, 0, ".tile-foot .meter i")
        ))
        .await;
    stand
        .until(&format!("/Time [0-9.]+ s of 5 min/.test({foot})"))
        .await;
    let does = stand
        .until(&format!("{}.innerText", of(&run, 0, ".tile-does")))
        .await;
    assert!(does.as_str().unwrap().starts_with("click "), "{does}");
    // Time goes by, also where nothing happens.
    let shown = stand.until(&foot).await;
    stand.until(&format!("{foot} !== {shown}")).await;

    let mut two = DesktopTrial::begin(&run, 1, SIZE).unwrap();
    tiles(&stand, 2).await;
    let other = two.step(&run).unwrap().to_string();
    stand.until(&newest(1, &other)).await;
    stand
        .until("document.querySelector('#legend').innerText.includes('2 running')")
        .await;

    one.end(&run, 0).unwrap();
    stand.until(&said(&run, 0, "passed")).await;
    stand
        .until("document.querySelector('#tally').innerText === '1 of 4 trials'")
        .await;
    tiles(&stand, 1).await;
    let lately = stand.text("#ended").await;
    assert!(lately.contains(&run.manifest.tasks[0].name), "{lately}");
    two.end(&run, 1).unwrap();
    tiles(&stand, 0).await;
    stand
        .until("document.querySelector('#legend').innerText.includes('2 passed')")
        .await;
    // Those that are over in a moment are told at least.
    run.play(2, 1).unwrap();
    stand
        .until("document.querySelector('#tally').innerText === '3 of 4 trials'")
        .await;
    stand
        .until("document.querySelectorAll('#ended li').length === 3")
        .await;
    drop(run);
    stand
        .until("document.querySelector('#state').innerText.includes('stopped')")
        .await;
    stand
        .until("document.querySelector('#nothing').innerText.includes('Nobody plays this run')")
        .await;
    assert!(stand.is_marked().await);
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_stops_a_trial_after_being_asked_once_more() {
    let (stand, run) = watched(2).await;
    let mut trial = DesktopTrial::begin(&run, 0, SIZE).unwrap();
    let other = DesktopTrial::begin(&run, 1, SIZE).unwrap();
    tiles(&stand, 2).await;
    let stop = "[aria-label='Stop Generated task number 0']";
    stand.browser.click(stop).await.unwrap();
    stand.until("document.querySelector('#stop').open").await;
    let what = stand.text("#stop-what").await;
    assert_eq!(what, "Generated task number 0 (browser/task_00000)");
    // Enter must not stop anything by chance.
    stand.browser.press('\u{e007}').await.unwrap();
    stand.until("!document.querySelector('#stop').open").await;
    assert_eq!(requests(&run.folder, 0).unwrap().0, []);

    stand.browser.click(stop).await.unwrap();
    stand
        .browser
        .js("document.querySelector('#stop-by').value = ''")
        .await
        .unwrap();
    stand.browser.fill("#stop-by", "Ada").await.unwrap();
    stand.browser.click("#stop-now").await.unwrap();
    stand.until("!document.querySelector('#stop').open").await;
    stand
        .until(&format!(
            "{}?.innerText === 'stopping'",
            of(&run, 0, ".tag")
        ))
        .await;
    stand
        .until(&format!("document.querySelector(\"{stop}\").disabled"))
        .await;
    let (asked, _) = requests(&run.folder, 0).unwrap();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].order, Order::Stop);
    assert_eq!(
        (
            asked[0].task.to_string().as_str(),
            asked[0].epoch,
            asked[0].attempt
        ),
        ("browser/task_00000", 1, 1)
    );
    assert_eq!(asked[0].by, "Ada");
    let (playing, _) = running(&run.folder, 0).unwrap();
    let meant = playing.iter().find(|one| one.task == asked[0].task);
    assert_eq!(asked[0].began, Some(meant.unwrap().began));
    // It goes on until whoever plays has heard of it; the other one is not meant.
    trial.step(&run).unwrap();
    stand
        .until(&format!(
            "{}?.innerText === 'stopping'",
            of(&run, 0, ".tag")
        ))
        .await;
    stand
        .until(&format!("{}?.innerText === 'running'", of(&run, 1, ".tag")))
        .await;
    // Who comes later sees it too, and is asked by the name that was given.
    stand.go("/runs/going/live").await;
    witness(&stand).await;
    stand
        .until(&format!(
            "{}?.innerText === 'stopping'",
            of(&run, 0, ".tag")
        ))
        .await;
    stand.browser.press('j').await.unwrap();
    stand.browser.press('j').await.unwrap();
    stand.browser.press('s').await.unwrap();
    stand.until("document.querySelector('#stop').open").await;
    let held = stand.browser.js("return [document.querySelector('#stop-by').value, document.querySelector('#stop-what').innerText]").await.unwrap();
    assert_eq!(
        held,
        json!(["Ada", "Generated task number 1 (calculator/task_00001)"])
    );
    stand.browser.press('\u{e00c}').await.unwrap();
    stand.until("!document.querySelector('#stop').open").await;

    trial.end(&run, 0).unwrap();
    stand.until(&said(&run, 0, "stopped")).await;
    tiles(&stand, 1).await;
    // One that ends while somebody thinks about it needs no answer any more.
    stand.browser.click("#tiles .danger").await.unwrap();
    stand.until("document.querySelector('#stop').open").await;
    other.end(&run, 1).unwrap();
    stand.until("!document.querySelector('#stop').open").await;
    assert_eq!(requests(&run.folder, 0).unwrap().0.len(), 1);
    stand.close().await;
}

/// The trial has ended before the answer to the order comes.
#[tokio::test(flavor = "multi_thread")]
async fn a_late_answer_does_not_stop_what_has_ended() {
    let (stand, run) = watched(2).await;
    let trial = DesktopTrial::begin(&run, 0, SIZE).unwrap();
    tiles(&stand, 1).await;
    stand
        .browser
        .js("const ask = window.fetch; \
             const released = new Promise((done) => (window.release = done)); \
             window.fetch = async (...asked) => { \
               const answer = await ask(...asked); await released; return answer; }")
        .await
        .unwrap();
    stand.browser.click("#tiles .danger").await.unwrap();
    stand.browser.click("#stop-now").await.unwrap();
    stand.until(&said(&run, 0, "stopping")).await;
    trial.end(&run, 0).unwrap();
    stand.until(&said(&run, 0, "passed")).await;
    // It is waited for what comes of the order.
    stand
        .until(
            "document.querySelector('#stop').open && document.querySelector('#stop-now').disabled",
        )
        .await;
    stand.browser.js("window.release()").await.unwrap();
    stand.until("!document.querySelector('#stop').open").await;
    stand
        .until("window.said.at(-1).includes(': stopped ') && window.said.at(-1).includes('passed')")
        .await;
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_that_is_gone_is_missed_and_found_again() {
    let (mut stand, run) = watched(2).await;
    let mut trial = DesktopTrial::begin(&run, 0, SIZE).unwrap();
    tiles(&stand, 1).await;
    stand.until("document.querySelector('#lost').hidden").await;
    stand.lose().await;
    stand.until("!document.querySelector('#lost').hidden").await;
    assert!(stand.text("#lost").await.contains("No connection"));
    // What is on the page stays; an order that can't be given is told.
    tiles(&stand, 1).await;
    stand.browser.click("#tiles .danger").await.unwrap();
    stand.browser.click("#stop-now").await.unwrap();
    stand
        .until("document.querySelector('#stop-failed').innerText.includes('agon view')")
        .await;
    stand.browser.press('\u{e00c}').await.unwrap();

    stand.find_again().await;
    stand.until("document.querySelector('#lost').hidden").await;
    trial.step(&run).unwrap();
    stand
        .until("document.querySelector('.tile-foot').innerText.includes('1 of 30')")
        .await;
    assert!(stand.is_marked().await);
    // Nobody answered for a while.
    let missed = stand.browser.complaints().await.unwrap();
    assert!(
        missed
            .iter()
            .all(|one| one.contains("ERR_") || one.contains("Failed to load")),
        "{missed:?}"
    );
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_trials_of_a_shell_fit_with_their_commands_and_what_these_print() {
    let (stand, run) = watched(8).await;
    let mut all: Vec<Told<'_>> = (0..8).map(|n| Told::begin(&run, n)).collect();
    tiles(&stand, 8).await;
    let print = |text: &str| Observation::new(ObservationKind::Output, text);
    for (n, told) in all.iter_mut().enumerate() {
        let command = format!("make part{n} {}", "of a very long command ".repeat(8));
        told.act(
            Action::run(command),
            print(&format!("first\n\nsecond {n}\nthird\nlast of {n}\n")),
        );
    }
    for n in 0..8 {
        stand
            .until(&format!(
                "{}?.textContent.startsWith('$ make part{n} of')",
                of(&run, n, ".tile-last")
            ))
            .await;
        let printed = format!(
            "[...{}.children].map((line) => line.textContent).join('|') === 'second {n}|third|last of {n}'",
            of(&run, n, ".tile-output")
        );
        stand.until(&printed).await;
    }
    // All of them are seen at once, each whole, and say what they do once.
    let seen = stand
        .browser
        .js(
            "return [innerWidth, innerHeight, ...document.querySelectorAll('.tile')].map((one) => \
             one.getBoundingClientRect ? one.getBoundingClientRect().bottom : one)",
        )
        .await
        .unwrap();
    let seen: Vec<f64> = serde_json::from_value(seen).unwrap();
    assert!(seen[0] <= 1440.0 && seen[1] <= 900.0, "{seen:?}");
    assert_eq!(seen.len(), 10);
    assert!(seen[2..].iter().all(|bottom| *bottom < seen[1]), "{seen:?}");
    let said = stand
        .until("document.querySelector('.tile').innerText.split('$ make').length - 1")
        .await;
    assert_eq!(said, json!(1));

    // What is printed is nobody's markup, and not of any size.
    let hostile = format!(
        "<img src=x onerror=window.pwned=1>\u{202e}\u{1b}[31m\n{}\n",
        "w".repeat(100_000)
    );
    all[3].act(Action::run("cat evil"), print(&hostile));
    let output = of(&run, 3, ".tile-output");
    stand
        .until(&format!(
            "{output}.textContent.includes('<img src=x onerror=window.pwned=1><202E>␛[31m')"
        ))
        .await;
    let shape = stand
        .browser
        .js(&format!(
            "return [{output}.querySelectorAll('img').length, {output}.textContent.length < 500, \
             {output}.scrollWidth <= {}.clientWidth, window.pwned === undefined]",
            of(&run, 3, ".tile-screen")
        ))
        .await
        .unwrap();
    assert_eq!(shape, json!([0, true, true, true]));
    // A command that has printed nothing yet shows nothing of the last one.
    all[3].tell(
        agon_core::Source::Agent,
        agon_core::EventBody::Action(Action::run("sleep 60")),
    );
    stand
        .until(&format!(
            "{}.textContent === '$ sleep 60' && {output}.textContent === ''",
            of(&run, 3, ".tile-last")
        ))
        .await;
    stand.close().await;
}
