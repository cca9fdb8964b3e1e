//! Run folders that crashes, disks, later versions and people left in a state that nobody wants: pages show
//! what there is, and say what is missing.

use std::fs;
use std::io::Write;
use std::path::Path;

use agon_core::{Action, Digest};
use agon_store::{EventsAt, TrialLine};
use agon_testkit::painted;
use agon_viewer::{Library, export};
use serde_json::{Value, json};

use super::stand::{Stand, begun, folder};
use super::told::{Told, address};
use crate::fixture::{self, Writing};

async fn says(stand: &Stand, part: &str) {
    let part = json!(part);
    stand
        .until(&format!("document.body.innerText.includes({part})"))
        .await;
}

/// A page that has no script of its own.
async fn open(stand: &Stand, address: &str) {
    stand.browser.open(address).await.unwrap();
    stand.until("document.readyState === 'complete'").await;
}

/// Only pictures that are not there were complained about, if anything.
async fn only_pictures_are_missing(stand: &Stand) {
    for complaint in stand.browser.complaints().await.unwrap() {
        let picture = ["/blobs/", "/thumbs/"]
            .iter()
            .any(|part| complaint.contains(part));
        assert!(picture, "{complaint}");
    }
}

/// Runs of which something is missing or wrong, each in its own way.
fn spoiled(root: &Path) {
    fixture::broken(root);
    fs::create_dir(root.join("nothing")).unwrap();
    fs::create_dir(root.join("without-manifest")).unwrap();
    fs::write(root.join("without-manifest/trials.jsonl"), "{}\n").unwrap();
    let reviewed = fixture::small(&root.join("reviews")).folder;
    let mut file = fs::File::options()
        .append(true)
        .open(reviewed.reviews_file())
        .unwrap();
    file.write_all(b"\xff\xfe garbage\n{\"verdict\": 7}\n[]\n")
        .unwrap();
    let emptied = fixture::small(&root.join("emptied")).folder;
    fs::remove_file(emptied.trials_file()).unwrap();
    record(&root.join("record"));
}

/// Two trials: a record with all kinds of damage, and one that is gone.
fn record(path: &Path) {
    let tasks = ["files/copy", "files/gone"].map(|id| fixture::stamp(id, None));
    let run = Writing::begin(path, &fixture::manifest(1, tasks.into()));
    let good = painted(3, 640, 400);
    run.writer.keep_picture(&good).unwrap();
    let page = b"<html><script>window.pwned = 1</script>";
    let place = run.folder.blob(&Digest::of(page));
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, page).unwrap();
    let screen = |blob: String| json!({"width": 640, "height": 400, "picture": {"format": "png", "blob": blob, "bytes": 9}});
    let lost = screen(Digest::of(b"lost").to_hex());
    let events = [
        ("harness", "phase", json!("running")),
        ("user", "instruction", json!("Do it.")),
        (
            "environment",
            "observation",
            json!({"kind": "ready", "text": "", "screen": lost}),
        ),
        ("agent", "thought", json!("This line will be hurt.")),
        (
            "agent",
            "action",
            json!({"action": "click", "x": 4, "y": 5, "mood": "good"}),
        ),
        ("environment", "hologram", json!({"depth": 7})),
        ("environment", "constructor", json!({"depth": 8})),
        ("environment", "__proto__", json!({"depth": 9})),
        (
            "environment",
            "observation",
            json!({"kind": "done", "text": "clicked",
            "screen": screen(Digest::of(page).to_hex())}),
        ),
        (
            "agent",
            "action",
            json!({"action": "teleport", "to": "moon"}),
        ),
        (
            "environment",
            "observation",
            json!({"kind": "output", "text": "landed", "later": true,
            "screen": screen(good.blob.to_hex())}),
        ),
    ];
    let mut text = String::new();
    for (seq, (source, kind, content)) in events.into_iter().enumerate() {
        let mut event = json!({"seq": seq, "t": seq as f64, "at": fixture::BEGAN, "source": source,
            "kind": kind, "unknown": {"to": "us"}});
        event
            .as_object_mut()
            .unwrap()
            .insert(kind.to_owned(), content);
        let line = event.to_string();
        text += if seq == 3 {
            &line[..line.len() - 9]
        } else {
            &line
        };
        text.push('\n');
    }
    text += "{\"seq\": 11, \"t\": 11.0, \"at\":";
    fs::write(path.join("hurt.jsonl"), &text).unwrap();
    let at = |file: &str| EventsAt {
        file: file.to_owned(),
        at: 0,
        bytes: text.len() as u64,
        verdict: None,
    };
    for (id, file) in [("files/copy", "hurt.jsonl"), ("files/gone", "gone.jsonl")] {
        let line = TrialLine {
            events: at(file),
            ..fixture::graded(id, 1, 1, 0.0)
        };
        let mut line = serde_json::to_value(line).unwrap();
        line["of_a_later_version"] = json!({"a": [1]});
        let mut file = fs::File::options()
            .append(true)
            .create(true)
            .open(run.folder.trials_file())
            .unwrap();
        writeln!(file, "{line}").unwrap();
    }
}

/// What a run's page must say, and how many rows its table has.
const RUNS: [(&str, &str, u64); 7] = [
    ("later", "a newer agon wrote this run (format 99", 10),
    ("torn", "the last line of trials.jsonl is torn", 10),
    (
        "middle",
        "1 line of trials.jsonl can't be read and left out, the first at byte",
        10,
    ),
    ("empty", "trials.jsonl is not there", 1),
    ("emptied", "trials.jsonl is not there", 10),
    (
        "reviews",
        "3 lines of reviews.jsonl can't be read and left out",
        10,
    ),
    ("record", "files/gone", 2),
];

#[tokio::test(flavor = "multi_thread")]
async fn runs_that_are_broken_are_listed_with_the_reason() {
    let folder = folder();
    spoiled(folder.path());
    let stand = Stand::open(folder).await;
    stand.go("/").await;
    stand
        .until("document.querySelectorAll('#rows .row').length === 10")
        .await;
    says(&stand, "trials.jsonl is torn").await;
    // Its name and what is wrong with it.
    let torn = "[...document.querySelectorAll('#rows .row')].find(row => row.querySelector('a').href.endsWith('/runs/torn')).innerText";
    let torn = stand.until(torn).await;
    let mut lines = torn.as_str().unwrap().lines();
    assert!(lines.any(|line| line == "torn"), "{torn}");
    assert!(torn.as_str().unwrap().contains("! the last line"), "{torn}");
    let text = stand.browser.text("body").await.unwrap();
    assert!(!text.contains("nothing"), "{text}");
    let broken = stand
        .browser
        .js("return [...document.querySelectorAll('.badge.is-broken')].length")
        .await
        .unwrap();
    assert_eq!(broken, json!(3));
    for (run, why) in [
        ("text", "run.json"),
        ("newer", "99"),
        ("without-manifest", "no run.json"),
    ] {
        open(&stand, &format!("{}/runs/{run}", stand.url)).await;
        says(&stand, "This run can't be read").await;
        says(&stand, why).await;
    }
    for (run, why, rows) in RUNS {
        stand.go(&format!("/runs/{run}")).await;
        says(&stand, why).await;
        stand
            .until(&format!(
                "document.querySelectorAll('#rows .row').length === {rows}"
            ))
            .await;
    }
    // A broken one can be neither compared nor opened further.
    let failed = "no comparison of a run that can't be read";
    open(
        &stand,
        &format!("{}/compare?run=text&run=reviews", stand.url),
    )
    .await;
    stand
        .until("document.querySelector('.panel.empty, .caveats') !== null")
        .await;
    let complaints = stand.browser.complaints().await.unwrap();
    assert!(
        complaints
            .iter()
            .all(|one| one.contains("/compare?run=text")),
        "{failed}: {complaints:?}"
    );
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hurt_record_shows_what_there_is() {
    let folder = folder();
    spoiled(folder.path());
    let stand = Stand::open(folder).await;
    stand.go("/runs/record/trial/files/copy/1/1?step=1").await;
    look_at_record(&stand).await;
    stand.go("/runs/record/trial/files/gone/1/1").await;
    says(&stand, "The record is missing").await;
    says(&stand, "Nothing is recorded of this trial.").await;
    only_pictures_are_missing(&stand).await;
    stand.close().await;
}

async fn look_at_record(stand: &Stand) {
    let browser = &stand.browser;
    for part in [
        "The end of the record is missing",
        "Lines of the record that can't be read: 1",
        "Pictures that are missing: 1 of 3",
    ] {
        says(stand, part).await;
    }
    // Before the click: a picture that is gone. After it: a file that is none.
    for mode in ["before", "after"] {
        browser.click(&format!("[data-mode={mode}]")).await.unwrap();
        stand
            .until(&format!(
                "document.querySelector('[data-mode={mode}]').getAttribute('aria-pressed') === 'true' \
                 && document.querySelector('.screen-nothing').innerText.includes('missing from the run folder')"
            ))
            .await;
    }
    browser.click("#tab-Step").await.unwrap();
    says(stand, "clicked").await;
    let unknown = browser
        .js("return [...document.querySelectorAll('#panel-body .event-other')].map(one => one.innerText)")
        .await
        .unwrap();
    let unknown: Vec<&str> = unknown
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(unknown.len(), 3, "{unknown:?}");
    for (text, depth) in unknown.iter().zip(["7", "8", "9"]) {
        assert!(
            text.contains("does not know") && text.contains(depth),
            "{text}"
        );
    }
    browser.js("document.activeElement.blur()").await.unwrap();
    browser.press('\u{e014}').await.unwrap();
    says(stand, "landed").await;
    says(stand, "\"moon\"").await;
    browser.click("[data-mode=after]").await.unwrap();
    stand
        .until("!document.querySelector('.screen-box').hidden && document.querySelector('.screen-image').naturalWidth === 640")
        .await;
    let pwned = browser
        .js("return window.pwned === undefined")
        .await
        .unwrap();
    assert_eq!(pwned, json!(true));
}

/// Nothing is missing, but a disk has turned one of the pictures into something else.
#[tokio::test(flavor = "multi_thread")]
async fn a_picture_that_has_changed_is_signed_and_told() {
    let folder = folder();
    let run = begun(folder.path(), "changed", 1);
    let mut told = Told::begin(&run, 0);
    told.ready(told.screen(painted(1, 320, 200), (320, 200), (1, 2)));
    let hurt = painted(2, 320, 200);
    let blob = run.folder.blob(&hurt.blob);
    for picture in [hurt, painted(3, 320, 200)] {
        let screen = told.screen(picture, (320, 200), (1, 2));
        told.act_on_screen(Action::Screenshot, screen);
    }
    told.end(Vec::new());
    let bytes = vec![b'#'; fs::read(&blob).unwrap().len()];
    fs::remove_file(&blob).unwrap();
    fs::write(&blob, bytes).unwrap();
    let stand = Stand::open(folder).await;
    stand.go(&address(&run, 0)).await;
    says(
        &stand,
        "that can't be shown, because they are missing or are not what was recorded: 1.",
    )
    .await;
    let signed = "[...document.querySelectorAll('#steps .lost')].map(one => [one.closest('.step-row').querySelector('.step-n').textContent, one.textContent])";
    assert_eq!(stand.until(signed).await, json!([["1", "can't be shown"]]));
    let whole = "[...document.querySelectorAll('#steps img')].every(one => one.complete && one.naturalWidth > 0)";
    stand.until(whole).await;
    only_pictures_are_missing(&stand).await;
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_runs_are_exported_as_far_as_they_can_be_read() {
    let folder = folder();
    spoiled(folder.path());
    let root = folder.path().to_owned();
    let library = Library::new(vec![root.clone()], root.join(".cache")).unwrap();
    let site = root.join(".site");
    export(
        &library.runs().unwrap(),
        &root.join(".cache"),
        &site,
        |_| {},
    )
    .unwrap();
    let stand = Stand::open(folder).await;
    let place = |below: &str| format!("file://{}/{below}", site.display());
    stand.browser.open(&place("index.html")).await.unwrap();
    stand.ready().await;
    stand
        .until("document.querySelectorAll('#rows .row').length === 10")
        .await;
    for (run, why) in [
        ("text", "run.json"),
        ("newer", "99"),
        ("without-manifest", "no run.json"),
    ] {
        open(&stand, &place(&format!("runs/{run}/index.html"))).await;
        says(&stand, why).await;
    }
    for (run, why, rows) in RUNS {
        stand
            .browser
            .open(&place(&format!("runs/{run}/index.html")))
            .await
            .unwrap();
        stand.ready().await;
        says(&stand, why).await;
        stand
            .until(&format!(
                "document.querySelectorAll('#rows .row').length === {rows}"
            ))
            .await;
    }
    let trial = "runs/record/trial/files/copy/1/1/index.html?step=1";
    stand.browser.open(&place(trial)).await.unwrap();
    stand.ready().await;
    look_at_record(&stand).await;
    only_pictures_are_missing(&stand).await;
    stand.close().await;
}
