//! Frames of the screen at a wanted rate. The screen is captured only when it changes; one that does
//! not is told again as it was, since users count on the rate.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::desktop::Desktop;
use crate::error::DesktopError;
use crate::listen::StopSignal;
use crate::monotonic::monotonic;
use crate::registry::callables::now_ns;
use crate::registry::listener::{Listen, ListenerKind};
use crate::registry::message::Message;
use crate::registry::shelf::Registry;
use crate::screen::{CaptureOptions, Frame, StreamConfig};

pub(in crate::registry) const PARAMETERS: &str =
    "show_cursor?, fps?, window_name?, monitor_idx?, additional_properties?";

/// Frames over which rate and latency are told.
const MEASURED: usize = 100;

/// How soon a stop is seen at a low rate.
const GLANCE: Duration = Duration::from_millis(100);

/// As in `owa`. One screen is all there is, and there is no pipeline with properties of its own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::registry) struct ScreenConfig {
    #[serde(default = "yes")]
    show_cursor: bool,
    #[serde(default = "sixty")]
    fps: u32,
    #[serde(default)]
    window_name: Option<String>,
    #[serde(default)]
    monitor_idx: Option<u32>,
    #[serde(default)]
    additional_properties: Option<Map<String, Value>>,
}

fn yes() -> bool {
    true
}

fn sixty() -> u32 {
    60
}

impl ScreenConfig {
    /// Says what is wrong before anything is started.
    pub(in crate::registry) fn check(&self, desktop: &Desktop) -> Result<(), DesktopError> {
        let refused = |why: &str| Err(DesktopError::Invalid(why.to_owned()));
        if !(1..=240).contains(&self.fps) {
            return refused("fps is from 1 to 240");
        }
        if self.monitor_idx.is_some_and(|number| number != 0) {
            return refused("a desktop has one screen: leave monitor_idx out");
        }
        if self
            .additional_properties
            .as_ref()
            .is_some_and(|more| !more.is_empty())
        {
            return refused("there is no pipeline here: leave additional_properties out");
        }
        match &self.window_name {
            Some(title) => desktop.windows().find(title).map(drop),
            None => Ok(()),
        }
    }

    pub(in crate::registry) fn period(&self) -> Duration {
        Duration::from_secs(1) / self.fps.max(1)
    }

    /// The screen, or the part of it where the window is; `None` while that can't be seen.
    pub(in crate::registry) fn capture(
        &self,
        desktop: &Desktop,
    ) -> Result<Option<Frame>, DesktopError> {
        let region = match &self.window_name {
            None => None,
            Some(title) => match desktop.windows().find(title) {
                Ok(window) if window.hidden => return Ok(None),
                Ok(window) => match window.rect.intersect(desktop.size().rect()) {
                    None => return Ok(None),
                    seen => seen,
                },
                Err(DesktopError::NoSuchWindow { .. }) => return Ok(None),
                Err(error) => return Err(error),
            },
        };
        let options = CaptureOptions {
            region,
            cursor: self.show_cursor,
            ..CaptureOptions::default()
        };
        desktop.screen().capture_with(&options).map(Some)
    }
}

pub(super) fn put(registry: &Registry<ListenerKind>) {
    let screen = ListenerKind::described(
        PARAMETERS,
        "Frames of the screen or a window, 60 per second unless said, with rate and latency.",
        |context, config: ScreenConfig| {
            let desktop = context.desktop()?;
            config.check(&desktop)?;
            Ok(Listen::new(move |stop, tell| match config.window_name {
                Some(_) => follow_window(&desktop, &config, stop, tell),
                None => follow_screen(&desktop, &config, stop, tell),
            }))
        },
    );
    registry.put("gst/screen", Some("screen"), screen);
}

fn follow_screen(
    desktop: &Desktop,
    config: &ScreenConfig,
    stop: &StopSignal,
    tell: &mut dyn FnMut(Message),
) -> Result<(), DesktopError> {
    let stream = desktop.screen().stream(StreamConfig {
        fps: config.fps,
        cursor: config.show_cursor,
        keep: 1,
    })?;
    let (period, mut meter) = (config.period(), Meter::default());
    let mut latest: Option<Arc<Frame>> = None;
    let mut due = Instant::now();
    while !stop.is_set() {
        let left = due.saturating_duration_since(Instant::now());
        match stream.next(left.min(GLANCE))? {
            Some(frame) => {
                tell(meter.told(&frame, true));
                latest = Some(frame);
            }
            None if Instant::now() < due => continue,
            None => {
                if let Some(frame) = &latest {
                    tell(meter.told(frame, false));
                }
            }
        }
        due = Instant::now() + period;
    }
    Ok(())
}

fn follow_window(
    desktop: &Desktop,
    config: &ScreenConfig,
    stop: &StopSignal,
    tell: &mut dyn FnMut(Message),
) -> Result<(), DesktopError> {
    let (period, mut meter) = (config.period(), Meter::default());
    let mut due = Instant::now();
    while !stop.wait(due.saturating_duration_since(Instant::now())) {
        due = (due + period).max(Instant::now());
        if let Some(frame) = config.capture(desktop)? {
            tell(meter.told(&Arc::new(frame), true));
        }
    }
    Ok(())
}

/// Rate and latency of the latest frames.
#[derive(Debug, Default)]
struct Meter {
    told: VecDeque<(Instant, Duration)>,
}

impl Meter {
    fn told(&mut self, frame: &Arc<Frame>, is_new: bool) -> Message {
        let age = match is_new {
            true => monotonic().saturating_sub(frame.at()),
            // The screen still looks like this.
            false => Duration::ZERO,
        };
        if self.told.len() == MEASURED {
            self.told.pop_front();
        }
        self.told.push_back((Instant::now(), age));
        let size = frame.size();
        let shape = [size.width, size.height];
        let age_ns = i64::try_from(age.as_nanos()).unwrap_or(i64::MAX);
        let body = json!({
            "utc_ns": now_ns().saturating_sub(age_ns),
            "source_shape": shape,
            "shape": shape,
            "metrics": { "fps": self.rate(), "latency": self.latency() },
        });
        Message::with_frame(body, Arc::clone(frame))
    }

    /// Frames per second; 0 for the first.
    fn rate(&self) -> f64 {
        let (Some((first, _)), Some((last, _))) = (self.told.front(), self.told.back()) else {
            return 0.0;
        };
        let took = last.duration_since(*first).as_secs_f64();
        if took > 0.0 {
            (self.told.len() - 1) as f64 / took
        } else {
            0.0
        }
    }

    /// Mean, in seconds.
    fn latency(&self) -> f64 {
        let sum: Duration = self.told.iter().map(|(_, age)| *age).sum();
        sum.as_secs_f64() / self.told.len().max(1) as f64
    }
}
