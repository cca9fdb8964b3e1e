//! One window in a browser context of its own: nothing that other windows of the same browser keep, prefer or
//! complain about is seen here. Follows what its page loads. Knows nothing of elements and keys.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::complaint::complaint;
use crate::devtools::{DevTools, PATIENCE, Then};
use crate::trouble::Trouble;

/// From the wish of a page to be elsewhere to the first that the browser does about it. Some wishes are refused
/// in silence.
const BEGUN_WITHIN: Duration = Duration::from_millis(500);

/// Dropped, its window is closed, and all that it kept is forgotten.
#[derive(Debug)]
pub(crate) struct Page {
    devtools: DevTools,
    context: Value,
    session: String,
    window: Value,
    heard: Arc<Mutex<Heard>>,
    motion: watch::Receiver<Motion>,
}

/// Where the page is going.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Motion {
    Still,
    /// It wants to be elsewhere since then, and nothing is loaded yet.
    Asked(Instant),
    Loading,
}

impl Page {
    /// A window of this size in the browser whose debugger has this address; nothing is in it.
    pub(crate) async fn open(address: &str, width: u32, height: u32) -> Result<Self, Trouble> {
        let heard = Arc::new(Mutex::new(Heard::default()));
        let (tell, motion) = watch::channel(Motion::Still);
        let ear = Ear {
            heard: Arc::clone(&heard),
            motion: tell,
        };
        let listen = move |event: &str, said: &Value| ear.hear(event, said);
        let devtools = DevTools::connect(address, listen).await?;
        // It ends with the connection, however this process ends.
        let context = json!({"disposeOnDetach": true});
        let context = devtools.ask(None, "Target.createBrowserContext", context);
        let context = context.await?["browserContextId"].take();
        let target = json!({
            "url": "about:blank", "browserContextId": context, "width": width, "height": height,
        });
        let target = devtools.ask(None, "Target.createTarget", target);
        let target = target.await?["targetId"].take();
        locked(&heard).frame = target.clone();
        let attach = json!({"targetId": target, "flatten": true});
        let session = devtools.ask(None, "Target.attachToTarget", attach);
        let session = word(&session.await?["sessionId"]).to_owned();
        let enable = |method| devtools.ask(Some(&session), method, json!({}));
        // Windows of other tests come and go: this one has the focus all the same.
        let focus = json!({"enabled": true});
        let focus = devtools.ask(Some(&session), "Emulation.setFocusEmulationEnabled", focus);
        let window = json!({"targetId": target});
        let window = devtools.ask(None, "Browser.getWindowForTarget", window);
        let (_, _, _, _, mut window) = tokio::try_join!(
            enable("Page.enable"),
            enable("Runtime.enable"),
            enable("Log.enable"),
            focus,
            window
        )?;
        let window = window["windowId"].take();
        Ok(Self {
            devtools,
            context,
            session,
            window,
            heard,
            motion,
        })
    }

    /// Says why nothing can be asked any more, once that is so.
    pub(crate) fn ended(&self) -> Option<&str> {
        self.devtools.ended()
    }

    /// Asks the browser for something about this page.
    pub(crate) async fn ask(&self, method: &'static str, asked: Value) -> Result<Value, Trouble> {
        self.devtools.ask(Some(&self.session), method, asked).await
    }

    /// The value of an expression in the page; of a promise, what it promises.
    pub(crate) async fn value(&self, expression: &str) -> Result<Value, Trouble> {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answered = self.ask("Runtime.evaluate", asked).await;
        let mut answer = match answered {
            Ok(answer) => answer,
            Err(trouble) => return Err(self.explain(trouble).await),
        };
        let thrown = &answer["exceptionDetails"];
        if thrown.is_null() {
            return Ok(answer["result"]["value"].take());
        }
        let error = &thrown["exception"];
        let said = [&error["description"], &error["value"], &thrown["text"]];
        let said = said.into_iter().find(|said| !said.is_null());
        let said = said.map_or_else(String::new, ToString::to_string);
        Err(Trouble(format!("the script failed: {said}")))
    }

    /// Adds what state the page is in: one that is busy for ever looks like one that draws no more frames.
    async fn explain(&self, trouble: Trouble) -> Trouble {
        let state = "JSON.stringify([location.href, document.visibilityState, document.hasFocus(), performance.now()])";
        let asked = json!({"expression": state, "returnByValue": true});
        let state = self.ask("Runtime.evaluate", asked).await;
        let state = state.map_or_else(
            |error| error.to_string(),
            |answer| answer["result"]["value"].to_string(),
        );
        Trouble(format!("{trouble}; the page: {state}"))
    }

    /// Waits until nothing is being loaded.
    pub(crate) async fn still(&self) -> Result<(), Trouble> {
        let mut motion = self.motion.clone();
        let now = *motion.borrow();
        if let Motion::Asked(since) = now {
            let begun = motion.wait_for(|motion| *motion != now);
            let begun = tokio::time::timeout_at(since + BEGUN_WITHIN, begun).await;
            if begun.is_err() {
                return Ok(());
            }
        }
        let still = motion.wait_for(|motion| *motion == Motion::Still);
        match tokio::time::timeout(PATIENCE, still).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => {
                let why = self.ended().unwrap_or("the connection ended");
                Err(Trouble(why.to_owned()))
            }
            Err(_) => {
                let url = self.url().await.unwrap_or_default();
                Err(Trouble(format!("{url} was not loaded in {PATIENCE:?}")))
            }
        }
    }

    /// The same, after something was done to the page that may lead to another.
    pub(crate) async fn settle(&self) -> Result<(), Trouble> {
        // What follows at once is told before this is answered. A page that is just being left has no answer.
        let there_and_back = self.ask("Runtime.evaluate", json!({"expression": "1"}));
        there_and_back.await.ok();
        self.still().await
    }

    pub(crate) async fn go(&self, url: &str) -> Result<(), Trouble> {
        let gone = self.ask("Page.navigate", json!({"url": url})).await?;
        if let Some(error) = gone["errorText"].as_str() {
            return Err(Trouble(format!("{url}: {error}")));
        }
        self.still().await
    }

    /// A step back in the history, if there is one.
    pub(crate) async fn back(&self) -> Result<(), Trouble> {
        let (entries, current) = self.history().await?;
        if let Some(before) = current.checked_sub(1) {
            let entry = json!({"entryId": entries[before]["id"]});
            self.ask("Page.navigateToHistoryEntry", entry).await?;
        }
        self.settle().await
    }

    pub(crate) async fn url(&self) -> Result<String, Trouble> {
        let (entries, current) = self.history().await?;
        Ok(word(&entries[current]["url"]).to_owned())
    }

    /// The entries, and which of them is shown.
    async fn history(&self) -> Result<(Value, usize), Trouble> {
        let mut history = self.ask("Page.getNavigationHistory", json!({})).await?;
        let current = history["currentIndex"].as_u64().unwrap_or(0);
        let current = usize::try_from(current).unwrap_or(0);
        Ok((history["entries"].take(), current))
    }

    pub(crate) async fn resize(&self, width: u32, height: u32) -> Result<(), Trouble> {
        let size = json!({"width": width, "height": height});
        let size = json!({"windowId": self.window, "bounds": size});
        let sized = self.devtools.ask(None, "Browser.setWindowBounds", size);
        sized.await?;
        self.settle().await
    }

    /// What was complained about since the last time.
    pub(crate) fn complaints(&self) -> Vec<String> {
        std::mem::take(&mut locked(&self.heard).complaints)
    }

    /// Returns when its window is closed.
    pub(crate) async fn close(self) -> Result<(), Trouble> {
        locked(&self.heard).closing = true;
        let context = json!({"browserContextId": self.context});
        let closed = self
            .devtools
            .ask(None, "Target.disposeBrowserContext", context);
        closed.await.map(drop)
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// What the browser said by itself.
#[derive(Debug, Default)]
struct Heard {
    complaints: Vec<String>,
    /// The page itself, not the frames in it.
    frame: Value,
    /// The end of the window is no surprise.
    closing: bool,
}

fn locked(heard: &Mutex<Heard>) -> MutexGuard<'_, Heard> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Ear {
    heard: Arc<Mutex<Heard>>,
    motion: watch::Sender<Motion>,
}

impl Ear {
    fn hear(&self, event: &str, said: &Value) -> Then {
        let mut heard = locked(&self.heard);
        heard.complaints.extend(complaint(event, said));
        let whole = said["frameId"] == heard.frame;
        match event {
            "Page.frameRequestedNavigation" if whole && said["disposition"] == "currentTab" => {
                self.motion.send_if_modified(|motion| {
                    let first = *motion == Motion::Still;
                    if first {
                        *motion = Motion::Asked(Instant::now());
                    }
                    first
                });
            }
            "Page.frameStartedLoading" if whole => {
                self.motion.send_replace(Motion::Loading);
            }
            "Page.frameStoppedLoading" if whole => {
                self.motion.send_replace(Motion::Still);
            }
            // A page would wait for ever; it may always be left.
            "Page.javascriptDialogOpening" => {
                let accept = json!({"accept": said["type"] == "beforeunload"});
                return Then::Tell("Page.handleJavaScriptDialog", accept);
            }
            "Inspector.targetCrashed" => return Then::End("the page crashed".to_owned()),
            "Target.detachedFromTarget" if !heard.closing => {
                return Then::End("the window was closed".to_owned());
            }
            _ => {}
        }
        Then::GoOn
    }
}
