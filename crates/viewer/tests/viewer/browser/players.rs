//! Players that play in real time by themselves: no action of theirs is on record, but what they reacted to is.

use agon_core::input::{InputEvent, InputKind};
use agon_core::realtime::{Percentiles, PlayStats, Reaction, Reactions};
use agon_core::screen::{ScreenMoment, ScreenRecord};
use agon_core::{Action, EventBody, Source};
use agon_testkit::{GeneratedRun, painted};
use agon_viewer::{Library, export};
use serde_json::{Value, json};

use super::accessible::axe;
use super::stand::{Stand, begun, folder};
use super::told::{Told, address};

const SIZE: (u32, u32) = (320, 200);
/// Ten frames a second.
const FRAMES: u32 = 50;
const RIGHT: char = '\u{e014}';

fn frame(told: &mut Told<'_>, shade: u32) {
    let screen = told.screen(painted(shade, SIZE.0, SIZE.1), SIZE, (10, 10));
    let record = ScreenRecord {
        what: ScreenMoment::Frame,
        screen,
        around: None,
    };
    told.tell(Source::Environment, EventBody::Screen(record));
}

fn pressed(told: &mut Told<'_>, t: f64) {
    let key = |t, kind| InputEvent {
        key: Some("Left".to_owned()),
        ..InputEvent::new(t, kind)
    };
    let input = vec![
        key(t, InputKind::KeyPress),
        key(t + 0.05, InputKind::KeyRelease),
    ];
    told.tell(Source::Environment, EventBody::Input(input));
}

fn reacted(told: &mut Told<'_>, steps: u64, answers: &[(f64, f64)]) {
    let answers = answers.iter().map(|&(t, latency)| Reaction { t, latency });
    let body = Reactions {
        steps,
        actions: steps / 2,
        answers: answers.collect(),
    };
    told.tell(Source::Agent, EventBody::Reacted(body));
}

/// Five seconds, in pictures from `first` on: three answers around 2 s, and 648 steps in the end.
fn play(run: &GeneratedRun, first: u32) {
    let mut told = Told::begin(run, 0);
    for n in 0..FRAMES {
        frame(&mut told, first + n);
        if n == 22 {
            pressed(&mut told, 2.0);
            let answers = [(2.0, 0.012), (2.03, 0.0025), (2.06, 0.04)];
            reacted(&mut told, 300, &answers);
        }
        told.pass(100);
    }
    let stats = PlayStats {
        played: 4.9,
        steps: 648,
        latency: Some(Percentiles {
            p50: 0.012,
            p90: 0.025,
            p99: 0.04,
            max: 0.04,
        }),
        ..PlayStats::default()
    };
    told.tell(Source::Harness, EventBody::Play(stats));
    told.took(648);
    told.end(Vec::new());
}

/// An agent that takes turns, filmed all the while: it acts at 1 s and at 3 s.
fn take_turns(run: &GeneratedRun, first: u32) {
    let mut told = Told::begin(run, 0);
    for n in 0..FRAMES {
        frame(&mut told, first + n);
        if n == 10 || n == 30 {
            let keys = "Left".to_owned();
            told.tell(
                Source::Agent,
                EventBody::Action(Action::Key { keys, hold: None }),
            );
        }
        told.pass(100);
    }
    told.tell(Source::Harness, EventBody::Play(PlayStats::default()));
    told.took(2);
    told.end(Vec::new());
}

const ROWS: &str = "document.querySelector('.axis-table tbody') && [...document.querySelectorAll('.axis-table tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))";

fn answer(t: &str, late: &str) -> Value {
    json!([
        t,
        "answer",
        format!("{late} after the frame that it answers")
    ])
}

/// The page of the trial, wherever it comes from.
async fn shows_latency(stand: &Stand) {
    let label = stand
        .until("document.querySelector('.axis-canvas')?.getAttribute('aria-label')")
        .await;
    let label = label.as_str().unwrap();
    assert!(
        label.contains("3 answered frames, median latency 12 ms"),
        "{label}"
    );
    stand.browser.click(".axis summary").await.unwrap();
    let rows = stand.until(ROWS).await;
    let expected = json!([
        ["2.000 s", "key press", "Left"],
        answer("2.000 s", "12 ms"),
        answer("2.030 s", "2.5 ms"),
        ["2.050 s", "key release", "Left"],
        answer("2.060 s", "40 ms"),
    ]);
    assert_eq!(rows, expected);
    // A moment says what was answered while its frame was on the screen.
    stand
        .browser
        .click(".axis-table tbody tr:nth-child(2) button")
        .await
        .unwrap();
    let panel = stand
        .until("(panel => panel.includes('Frame 21 of 50') && panel)(document.querySelector('.panel-body').textContent)")
        .await;
    let panel = panel.as_str().unwrap();
    for words in ["answers3", "median12 ms", "longest40 ms"] {
        assert!(panel.contains(words), "{words}: {panel}");
    }
    let facts = stand.browser.text("#facts").await.unwrap();
    assert!(facts.contains("648"), "{facts}");
}

#[tokio::test]
async fn the_latency_of_a_player_is_on_the_axis_in_the_table_and_told_of_a_moment() {
    let folder = folder();
    let run = begun(folder.path(), "player", 1);
    play(&run, 0);
    let stand = Stand::open(folder).await;
    stand.go(&address(&run, 0)).await;
    shows_latency(&stand).await;
    // Its lane is the third and twice as high: three bars, the last of which is the highest.
    let bars = stand
        .browser
        .js("const canvas = document.querySelector('.axis-canvas'); const pen = canvas.getContext('2d'); \
             const ratio = canvas.width / canvas.clientWidth; const room = canvas.clientWidth - 100; \
             const end = Number(document.querySelector('.player-time').textContent.split('/')[1].replace(' s', '')); \
             return [2.0, 2.03, 2.06, 3.0].map((t) => { const x = Math.round(92 + room * t / end); \
               const part = pen.getImageData((x - 1) * ratio, 57 * ratio, 2 * ratio, 30 * ratio).data; \
               let inked = 0; for (let y = 0; y < 30; y += 1) if (part[y * ratio * 2 * ratio * 4 + 3] > 200) inked += 1; return inked; });")
        .await
        .unwrap();
    let bars: Vec<u32> = serde_json::from_value(bars).unwrap();
    assert!(
        bars[1] < bars[0] && bars[0] < bars[2] && bars[3] == 0,
        "{bars:?}"
    );
    // One scale: the scrubber has none of its own.
    let marks = stand
        .browser
        .js("const canvas = document.querySelector('.scrub-ticks'); \
             const part = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data; \
             return part.some((value) => value > 0);")
        .await
        .unwrap();
    assert_eq!(marks, json!(false));
    stand
        .until("document.querySelector('#tab-Step').textContent.includes('Frame')")
        .await;
    let faults = stand.browser.accessibility_faults(&axe()).await.unwrap();
    assert!(faults.is_empty(), "{faults:#?}");
    stand.close().await;
}

#[tokio::test]
async fn an_export_shows_the_same_of_a_player() {
    let folder = folder();
    let run = begun(folder.path(), "player", 1);
    play(&run, 0);
    let cache = folder.path().join(".cache");
    let library = Library::new(vec![run.folder.path().to_owned()], cache.clone()).unwrap();
    let site = folder.path().join(".site");
    export(&library.runs().unwrap(), &cache, &site, |_| {}).unwrap();
    let stand = Stand::open(folder).await;
    let page = format!("file://{}{}/index.html", site.display(), address(&run, 0));
    stand.browser.open(&page).await.unwrap();
    stand.ready().await;
    shows_latency(&stand).await;
    stand.close().await;
}

/// The pictures that the columns show.
fn shown(pictures: &[u32]) -> String {
    let blobs = pictures
        .iter()
        .map(|n| painted(*n, SIZE.0, SIZE.1).blob.to_hex());
    let blobs: Vec<String> = blobs.collect();
    let found = "[...document.querySelectorAll('.lane .screen-image')].map((image) => image.src.split('/').pop()).join()";
    format!("{found} === '{}'", blobs.join(","))
}

fn says(words: &str) -> String {
    format!("document.querySelector('#where').innerText === '{words}'")
}

#[tokio::test]
async fn side_by_side_a_play_in_real_time_shows_the_frame_of_the_moment() {
    let folder = folder();
    for (name, first) in [("one", 0), ("two", 100)] {
        play(&begun(folder.path(), name, 1), first);
    }
    take_turns(&begun(folder.path(), "turns", 1), 200);
    let stand = Stand::open(folder).await;
    let page = "/compare/browser/task_00000?run=one&run=two&run=turns";
    stand.go(&format!("{page}&sync=time&at=2539")).await;
    stand.until(&shown(&[25, 125, 225])).await;
    let heads = stand
        .until("[...document.querySelectorAll('.lane-head')].map((head) => head.innerText.match(/\\d+ steps/)[0])")
        .await;
    assert_eq!(heads, json!(["648 steps", "648 steps", "2 steps"]));
    stand
        .until("document.querySelector('.lane-events').innerText.includes('Frame 26 of 50')")
        .await;
    // On: to where the next frame, or the next step, begins.
    stand.browser.press(RIGHT).await.unwrap();
    stand.until(&shown(&[26, 126, 226])).await;
    for (at, pictures) in [(0, [0, 100, 200]), (4200, [42, 142, 242])] {
        let slide = format!(
            "const slider = document.querySelector('#place'); slider.value = {at}; \
             slider.dispatchEvent(new Event('input', {{bubbles: true}}));"
        );
        stand.browser.js(&slide).await.unwrap();
        stand.until(&shown(&pictures)).await;
    }
    // Without a word about it, plays in real time go together by time; by step they go frame by frame.
    stand.go(page).await;
    stand
        .until("document.querySelector('#sync [data-sync=time]').getAttribute('aria-pressed') === 'true'")
        .await;
    stand
        .go("/compare/browser/task_00000?run=one&run=two&sync=step")
        .await;
    stand.until(&says("frame 1 of 50")).await;
    stand.browser.press(RIGHT).await.unwrap();
    stand.until(&says("frame 2 of 50")).await;
    stand.until(&shown(&[1, 101])).await;
    stand.go(&format!("{page}&sync=step&at=1")).await;
    stand.until(&says("place 2 of 50")).await;
    // The screen before the first action.
    stand.until(&shown(&[1, 101, 210])).await;
    // The trial opens at the frame.
    let open = stand
        .until("document.querySelector('.lane-head a[title]').getAttribute('href')")
        .await;
    stand.go(open.as_str().unwrap()).await;
    stand
        .until("document.querySelector('.panel-body h2')?.textContent === 'Frame 2 of 50'")
        .await;
    stand.close().await;
}

#[tokio::test]
async fn a_player_that_is_watched_tells_its_steps_and_its_last_key() {
    let folder = folder();
    let run = begun(folder.path(), "going", 1);
    let mut manifest = run.manifest.clone();
    // As a task for players has it: so many that there is no limit.
    manifest.tasks[0].steps = 1_000_000;
    run.folder.write_manifest(&manifest).unwrap();
    let mut told = Told::begin(&run, 0);
    frame(&mut told, 0);
    pressed(&mut told, 0.5);
    reacted(&mut told, 226, &[(0.5, 0.012)]);
    super::told::listed(&run).await;
    let stand = Stand::open(folder).await;
    stand.go("/runs/going/live").await;
    stand
        .until("document.querySelector('.tile-does')?.innerText === 'pressed Left'")
        .await;
    let foot = "document.querySelector('.tile-foot').innerText.replace(/\\s+/g, ' ')";
    stand
        .until(&format!("{foot}.startsWith('Step 226 Time')"))
        .await;
    reacted(&mut told, 451, &[]);
    stand
        .until(&format!("{foot}.startsWith('Step 451 Time')"))
        .await;
    // The page of the trial says the same.
    stand.go(&address(&run, 0)).await;
    let facts = "document.querySelector('#facts').innerText.replace(/\\s+/g, ' ')";
    stand.until(&format!("{facts}.includes('steps 451')")).await;
    reacted(&mut told, 900, &[]);
    stand.until(&format!("{facts}.includes('steps 900')")).await;
    stand.close().await;
}
