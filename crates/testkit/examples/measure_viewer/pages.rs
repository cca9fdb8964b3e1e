//! Pages of large runs: how long it takes until one can work with them.

use std::path::Path;

use agon_testkit::{Browser, long_trial as write_long_trial, many_trials as write_trials};

use crate::server::Server;
use crate::{Figure, Found, median};

const TRIALS: u64 = 10_000;
const INDEXED: u64 = 100_000;
const STEPS: u32 = 5_000;
const TIMES: usize = 7;
const NEXT: usize = 40;

/// Says when the page had drawn what one works with, in milliseconds since it was asked for.
const READY: &str = "(performance.getEntriesByName('agon-ready')[0] || {}).startTime";

/// Takes in a run of which nothing is known yet; what answering takes at all is taken off.
pub(crate) async fn index(agon: &Path, folder: &Path) -> Found<Vec<Figure>> {
    let run = folder.join("indexed");
    write_trials(&run, INDEXED, "random", 0)?;
    let server = Server::start(agon, &run, &folder.join("cache-indexed"))?;
    let browser = Browser::start(800, 600).await?;
    browser.open(&server.entry).await?;
    browser
        .open(&format!("{}/api/openapi.json", server.url))
        .await?;
    let ask = "const done = arguments[0]; const t = performance.now(); \
               fetch('/api/runs/indexed/trials?limit=1').then(r => r.json()) \
               .then(page => done([performance.now() - t, page.total]));";
    let cold = browser.js_async(ask).await?;
    let warm = browser.js_async(ask).await?;
    if cold[1] != INDEXED {
        return Err(format!("{} trials were found", cold[1]).into());
    }
    let took = cold[0].as_f64().unwrap_or(f64::NAN) - warm[0].as_f64().unwrap_or(f64::NAN);
    browser.close().await?;
    // The one that was retried has two lines.
    Ok(vec![("index_trials_per_s", INDEXED as f64 / (took / 1e3))])
}

async fn opened(browser: &Browser, url: &str) -> Found<f64> {
    let mut times = Vec::new();
    for _ in 0..TIMES {
        browser.open("about:blank").await?;
        browser.open(url).await?;
        times.push(browser.until(READY).await?.as_f64().unwrap_or(f64::NAN));
    }
    Ok(median(times))
}

/// From what somebody does to the first row that is another one, drawn.
async fn changed(browser: &Browser, act: &str) -> Found<f64> {
    let script = format!(
        "const done = arguments[0]; \
         const rows = document.querySelector('#rows'); \
         const first = () => [...rows.querySelectorAll('[role=row]')].slice(0, 12).map(row => row.textContent).join(); \
         const before = first(); const began = performance.now(); \
         new MutationObserver((_, watch) => {{ \
            if (first() === before) return; \
            watch.disconnect(); \
            requestAnimationFrame(() => done(performance.now() - began)); \
         }}).observe(rows, {{childList: true, characterData: true, subtree: true}}); \
         {act}"
    );
    let took = browser.js_async(&script).await?;
    Ok(took.as_f64().unwrap_or(f64::NAN))
}

pub(crate) async fn many_trials(agon: &Path, folder: &Path) -> Found<Vec<Figure>> {
    let run = folder.join("many");
    write_trials(&run, TRIALS, "random", 0)?;
    let server = Server::start(agon, &run, &folder.join("cache-many"))?;
    let browser = Browser::start(1440, 900).await?;
    browser.open(&server.entry).await?;
    let page = format!("{}/runs/many", server.url);
    // The first time builds the index.
    browser.open(&page).await?;
    browser.until(READY).await?;
    let open = opened(&browser, &page).await?;
    let mut filters = Vec::new();
    for text in ["browser", "mail", "00", "task_07", "found 41", "office", ""] {
        let act = format!(
            "const field = document.querySelector('#search'); \
             field.value = {text:?}; field.dispatchEvent(new Event('input', {{bubbles: true}}));"
        );
        filters.push(changed(&browser, &act).await?);
    }
    for column in ["cost", "task", "seconds", "score", "tokens", "level"] {
        let act = format!("document.querySelector('[data-sort={column}]').click();");
        filters.push(changed(&browser, &act).await?);
    }
    let memory = server.most_memory()?;
    browser.close().await?;
    Ok(vec![
        ("open_10k_trials_ms", open),
        ("filter_10k_ms", median(filters)),
        ("server_mb", memory),
    ])
}

pub(crate) async fn long_trial(agon: &Path, folder: &Path) -> Found<Vec<Figure>> {
    let run = folder.join("long");
    write_long_trial(&run, STEPS, (1280, 800))?;
    let server = Server::start(agon, &run, &folder.join("cache-long"))?;
    let browser = Browser::start(1440, 900).await?;
    browser.open(&server.entry).await?;
    let page = format!("{}/runs/long/trial/browser/task_00000/1/1", server.url);
    browser.open(&page).await?;
    browser.until(READY).await?;
    let open = opened(&browser, &page).await?;
    let mut next = Vec::new();
    for _ in 0..NEXT {
        let script = "const done = arguments[0]; \
            const words = () => document.querySelector('.stage-caption strong').textContent; \
            const picture = () => document.querySelector('.screen-image'); \
            const before = words(), was = picture().src, began = performance.now(); \
            const look = () => { \
                const now = picture(); \
                if (words() !== before && now.src !== was && now.complete) done(performance.now() - began); \
                else requestAnimationFrame(look); \
            }; \
            document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true})); \
            requestAnimationFrame(look);";
        next.push(browser.js_async(script).await?.as_f64().unwrap_or(f64::NAN));
    }
    browser.close().await?;
    Ok(vec![
        ("open_5k_step_trial_ms", open),
        ("next_step_ms", median(next)),
    ])
}
