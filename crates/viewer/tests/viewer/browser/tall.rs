//! A list of more rows than a browser can stack: every one of them can be reached.

use serde_json::json;

use super::stand::{Stand, folder, played};

/// Two million rows of this height are four times as tall as what any browser draws.
const ROWS: u64 = 2_000_000;
const HEIGHT: u64 = 68;

/// A list in a frame of its own, made by the module of the page. Rows say their number.
fn list() -> String {
    format!(
        "const done = arguments[0]; \
         const place = document.querySelector('script[type=module]').src.replace(/[^/]*$/, 'rows.js'); \
         import(place).then(({{ Rows }}) => {{ \
           const scroller = document.createElement('div'); const body = document.createElement('div'); \
           Object.assign(scroller.style, {{ position: 'fixed', inset: '0 auto auto 0', width: '400px', height: '600px', overflow: 'auto', zIndex: 99 }}); \
           scroller.append(body); document.body.append(scroller); \
           const list = new Rows({{ body, scroller, height: {HEIGHT}, \
             render: (item) => {{ const row = document.createElement('div'); row.dataset.tall = item; row.tabIndex = -1; return row; }}, \
             load: async (offset, count) => ({{ total: {ROWS}, rows: Array.from({{ length: Math.min(count, {ROWS} - offset) }}, (_, at) => offset + at) }}) }}); \
           list.show({{ total: {ROWS}, rows: [] }}); \
           Object.assign(window, {{ list, scroller }}); done(true); \
         }}, (error) => done(String(error)));"
    )
}

/// Numbers of the rows that are seen whole, from the top; nothing unless they follow each other without a gap
/// and fill the frame.
const SEEN: &str = "(() => {     const rows = [...document.querySelectorAll('[data-tall]')].map((row) => [Number(row.dataset.tall), row.getBoundingClientRect()])       .filter(([, box]) => box.bottom > 0 && box.top < 600).sort((a, b) => a[0] - b[0]);     if (rows.length < 8 || rows[0][1].top > 1 || rows[rows.length - 1][1].bottom < 599) return null;     if (rows.some(([n, box], at) => at && (n !== rows[at - 1][0] + 1 || Math.abs(box.top - rows[at - 1][1].bottom) > 1))) return null;     return rows.filter(([, box]) => box.top > -1 && box.bottom < 601).map(([n]) => n); })()";

#[tokio::test(flavor = "multi_thread")]
async fn two_million_rows_are_scrolled_and_walked_to_their_end() {
    let root = folder();
    played(root.path(), "some", 3, 1);
    let stand = Stand::open(root).await;
    stand.go("/runs/some").await;
    let browser = &stand.browser;
    assert_eq!(browser.js_async(&list()).await.unwrap(), json!(true));
    stand.until(&format!("{SEEN}?.[0] === 0")).await;
    // As by the bar at the side: any part of the list, and its very end.
    for share in [0.25, 0.5, 0.999] {
        browser
            .js(&format!(
                "scroller.scrollTop = {share} * (scroller.scrollHeight - scroller.clientHeight)"
            ))
            .await
            .unwrap();
        let wanted = share * (ROWS as f64);
        stand
            .until(&format!("Math.abs({SEEN}?.[0] - {wanted}) < 20"))
            .await;
    }
    browser
        .js("scroller.scrollTop = scroller.scrollHeight")
        .await
        .unwrap();
    stand
        .until(&format!("{SEEN}?.at(-1) === {}", ROWS - 1))
        .await;
    // By keys: wherever one goes, the row is seen whole, and the next one after it.
    for at in [1_234_567, ROWS - 1, ROWS / 2, 3] {
        browser.js(&format!("list.pick({at})")).await.unwrap();
        stand.until(&format!("{SEEN}?.includes({at})")).await;
        for by in [1, 1, -1, -1, -1] {
            browser.js(&format!("list.step({by})")).await.unwrap();
            stand
                .until(&format!(
                    "{SEEN}?.includes(list.index) && Number(document.activeElement.dataset.tall) === list.index"
                ))
                .await;
        }
    }
    let drawn = browser
        .js("return document.querySelectorAll('[data-tall]').length < 60 && scroller.scrollHeight < 16000000")
        .await
        .unwrap();
    assert_eq!(drawn, json!(true));
    browser.js("scroller.scrollTop = 0").await.unwrap();
    stand.until(&format!("{SEEN}?.[0] === 0")).await;
    stand.close().await;
}
