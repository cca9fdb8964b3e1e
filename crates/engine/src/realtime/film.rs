//! Keeps frames of a play: two per second while the screen changes, and the last ones before its end.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use agon_core::screen::{Picture, PictureFormat, ScreenPoint, ScreenView};
use agon_desktop::screen::{Frame, FrameStream, StreamConfig};
use agon_desktop::{Desktop, DesktopError};
use agon_store::RunWriter;
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};

use super::reports::{Report, Reporter};

const EVERY: Duration = Duration::from_millis(500);

/// What is held in memory for the end.
const STREAM: StreamConfig = StreamConfig {
    fps: 10,
    cursor: false,
    keep: LAST,
};
const LAST: usize = 4;

/// Blocks while it works. A copy films the same.
#[derive(Debug, Clone)]
pub(super) struct Film {
    stream: Arc<FrameStream>,
    writer: RunWriter,
    /// Times of the frames that were kept last.
    kept: VecDeque<Duration>,
}

impl Film {
    /// Blocks.
    pub(super) fn start(desktop: &Desktop, writer: &RunWriter) -> Result<Self, DesktopError> {
        Ok(Self {
            stream: Arc::new(desktop.screen().stream(STREAM)?),
            writer: writer.clone(),
            kept: VecDeque::new(),
        })
    }

    /// Keeps a frame every so often, as long as this is polled.
    pub(super) async fn roll(&mut self, reporter: &Reporter) -> Infallible {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if !self.keep(1, reporter).await {
                return pending().await;
            }
        }
    }

    /// Keeps the last frames, as far as they are not kept.
    pub(super) async fn end(&mut self, reporter: &Reporter) {
        self.keep(LAST, reporter).await;
    }

    /// Says whether there is a point in going on.
    async fn keep(&mut self, most: usize, reporter: &Reporter) -> bool {
        let mut film = self.clone();
        let Ok((film, report)) = spawn_blocking(move || {
            let views = film.take(most);
            (film, views)
        })
        .await
        else {
            return false;
        };
        *self = film;
        match report {
            Ok(views) => {
                for view in views {
                    // Nobody reads it any more when the play is over.
                    let _ = reporter.send(Report::Frame(Box::new(view)));
                }
                true
            }
            Err(error) => {
                let _ = reporter.send(Report::Lost(error));
                false
            }
        }
    }

    fn take(&mut self, most: usize) -> std::io::Result<Vec<ScreenView>> {
        let mut views = Vec::new();
        for frame in self.stream.last(most) {
            if self.kept.contains(&frame.at()) {
                continue;
            }
            // One that can't be encoded is no evidence; the last screen is taken apart from this.
            if let Ok(view) = view(&frame) {
                self.writer.keep_picture(&view.picture)?;
                views.push(view);
            }
            self.kept.push_back(frame.at());
            if self.kept.len() > LAST {
                self.kept.pop_front();
            }
        }
        Ok(views)
    }
}

fn view(frame: &Frame) -> Result<ScreenView, DesktopError> {
    let encoded = frame.encode(agon_desktop::screen::PictureFormat::Png)?;
    let point = |at: agon_desktop::Point| ScreenPoint { x: at.x, y: at.y };
    Ok(ScreenView {
        width: frame.size().width,
        height: frame.size().height,
        cursor: frame.cursor().map(point),
        window: None,
        picture: Picture::new(PictureFormat::Png, encoded),
    })
}
