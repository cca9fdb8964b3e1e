//! A run that goes on: how soon what was written is on the screen, and what watching costs.

use std::path::Path;
use std::time::Duration;

use agon_core::{Clock, SystemClock};
use agon_testkit::{Browser, DesktopTrial, GeneratedRun};
use serde_json::Value;

use crate::server::Server;
use crate::{Figure, Found, percentile};

const RUNNING: usize = 8;
/// Of the run, and how many of them have ended before.
const PLANNED: usize = 10_000;
const ENDED: usize = 5_000;
/// A short trial ends with every so many steps of all others.
const ENDS_EVERY: usize = 20;
/// Each trial makes a step this often: three events.
const PACE: Duration = Duration::from_millis(400);
const ROUNDS: u32 = 40;

/// Milliseconds, as the browser counts them.
fn now() -> f64 {
    SystemClock::default().now().as_microsecond() as f64 / 1e3
}

pub(crate) async fn live(agon: &Path, folder: &Path) -> Found<Vec<Figure>> {
    let run = GeneratedRun::begin(&folder.join("live"), PLANNED as u64, "clicker")?;
    let mut others = RUNNING..PLANNED;
    for n in others.by_ref().take(ENDED) {
        run.play(n, 0)?;
    }
    let trials = 0..RUNNING;
    let mut trials: Vec<DesktopTrial> = trials
        .map(|n| DesktopTrial::begin(&run, n, (1280, 800)))
        .collect::<Result<_, _>>()?;
    // Older than a second: written as it happens.
    run.clock.advance(Duration::from_secs(2));
    for trial in &mut trials {
        trial.step(&run)?;
    }
    let server = Server::start(agon, run.folder.path(), &folder.join("cache-live"))?;
    let browser = Browser::start(1440, 900).await?;
    browser.open(&server.entry).await?;
    browser
        .open(&format!("{}/runs/live/live", server.url))
        .await?;
    browser
        .until(&format!(
            "document.querySelectorAll('.tile img[data-shot]').length === {RUNNING}"
        ))
        .await?;
    browser
        .js("window.seen = {}; \
             const note = () => document.querySelectorAll('.tile').forEach(tile => { \
                const shot = tile.querySelector('img[data-shot]'); \
                const key = tile.getAttribute('aria-label') + ' ' + (shot && shot.dataset.shot); \
                if (!(key in seen)) seen[key] = Date.now(); \
             }); \
             note(); \
             new MutationObserver(note).observe(document.querySelector('#tiles'), \
                {childList: true, subtree: true});")
        .await?;
    let (began, used) = (now(), server.processor()?);
    let mut written = Vec::new();
    for _ in 0..ROUNDS {
        for (n, trial) in trials.iter_mut().enumerate() {
            let shown = trial.step(&run)?;
            let name = &run.manifest.tasks[n].name;
            written.push((format!("{name} {shown}"), now()));
            if written.len() % ENDS_EVERY == 0
                && let Some(n) = others.next()
            {
                run.play(n, 0)?;
            }
            tokio::time::sleep(PACE / RUNNING as u32).await;
        }
    }
    let took = (now() - began) / 1e3;
    let share = (server.processor()? - used) / took;
    // Each was on the screen: the next one comes later than a tile needs.
    let last = written.last().map(|(key, _)| key.as_str());
    let key = serde_json::to_string(last.unwrap_or_default())?;
    browser.until(&format!("{key} in seen")).await?;
    let seen = browser.js("return window.seen;").await?;
    let delays: Vec<f64> = written
        .iter()
        .filter_map(|(key, at)| Some(seen.get(key).and_then(Value::as_f64)? - at))
        .collect();
    if delays.len() < written.len() {
        return Err(format!("only {} of {} were seen", delays.len(), written.len()).into());
    }
    browser.close().await?;
    Ok(vec![
        ("live_event_ms", percentile(delays, 0.95)),
        ("live_core_share", share),
    ])
}
