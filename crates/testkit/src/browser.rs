//! A real Chromium, driven over its DevTools protocol. What is waited for is asked of the page itself, again and
//! again, until it holds or a generous deadline is over: no test sleeps. What is done to a page follows WebDriver: a
//! command begins and ends while nothing is being loaded.

use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::chromium::Chromium;
use crate::devtools::PATIENCE;
use crate::element;
use crate::key::Key;
use crate::page::Page;
use crate::trouble::{Trouble, trouble};

/// Where the debugger of a Chromium is that tests share: `cargo xtask test` sets it.
const SHARED: &str = "AGON_BROWSER";
const PAUSE: Duration = Duration::from_millis(20);

/// One window, with cookies, storage, cache, size and preferences of its own.
#[derive(Debug)]
pub struct Browser {
    page: Page,
    // Ends last.
    _own: Option<Chromium>,
}

impl Browser {
    /// A window of this size, with nothing in it: in the browser that tests share, if there is one.
    pub async fn start(width: u32, height: u32) -> Result<Self, Trouble> {
        let shared = std::env::var(SHARED).ok();
        Self::start_in(shared.as_deref(), width, height).await
    }

    async fn start_in(shared: Option<&str>, width: u32, height: u32) -> Result<Self, Trouble> {
        if let Some(address) = shared
            // After a crash of the shared browser, tests start browsers of their own.
            && let Ok(page) = Page::open(address, width, height).await
        {
            return Ok(Self { page, _own: None });
        }
        let own = Chromium::start().await?;
        let page = Page::open(own.address(), width, height).await?;
        Ok(Self {
            page,
            _own: Some(own),
        })
    }

    pub async fn open(&self, url: &str) -> Result<(), Trouble> {
        self.page.still().await?;
        self.page.go(url).await
    }

    pub async fn url(&self) -> Result<String, Trouble> {
        self.page.still().await?;
        self.page.url().await
    }

    pub async fn back(&self) -> Result<(), Trouble> {
        self.page.still().await?;
        self.page.back().await
    }

    pub async fn resize(&self, width: u32, height: u32) -> Result<(), Trouble> {
        self.page.still().await?;
        self.page.resize(width, height).await
    }

    /// Runs a script in the page: the body of a function.
    pub async fn js(&self, script: &str) -> Result<Value, Trouble> {
        let script = format!("(function () {{ {script}\n }}).call(window)");
        let value = self.look(&script).await?;
        self.page.settle().await?;
        Ok(value)
    }

    /// The same of one that ends by calling `arguments[0]`.
    pub async fn js_async(&self, script: &str) -> Result<Value, Trouble> {
        let script = format!(
            "new Promise((done) => {{ (function () {{ {script}\n }}).call(window, done); }})"
        );
        let value = self.look(&script).await?;
        self.page.settle().await?;
        Ok(value)
    }

    /// The value of an expression that changes nothing.
    async fn look(&self, expression: &str) -> Result<Value, Trouble> {
        self.page.still().await?;
        self.page.value(expression).await
    }

    /// Waits until an expression holds and returns its value.
    pub async fn until(&self, expression: &str) -> Result<Value, Trouble> {
        let script = format!("({expression})");
        let deadline = Instant::now() + PATIENCE;
        loop {
            // A page that is just being left has no answer.
            let last = self.look(&script).await;
            if let Ok(value) = &last
                && !matches!(value, Value::Null | Value::Bool(false))
                && *value != json!(0)
                && *value != json!("")
            {
                return Ok(value.clone());
            }
            if let Some(why) = self.page.ended() {
                return Err(Trouble(format!("`{expression}` never held: {why}")));
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
        let place = self.look(&element::place(selector)).await?;
        let [Some(x), Some(y)] = [0, 1].map(|index| place[index].as_i64()) else {
            return Err(Trouble(format!("{selector} {place}")));
        };
        let event = |kind, button, buttons, count| {
            json!({"type": kind, "x": x, "y": y, "button": button, "buttons": buttons,
                "clickCount": count, "pointerType": "mouse"})
        };
        let act = |event| self.page.ask("Input.dispatchMouseEvent", event);
        // All at once: a move alone would wait for the next frame.
        tokio::try_join!(
            biased;
            act(event("mouseMoved", "none", 0, 0)),
            act(event("mousePressed", "left", 0, 1)),
            act(event("mouseReleased", "left", 1, 1)),
        )?;
        self.page.settle().await
    }

    /// Types into an element.
    pub async fn fill(&self, selector: &str, text: &str) -> Result<(), Trouble> {
        let problem = self.look(&element::focus(selector)).await?;
        if !problem.is_null() {
            return Err(Trouble(format!("{selector} {problem}")));
        }
        for character in text.chars() {
            self.stroke(&key(character)?.typed()).await?;
        }
        self.page.settle().await
    }

    /// Presses a key with whatever has the focus; keys without a character have WebDriver's numbers
    /// (`\u{e014}` is the right arrow).
    pub async fn press(&self, character: char) -> Result<(), Trouble> {
        self.page.still().await?;
        self.stroke(&key(character)?.stroke()).await?;
        self.page.settle().await
    }

    async fn stroke(&self, events: &[Value]) -> Result<(), Trouble> {
        for event in events {
            let struck = self.page.ask("Input.dispatchKeyEvent", event.clone());
            struck.await?;
        }
        Ok(())
    }

    /// What pages are told that a person prefers (`prefers-color-scheme`, `dark`); other wishes are forgotten.
    pub async fn prefer(&self, wishes: &[(&str, &str)]) -> Result<(), Trouble> {
        let features: Vec<Value> = wishes
            .iter()
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect();
        let told = json!({"features": features});
        let told = self.page.ask("Emulation.setEmulatedMedia", told);
        told.await.map(drop)
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
        let told = json!({"source": source});
        let told = self.page.ask("Page.addScriptToEvaluateOnNewDocument", told);
        told.await.map(drop)
    }

    pub async fn screenshot(&self, path: &Path) -> Result<(), Trouble> {
        self.page.still().await?;
        let format = json!({"format": "png"});
        let picture = self.page.ask("Page.captureScreenshot", format).await?;
        let picture = picture["data"].as_str().unwrap_or_default();
        let picture = STANDARD.decode(picture).map_err(trouble)?;
        std::fs::write(path, picture).map_err(trouble)
    }

    /// What the browser complained about since the last time: errors of scripts, refused loads.
    pub async fn complaints(&self) -> Result<Vec<String>, Trouble> {
        self.page.settle().await?;
        Ok(self.page.complaints())
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

    /// In order; without it the window is closed soon after.
    pub async fn close(self) -> Result<(), Trouble> {
        self.page.close().await
    }
}

fn key(character: char) -> Result<Key, Trouble> {
    Key::of(character).ok_or_else(|| Trouble(format!("unknown key {character:?}")))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// Serves one page to everybody and says where.
    fn serve(page: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // A browser opens connections that it never uses.
                std::thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let asked = stream.read(&mut [0; 4096]).unwrap();
                    let length = page.len();
                    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close";
                    let answer = format!("{head}\r\nContent-Length: {length}\r\n\r\n{page}");
                    if asked > 0 {
                        stream.write_all(answer.as_bytes()).unwrap();
                    }
                });
            }
        });
        url
    }

    async fn in_window(page: &'static str) -> Browser {
        let browser = Browser::start(1000, 700).await.unwrap();
        browser.open(&serve(page)).await.unwrap();
        browser
    }

    const PLAIN: &str = "<title>t</title><link rel=icon href=data:,><p>hello";

    #[tokio::test(flavor = "multi_thread")]
    async fn windows_of_one_browser_know_nothing_of_each_other() {
        let chromium = Chromium::start().await.unwrap();
        let shared = Some(chromium.address());
        let one = Browser::start_in(shared, 1000, 700).await.unwrap();
        let other = Browser::start_in(shared, 800, 600).await.unwrap();
        assert!(one._own.is_none() && other._own.is_none());
        let url = serve(PLAIN);
        one.open(&url).await.unwrap();
        other.open(&url).await.unwrap();
        one.js("document.cookie = 'a=1'; localStorage.setItem('b', '2'); console.error('mine');")
            .await
            .unwrap();
        one.prefer(&[("prefers-color-scheme", "dark")])
            .await
            .unwrap();
        one.resize(900, 650).await.unwrap();
        let state = "return [document.cookie, localStorage.getItem('b'), \
            matchMedia('(prefers-color-scheme: dark)').matches, outerWidth, document.hasFocus()]";
        assert_eq!(
            one.js(state).await.unwrap(),
            json!(["a=1", "2", true, 900, true])
        );
        assert_eq!(
            other.js(state).await.unwrap(),
            json!(["", null, false, 800, true])
        );
        assert_eq!(other.complaints().await.unwrap(), Vec::<String>::new());
        let complaints = one.complaints().await.unwrap();
        assert!(
            complaints.len() == 1 && complaints[0].contains("mine"),
            "{complaints:?}"
        );
        one.close().await.unwrap();
        // The next one finds nothing, and the other goes on.
        let next = Browser::start_in(shared, 1000, 700).await.unwrap();
        next.open(&url).await.unwrap();
        let kept = next.js("return [document.cookie, localStorage.getItem('b')]");
        assert_eq!(kept.await.unwrap(), json!(["", null]));
        assert_eq!(other.js("return 5").await.unwrap(), json!(5));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_shared_browser_that_is_gone_is_replaced() {
        let chromium = Chromium::start().await.unwrap();
        let address = chromium.address().to_owned();
        let one = Browser::start_in(Some(&address), 800, 600).await.unwrap();
        drop(chromium);
        let why = one.js("return 1").await.unwrap_err().to_string();
        assert!(why.contains("the browser is gone"), "{why}");
        let why = one.until("true").await.unwrap_err().to_string();
        assert!(why.contains("the browser is gone"), "{why}");
        let own = Browser::start_in(Some(&address), 800, 600).await.unwrap();
        assert!(own._own.is_some());
        assert_eq!(own.js("return outerWidth").await.unwrap(), json!(800));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_page_that_crashes_says_so() {
        let browser = in_window(PLAIN).await;
        let why = browser.page.ask("Page.crash", json!({})).await.unwrap_err();
        assert!(why.to_string().contains("crashed"), "{why}");
        let why = browser.js("return 1").await.unwrap_err();
        assert!(why.to_string().contains("crashed"), "{why}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_click_needs_an_element_that_can_be_seen() {
        let browser = in_window(
            "<link rel=icon href=data:,><script>addEventListener('click', (e) => { window.last = [e.target.id, e.isTrusted] })</script>\
             <button id=free>a</button><button id=hidden hidden>b</button>\
             <div style='position:relative'><button id=below>c</button>\
             <div id=above style='position:absolute;inset:0'></div></div>\
             <div style='height:3000px'></div><button id=far>d</button>",
        )
        .await;
        for there in ["free", "far"] {
            browser.click(&format!("#{there}")).await.unwrap();
            let last = browser.js("return window.last").await.unwrap();
            assert_eq!(last, json!([there, true]));
        }
        let why = browser.click("#hidden").await.unwrap_err().to_string();
        assert!(why.contains("is hidden"), "{why}");
        let why = browser.click("#below").await.unwrap_err().to_string();
        assert!(
            why.contains("is covered by") && why.contains("above"),
            "{why}"
        );
        let last = browser.js("return window.last").await.unwrap();
        assert_eq!(last, json!(["far", true]));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn keys_reach_what_has_the_focus() {
        let browser = in_window(
            "<link rel=icon href=data:,><input id=one value=x><input id=two>\
             <script>window.keys = []; addEventListener('keydown', (e) => keys.push(e.key + '/' + e.code), true)</script>",
        )
        .await;
        browser.fill("#one", "aB?é 1").await.unwrap();
        browser.press('\u{e004}').await.unwrap();
        browser.press('z').await.unwrap();
        let seen = "return [one.value, two.value, document.activeElement.id, keys.join(' ')]";
        assert_eq!(
            browser.js(seen).await.unwrap(),
            json!([
                "xaB?é 1",
                "z",
                "two",
                "a/KeyA Shift/ShiftLeft B/KeyB Shift/ShiftLeft ?/Slash é/  /Space 1/Digit1 Tab/Tab z/KeyZ"
            ])
        );
        let why = browser.fill("#three", "a").await.unwrap_err().to_string();
        assert!(why.contains("is not there"), "{why}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_leads_to_another_page_is_waited_for() {
        let browser = in_window(
            "<link rel=icon href=data:,><a href='/?next'>next</a><a id=hash href='#here'>here</a>\
             <script>onkeydown = () => location.assign('/?pressed')</script>",
        )
        .await;
        let search = "return location.search + location.hash + document.readyState";
        browser.click("a").await.unwrap();
        assert_eq!(browser.js(search).await.unwrap(), "?nextcomplete");
        browser.press('x').await.unwrap();
        assert_eq!(browser.js(search).await.unwrap(), "?pressedcomplete");
        browser.back().await.unwrap();
        browser.until("location.search === '?next'").await.unwrap();
        browser.js("location.reload()").await.unwrap();
        assert_eq!(browser.js(search).await.unwrap(), "?nextcomplete");
        browser.click("#hash").await.unwrap();
        assert!(browser.url().await.unwrap().ends_with("/?next#here"));
        assert_eq!(browser.complaints().await.unwrap(), Vec::<String>::new());
        let why = browser.open("http://127.0.0.1:1/").await.unwrap_err();
        assert!(why.to_string().contains("ERR_"), "{why}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn scripts_return_values_and_errors_and_dialogs_are_complaints() {
        let browser = in_window(PLAIN).await;
        let value = browser.js("return [1, 'a', null, {b: true}]").await;
        assert_eq!(value.unwrap(), json!([1, "a", null, {"b": true}]));
        assert_eq!(browser.js("1").await.unwrap(), Value::Null);
        let late = browser.js("return new Promise((done) => setTimeout(() => done(5), 20))");
        assert_eq!(late.await.unwrap(), json!(5));
        let late = browser.js_async("setTimeout(() => arguments[0]('late'), 20)");
        assert_eq!(late.await.unwrap(), json!("late"));
        let why = browser.js("throw new Error('no')").await.unwrap_err();
        assert!(why.to_string().contains("Error: no"), "{why}");
        let asked = browser.js("return confirm('sure?')").await.unwrap();
        assert_eq!(asked, json!(false));
        browser
            .js("setTimeout(() => { throw new Error('thrown') })")
            .await
            .unwrap();
        browser
            .js_async("setTimeout(arguments[0], 20)")
            .await
            .unwrap();
        let complaints = browser.complaints().await.unwrap();
        let [dialog, thrown] = complaints.as_slice() else {
            panic!("{complaints:?}");
        };
        assert!(dialog.contains("confirm sure?"), "{dialog}");
        assert!(thrown.contains("Error: thrown"), "{thrown}");
        assert_eq!(browser.complaints().await.unwrap(), Vec::<String>::new());
    }
}
