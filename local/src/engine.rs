//! The thread on which the model computes: one answer at a time, in the order of the questions. Questions
//! that nobody waits for any more are passed over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use crate::ask::Ask;
use crate::generate::{Desk, Finish};
use crate::last_words::LastWords;
use crate::options::Options;
use crate::refusal::Refusal;
use crate::weights::{LoadError, Weights};

/// Questions that may wait.
const QUEUE: usize = 256;
/// Grammars and tokenizers go deep for odd input.
const STACK: usize = 256 << 20;

#[derive(Debug)]
pub(crate) enum Piece {
    Text(String),
    Done(Finish),
    Refused(Refusal),
}

struct Job {
    ask: Ask,
    answer: mpsc::UnboundedSender<Piece>,
}

/// Ends the thread when it is dropped.
#[derive(Debug)]
pub(crate) struct Engine {
    questions: Option<SyncSender<Job>>,
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    /// What comes by the channel says whether the model could be loaded.
    pub(crate) fn start(
        options: Options,
    ) -> std::io::Result<(Self, oneshot::Receiver<Result<(), LoadError>>)> {
        let (questions, waiting) = sync_channel(QUEUE);
        let (loaded, is_loaded) = oneshot::channel();
        let ending = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&ending);
        let thread = std::thread::Builder::new()
            .name("model".to_owned())
            .stack_size(STACK)
            .spawn(move || work(&options, &waiting, &seen, loaded))?;
        let engine = Self {
            questions: Some(questions),
            ending,
            thread: Some(thread),
        };
        Ok((engine, is_loaded))
    }

    /// The pieces of the answer. Whoever drops them takes the question back.
    pub(crate) fn ask(&self, ask: Ask) -> Result<mpsc::UnboundedReceiver<Piece>, Refusal> {
        // No more pieces than the context has tokens.
        let (answer, pieces) = mpsc::unbounded_channel();
        let gone = || Refusal::broken("the model is gone");
        let questions = self.questions.as_ref().ok_or_else(gone)?;
        match questions.try_send(Job { ask, answer }) {
            Ok(()) => Ok(pieces),
            Err(TrySendError::Full(_)) => Err(Refusal::busy()),
            Err(TrySendError::Disconnected(_)) => Err(gone()),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        self.questions = None;
        // llama.cpp must not be at work when the process cleans up.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(
    options: &Options,
    waiting: &Receiver<Job>,
    ending: &AtomicBool,
    loaded: oneshot::Sender<Result<(), LoadError>>,
) {
    let words = LastWords::listen();
    let weights = match Weights::load(&options.model, &words) {
        Ok(weights) => weights,
        Err(error) => {
            let _ = loaded.send(Err(error));
            return;
        }
    };
    let (context, room) = match weights.context(options, &words) {
        Ok(made) => made,
        Err(error) => {
            let _ = loaded.send(Err(error));
            return;
        }
    };
    let mut desk = Desk {
        weights: &weights,
        context,
        room,
    };
    let _ = loaded.send(Ok(()));
    while let Ok(Job { ask, answer }) = waiting.recv() {
        let is_wanted = || !ending.load(Ordering::Relaxed) && !answer.is_closed();
        let mut show = |text| {
            let _ = answer.send(Piece::Text(text));
        };
        let last = match is_wanted() {
            false => None,
            true => desk.answer(ask, &is_wanted, &mut show).transpose(),
        };
        let _ = match last {
            None => Ok(()),
            Some(Ok(finish)) => answer.send(Piece::Done(finish)),
            Some(Err(refusal)) => answer.send(Piece::Refused(refusal)),
        };
    }
}
