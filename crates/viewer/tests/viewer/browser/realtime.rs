//! A trial that was played in real time: frames, keys, looks and latency on one axis.

use agon_core::input::{InputEvent, InputKind};
use agon_core::realtime::{Percentiles, PlayStats};
use agon_core::screen::{ScreenMoment, ScreenRecord};
use agon_core::sight::Look;
use agon_core::{Action, EventBody, Observation, Source};
use agon_testkit::{GeneratedRun, painted};
use serde_json::json;

use super::stand::{Stand, begun, folder};
use super::told::{Told, address, listed};

const SIZE: (u32, u32) = (320, 200);
/// Ten frames a second.
const FRAMES: u32 = 80;

fn key(t: f64, kind: InputKind, name: &str) -> InputEvent {
    InputEvent {
        key: Some(name.to_owned()),
        ..InputEvent::new(t, kind)
    }
}

/// Eight seconds of play: a key is held at 2 s, a button at 4 s, and the screen is judged at 6 s.
fn play(run: &GeneratedRun) {
    let mut told = Told::begin(run, 0);
    for n in 0..FRAMES {
        let screen = told.screen(painted(n, SIZE.0, SIZE.1), SIZE, (10, 10));
        let record = ScreenRecord {
            what: if n == 0 {
                ScreenMoment::Ready
            } else {
                ScreenMoment::Frame
            },
            screen,
            around: None,
        };
        told.tell(Source::Environment, EventBody::Screen(record));
        if n == 25 {
            // Reported later than it happened.
            let input = vec![
                key(2.0, InputKind::KeyPress, "Left"),
                key(2.25, InputKind::KeyRelease, "Left"),
            ];
            told.tell(Source::Environment, EventBody::Input(input));
        }
        if n == 42 {
            let button = |t, kind| InputEvent {
                button: Some(1),
                x: Some(50),
                y: Some(60),
                ..InputEvent::new(t, kind)
            };
            let input = vec![
                button(4.0, InputKind::ButtonPress),
                button(4.1, InputKind::ButtonRelease),
            ];
            told.tell(Source::Environment, EventBody::Input(input));
        }
        if n == 60 {
            let picture = painted(n, SIZE.0, SIZE.1);
            let look = Look {
                test: "screen_text number after SCORE".to_owned(),
                holds: true,
                found: "SCORE 1250".to_owned(),
                value: Some(1250.0),
                confidence: Some(0.97),
                doubt: None,
                picture,
            };
            told.tell(Source::Harness, EventBody::Look(look));
        }
        told.pass(100);
    }
    let stats = PlayStats {
        played: 7.9,
        steps: 200,
        actions: 4,
        actions_per_second: 0.5,
        frames_seen: 79,
        frames_missed: 1,
        latency: Some(Percentiles {
            p50: 0.012,
            p90: 0.025,
            p99: 0.04,
            max: 0.041,
        }),
        ..PlayStats::default()
    };
    told.tell(Source::Harness, EventBody::Play(stats));
    told.end(Vec::new());
}

/// Clicks the axis at a time.
fn click_at(t: f64) -> String {
    // The gutter holds the names of the lanes (axis.js).
    format!(
        "const canvas = document.querySelector('.axis-canvas'); const box = canvas.getBoundingClientRect(); \
         const room = box.width - 92 - 8; const x = box.left + 92 + room * {t} / AXIS_END; \
         for (const kind of ['pointerdown', 'pointerup']) canvas.dispatchEvent(new PointerEvent(kind, \
         {{clientX: x, clientY: box.top + 30, bubbles: true, pointerId: 1, isPrimary: true}}));"
    )
}

const END: &str =
    "Number(document.querySelector('.player-time').textContent.split('/')[1].replace(' s', ''))";

#[tokio::test]
async fn frames_keys_and_looks_stand_on_one_axis() {
    let folder = folder();
    let run = begun(folder.path(), "play", 1);
    play(&run);
    let stand = Stand::open(folder).await;
    stand.go(&address(&run, 0)).await;
    stand
        .until("!!document.querySelector('.axis-canvas')")
        .await;
    let label = stand
        .until("document.querySelector('.axis-canvas').getAttribute('aria-label')")
        .await;
    let label = label.as_str().unwrap();
    assert!(
        label.contains("80 frames") && label.contains("4 input events") && label.contains("1 look"),
        "{label}"
    );
    // Frames are listed in place of steps, few of them in the page.
    stand
        .until("document.querySelector('#steps-title').textContent === '80 frames'")
        .await;
    let drawn = stand
        .until("document.querySelectorAll('#steps .step-row').length")
        .await;
    assert!(drawn.as_u64().unwrap() < 60, "{drawn}");

    // Something is drawn in the lane of every kind: the key, the button, frames and the look.
    let inked = stand
        .browser
        .js("const canvas = document.querySelector('.axis-canvas'); const pen = canvas.getContext('2d'); \
             const ratio = canvas.width / canvas.clientWidth; const lanes = []; \
             for (let y = 18; y + 18 <= canvas.clientHeight; y += 18) { \
               const part = pen.getImageData(94 * ratio, (y + 5) * ratio, canvas.width - 110 * ratio, 8 * ratio).data; \
               const seen = new Set(); for (let i = 0; i < part.length; i += 4) if (part[i + 3] > 200) seen.add([part[i], part[i + 1], part[i + 2]].join()); \
               lanes.push(seen.size); } return lanes;")
        .await
        .unwrap();
    assert_eq!(inked.as_array().unwrap().len(), 4, "{inked}");
    assert!(
        inked.as_array().unwrap().iter().all(|lane| lane != 0),
        "{inked}"
    );

    // A click seeks: the frame of that moment is shown, in the list, on the screen and in the address.
    let end = stand.until(END).await.to_string();
    stand
        .browser
        .js(&click_at(6.03).replace("AXIS_END", &end))
        .await
        .unwrap();
    stand
        .until("document.querySelector('.step-row.current .step-n').textContent === '61'")
        .await;
    stand
        .until("document.querySelector('.panel-body h2').textContent === 'Frame 61 of 80'")
        .await;
    let panel = stand.browser.text(".panel-body").await.unwrap();
    assert!(
        panel.contains("screen_text number after SCORE") && panel.contains("1250"),
        "{panel}"
    );
    assert!(
        panel.contains("12.0 ms") && panel.contains("41.0 ms"),
        "{panel}"
    );
    stand.until("location.search.includes('t=6.0')").await;
    let blob = painted(60, SIZE.0, SIZE.1).blob.to_hex();
    stand
        .until(&format!(
            "document.querySelector('.screen-image').src.endsWith('{blob}')"
        ))
        .await;

    // The same in the list.
    stand.browser.press('\u{e011}').await.unwrap();
    stand
        .until("document.querySelector('.step-row.current .step-n').textContent === '1'")
        .await;
    stand.browser.press('\u{e014}').await.unwrap();
    stand
        .until("document.querySelector('.step-row.current .step-n').textContent === '2'")
        .await;
    // Presses belong to the frame that was on the screen.
    stand
        .browser
        .js(&click_at(2.03).replace("AXIS_END", &end))
        .await
        .unwrap();
    let panel = stand
        .until("(panel => panel.includes('Frame 21 of 80') && panel)(document.querySelector('.panel-body').textContent)")
        .await;
    let panel = panel.as_str().unwrap();
    assert!(
        panel.contains("Left") && panel.contains("250 ms"),
        "{panel}"
    );

    // A link opens at the same frame.
    stand.until("location.search.includes('t=2.0')").await;
    let url = stand.browser.url().await.unwrap();
    stand.go(&url[stand.url.len()..]).await;
    stand
        .until("document.querySelector('.panel-body h2') && document.querySelector('.panel-body h2').textContent === 'Frame 21 of 80'")
        .await;
    stand.close().await;
}

#[tokio::test]
async fn the_axis_has_a_table_for_those_who_can_t_see_it() {
    let folder = folder();
    let run = begun(folder.path(), "play", 1);
    play(&run);
    let stand = Stand::open(folder).await;
    stand.go(&address(&run, 0)).await;
    stand.browser.click(".axis summary").await.unwrap();
    let rows = stand
        .until("document.querySelector('.axis-table tbody') && [...document.querySelectorAll('.axis-table tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
        .await;
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 5, "{rows:?}");
    assert_eq!(rows[0], json!(["2.000 s", "key press", "Left"]));
    assert_eq!(rows[1], json!(["2.250 s", "key release", "Left"]));
    assert_eq!(rows[2], json!(["4.000 s", "button press", "1"]));
    // Nothing stands before what it is.
    assert_eq!(rows[4][1], "look");
    assert!(
        rows[4][2].as_str().unwrap().contains("holds: 1250"),
        "{rows:?}"
    );
    // Its times are buttons that seek.
    stand
        .browser
        .click(".axis-table tbody tr:nth-child(3) button")
        .await
        .unwrap();
    stand
        .until("document.querySelector('.step-row.current .step-n').textContent === '41'")
        .await;
    // By keys: zoom in, and the table can be reached.
    let reached = stand
        .until("document.querySelector('.axis-canvas').tabIndex === 0 && document.querySelector('.axis-table').tabIndex === 0")
        .await;
    assert_eq!(reached, json!(true));
    stand.close().await;
}

#[tokio::test]
async fn a_play_is_replayed_frame_by_frame_in_its_own_time() {
    let folder = folder();
    let run = begun(folder.path(), "play", 1);
    play(&run);
    let stand = Stand::open(folder).await;
    stand.go(&address(&run, 0)).await;
    stand
        .until("!!document.querySelector('.axis-canvas')")
        .await;
    stand
        .until("document.querySelector('.step-row.current .step-n').textContent === '1'")
        .await;
    // When which frame was first seen, by the page's own clock.
    stand
        .browser
        .js("document.addEventListener('keydown', () => window.began = window.began || performance.now(), true); \
             window.seen = new Map(); const look = () => { const row = document.querySelector('.step-row.current .step-n'); \
             if (row && !window.seen.has(row.textContent)) window.seen.set(row.textContent, performance.now()); \
             requestAnimationFrame(look); }; look();")
        .await
        .unwrap();
    stand.browser.press(' ').await.unwrap();
    stand
        .until("window.seen.has('15') || window.seen.has('16') || window.seen.has('17')")
        .await;
    stand.browser.press(' ').await.unwrap();
    stand
        .until(
            "document.querySelector('.player .play').getAttribute('aria-label').startsWith('Play')",
        )
        .await;
    let seen = stand
        .browser
        .js("return [...window.seen].map(([n, at]) => [Number(n), at]);")
        .await
        .unwrap();
    let seen = seen.as_array().unwrap();
    // In order, and never sooner than it was: a busy machine may only be slower.
    for pair in seen.windows(2) {
        assert!(pair[0][0].as_u64() < pair[1][0].as_u64(), "{seen:?}");
    }
    let began = stand.until("window.began").await.as_f64().unwrap();
    for one in &seen[1..] {
        let since = one[1].as_f64().unwrap() - began;
        let recorded = 100.0 * (one[0].as_f64().unwrap() - 1.0);
        assert!(since > recorded - 30.0, "{one} after {since} ms");
    }
    stand.close().await;
}

#[tokio::test]
async fn a_play_is_watched_while_it_goes_on() {
    let folder = folder();
    let run = begun(folder.path(), "watched", 1);
    let mut told = Told::begin(&run, 0);
    let frame = |told: &mut Told<'_>, n: u32| {
        let screen = told.screen(painted(n, SIZE.0, SIZE.1), SIZE, (10, 10));
        let record = ScreenRecord {
            what: ScreenMoment::Frame,
            screen,
            around: None,
        };
        told.tell(Source::Environment, EventBody::Screen(record));
        told.pass(100);
    };
    for n in 0..10 {
        frame(&mut told, n);
    }
    let stand = Stand::open(folder).await;
    listed(&run).await;
    stand.go(&address(&run, 0)).await;
    stand.browser.js("window.same = true;").await.unwrap();
    let shown = |n: u32| {
        let blob = painted(n, SIZE.0, SIZE.1).blob.to_hex();
        format!("document.querySelector('.screen-image').src.endsWith('{blob}')")
    };
    for n in [20, 35] {
        for more in n - 5..=n {
            frame(&mut told, more);
        }
        stand.until(&shown(n)).await;
    }
    told.tell(Source::Harness, EventBody::Play(PlayStats::default()));
    told.end(Vec::new());
    stand
        .until("document.querySelector('#state').textContent.includes('passed')")
        .await;
    stand
        .until("!!document.querySelector('.axis-canvas') && document.querySelector('#steps-title').textContent === '22 frames'")
        .await;
    stand.until("window.same").await;
    stand.close().await;
}

#[tokio::test]
async fn an_action_is_told_with_how_long_after_the_frame_that_it_answers_it_came() {
    let folder = folder();
    let run = begun(folder.path(), "acted", 1);
    let mut told = Told::begin(&run, 0);
    let mut given = 0;
    for n in 0..10 {
        let screen = told.screen(painted(n, SIZE.0, SIZE.1), SIZE, (10, 10));
        if n == 2 {
            // What the agent is given; the frames after it are for those who look.
            let mut seen = Observation::ready("");
            seen.screen = Some(screen);
            given = told.tell(Source::Environment, EventBody::Observation(seen));
        } else {
            let record = ScreenRecord {
                what: ScreenMoment::Frame,
                screen,
                around: None,
            };
            told.tell(Source::Environment, EventBody::Screen(record));
        }
        told.pass(60);
        if n == 4 {
            let keys = "Left".to_owned();
            let action = EventBody::Action(Action::Key { keys, hold: None });
            told.answer(given, Source::Agent, action);
            told.took(1);
        }
        told.pass(40);
    }
    told.tell(Source::Harness, EventBody::Play(PlayStats::default()));
    told.end(Vec::new());
    let stand = Stand::open(folder).await;
    stand.go(&address(&run, 0)).await;
    stand.browser.click(".axis summary").await.unwrap();
    let rows = stand
        .until("document.querySelector('.axis-table tbody') && [...document.querySelectorAll('.axis-table tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
        .await;
    let late = "step 1, 260 ms after the frame that it answers";
    assert_eq!(rows, json!([["0.460 s", "action", late]]));
    stand
        .until("document.querySelector('.axis-canvas').getAttribute('aria-label').includes('median latency 260 ms')")
        .await;
    stand.close().await;
}
