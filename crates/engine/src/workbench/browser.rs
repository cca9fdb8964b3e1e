//! The agent's browser: a Chromium in its sandbox, driven by a program of ours there (`browser/*.py`),
//! one page in front. This file asks that program and puts its answers into words. Knows nothing of
//! agents or records.

use std::time::Duration;

use agon_core::observation::ObservationKind;
use agon_core::{Limits, Observation};
use agon_sandbox::{Sandbox, SandboxError};
use tokio::time::Instant;

use super::bench::GRACE;
use super::drawn;
use super::inside::{Fields, Inside, Told};

const PROGRAM: &str = concat!(
    include_str!("inside/frames.py"),
    "\n",
    include_str!("browser/chrome.py"),
    "\nLOOK = r'''",
    include_str!("browser/look.js"),
    "'''\n",
    include_str!("browser/page.py"),
    "\n",
    include_str!("browser/actions.py"),
);

/// What the driver may need beyond the time of the calls, where the turn has as much: to start a
/// browser, to look at the page, to end a browser that hangs.
const DRIVING: Duration = Duration::from_secs(60);

/// For looking at the page after the calls.
const LOOKING: Duration = Duration::from_secs(10);

/// Room for the line that stands for what was left out.
const MARK: usize = 64;

#[derive(Debug)]
pub(super) struct Browser {
    driver: Inside,
    view: usize,
}

impl Browser {
    pub(super) fn new(limits: Limits, cwd: Option<String>) -> Self {
        Self {
            view: usize::try_from(limits.view.0).unwrap_or(usize::MAX),
            driver: Inside::new(PROGRAM, limits, cwd),
        }
    }

    /// Carries out calls such as `click('12')`, which may take `most`.
    pub(super) async fn act(
        &mut self,
        sandbox: &dyn Sandbox,
        calls: &str,
        most: Duration,
        deadline: Instant,
    ) -> Result<Observation, SandboxError> {
        // At the end of the turn there is less time, and a page that hangs must be told of in it.
        let left = deadline.saturating_duration_since(Instant::now());
        let looking = LOOKING.min(left.saturating_sub(most) + GRACE / 2);
        let [seconds, looking] = [most, looking].map(|time| time.as_secs_f64().to_string());
        let asked = [calls, &seconds, &looking].map(str::as_bytes);
        let within = most + DRIVING;
        let told = self.driver.ask(sandbox, &asked, within, deadline).await?;
        Ok(match told {
            Told::Answer(fields) => self.seen(fields),
            Told::NotThere(why) => Observation::error(format!(
                "the browser needs chromium and python3, which does not run in this environment \
                 ({why})"
            )),
            Told::Gone(why) => Observation::error(format!(
                "the browser is gone, {why}: the next action starts a new one"
            )),
        })
    }

    fn seen(&self, fields: Fields) -> Observation {
        let mut fields = fields.into_iter();
        let state = fields.next().unwrap_or_default();
        let mut text = fields.next().unwrap_or_default();
        text.truncate(self.view.saturating_add(MARK));
        let mut text = String::from_utf8_lossy(&text).into_owned();
        if state != b"seen" {
            return Observation::error(text);
        }
        let (pictures, left_out) = drawn::pictures(fields.collect());
        if let Some(left_out) = left_out {
            text = format!("{text}\n{left_out}");
        }
        let mut seen = Observation::new(ObservationKind::Content, text);
        seen.pictures = pictures;
        seen
    }
}
