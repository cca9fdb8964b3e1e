//! Records the events of one attempt. A short attempt's events are gathered and go to a shared
//! segment in one piece; one that lasts or grows gets a folder of its own, where every event is
//! written as it happens. Either way they are on disk before the attempt counts.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agon_core::verdict::Verdict;
use agon_core::{Clock, Digest, Event, EventBody, Source, TaskId};
use jiff::Timestamp;

use crate::folder::{RunFolder, write_whole};
use crate::place::{Closed, Place, Play};
use crate::running::RunningAttempt;
use crate::stored::EventsAt;
use crate::writer::RunWriter;

#[derive(Debug)]
pub struct Recorder {
    writer: RunWriter,
    clock: Arc<dyn Clock>,
    began: Duration,
    seq: u64,
    /// Relative to the run folder; made when first needed.
    folder: PathBuf,
    place: Arc<Place>,
    /// Of the last event that says what the attempt came to.
    verdict: Option<Digest>,
    listener: Option<Listener>,
    cleaner: Option<Cleaner>,
}

/// Takes out of a text what must not be recorded; `None`: there is nothing of it.
pub type Cleaner = fn(&str) -> Option<String>;

/// Is told of every event as it is recorded. Must be quick.
#[derive(Clone)]
pub struct Listener(Arc<dyn Fn(&Event) + Send + Sync>);

impl Listener {
    pub fn new(hear: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listener")
    }
}

impl Recorder {
    /// Of an attempt that begins now, which stays in the record from here on, whatever becomes of it.
    pub fn new(
        writer: &RunWriter,
        clock: Arc<dyn Clock>,
        task: &TaskId,
        epoch: u32,
        attempt: u32,
    ) -> Self {
        Self::begin(writer, clock, task, epoch, attempt, Play::Now)
    }

    /// Of what was played before and is only told or graded again: nobody is told that it runs.
    pub fn of_the_past(
        writer: &RunWriter,
        clock: Arc<dyn Clock>,
        task: &TaskId,
        epoch: u32,
        attempt: u32,
    ) -> Self {
        Self::begin(writer, clock, task, epoch, attempt, Play::Before)
    }

    fn begin(
        writer: &RunWriter,
        clock: Arc<dyn Clock>,
        task: &TaskId,
        epoch: u32,
        attempt: u32,
        play: Play,
    ) -> Self {
        let folder = RunFolder::trial_folder(task, epoch, attempt);
        // An older version, if it was killed, may have left an unfinished attempt of the same number.
        // What can't be removed is told when this attempt wants to write there.
        let own = writer.folder().path().join(&folder);
        fs::remove_dir_all(&own).ok();
        let attempt = RunningAttempt {
            task: task.clone(),
            epoch,
            attempt,
            began: clock.now(),
        };
        Self {
            writer: writer.clone(),
            began: clock.monotonic(),
            clock,
            seq: 0,
            folder,
            place: writer.place(attempt, own, play),
            verdict: None,
            listener: None,
            cleaner: None,
        }
    }

    /// Everything goes through `cleaner` from here on, before anybody sees or keeps it.
    pub fn clean_by(&mut self, cleaner: Cleaner) {
        self.cleaner = Some(cleaner);
    }

    /// Whoever listened before does no more.
    pub fn tell(&mut self, listener: Listener) {
        self.listener = Some(listener);
    }

    /// When the attempt began, as others are told.
    pub fn began(&self) -> Timestamp {
        self.place.began()
    }

    /// Seconds since the attempt began.
    pub fn elapsed(&self) -> Duration {
        self.clock.monotonic().saturating_sub(self.began)
    }

    /// Appends an event and returns its number.
    pub fn record(
        &mut self,
        source: Source,
        cause: Option<u64>,
        body: EventBody,
    ) -> io::Result<u64> {
        let seq = self.seq;
        self.seq += 1;
        // Tenths of milliseconds are what a reader can use; more digits only cost space.
        let t = (self.elapsed().as_secs_f64() * 1e4).round() / 1e4;
        self.write(&Event {
            seq,
            t,
            at: self.clock.now(),
            source,
            cause,
            body,
        })?;
        Ok(seq)
    }

    fn write(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_string(event)?;
        let cleaned = self.cleaner.and_then(|clean| clean(&line));
        match cleaned {
            None => self.tell_listener(event),
            Some(clean) => {
                self.tell_listener(&serde_json::from_str(&clean)?);
                line = clean;
            }
        }
        if matches!(event.body, EventBody::Verdict(_) | EventBody::Fault(_)) {
            self.verdict = Some(Digest::of(line.as_bytes()));
        }
        line.push('\n');
        let age = Duration::try_from_secs_f64(event.t).unwrap_or_default();
        self.place.append(line.as_bytes(), age)
    }

    fn tell_listener(&self, event: &Event) {
        if let Some(Listener(hear)) = &self.listener {
            hear(event);
        }
    }

    /// Takes over an event of an earlier attempt as it is; what is recorded next comes after it.
    pub fn copy(&mut self, event: &Event) -> io::Result<()> {
        self.seq = event.seq.saturating_add(1);
        let earlier = Duration::try_from_secs_f64(event.t).unwrap_or_default();
        self.began = self.clock.monotonic().saturating_sub(earlier);
        self.write(event)
    }

    /// Where the attempt's own folder is or would be, for logs beside its events.
    pub fn folder(&self) -> PathBuf {
        self.writer.folder().path().join(&self.folder)
    }

    /// Closes the record and says where it is.
    pub fn finish(self, verdict: Option<&Verdict>) -> io::Result<EventsAt> {
        let at = match self.place.close()? {
            Closed::Gathered(gathered) => self.writer.append_segment(&gathered)?,
            Closed::Own { header, bytes } => {
                if let Some(verdict) = verdict {
                    let path = self.folder().join("verdict.json");
                    write_whole(&path, &serde_json::to_vec_pretty(verdict)?)
                        .map_err(io::Error::other)?;
                }
                let file = self
                    .folder
                    .join("events.jsonl")
                    .to_string_lossy()
                    .into_owned();
                EventsAt {
                    file,
                    at: header,
                    bytes,
                    verdict: None,
                }
            }
        };
        Ok(EventsAt {
            verdict: self.verdict,
            ..at
        })
    }
}
