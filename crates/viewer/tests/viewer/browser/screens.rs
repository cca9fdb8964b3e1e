//! What an agent did, drawn on the screen on which it did it, and what changed there.

use agon_core::Action;
use agon_core::action::Point;
use agon_testkit::{GeneratedRun, rectangles};
use serde_json::{Value, json};

use super::stand::{Stand, begun, folder};
use super::told::{Told, address};

const SIZE: (u32, u32) = (1280, 800);
const GROUND: [u8; 3] = [40, 60, 80];

fn click(x: i32, y: i32, count: u8) -> Action {
    Action::Click {
        x,
        y,
        button: Default::default(),
        count,
        hold: None,
    }
}

/// Clicks in the corners and the middle, on a screen of this size that stays as it is.
fn clicks(run: &GeneratedRun, size: (u32, u32), places: &[(i32, i32)]) {
    let mut told = Told::begin(run, 0);
    let screen = |told: &Told<'_>| told.screen(rectangles(size, GROUND, &[]), size, (5, 5));
    told.ready(screen(&told));
    for (x, y) in places {
        told.pass(1_000);
        let seen = screen(&told);
        told.act_on_screen(click(*x, *y, 1), seen);
    }
    told.end(Vec::new());
}

/// Where the middle of a shape is on the picture, in the picture's own pixels.
fn middle(selector: &str, size: (u32, u32)) -> String {
    format!(
        "(() => {{ const mark = document.querySelector('{selector}'); \
         const image = document.querySelector('.screen-image'); \
         if (!mark || !image || !image.complete || image.hidden) return null; \
         const [a, b] = [mark.getBoundingClientRect(), image.getBoundingClientRect()]; \
         if (!b.width) return null; const scale = b.width / {}; \
         return {{x: (a.left + a.width / 2 - b.left) / scale, y: (a.top + a.height / 2 - b.top) / scale, scale}}; }})()",
        size.0
    )
}

fn near(found: &Value, x: i32, y: i32) {
    let away = |name: &str, to: i32| (found[name].as_f64().unwrap() - f64::from(to)).abs();
    // Pixels of the screen that is looked at.
    let scale = found["scale"].as_f64().unwrap();
    assert!(
        away("x", x) * scale < 2.0 && away("y", y) * scale < 2.0,
        "{found} is not {x},{y}"
    );
}

#[tokio::test]
async fn a_ring_is_where_the_agent_clicked_at_any_size() {
    let places = [
        (640, 400),
        (3, 3),
        (1276, 797),
        (200, 730),
        (1240, 420),
        (1100, 60),
    ];
    let folder = folder();
    let run = begun(folder.path(), "clicks", 1);
    clicks(&run, SIZE, &places);
    let stand = Stand::open(folder).await;
    for (at, (x, y)) in places.iter().enumerate() {
        stand
            .go(&format!("{}?step={}", address(&run, 0), at + 1))
            .await;
        let seen = stand.until(&middle(".mark-sheet .mark-dot", SIZE)).await;
        near(&seen, *x, *y);
        assert!(seen["scale"].as_f64().unwrap() < 1.0, "it fits: {seen}");
        // What is said of it does not run out of the picture.
        stand
            .until("(([words, image]) => words.left >= image.left - 1 && words.right <= image.right + 1 && words.top >= image.top - 1 && words.bottom <= image.bottom + 1)(['.mark-caption', '.screen-image'].map((name) => document.querySelector(name).getBoundingClientRect()))")
            .await;
        stand.browser.press('z').await.unwrap();
        stand
            .until("document.querySelector('.screen-area.zoomed')")
            .await;
        let seen = stand.until(&middle(".mark-sheet .mark-dot", SIZE)).await;
        near(&seen, *x, *y);
        assert_eq!(seen["scale"], json!(1), "as large as it is");
        stand.browser.press('z').await.unwrap();
        stand
            .until("!document.querySelector('.screen-area.zoomed')")
            .await;
    }
    // A smaller window: the picture gets smaller, and the ring goes with it.
    stand.browser.resize(1024, 700).await.unwrap();
    stand.until("innerWidth <= 1024").await;
    stand
        .until("Math.abs(document.querySelector('.screen-box').clientWidth - document.querySelector('.screen-area').clientWidth) < 3")
        .await;
    let seen = stand.until(&middle(".mark-sheet .mark-dot", SIZE)).await;
    near(&seen, 1100, 60);
    // Who wants it as large as it is wants that of the next one, too.
    stand.browser.press('z').await.unwrap();
    stand.go(&format!("{}?step=1", address(&run, 0))).await;
    stand
        .until("document.querySelector('.screen-area.zoomed')")
        .await;
    stand.close().await;
}

#[tokio::test]
async fn a_small_screen_is_drawn_larger_with_its_marks() {
    let size = (160, 100);
    let folder = folder();
    let run = begun(folder.path(), "small", 1);
    clicks(&run, size, &[(79, 49), (150, 4)]);
    let stand = Stand::open(folder).await;
    for (step, x, y) in [(1, 79, 49), (2, 150, 4)] {
        stand.go(&format!("{}?step={step}", address(&run, 0))).await;
        let seen = stand.until(&middle(".mark-sheet .mark-dot", size)).await;
        near(&seen, x, y);
        let scale = seen["scale"].as_f64().unwrap();
        assert!(scale >= 2.0 && scale.fract() == 0.0, "{scale}");
    }
    stand.close().await;
}

#[tokio::test]
async fn drags_keys_text_and_scrolling_are_drawn() {
    let folder = folder();
    let run = begun(folder.path(), "marks", 1);
    let mut told = Told::begin(&run, 0);
    let seen = told.screen(rectangles(SIZE, GROUND, &[]), SIZE, (300, 200));
    told.ready(seen.clone());
    let point = |x, y| Point { x, y };
    let acts = [
        Action::Drag {
            path: vec![point(100, 100), point(400, 300), point(700, 650)],
            button: Default::default(),
            seconds: None,
        },
        Action::Type {
            text: "Hello \u{202e}<b>world</b>\n".to_owned(),
        },
        Action::Key {
            keys: "ctrl+s Return".to_owned(),
            hold: None,
        },
        Action::Scroll {
            x: 900,
            y: 500,
            dx: 0,
            dy: 5,
        },
        click(640, 400, 2),
    ];
    for action in acts {
        told.pass(1_000);
        told.act_on_screen(action, seen.clone());
    }
    told.end(Vec::new());
    let stand = Stand::open(folder).await;
    let sheet = "document.querySelector('.mark-sheet')";

    stand.go(&format!("{}?step=1", address(&run, 0))).await;
    let path = stand
        .until(&format!(
            "{sheet}.querySelector('polyline').getAttribute('points')"
        ))
        .await;
    assert_eq!(path, json!("100,100 400,300 700,650"));
    near(
        &stand.until(&middle(".mark-sheet .mark-dot", SIZE)).await,
        100,
        100,
    );
    assert_eq!(stand.browser.text(".mark-caption").await.unwrap(), "drag");

    stand.browser.press('\u{e014}').await.unwrap();
    let typed = stand
        .until("document.querySelector('.mark-caption.typed') && document.querySelector('.mark-caption.typed').textContent")
        .await;
    assert_eq!(typed, json!("Hello <202E><b>world</b>⏎"));
    assert_eq!(
        stand
            .until("document.querySelectorAll('.mark-caption b').length + 1")
            .await,
        json!(1)
    );

    stand.browser.press('\u{e014}').await.unwrap();
    let keys = stand
        .until("document.querySelector('.mark-caption.keys') && [...document.querySelectorAll('.mark-caption.keys kbd')].map(cap => cap.textContent)")
        .await;
    assert_eq!(keys, json!(["ctrl+s", "Return"]));

    stand.browser.press('\u{e014}').await.unwrap();
    stand
        .until("document.querySelector('.mark-caption') && document.querySelector('.mark-caption').textContent === 'scroll down 5'")
        .await;
    let arrow = stand
        .until(&format!("(line => line && [line.x1.baseVal.value, line.y1.baseVal.value, line.x2.baseVal.value, line.y2.baseVal.value > 500])({sheet}.querySelector('line.mark-line'))"))
        .await;
    assert_eq!(arrow, json!([900, 500, 900, true]));

    stand.browser.press('\u{e014}').await.unwrap();
    stand
        .until("document.querySelector('.mark-caption') && document.querySelector('.mark-caption').textContent === 'double click'")
        .await;
    let rings = stand
        .until(&format!(
            "{sheet}.querySelectorAll('circle.mark-line').length"
        ))
        .await;
    assert_eq!(rings, json!(2));
    // Marks can be taken away to see what is below.
    stand.browser.press('o').await.unwrap();
    stand.until(&format!("!{sheet}")).await;
    stand.browser.press('o').await.unwrap();
    stand.until(&format!("!!{sheet}")).await;
    stand.close().await;
}

/// Two screens that differ in two places.
fn changing(run: &GeneratedRun) {
    let mut told = Told::begin(run, 0);
    let before = rectangles(SIZE, GROUND, &[([100, 100, 50, 50], [255, 255, 255])]);
    let first = told.screen(before, SIZE, (5, 5));
    told.ready(first);
    told.pass(1_000);
    let after = rectangles(
        SIZE,
        GROUND,
        &[
            ([100, 100, 50, 50], [255, 255, 255]),
            ([320, 160, 64, 32], [250, 40, 40]),
            ([960, 640, 10, 10], [40, 250, 40]),
        ],
    );
    let second = told.screen(after, SIZE, (330, 170));
    told.act_on_screen(click(330, 170, 1), second.clone());
    told.pass(1_000);
    told.act_on_screen(click(10, 10, 1), second);
    told.end(Vec::new());
}

#[tokio::test]
async fn before_after_and_what_changed_between_them() {
    let folder = folder();
    let run = begun(folder.path(), "changes", 1);
    changing(&run);
    let stand = Stand::open(folder).await;
    stand.go(&format!("{}?step=1", address(&run, 0))).await;
    let shown = "document.querySelector('.screen-image').src";
    let pressed =
        "document.querySelector('.stage-bar [aria-pressed=true][data-mode]').dataset.mode";
    assert_eq!(stand.until(pressed).await, json!("before"));
    let before = stand.until(shown).await;

    stand.browser.press('b').await.unwrap();
    stand.until(&format!("{pressed} === 'after'")).await;
    stand.until(&format!("{shown} !== {before}")).await;
    let after = stand.until(shown).await;
    // What was done belongs to the screen on which it was done.
    stand.until("!document.querySelector('.mark-dot')").await;
    stand.browser.press('b').await.unwrap();
    stand.until(&format!("{shown} === {before}")).await;

    stand.browser.click("[data-mode=difference]").await.unwrap();
    stand
        .until("!document.querySelector('.screen-canvas').hidden")
        .await;
    let told = stand
        .until("(words => words.includes('changed') && words)(document.querySelector('.stage-words').textContent)")
        .await;
    let pixels = 64 * 32 + 10 * 10;
    assert!(
        told.as_str().unwrap().starts_with("2,148 pixels"),
        "{told}: {pixels}"
    );
    // Magenta where they differ, grey where they do not.
    let colours = stand
        .browser
        .js("const canvas = document.querySelector('.screen-canvas'); const pen = canvas.getContext('2d'); \
             return [[350, 175], [965, 645], [125, 125], [700, 500], [350, 158], [318, 175]].map(([x, y]) => [...pen.getImageData(x, y, 1, 1).data].slice(0, 3));")
        .await
        .unwrap();
    let colour = |at: usize, part: usize| colours[at][part].as_i64().unwrap();
    for at in 0..2 {
        assert!(
            colour(at, 0) > colour(at, 1) + 50 && colour(at, 2) > colour(at, 1) + 20,
            "{colours}"
        );
    }
    for at in 2..4 {
        assert!(
            colour(at, 0) == colour(at, 1) && colour(at, 1) == colour(at, 2),
            "{colours}"
        );
    }
    // With a frame around it, on the edge of what is compared at once.
    for at in 4..6 {
        assert!(
            colour(at, 0) > 200 && colour(at, 1) < 40 && colour(at, 2) > 100,
            "{colours}"
        );
    }
    // The canvas lies on the picture, whatever its size.
    let same = stand
        .until("(boxes => boxes[0].width > 0 && Math.abs(boxes[0].width - boxes[1].width) < 1 && Math.abs(boxes[0].top - boxes[1].top) < 1 && Math.abs(boxes[0].left - boxes[1].left) < 1 && Math.abs(boxes[0].height - boxes[1].height) < 1)(['.screen-canvas', '.screen-image'].map(name => document.querySelector(name).getBoundingClientRect()))")
        .await;
    assert_eq!(same, json!(true));

    // The next step changed nothing, and says so: in the list, and here.
    stand.browser.press('\u{e014}').await.unwrap();
    stand
        .until("document.querySelector('.stage-words').textContent === 'Nothing changed.'")
        .await;
    stand
        .until(
            "document.querySelector('.step-row.current').textContent.includes('screen unchanged')",
        )
        .await;
    stand.browser.press('d').await.unwrap();
    stand
        .until("document.querySelector('.screen-canvas').hidden")
        .await;
    stand.until(&format!("{shown} === {after}")).await;
    stand.close().await;
}

#[tokio::test]
async fn a_screen_whose_picture_is_gone_says_so() {
    let folder = folder();
    let run = begun(folder.path(), "gone", 1);
    changing(&run);
    let after = rectangles(SIZE, GROUND, &[([100, 100, 50, 50], [255, 255, 255])]);
    std::fs::remove_file(run.folder.blob(&after.blob)).unwrap();
    let stand = Stand::open(folder).await;
    stand.go(&format!("{}?step=1", address(&run, 0))).await;
    stand
        .until("(nothing => !nothing.hidden && nothing.textContent.includes('missing'))(document.querySelector('.screen-nothing'))")
        .await;
    stand
        .until("(list => !list.hidden && list.textContent)(document.querySelector('#problems'))")
        .await;
    stand.browser.press('b').await.unwrap();
    stand
        .until("document.querySelector('.screen-nothing').hidden && document.querySelector('.screen-image').naturalWidth === 1280")
        .await;
    // The browser complains about what it could not load, and about nothing else.
    let complaints = stand.browser.complaints().await.unwrap();
    assert!(
        complaints.iter().all(|one| one.contains("404")),
        "{complaints:#?}"
    );
    stand.close().await;
}

/// Frames may come faster than a slow machine shows them: it shows some of them, and the last one.
#[tokio::test]
async fn frames_that_come_too_fast_are_passed_over_but_for_the_last() {
    let folder = folder();
    let run = begun(folder.path(), "fast", 1);
    clicks(&run, (160, 100), &[(79, 49)]);
    let stand = Stand::open(folder).await;
    stand.go(&address(&run, 0)).await;
    let script = "const done = arguments[0]; (async () => { \
        const link = document.querySelector('link[rel=modulepreload][href$=\"/stage.js\"]'); \
        const { Stage } = await import(link.href); \
        const place = document.createElement('div'); document.body.append(place); \
        const loads = []; \
        HTMLImageElement.prototype.decode = () => new Promise((loaded) => loads.push(loaded)); \
        const soon = () => new Promise((next) => setTimeout(next)); \
        const stage = new Stage(place, (blob) => 'data:,' + blob); \
        for (let n = 1; n <= 5; n += 1) stage.frame(String(n), [160, 100], n); \
        const shown = []; \
        for (let n = 0; n < 2; n += 1) { loads[n](); await soon(); shown.push(stage.screen.image.src); } \
        place.remove(); return [...shown, loads.length]; })().then(done, (error) => done(String(error)));";
    let shown = stand.browser.js_async(script).await.unwrap();
    assert_eq!(shown, json!(["data:,1", "data:,5", 2]));
    stand.close().await;
}
