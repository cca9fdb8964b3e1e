//! A table of a page as a person reads it: from the first row to the last, though only those near the
//! viewport exist.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;

use super::stand::Stand;

/// Nothing that a page does takes so long, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Row {
    /// What its main link says.
    pub(crate) name: String,
    pub(crate) href: Option<String>,
    pub(crate) cells: Vec<String>,
}

/// Scrolls through the table and gathers what it passes. `arguments[0]` is told the rows.
const READ: &str = "
const done = arguments[0];
const table = document.querySelector('#rows').closest('[role=table]');
const found = new Map();
const words = (element) => element.innerText.replace(/\\s+/g, ' ').trim();
const frame = () => new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)));
const look = () => {
  for (const row of document.querySelectorAll('#rows [role=row]')) {
    // One that still waits for its content says nothing yet.
    const main = row.querySelector('[data-focus]');
    if (!main) continue;
    const cells = [...row.querySelectorAll('[role=cell]')].map(words);
    found.set(Number(row.getAttribute('aria-rowindex')), { name: main.innerText.trim(), href: main.getAttribute('href'), cells });
  }
};
(async () => {
  const before = window.scrollY;
  const began = performance.now();
  let y = 0;
  while (performance.now() - began < 15000) {
    window.scrollTo(0, y);
    await frame();
    look();
    if (found.size >= Number(table.getAttribute('aria-rowcount')) - 1) break;
    if (document.querySelector('#rows .waiting')) continue;
    y = y + innerHeight > document.documentElement.scrollHeight ? 0 : y + innerHeight / 2;
  }
  window.scrollTo(0, before);
  await frame();
  done([...found].sort((a, b) => a[0] - b[0]).map((one) => one[1]));
})();
";

impl Stand {
    pub(crate) async fn rows(&self) -> Vec<Row> {
        let found = self.browser.js_async(READ).await.unwrap();
        serde_json::from_value(found).unwrap()
    }

    /// Waits until the table has exactly these rows, by their names, in this order.
    pub(crate) async fn shows(&self, names: &[String]) {
        self.reads(names, |row| row.name.clone()).await;
    }

    /// The same with something else of each row.
    pub(crate) async fn reads(&self, wanted: &[String], of: impl Fn(&Row) -> String) {
        // How many there are is known before any scrolling.
        let count = "Number(document.querySelector('#rows').closest('[role=table]').getAttribute('aria-rowcount'))";
        self.until(&format!("{count} === {}", wanted.len() + 1))
            .await;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found: Vec<String> = self.rows().await.iter().map(&of).collect();
            if found == wanted {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "{found:#?}\n instead of {wanted:#?}"
            );
        }
    }

    /// Clicks on what a script finds.
    pub(crate) async fn click_on(&self, element: &str) {
        self.until(&format!("!!({element})")).await;
        let mark = format!(
            "for (const old of document.querySelectorAll('[data-probe]')) old.removeAttribute('data-probe'); \
             ({element}).setAttribute('data-probe', '');"
        );
        self.browser.js(&mark).await.unwrap();
        self.browser.click("[data-probe]").await.unwrap();
    }

    /// Clicks on the first of the elements of a selector that says so, and perhaps a number.
    pub(crate) async fn click_text(&self, selector: &str, text: &str) {
        let (selector, text) = (json!(selector), json!(text));
        self.click_on(&format!(
            "[...document.querySelectorAll({selector})].find((one) => \
             one.innerText.replace(/\\s+/g, ' ').replace(/ [\\d,]+$/, '').replace(/^\\W /, '').trim() === {text})"
        ))
        .await;
    }

    pub(crate) async fn text(&self, selector: &str) -> String {
        self.browser.text(selector).await.unwrap()
    }

    /// The part of the address after the server's name.
    pub(crate) async fn address(&self) -> String {
        let url = self.browser.url().await.unwrap();
        url.strip_prefix(&self.url).unwrap().to_owned()
    }

    /// Leaves a mark that is gone once the page was loaded anew.
    pub(crate) async fn mark(&self) {
        self.browser.js("window.wasHere = true").await.unwrap();
    }

    pub(crate) async fn is_marked(&self) -> bool {
        self.browser
            .js("return window.wasHere === true")
            .await
            .unwrap()
            == json!(true)
    }
}
