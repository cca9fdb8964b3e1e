//! What watches a play tells whoever keeps its record: one queue, so that one side only writes.

use std::io;

use agon_core::screen::{ScreenMoment, ScreenRecord, ScreenView};
use agon_core::{EventBody, Fault, Look, Source};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::attempt::{Attempt, evidence_lost};

#[derive(Debug)]
pub(super) enum Report {
    /// The screen was judged.
    Looks(Vec<Look>),
    /// A frame was kept.
    Frame(Box<ScreenView>),
    /// To be known by whoever reads the record.
    Note(String),
    /// What was seen could not be kept.
    Lost(io::Error),
    /// It can't be judged whether the world has ended.
    Fault(Fault),
}

pub(super) type Reporter = UnboundedSender<Report>;

#[derive(Debug)]
pub(super) struct Reports(UnboundedReceiver<Report>);

/// Reports come at a bounded rate.
pub(super) fn reports() -> (Reporter, Reports) {
    let (sender, receiver) = unbounded_channel();
    (sender, Reports(receiver))
}

impl Reports {
    /// The next one; never when there will be none.
    pub(super) async fn next(&mut self) -> Report {
        match self.0.recv().await {
            Some(report) => report,
            None => std::future::pending().await,
        }
    }

    /// What has come and was not looked at.
    pub(super) fn rest(&mut self) -> Vec<Report> {
        std::iter::from_fn(|| self.0.try_recv().ok()).collect()
    }
}

pub(super) fn record(attempt: &mut Attempt, report: Report) -> Result<(), Fault> {
    match report {
        Report::Looks(looks) => {
            for look in looks {
                attempt.record(Source::Harness, None, EventBody::Look(look))?;
            }
        }
        Report::Frame(screen) => {
            let record = ScreenRecord {
                what: ScreenMoment::Frame,
                screen: *screen,
                around: None,
            };
            attempt.record(Source::Environment, None, EventBody::Screen(record))?;
        }
        Report::Note(note) => {
            attempt.record(Source::Harness, None, EventBody::Note(note))?;
        }
        Report::Lost(error) => return Err(evidence_lost(&error)),
        Report::Fault(fault) => return Err(fault),
    }
    Ok(())
}
