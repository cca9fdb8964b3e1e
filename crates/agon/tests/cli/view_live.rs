//! A run that is watched in a real browser while it is played, and stopped there.

use std::path::Path;
use std::time::{Duration, Instant};

use agon::core::verdict::{Outcome, TurnEnd};
use agon_testkit::Browser;
use serde_json::json;

use crate::killed::ground::Ground;
use crate::support::Bench;
use crate::view::Viewing;

/// Longer than anything here takes; only a hang gets there.
const HANG: Duration = Duration::from_secs(60);

/// Half of it is done at once; the other half would take longer than anybody waits.
fn slow() -> String {
    let task = json!({
        "name": "Slow work",
        "task": "Write two files.",
        "limits": { "seconds": 500, "step": 400 },
        "checks": [
            { "type": "file", "path": "half.txt", "equals": "half\n" },
            { "type": "file", "path": "whole.txt", "equals": "whole\n" },
        ],
        "solution": [{
            "action": "run", "timeout": 300,
            "command": "echo half > half.txt; sleep 300; echo whole > whole.txt",
        }],
    });
    task.to_string()
}

/// Waits for the first file of the run.
async fn begun(manifest: &Path) {
    let deadline = Instant::now() + HANG;
    while !manifest.exists() {
        assert!(Instant::now() < deadline, "the run never began");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trial_is_stopped_by_a_button_in_a_browser() {
    let bench = Bench::new();
    bench.suite(&[("slow", &slow())]);
    let mut ground = Ground::new(&bench);
    let run = ground.start(&["--agent", "oracle"]);
    begun(&bench.path("run/run.json")).await;
    let viewing = Viewing::start(&bench, &["run", "--port", "0"]);
    let browser = Browser::start(1440, 900).await.unwrap();
    browser.open(viewing.url()).await.unwrap();
    // The button to what is being played is there while something is.
    browser.click("#to-live").await.unwrap();
    let says = |what: &str, words: &str| {
        format!("document.querySelector('{what}')?.innerText.includes('{words}')")
    };
    browser
        .until(&says(".tile .tile-does", "sleep 300"))
        .await
        .unwrap();
    browser.until(&says(".tile", "Slow work")).await.unwrap();
    browser
        .click("[aria-label='Stop Slow work']")
        .await
        .unwrap();
    browser
        .until("document.querySelector('#stop').open")
        .await
        .unwrap();
    browser.fill("#stop-by", "Ada").await.unwrap();
    browser.click("#stop-now").await.unwrap();
    // Nothing was loaded anew when it has ended.
    browser.until(&says("#ended", "Slow work")).await.unwrap();
    browser
        .until(&says("#ended", "an operator stopped the trial: Ada"))
        .await
        .unwrap();
    browser.until(&says("#state", "complete")).await.unwrap();
    browser.until("document.querySelectorAll('#tiles .tile').length === 0 && !document.querySelector('#nothing').hidden").await.unwrap();

    let (status, said) = run.end();
    assert!(status.success(), "{}", said.join("\n"));
    let line = bench.trial();
    assert_eq!(line.end, Some(TurnEnd::Operator), "{line:?}");
    assert_eq!(line.outcome, Outcome::Failed);
    assert_eq!(line.failed_checks, ["file whole.txt"]);

    // And on the page of the run.
    browser.click("#nothing a").await.unwrap();
    browser.until(&says("#rows .why", "stopped")).await.unwrap();
    browser
        .until(&says(".caveats", "Stopped by an operator: 1 trial."))
        .await
        .unwrap();
    let complaints = browser.complaints().await.unwrap();
    assert!(complaints.is_empty(), "{complaints:?}");
    browser.close().await.unwrap();
    viewing.interrupt().expect(0);
}
