//! A conversation with a name: a later one of the same name goes on with it. Owns the session's folder for
//! as long as it is open; what was said and done before is read from there and never changed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_core::{Event, EventBody, Money};
use agon_store::{RunFolder, RunLock, StoreError};
use serde_json::Value;

use super::error::ControllerError;
use super::log::{self, Log};
use super::run::{LARGEST_TRAJECTORY, bounded};
use crate::codeact::Past;
use crate::dialect::{Record, history};
use crate::events::{Event as Told, EventBody as ToldBody, History};
use crate::metrics::is_of_agent;
use crate::state::{Ending, last_error};

const FILE: &str = "session.jsonl";
const TRAJECTORY: &str = "trajectory.json";

/// Said to the agent where its last turn went wrong, with what went wrong.
const BACK_ON_TRACK: &str = "Let's get back on track. See how things stand before you go on: your shell and your interpreter are \
     new, and what was running is not any more.";
const INTERRUPTED: &str = "The session was interrupted.";
const GO_ON: &str = "Go on where you stood. If nothing is left to do, finish.";

/// Words of an error that the agent is told.
const LONGEST_ERROR: usize = 500;

#[derive(Debug)]
pub struct Session {
    past: Arc<Past>,
    /// Bytes of the file that hold it.
    whole: u64,
    workspace: PathBuf,
    _lock: RunLock,
}

impl Session {
    /// The folder that the session kept in `folder` works in; `None`: there is none yet.
    pub fn workspace_of(folder: &Path) -> Result<Option<PathBuf>, ControllerError> {
        let path = folder.join(FILE);
        log::workspace(&path).map_err(|why| broken(&path, why))
    }

    /// Takes the folder for this process: a new session, or what was recorded of an old one. What is no
    /// session of ours is refused and left as it is.
    pub fn open(folder: &Path, workspace: &Path) -> Result<Self, ControllerError> {
        let (path, kept) = (folder.join(FILE), folder.join(TRAJECTORY));
        if kept.exists() && !path.exists() {
            let why = "there is no record of a session beside it, so it is of another program or of an older \
                       agon; --replay-trajectory plays it again";
            return Err(broken(&kept, why.to_owned()));
        }
        let folder = RunFolder::at(folder);
        let lock = folder.lock().map_err(|error| match error {
            StoreError::Locked(path) => ControllerError::Busy(path),
            StoreError::Occupied(path) => broken(&path, "it holds other things".to_owned()),
            error => error.into(),
        })?;
        let (events, whole) = log::read(&path).map_err(|why| broken(&path, why))?;
        let session = Self {
            past: Arc::new(Past { events, folder }),
            whole,
            workspace: workspace.to_owned(),
            _lock: lock,
        };
        session.check(&kept)?;
        Ok(session)
    }

    pub fn path(&self) -> &Path {
        self.past.folder.path()
    }

    /// Nothing was asked for yet.
    pub fn is_new(&self) -> bool {
        self.task().is_none()
    }

    /// What the agent is told next: the task, and before it what went wrong the last time.
    pub fn next(&self, task: &str) -> String {
        let asked = match task.trim() {
            "" => GO_ON,
            _ => task,
        };
        match self.went_wrong() {
            Some(error) => {
                let error: String = error.chars().take(LONGEST_ERROR).collect();
                format!("{error}\n\n{BACK_ON_TRACK}\n\n{asked}")
            }
            None => asked.to_owned(),
        }
    }

    /// Removes the folder of a session that did not come to begin.
    pub fn discard_if_unused(self) {
        let folder = self.path();
        if !folder.join(FILE).exists() {
            fs::remove_file(folder.join("run.lock")).ok();
            // Only a folder that nothing else was written to can be removed so.
            fs::remove_dir(folder).ok();
        }
    }

    pub(super) fn past(&self) -> &Arc<Past> {
        &self.past
    }

    /// What was asked for first.
    pub(super) fn task(&self) -> Option<&str> {
        self.past.events.iter().find_map(instruction)
    }

    /// How many conversations there were.
    pub(super) fn conversations(&self) -> u32 {
        let count = self.past.events.iter().filter_map(instruction).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// What the agent's models have cost.
    pub(super) fn spent(&self) -> Money {
        let costs = self
            .past
            .events
            .iter()
            .filter_map(|event| match &event.body {
                EventBody::Model(call) if is_of_agent(call.purpose) => call.usage.money,
                _ => None,
            });
        costs.sum()
    }

    pub(super) fn log(&self) -> io::Result<Log> {
        let before = self.past.events.last().map_or(0, |event| event.seq + 1);
        let path = self.path().join(FILE);
        Log::open(&path, self.whole, before, &self.workspace)
    }

    /// How the last conversation ended, where it did not end well.
    fn went_wrong(&self) -> Option<String> {
        let events = &self.past.events;
        let begun = events
            .iter()
            .rposition(|event| instruction(event).is_some())?;
        let ending = Ending::of(&events[begun..]);
        if ending.end.is_none() && ending.fault.is_none() {
            return Some(INTERRUPTED.to_owned());
        }
        let error = last_error(ending.end, ending.fault, ending.note);
        (!error.is_empty()).then_some(error)
    }

    /// A trajectory that stands in the folder must be of this session: it is written anew at the end.
    fn check(&self, kept: &Path) -> Result<(), ControllerError> {
        if !kept.exists() {
            return Ok(());
        }
        let read = || -> Result<Vec<Told>, String> {
            let text = bounded(kept, LARGEST_TRAJECTORY)?;
            let items: Vec<Value> =
                serde_json::from_str(&text).map_err(|error| error.to_string())?;
            let history = History::from_json(items).map_err(|error| error.to_string())?;
            Ok(history.into_flat())
        };
        let found = read().map_err(|why| broken(kept, format!("it is broken: {why}")))?;
        let recorded = history(&Record {
            events: &self.past.events,
            instruction: self.task(),
            agent: "",
            bodies: &self.past.folder,
            models: None,
        });
        let mut recorded = recorded.iter().filter_map(mark);
        // What was killed is in the record alone.
        if found
            .iter()
            .filter_map(mark)
            .all(|one| recorded.next() == Some(one))
        {
            return Ok(());
        }
        let why = "it is not of the session that was recorded here: move it away";
        Err(broken(kept, why.to_owned()))
    }
}

/// What tells an event from all others. The prompt is no part of what happened, and known only once a model
/// was asked.
fn mark(event: &Told) -> Option<(Option<&str>, &'static str)> {
    let kind = match &event.body {
        ToldBody::Action(action) => action.kind(),
        ToldBody::Observation(seen) => seen.kind(),
    };
    (kind != "system").then_some((event.timestamp.as_deref(), kind))
}

fn instruction(event: &Event) -> Option<&str> {
    match &event.body {
        EventBody::Instruction(text) => Some(text),
        _ => None,
    }
}

fn broken(path: &Path, why: String) -> ControllerError {
    ControllerError::Session {
        path: path.to_owned(),
        why,
    }
}
