//! The page of a trial: list of steps, address, keys, replay, a trial that is being played.

use agon_core::{Action, Observation};
use agon_testkit::{DesktopTrial, GeneratedRun, painted};
use serde_json::{Value, json};

use super::stand::{Stand, begun, folder, played};
use super::told::{Told, address, listed};
use crate::fixture;

const SIZE: (u32, u32) = (320, 200);
const RIGHT: char = '\u{e014}';
const LEFT: char = '\u{e012}';
const HOME: char = '\u{e011}';
const END: char = '\u{e010}';

/// The step that is shown, as the list, the panel and the address say it.
async fn is_shown(stand: &Stand, label: &str, n: u32) {
    is_looked_at(stand, label, &format!("'{n}'")).await;
}

/// The same of the newest step of a trial that is followed: the address names none, so that it stays the newest.
async fn is_followed(stand: &Stand, label: &str) {
    is_looked_at(stand, label, "null").await;
}

async fn is_looked_at(stand: &Stand, label: &str, named: &str) {
    let heading = match label {
        "Start" => "Before the first step".to_owned(),
        "End" => "After the turn".to_owned(),
        label => format!("Step {label}"),
    };
    for expression in [
        format!("document.querySelector('.step-row.current .step-n').textContent === '{label}'"),
        format!("document.querySelector('.panel-body h2').textContent === '{heading}'"),
        format!("new URLSearchParams(location.search).get('step') === {named}"),
    ] {
        stand.until(&expression).await;
    }
}

fn clicked(run: &GeneratedRun, steps: u32) {
    let mut trial = DesktopTrial::begin(run, 0, SIZE).unwrap();
    for _ in 0..steps {
        trial.step(run).unwrap();
    }
    trial.end(run, 0).unwrap();
    run.writer.flush().unwrap();
}

#[tokio::test]
async fn a_long_list_of_steps_is_drawn_where_it_is_looked_at() {
    let folder = folder();
    let run = begun(folder.path(), "long", 1);
    clicked(&run, 600);
    let stand = Stand::open(folder).await;
    stand.go(&address(&run, 0)).await;
    // Rows that are seen follow each other without a gap, and each has its picture.
    let whole = "(() => { const frame = document.querySelector('#steps-scroll').getBoundingClientRect(); \
         const rows = [...document.querySelectorAll('.step-row')].map(row => [row.getBoundingClientRect(), row.querySelector('img')]) \
           .filter(([box]) => box.bottom > frame.top && box.top < frame.bottom).sort((a, b) => a[0].top - b[0].top); \
         if (!rows.length || rows[0][0].top > frame.top + 1 || rows[rows.length - 1][0].bottom < frame.bottom - 9) return null; \
         if (rows.some(([box], at) => at && Math.abs(box.top - rows[at - 1][0].bottom) > 1)) return null; \
         return rows.every(([, image]) => image && image.complete && image.naturalWidth > 0) && rows.length; })()";
    let mut most = 0;
    for share in [0.0, 0.2, 0.21, 0.5, 0.77, 0.99, 1.0, 0.3] {
        stand
            .browser
            .js(&format!(
                "const list = document.querySelector('#steps-scroll'); list.scrollTop = {share} * (list.scrollHeight - list.clientHeight);"
            ))
            .await
            .unwrap();
        let rows = stand.until(whole).await.as_u64().unwrap();
        assert!(rows > 5, "{rows} rows fill the list");
        let drawn = stand
            .until("document.querySelectorAll('.step-row').length")
            .await;
        most = most.max(drawn.as_u64().unwrap());
    }
    assert!(most < 120, "{most} rows were drawn");
    stand
        .browser
        .js("const list = document.querySelector('#steps-scroll'); list.scrollTop = list.scrollHeight;")
        .await
        .unwrap();
    let last = stand
        .until("(rows => rows.includes('End') && rows)([...document.querySelectorAll('.step-row .step-n')].map(n => n.textContent))")
        .await;
    assert!(last.as_array().unwrap().contains(&json!("600")), "{last}");
    // A click opens the step, and a click with Ctrl is the browser's.
    stand
        .browser
        .js("[...document.querySelectorAll('.step-row')].find(row => row.querySelector('.step-n').textContent === '598').querySelector('a').click();")
        .await
        .unwrap();
    is_shown(&stand, "598", 598).await;
    stand.close().await;
}

#[tokio::test]
async fn a_link_opens_a_step_and_the_address_follows_the_keys() {
    let folder = folder();
    let run = begun(folder.path(), "keys", 1);
    clicked(&run, 300);
    let stand = Stand::open(folder).await;
    let trial = address(&run, 0);
    // Without a step: where the agent first does something.
    stand.go(&trial).await;
    is_shown(&stand, "1", 1).await;
    stand.go(&format!("{trial}?step=250")).await;
    is_shown(&stand, "250", 250).await;
    stand
        .until("(row => { const frame = document.querySelector('#steps-scroll').getBoundingClientRect(); const box = row.getBoundingClientRect(); return box.top >= frame.top && box.bottom <= frame.bottom; })(document.querySelector('.step-row.current'))")
        .await;
    let browser = &stand.browser;
    browser.press(RIGHT).await.unwrap();
    is_shown(&stand, "251", 251).await;
    browser.press(LEFT).await.unwrap();
    browser.press(LEFT).await.unwrap();
    is_shown(&stand, "249", 249).await;
    browser.press(HOME).await.unwrap();
    is_shown(&stand, "Start", 0).await;
    browser.press(LEFT).await.unwrap();
    is_shown(&stand, "Start", 0).await;
    browser.press(END).await.unwrap();
    is_shown(&stand, "End", 301).await;
    browser.press(RIGHT).await.unwrap();
    is_shown(&stand, "End", 301).await;
    browser.press(LEFT).await.unwrap();
    is_shown(&stand, "300", 300).await;
    // Many at once: the last one is what is shown.
    for _ in 0..12 {
        browser.press(LEFT).await.unwrap();
    }
    is_shown(&stand, "288", 288).await;
    // On the screen that it was done on, which is that of the step before.
    let shown = painted(287, SIZE.0, SIZE.1).blob.to_hex();
    let shown = format!("document.querySelector('.screen-image').src.endsWith('{shown}')");
    stand.until(&shown).await;
    let url = browser.url().await.unwrap();
    stand.go(&url[stand.url.len()..]).await;
    is_shown(&stand, "288", 288).await;
    stand.until(&shown).await;
    // Beyond the end is the end.
    stand.go(&format!("{trial}?step=99999")).await;
    is_shown(&stand, "End", 301).await;
    // Buttons of the player do the same.
    browser
        .click("[aria-label='Previous step (←)']")
        .await
        .unwrap();
    is_shown(&stand, "300", 300).await;
    browser
        .click("[aria-label='First step (Home)']")
        .await
        .unwrap();
    is_shown(&stand, "Start", 0).await;
    stand.close().await;
}

#[tokio::test]
async fn steps_are_found_by_words() {
    let folder = folder();
    let run = begun(folder.path(), "words", 1);
    let mut told = Told::begin(&run, 0);
    for n in 0..30 {
        told.pass(500);
        let name = if n % 10 == 7 { "needle" } else { "hay" };
        told.act(Action::run(format!("cat {name}{n}")), Observation::done());
    }
    told.end(Vec::new());
    let stand = Stand::open(folder).await;
    stand.go(&address(&run, 0)).await;
    stand.browser.press('/').await.unwrap();
    stand
        .until("document.activeElement.classList.contains('finder')")
        .await;
    stand.browser.fill(".finder", "needle").await.unwrap();
    let at = |n: u32, place: &str| {
        format!(
            "document.querySelector('.finder-words').textContent === '{place}' && document.querySelector('.step-row.current .step-n').textContent === '{n}'"
        )
    };
    stand.until(&at(8, "1/3")).await;
    for (n, place) in [(18, "2/3"), (28, "3/3"), (8, "1/3")] {
        stand.browser.fill(".finder", "\u{e007}").await.unwrap();
        stand.until(&at(n, place)).await;
    }
    // What is not searched is told.
    stand.browser.fill(".finder", "straw").await.unwrap();
    stand
        .until("document.querySelector('.finder-words').textContent === 'no action' && document.querySelector('.finder').placeholder === 'Find action'")
        .await;
    stand.close().await;
}

#[tokio::test]
async fn j_and_k_walk_the_list_that_the_trial_was_opened_from() {
    let folder = folder();
    played(folder.path(), "walked", 40, 3);
    let stand = Stand::open(folder).await;
    stand.go("/runs/walked").await;
    let query = "outcome=failed&sort=cost&desc=true";
    let page = stand
        .browser
        .js_async(&format!(
            "fetch('/api/runs/walked/trials?{query}').then(answer => answer.json()).then(arguments[0]);"
        ))
        .await
        .unwrap();
    let rows = page["rows"].as_array().unwrap();
    assert!(rows.len() > 5, "{page}");
    let path = |row: &Value| {
        format!(
            "/runs/walked/trial/{}/{}/{}",
            row["task"].as_str().unwrap(),
            row["epoch"],
            row["attempt"]
        )
    };
    stand.go(&format!("{}?{query}", path(&rows[0]))).await;
    for row in &rows[1..4] {
        stand.browser.press('j').await.unwrap();
        stand
            .until(&format!("location.pathname === '{}'", path(row)))
            .await;
        stand.ready().await;
        stand
            .until("['outcome=failed', 'sort=cost', 'desc=true'].every(part => location.search.includes(part))")
            .await;
    }
    // The address of a step keeps the list, too.
    stand.browser.press(RIGHT).await.unwrap();
    stand
        .until("location.search.includes('step=1') && location.search.includes('sort=cost')")
        .await;
    stand.browser.press('k').await.unwrap();
    stand
        .until(&format!("location.pathname === '{}'", path(&rows[2])))
        .await;
    stand.ready().await;
    // So does the way back to the run.
    let crumb = stand
        .until("document.querySelector('.crumbs li:nth-last-child(2) a').getAttribute('href')")
        .await;
    assert!(
        crumb.as_str().unwrap().contains("outcome=failed"),
        "{crumb}"
    );
    // The first has none before it, and says so.
    stand.go(&format!("{}?{query}", path(&rows[0]))).await;
    stand.browser.press('k').await.unwrap();
    stand
        .until("document.querySelector('#says').textContent.includes('no further trial')")
        .await;
    stand.close().await;
}

/// Steps at 0.5, 0.9, 1.3, ... s; then nothing for a minute and a half, and one more.
fn timed(run: &GeneratedRun) {
    let mut told = Told::begin(run, 0);
    told.pass(100);
    for n in 0..5 {
        told.pass(350);
        // Takes 50 ms itself.
        told.act(Action::run(format!("echo {n}")), Observation::done());
    }
    told.pass(90_000);
    told.act(Action::run("echo late"), Observation::done());
    // Long enough to be seen at sixteen times the speed, also on a busy machine.
    told.pass(6_000);
    told.end(Vec::new());
}

#[tokio::test]
async fn a_replay_keeps_the_recorded_time_and_skips_where_nothing_happens() {
    let folder = folder();
    let run = begun(folder.path(), "timed", 1);
    timed(&run);
    let stand = Stand::open(folder).await;
    stand.go(&address(&run, 0)).await;
    stand
        .browser
        .js("document.addEventListener('click', () => window.began = window.began || performance.now(), true); \
             window.seen = new Map(); const look = () => { const row = document.querySelector('.step-row.current .step-n'); \
             if (row && !window.seen.has(row.textContent)) window.seen.set(row.textContent, performance.now()); \
             requestAnimationFrame(look); }; look();")
        .await
        .unwrap();
    stand.browser.click(".player .play").await.unwrap();
    stand
        .until("document.querySelector('.player .play').getAttribute('aria-label').startsWith('Pause')")
        .await;
    // To the end, in less than the patience of a test: the wait of 90 s was left out.
    stand
        .until("window.seen.has('End') && document.querySelector('.player .play').getAttribute('aria-label').startsWith('Play')")
        .await;
    let seen = stand.browser.js("return [...window.seen];").await.unwrap();
    let seen = seen.as_array().unwrap();
    let names: Vec<&str> = seen.iter().map(|one| one[0].as_str().unwrap()).collect();
    assert_eq!(names, ["Start", "1", "2", "3", "4", "5", "6", "End"]);
    // Never sooner than recorded; a busy machine may only be slower.
    let began = stand.until("window.began").await.as_f64().unwrap();
    for (n, one) in seen.iter().enumerate().skip(1).take(5) {
        let since = one[1].as_f64().unwrap() - began;
        let recorded = 50.0 + 400.0 * n as f64;
        assert!(since > recorded - 30.0, "step {n} after {since} ms");
    }

    // The scrubber goes anywhere; keys of a browser move it, too.
    stand
        .browser
        .js("const range = document.querySelector('.scrub input'); range.value = 1000 * 1.35 / 98.2; range.dispatchEvent(new Event('input', {bubbles: true}));")
        .await
        .unwrap();
    stand
        .until("document.querySelector('.step-row.current .step-n').textContent === '3'")
        .await;
    stand
        .until("document.querySelector('.player-time').textContent.startsWith('1.3')")
        .await;
    stand
        .until("document.querySelector('.scrub input').getAttribute('aria-valuetext').startsWith('1.3')")
        .await;

    // Without skipping it waits like the agent did, 16 times as fast as asked for, which takes 5.6 s; the
    // choice is kept.
    stand.browser.click(".player-skip").await.unwrap();
    stand
        .browser
        .js("const speed = document.querySelector('.player-speed'); speed.value = '16'; speed.dispatchEvent(new Event('change'));")
        .await
        .unwrap();
    stand.browser.press('\u{e00c}').await.unwrap();
    stand
        .browser
        .js("document.activeElement.blur(); window.seen.clear();")
        .await
        .unwrap();
    stand.browser.press(' ').await.unwrap();
    stand.until("window.seen.has('6')").await;
    let waited = stand
        .browser
        .js("return window.seen.get('6') - window.seen.get('5');")
        .await
        .unwrap();
    let waited = waited.as_f64().unwrap();
    assert!(waited > 4_000.0, "{waited} ms");
    stand.go(&address(&run, 0)).await;
    stand
        .until("document.querySelector('.player-speed').value === '16' && !document.querySelector('.player-skip input').checked")
        .await;
    for (key, speed) in [(',', "8"), (',', "4"), ('.', "8")] {
        stand.browser.press(key).await.unwrap();
        stand
            .until(&format!(
                "document.querySelector('.player-speed').value === '{speed}'"
            ))
            .await;
    }
    stand.close().await;
}

#[tokio::test]
async fn a_trial_that_is_being_played_grows_without_a_reload() {
    let folder = folder();
    let run = begun(folder.path(), "live", 1);
    let mut trial = DesktopTrial::begin(&run, 0, SIZE).unwrap();
    for _ in 0..3 {
        trial.step(&run).unwrap();
    }
    let stand = Stand::open(folder).await;
    listed(&run).await;
    stand.go(&address(&run, 0)).await;
    stand
        .until("document.querySelector('#state').textContent.includes('running')")
        .await;
    stand
        .until(
            "document.querySelector('#follow button[aria-pressed=true]').textContent === 'Follow'",
        )
        .await;
    is_followed(&stand, "3").await;
    stand.browser.js("window.same = true;").await.unwrap();
    let shot = trial.step(&run).unwrap();
    is_followed(&stand, "4").await;
    stand
        .until(&format!(
            "document.querySelector('.screen-image').src.endsWith('{}')",
            shot.to_hex()
        ))
        .await;
    // Whoever looks at an earlier step stays there, and the list grows all the same.
    stand.browser.press(HOME).await.unwrap();
    is_shown(&stand, "Start", 0).await;
    for _ in 0..5 {
        trial.step(&run).unwrap();
    }
    stand
        .until("document.querySelector('#steps-title').textContent.startsWith('9 steps')")
        .await;
    is_shown(&stand, "Start", 0).await;
    stand
        .until("document.querySelector('#follow button[aria-pressed=false]')")
        .await;
    stand
        .browser
        .click("#follow button[aria-pressed=false]")
        .await
        .unwrap();
    is_followed(&stand, "9").await;
    trial.end(&run, 0).unwrap();
    run.writer.flush().unwrap();
    stand
        .until("document.querySelector('#state').textContent.includes('passed')")
        .await;
    stand
        .until("!document.querySelector('#follow button')")
        .await;
    stand.until("window.same").await;
    stand.close().await;
}

/// What faulted has not failed, and says so with the sign that it has everywhere.
#[tokio::test]
async fn the_end_of_a_trial_that_faulted_says_so() {
    let folder = folder();
    drop(fixture::small(&folder.path().join("small")));
    let stand = Stand::open(folder).await;
    stand.go("/runs/small/trial/web/search/2/1").await;
    stand.browser.press(END).await.unwrap();
    for place in [".step-row.current", ".turn.current"] {
        stand
            .until(&format!(
                "(end => end && end.querySelector('.badge.is-faulted')?.textContent === '!faulted' \
                 && !end.textContent.includes('failed') && !end.classList.contains('failed'))(document.querySelector('{place}'))"
            ))
            .await;
    }
    stand.close().await;
}

/// A module of the page, as a page takes something from it.
fn taken(name: &str) -> String {
    format!(
        "await import(document.querySelector('link[rel=modulepreload][href$=\"/{name}.js\"]').href)"
    )
}

#[tokio::test]
async fn an_answer_that_was_overtaken_takes_no_step_back() {
    let folder = folder();
    let run = begun(folder.path(), "late", 1);
    clicked(&run, 1);
    let stand = Stand::open(folder).await;
    stand.go(&address(&run, 0)).await;
    let script = format!(
        "const done = arguments[0]; (async () => {{ \
           const {{ StepIndex }} = {}; \
           const steps = (total, from) => ({{ total, from, rows: Array.from({{ length: total - from }}, \
             (_, at) => ({{ n: from + at, t: from + at, kind: from + at === total - 1 ? 'end' : 'run' }})) }}); \
           const asked = []; \
           const index = new StepIndex(steps(3, 0), () => new Promise((answer) => asked.push(answer))); \
           const all = [index.ask(0, 500), index.ask(1, 500), index.ask(0, 2)]; \
           asked[1](steps(5, 1)); await all[1]; \
           asked[0](steps(3, 0)); await all[0]; \
           const before = [index.total, index.rows.map((row) => row.kind).join()]; \
           asked[2]({{ ...steps(9, 0), rows: steps(9, 0).rows.slice(0, 2) }}); await all[2]; \
           return [...before, index.total, index.known(0, 3), index.known(0, 9)]; }})().then(done, (error) => done(String(error)));",
        taken("timeline")
    );
    let found = stand.browser.js_async(&script).await.unwrap();
    assert_eq!(found, json!([5, "run,run,run,run,end", 9, true, false]));
    stand.close().await;
}

/// A frame of the browser may have begun before the key was pressed.
#[tokio::test]
async fn a_replay_never_goes_back() {
    let folder = folder();
    let run = begun(folder.path(), "back", 1);
    clicked(&run, 1);
    let stand = Stand::open(folder).await;
    stand.go(&address(&run, 0)).await;
    let script = format!(
        "const done = arguments[0]; (async () => {{ \
           const {{ Player }} = {}; const told = []; \
           const index = {{ total: 0, onChange: () => {{}}, at: () => null }}; \
           const player = new Player({{ index, duration: () => 100, moments: () => [], marked: () => false, \
             at: (t) => told.push(t), step: () => {{}}, seekStep: () => {{}}, changed: () => {{}} }}); \
           player.set(50); player.play(); player.tick(player.last - 40); player.tick(player.last + 100); player.pause(); \
           return told; }})().then(done, (error) => done(String(error)));",
        taken("player")
    );
    let found = stand.browser.js_async(&script).await.unwrap();
    let found: Vec<f64> = serde_json::from_value(found).unwrap();
    assert!(found[0] >= 50.0 && found[1] > 50.0, "{found:?}");
    stand.close().await;
}
