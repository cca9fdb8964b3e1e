//! The states of an agent server and what leads from one to the next. Pure: nothing here waits, plays
//! or speaks to anybody.

use agon_agent::play::Task;

use super::used::UsedIds;
use crate::wire::{AgentFinished, PeerUrl, StateChange, Status};

/// One play of one task; never used again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PlayId(u64);

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// No evaluator is known.
    Init,
    Ready(PeerUrl),
    Running(Play),
    Stopping(Play),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Play {
    id: PlayId,
    evaluator: PeerUrl,
    /// Whether the evaluator must be told of the end, and has not been.
    word: Word,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Owed,
    /// It was given, or the evaluator itself asked for the end.
    Given,
}

/// Who wants a task to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asker {
    /// It knows, so nobody tells it.
    Evaluator,
    Operator,
}

/// A word that the evaluator is owed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Notice {
    pub(super) play: PlayId,
    pub(super) to: PeerUrl,
    pub(super) body: AgentFinished,
}

/// Why something can't be done now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("Agent is busy. Current state: {0}")]
    Busy(&'static str),
    #[error("Agent not ready. Current state: {0}")]
    NotReady(&'static str),
    #[error("Agent is not currently running")]
    NotRunning,
    #[error("Agent plays another task: {0:?}")]
    OtherTask(String),
    #[error("Task {0:?} has been played already; give every task an id of its own")]
    UsedId(String),
}

#[derive(Debug)]
pub(super) struct Machine {
    state: State,
    /// The last that was started.
    task: Option<Task>,
    /// How it ended.
    ended: Option<AgentFinished>,
    used: UsedIds,
    last: PlayId,
}

impl Machine {
    pub(super) fn new() -> Self {
        Self {
            state: State::Init,
            task: None,
            ended: None,
            used: UsedIds::default(),
            last: PlayId::default(),
        }
    }

    pub(super) const fn name(&self) -> &'static str {
        match self.state {
            State::Init => "INIT",
            State::Ready(_) => "READY",
            State::Running(_) => "RUNNING",
            State::Stopping(_) => "STOPPING",
        }
    }

    pub(super) fn status(&self) -> Status {
        Status {
            state: self.name(),
            current_task: self.task.clone(),
            ended: self.ended.clone(),
        }
    }

    pub(super) fn change(&self) -> StateChange {
        let ended = self.ended.as_ref();
        StateChange {
            state: self.name(),
            task_id: self.task.as_ref().map(|task| task.task_id.clone()),
            reason: ended.and_then(|ended| ended.reason),
            error: ended.and_then(|ended| ended.error.clone()),
        }
    }

    /// What is played now.
    pub(super) const fn playing(&self) -> Option<PlayId> {
        match &self.state {
            State::Running(play) | State::Stopping(play) => Some(play.id),
            State::Init | State::Ready(_) => None,
        }
    }

    /// Whether nothing was started after it.
    pub(super) fn is_last(&self, id: PlayId) -> bool {
        self.last == id
    }

    /// A new session: the evaluator may be another one, and ids may be used again.
    pub(super) fn register(&mut self, evaluator: PeerUrl) -> Result<(), Refused> {
        if self.playing().is_some() {
            return Err(Refused::Busy(self.name()));
        }
        self.used = UsedIds::default();
        self.state = State::Ready(evaluator);
        Ok(())
    }

    pub(super) fn start(&mut self, task: Task) -> Result<PlayId, Refused> {
        let State::Ready(evaluator) = &self.state else {
            return Err(Refused::NotReady(self.name()));
        };
        if !self.used.take(&task.task_id) {
            return Err(Refused::UsedId(task.task_id));
        }
        self.last = PlayId(self.last.0 + 1);
        self.state = State::Running(Play {
            id: self.last,
            evaluator: evaluator.clone(),
            word: Word::Owed,
        });
        self.task = Some(task);
        self.ended = None;
        Ok(self.last)
    }

    /// `meant`: nothing happens unless it is the task that is played.
    pub(super) fn stop(&mut self, asker: Asker, meant: Option<&str>) -> Result<PlayId, Refused> {
        let State::Running(play) = &self.state else {
            return Err(Refused::NotRunning);
        };
        let played = self.task.as_ref().map(|task| &task.task_id);
        if let (Some(meant), Some(played)) = (meant, played)
            && meant != played
        {
            return Err(Refused::OtherTask(played.clone()));
        }
        let mut play = play.clone();
        if asker == Asker::Evaluator {
            play.word = Word::Given;
        }
        let id = play.id;
        self.state = State::Stopping(play);
        Ok(id)
    }

    /// The steps of a play are over, its last hook is not. Gives the word that is owed now; it is not
    /// given again at the end.
    pub(super) fn steps_over(&mut self, id: PlayId, end: &AgentFinished) -> Option<Notice> {
        match &mut self.state {
            State::Running(play) | State::Stopping(play) if play.id == id => play.give(end),
            _ => None,
        }
    }

    /// A play is over, with all its hooks. Ends that come late change nothing.
    pub(super) fn ended(&mut self, id: PlayId, end: AgentFinished) -> Option<Notice> {
        let (State::Running(play) | State::Stopping(play)) = &mut self.state else {
            return None;
        };
        if play.id != id {
            return None;
        }
        let notice = play.give(&end);
        self.state = State::Ready(play.evaluator.clone());
        self.ended = Some(end);
        notice
    }

    /// As if the server had just been started.
    pub(super) fn reset(&mut self) -> Result<(), Refused> {
        if self.playing().is_some() {
            return Err(Refused::Busy(self.name()));
        }
        // Ids of plays go on: what comes late from before must not be taken for something new.
        *self = Self {
            last: self.last,
            ..Self::new()
        };
        Ok(())
    }
}

impl Play {
    /// The word, if one is owed and there is something to say.
    fn give(&mut self, end: &AgentFinished) -> Option<Notice> {
        if self.word == Word::Given || end.reason.is_none() {
            return None;
        }
        self.word = Word::Given;
        Some(Notice {
            play: self.id,
            to: self.evaluator.clone(),
            body: end.clone(),
        })
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
