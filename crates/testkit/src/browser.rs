//! A real Chromium, driven over WebDriver. What is waited for is asked of the page itself, again and again,
//! until it holds or a generous deadline is over: no test sleeps.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use fantoccini::actions::{InputSource, KeyAction, KeyActions};
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

use crate::driver::Driver;

/// Nothing that a page does takes so long, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub struct Browser {
    page: Client,
    // Ends last.
    _driver: Driver,
}

/// Says what went wrong, in words.
#[derive(Debug)]
pub struct Trouble(String);

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Trouble {}

fn trouble(error: impl fmt::Display) -> Trouble {
    Trouble(error.to_string())
}

impl Browser {
    /// A window of this size, with nothing in it.
    pub async fn start(width: u32, height: u32) -> Result<Self, Trouble> {
        let driver = Driver::start().map_err(trouble)?;
        let capabilities = json!({
            "goog:chromeOptions": {
                "binary": "/usr/bin/chromium",
                "args": [
                    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                    "--disable-background-networking", "--disable-component-update", "--disable-sync",
                    "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb",
                    format!("--window-size={width},{height}"),
                    format!("--user-data-dir={}", driver.profile()),
                ],
            },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let capabilities: Capabilities = serde_json::from_value(capabilities).map_err(trouble)?;
        let page = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&driver.url())
            .await
            .map_err(trouble)?;
        Ok(Self {
            page,
            _driver: driver,
        })
    }

    pub async fn open(&self, url: &str) -> Result<(), Trouble> {
        self.page.goto(url).await.map_err(trouble)
    }

    pub async fn url(&self) -> Result<String, Trouble> {
        let url = self.page.current_url().await.map_err(trouble)?;
        Ok(url.to_string())
    }

    pub async fn back(&self) -> Result<(), Trouble> {
        self.page.back().await.map_err(trouble)
    }

    pub async fn resize(&self, width: u32, height: u32) -> Result<(), Trouble> {
        let sized = self.page.set_window_size(width, height).await;
        sized.map_err(trouble)
    }

    /// Runs a script in the page: the body of a function.
    pub async fn js(&self, script: &str) -> Result<Value, Trouble> {
        self.page.execute(script, Vec::new()).await.map_err(trouble)
    }

    /// The same of one that ends by calling `arguments[0]`.
    pub async fn js_async(&self, script: &str) -> Result<Value, Trouble> {
        let done = self.page.execute_async(script, Vec::new()).await;
        done.map_err(trouble)
    }

    /// Waits until an expression holds and returns its value.
    pub async fn until(&self, expression: &str) -> Result<Value, Trouble> {
        let script = format!("return ({expression});");
        let deadline = Instant::now() + PATIENCE;
        loop {
            // A page that is just being left has no answer.
            let last = self.js(&script).await;
            if let Ok(value) = &last
                && !matches!(value, Value::Null | Value::Bool(false))
                && *value != json!(0)
                && *value != json!("")
            {
                return Ok(value.clone());
            }
            if Instant::now() > deadline {
                let url = self.url().await.unwrap_or_default();
                let complaints = self.complaints().await.unwrap_or_default();
                // Whatever a page says went wrong stands at the beginning of its text.
                let text = self.js("return document.body.innerText.slice(0, 2000);");
                let text = text.await.unwrap_or_default();
                return Err(Trouble(format!(
                    "`{expression}` never held at {url}: {last:?}; {complaints:?}; the page says {text}"
                )));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The visible text of the first element that a selector finds.
    pub async fn text(&self, selector: &str) -> Result<String, Trouble> {
        let found = json!(selector);
        let text = self
            .until(&format!(
                "document.querySelector({found}) && [document.querySelector({found}).innerText]"
            ))
            .await?;
        Ok(text[0].as_str().unwrap_or_default().to_owned())
    }

    /// Clicks as a person does: what is hidden or covered can't be clicked.
    pub async fn click(&self, selector: &str) -> Result<(), Trouble> {
        let found = json!(selector);
        self.until(&format!("!!document.querySelector({found})"))
            .await?;
        let element = self.page.find(Locator::Css(selector)).await;
        let element = element.map_err(trouble)?;
        element
            .click()
            .await
            .map_err(|error| Trouble(format!("{selector}: {error}")))
    }

    /// Types into an element.
    pub async fn fill(&self, selector: &str, text: &str) -> Result<(), Trouble> {
        let element = self.page.find(Locator::Css(selector)).await;
        let element = element.map_err(trouble)?;
        element.send_keys(text).await.map_err(trouble)
    }

    /// Presses a key with whatever has the focus; keys without a character have WebDriver's numbers
    /// (`\u{e014}` is the right arrow).
    pub async fn press(&self, key: char) -> Result<(), Trouble> {
        let keys = KeyActions::new("keys".to_owned())
            .then(KeyAction::Down { value: key })
            .then(KeyAction::Up { value: key });
        self.page.perform_actions(keys).await.map_err(trouble)
    }

    /// What pages are told that a person prefers (`prefers-color-scheme`, `dark`); other wishes are forgotten.
    pub async fn prefer(&self, wishes: &[(&str, &str)]) -> Result<(), Trouble> {
        let features: Vec<Value> = wishes
            .iter()
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect();
        let told = DevTools {
            command: "Emulation.setEmulatedMedia",
            parameters: json!({"features": features}),
        };
        let done = self.page.issue_cmd(told).await;
        done.map(drop).map_err(trouble)
    }

    /// Lets every answer to a script of pages that are opened from now on come late, each by another time, so
    /// that they come in another order than they were asked for.
    pub async fn delay_answers(&self, seed: u32) -> Result<(), Trouble> {
        let source = format!(
            "(() => {{ let state = {seed}; const ask = window.fetch.bind(window); \
             const next = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648; \
             window.fetch = async (...asked) => {{ \
               const answer = await ask(...asked); \
               await new Promise((done) => setTimeout(done, next() * 300)); \
               return answer; }}; }})();"
        );
        let told = DevTools {
            command: "Page.addScriptToEvaluateOnNewDocument",
            parameters: json!({"source": source}),
        };
        let done = self.page.issue_cmd(told).await;
        done.map(drop).map_err(trouble)
    }

    pub async fn screenshot(&self, path: &Path) -> Result<(), Trouble> {
        let png = self.page.screenshot().await.map_err(trouble)?;
        std::fs::write(path, png).map_err(trouble)
    }

    /// What the browser complained about since the last time: errors of scripts, refused loads.
    pub async fn complaints(&self) -> Result<Vec<String>, Trouble> {
        let log = self.page.issue_cmd(BrowserLog).await.map_err(trouble)?;
        let entries = log.as_array().cloned().unwrap_or_default();
        let severe = entries
            .into_iter()
            .filter(|entry| entry["level"] == "SEVERE");
        Ok(severe.map(|entry| entry["message"].to_string()).collect())
    }

    /// Runs axe-core, given as a script, and returns what it calls serious or critical.
    pub async fn accessibility_faults(&self, axe: &str) -> Result<Vec<String>, Trouble> {
        self.js(axe).await?;
        let found = self
            .js_async(
                "const done = arguments[0]; \
                 axe.run(document, {resultTypes: ['violations']}) \
                    .then(found => done(found.violations), error => done(String(error)));",
            )
            .await?;
        let Some(violations) = found.as_array() else {
            return Err(Trouble(format!("axe-core failed: {found}")));
        };
        let serious = violations.iter().filter(|violation| {
            matches!(violation["impact"].as_str(), Some("serious" | "critical"))
        });
        Ok(serious
            .map(|violation| {
                let targets = violation["nodes"].as_array().into_iter().flatten();
                let targets: Vec<String> = targets
                    .take(5)
                    .map(|node| format!("{} {}", node["target"], node["failureSummary"]))
                    .collect();
                format!("{}: {}", violation["id"], targets.join("; "))
            })
            .collect())
    }

    /// In order; without it the processes are killed.
    pub async fn close(self) -> Result<(), Trouble> {
        self.page.clone().close().await.map_err(trouble)
    }
}

/// ChromeDriver's own command: the console of the page.
#[derive(Debug)]
struct BrowserLog;

impl WebDriverCompatibleCommand for BrowserLog {
    fn endpoint(
        &self,
        base: &url::Url,
        session: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (
            http::Method::POST,
            Some(json!({"type": "browser"}).to_string()),
        )
    }
}

/// A command to the browser itself, which WebDriver has no word for.
#[derive(Debug)]
struct DevTools {
    command: &'static str,
    parameters: Value,
}

impl WebDriverCompatibleCommand for DevTools {
    fn endpoint(
        &self,
        base: &url::Url,
        session: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        base.join(&format!(
            "session/{}/goog/cdp/execute",
            session.unwrap_or_default()
        ))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        let body = json!({"cmd": self.command, "params": self.parameters});
        (http::Method::POST, Some(body.to_string()))
    }
}
