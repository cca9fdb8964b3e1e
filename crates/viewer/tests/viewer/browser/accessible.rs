//! Pages for people who do not see them well, or work without a mouse: axe-core on every page in light and
//! dark, every control reached by Tab, nothing that moves for those who do not want it.

use std::path::PathBuf;

use agon_core::observation::ObservationKind;
use agon_core::{Action, EventBody, Observation, Source};
use agon_store::Recorder;
use agon_testkit::{DesktopTrial, GeneratedRun};
use serde_json::{Value, json};

use super::export::rich;
use super::stand::{Stand, begun, folder, played};
use crate::fixture;

const TAB: char = '\u{e004}';
const RIGHT: char = '\u{e014}';

/// As `cargo xtask test` keeps it.
pub(super) fn axe() -> String {
    let home = std::env::var_os("HOME").unwrap_or_default();
    let kept = PathBuf::from(home).join(".cache/agon/axe-core-4.14.0/package/axe.min.js");
    let place = std::env::var_os("AGON_AXE").map_or(kept, PathBuf::from);
    std::fs::read_to_string(&place).unwrap_or_else(|error| {
        panic!(
            "axe-core can't be read at {} ({error}): `cargo xtask test` fetches it",
            place.display()
        )
    })
}

/// A command that printed something, in a trial that goes on.
fn printed(run: &GeneratedRun) -> Recorder {
    let mut record = run.recorder(2, 1);
    let command = EventBody::Action(Action::run("ls"));
    let cause = record.record(Source::Agent, None, command).unwrap();
    let seen = Observation::new(ObservationKind::Output, "one\ntwo\n");
    let seen = EventBody::Observation(seen);
    let told = record.record(Source::Environment, Some(cause), seen);
    told.unwrap();
    record
}

/// Runs of every kind: with results of all sorts, with screens, one that goes on, broken ones.
async fn everything() -> (Stand, GeneratedRun, (DesktopTrial, Recorder)) {
    let folder = folder();
    let root = folder.path();
    drop(fixture::small(&root.join("small")));
    drop(rich(&root.join("rich")));
    played(root, "many", 40, 1);
    agon_testkit::long_trial(&root.join("screens"), 12, (640, 400)).unwrap();
    fixture::broken(root);
    let live = begun(root, "live", 4);
    let mut playing = DesktopTrial::begin(&live, 1, (640, 400)).unwrap();
    playing.step(&live).unwrap();
    let shell = printed(&live);
    let stand = Stand::open(folder).await;
    (stand, live, (playing, shell))
}

/// Every page, and what is done there before it is looked at: keys, or a click.
const PAGES: [(&str, &str); 21] = [
    ("/", ""),
    ("/?q=nothing-is-called-this", ""),
    ("/runs/small", ""),
    (
        "/runs/small?attempts=true&outcome=failed,faulted&q=file",
        "",
    ),
    ("/runs/rich?attempts=true", ""),
    ("/runs/many", "details.more summary"),
    ("/runs/many", "#menus button, #menus summary"),
    ("/runs/many?q=nothing", ""),
    ("/runs/live", ""),
    ("/runs/live/live", ""),
    ("/runs/small", "[data-keys]"),
    ("/runs/screens/trial/browser/task_00000/1/1", "#tab-Step"),
    (
        "/runs/screens/trial/browser/task_00000/1/1?step=3",
        "#tab-Raw",
    ),
    (
        "/runs/screens/trial/browser/task_00000/1/1?step=13",
        "[data-mode=difference]",
    ),
    ("/runs/small/trial/terminal/hostile/1/1", "#tab-Checks"),
    ("/runs/small/trial/terminal/hostile/1/1", "#tab-Task"),
    ("/runs/small/trial/files/rename/2/1", "#tab-Review"),
    ("/runs/small/trial/terminal/hostile/2/1?step=1", "#tab-Raw"),
    ("/runs/live/trial/calculator/task_00001/1/1", ""),
    ("/compare?run=many&run=screens&run=small", ""),
    ("/compare/browser/task_00000?run=many&run=screens", "#next"),
];

/// Pages without scripts: an error, and a run that can't be read.
const STILL: [&str; 2] = ["/runs/nobody", "/runs/text"];

async fn shown(stand: &Stand, path: &str, first: &str) {
    stand.go(path).await;
    if path == "/runs/live/live" {
        stand
            .until("document.querySelector('.tile img[data-shot]') && document.querySelector('.tile-output span')")
            .await;
    }
    if !first.is_empty() {
        stand.browser.click(first).await.unwrap();
    }
    // Whatever is drawn next is drawn.
    stand
        .browser
        .js_async("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(1)))")
        .await
        .unwrap();
}

/// Whether a theme comes from the system, or a person has chosen it.
#[derive(PartialEq)]
enum Says {
    System,
    Person,
}

async fn no_faults(width: u32, theme: &str, says: Says) {
    let axe = axe();
    let (stand, live, playing) = everything().await;
    let browser = &stand.browser;
    browser.resize(width, 900).await.unwrap();
    let system = if says == Says::System { theme } else { "light" };
    browser
        .prefer(&[
            ("prefers-color-scheme", system),
            ("prefers-reduced-motion", "reduce"),
        ])
        .await
        .unwrap();
    if says == Says::Person {
        stand.go("/").await;
        let keep = format!("localStorage.setItem('agon-theme', '{theme}')");
        browser.js(&keep).await.unwrap();
    }
    let mut faults = Vec::new();
    for (path, first) in PAGES.into_iter().chain(STILL.map(|path| (path, ""))) {
        if STILL.contains(&path) {
            browser.open(&format!("{}{path}", stand.url)).await.unwrap();
        } else {
            shown(&stand, path, first).await;
        }
        let found = browser.accessibility_faults(&axe).await.unwrap();
        faults.extend(found.iter().map(|fault| format!("{path} {first}: {fault}")));
        let wide = browser
            .js("return document.documentElement.scrollWidth - window.innerWidth")
            .await
            .unwrap();
        if wide.as_i64() > Some(0) {
            faults.push(format!("{path} {first} is {wide} wider than its window"));
        }
    }
    let colour = browser
        .js("return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]")
        .await
        .unwrap();
    assert_eq!(colour.as_i64() < Some(128), theme == "dark", "{colour}");
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
    // The page that is not there is told to the console, too.
    for complaint in browser.complaints().await.unwrap() {
        assert!(complaint.contains("/runs/nobody"), "{complaint}");
    }
    drop((playing, live));
    stand.close().await;
}

// Both widths and both themes; the other two pairs are of the long tier.
#[tokio::test(flavor = "multi_thread")]
async fn narrow_light_pages_have_no_serious_fault() {
    no_faults(1024, "light", Says::System).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn long_form_narrow_dark_pages_have_no_serious_fault() {
    no_faults(1024, "dark", Says::System).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn long_form_wide_light_pages_have_no_serious_fault() {
    no_faults(1440, "light", Says::Person).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wide_dark_pages_have_no_serious_fault() {
    no_faults(1440, "dark", Says::Person).await;
}

/// Numbers all that can have the focus by Tab, in the order of the page.
const CONTROLS: &str = r#"
    const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")]
        .filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({ visibilityProperty: true })
            && !one.closest("dialog:not([open])") && !(one.closest("details:not([open])") && one.localName !== "summary"));
    all.forEach((one, at) => (one.dataset.number = at));
    document.activeElement.blur();
    return all.map((one) => one.localName + " " + (one.getAttribute("aria-label") || one.innerText || one.id).slice(0, 30));
"#;

/// The number of what has the focus, and whether that can be seen.
const FOCUSED: &str = r#"
    const one = document.activeElement;
    if (!one || one === document.body) return null;
    const drawn = (element) => {
        const style = getComputedStyle(element);
        return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    };
    const around = one.closest(".row, label, .step-row");
    const box = one.getBoundingClientRect();
    const inside = box.bottom > 0 && box.top < innerHeight;
    return [Number(one.dataset.number ?? -1), (drawn(one) || (around !== null && drawn(around))) && inside, one.outerHTML.slice(0, 160)];
"#;

async fn tab_reaches_everything(stand: &Stand) {
    let browser = &stand.browser;
    let controls = browser.js(CONTROLS).await.unwrap();
    let controls = controls.as_array().unwrap();
    assert!(controls.len() > 10, "{controls:?}");
    let mut reached = Vec::new();
    for _ in 0..controls.len() * 2 {
        browser.press(TAB).await.unwrap();
        let focused = browser.js(FOCUSED).await.unwrap();
        let Value::Array(focused) = focused else {
            break;
        };
        let number = focused[0].as_i64().unwrap();
        assert!(
            number >= 0,
            "came to be while Tab was pressed: {}",
            focused[2]
        );
        if reached.contains(&number) {
            break;
        }
        assert_eq!(
            focused[1],
            json!(true),
            "the focus is not seen on {}",
            focused[2]
        );
        reached.push(number);
    }
    let missed: Vec<&Value> = (0..controls.len())
        .filter(|at| !reached.contains(&(*at as i64)))
        .map(|at| &controls[at])
        .collect();
    assert!(missed.is_empty(), "Tab does not reach {missed:?}");
    assert!(reached.is_sorted(), "{reached:?} of {controls:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tab_reaches_every_control() {
    let folder = folder();
    let root = folder.path();
    drop(fixture::small(&root.join("small")));
    agon_testkit::long_trial(&root.join("screens"), 5, (640, 400)).unwrap();
    let stand = Stand::open(folder).await;
    let browser = &stand.browser;
    browser.resize(1440, 1600).await.unwrap();
    for path in [
        "/",
        "/runs/small",
        "/runs/small/trial/files/copy/1/1",
        "/runs/screens/trial/browser/task_00000/1/1",
        "/compare?run=small&run=screens",
        "/compare/browser/task_00000?run=small&run=screens",
    ] {
        stand.go(path).await;
        tab_reaches_everything(&stand).await;
    }
    // What Tab passes over is reached by arrows: tabs, and steps.
    stand.go("/runs/screens/trial/browser/task_00000/1/1").await;
    browser
        .js("document.querySelector('#tab-Step').focus()")
        .await
        .unwrap();
    for tab in ["Checks", "Task", "Review", "Raw", "Step"] {
        browser.press(RIGHT).await.unwrap();
        stand
            .until(&format!("document.activeElement.id === 'tab-{tab}' && document.activeElement.getAttribute('aria-selected') === 'true'"))
            .await;
    }
    // Each has a number, too.
    for (key, tab) in [
        ('4', "Review"),
        ('2', "Checks"),
        ('5', "Raw"),
        ('3', "Task"),
        ('1', "Step"),
    ] {
        browser.press(key).await.unwrap();
        stand
            .until(&format!(
                "document.querySelector('[role=tab][aria-selected=true]').id === 'tab-{tab}'"
            ))
            .await;
    }
    browser
        .js("document.querySelector('#steps-scroll').focus()")
        .await
        .unwrap();
    browser.press(RIGHT).await.unwrap();
    stand
        .until("document.querySelector('.step-row.current').innerText.startsWith('2')")
        .await;
    // Somebody who does not see it hears what was drawn.
    let alt = "document.querySelector('.screen-image').alt";
    stand
        .until(&format!(
            "{alt}.startsWith('Screen before step 2') && {alt}.includes('click')"
        ))
        .await;
    stand
        .until("document.querySelector('#says').innerText.startsWith('Step 2')")
        .await;
    let without = browser
        .js("return [...document.images].filter(one => one.getAttribute('alt') === null).length")
        .await
        .unwrap();
    assert_eq!(without, json!(0));
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_moves_for_those_who_do_not_want_it() {
    let (stand, live, mut playing) = everything().await;
    let browser = &stand.browser;
    let moving = "[...document.querySelectorAll('*')].filter(one => { \
        const style = getComputedStyle(one); \
        return style.animationName !== 'none' || style.scrollBehavior === 'smooth' \
            || !['none', 'all'].includes(style.transitionProperty) \
            || style.transitionProperty === 'all' && style.transitionDuration !== '0s'; }) \
        .map(one => one.outerHTML.slice(0, 100))";
    browser
        .prefer(&[("prefers-reduced-motion", "reduce")])
        .await
        .unwrap();
    for (path, first) in PAGES {
        shown(&stand, path, first).await;
        playing.0.step(&live).unwrap();
        let found = browser.js(&format!("return {moving}")).await.unwrap();
        assert_eq!(found, json!([]), "{path} {first}");
        let running = browser
            .js("return document.getAnimations().length")
            .await
            .unwrap();
        assert_eq!(running, json!(0), "{path} {first}");
    }
    drop((playing, live));
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_are_single_characters_can_be_turned_off() {
    let folder = folder();
    played(folder.path(), "some", 20, 1);
    let stand = Stand::open(folder).await;
    let browser = &stand.browser;
    let turn = async || {
        browser.click("[data-keys]").await.unwrap();
        browser.click(".keys-letters input").await.unwrap();
        browser.press('\u{e00c}').await.unwrap();
        stand.until("!document.querySelector('dialog')").await;
    };
    let at = |n: u32| {
        format!("document.querySelector('#rows .current')?.getAttribute('aria-rowindex') === '{n}'")
    };
    let dark = "return document.documentElement.dataset.theme === 'dark'";
    stand.go("/runs/some").await;
    turn().await;
    for _ in 0..2 {
        // What is no letter goes on working, and comes after the others.
        for key in ['t', 'j', 'j', '\u{e015}'] {
            browser.press(key).await.unwrap();
        }
        stand.until(&at(2)).await;
        assert_eq!(browser.js(dark).await.unwrap(), json!(false));
        // The browser remembers it.
        stand.go("/runs/some").await;
    }
    turn().await;
    browser.press('t').await.unwrap();
    browser.press('j').await.unwrap();
    stand.until(&at(2)).await;
    assert_eq!(browser.js(dark).await.unwrap(), json!(true));
    stand.close().await;
}
