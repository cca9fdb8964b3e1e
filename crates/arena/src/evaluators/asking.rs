//! Puts one question about the window to a model, one at a time, and keeps what was asked, what came of
//! it and what it cost. Does not know what an answer means.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use agon_core::{ModelFault, Picture, PictureFormat};
use agon_desktop::StopSignal;
use agon_desktop::screen::PictureFormat as Encoding;
use agon_llm::{CallRecord, LlmError, Reply, Request, Stop};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::models::{Chosen, Models};
use super::questions::png;
use crate::evaluator::JudgeError;
use crate::judging::Judging;
use crate::report::Asked;

/// So much of an answer is kept.
const LONGEST: usize = 2_000;

/// Who waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// A check: when the evaluation is stopped, its answer is not needed any more.
    UntilStopped,
    /// The score is needed when everything has stopped.
    ToTheEnd,
}

/// An answer, and the picture that it is about.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) picture: Picture,
}

/// Tells who waits that there is no more to wait for, whatever becomes of the call.
struct Tell {
    done: Arc<AtomicBool>,
    signal: Arc<StopSignal>,
}

impl Drop for Tell {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
        self.signal.nudge();
    }
}

type Called = Result<Reply, LlmError>;

/// Asks about the window as it is now.
pub(super) fn ask(
    models: &Models,
    chosen: &Chosen,
    judging: &Judging,
    window: &str,
    question: &str,
    request: impl FnOnce(&str, agon_llm::Image) -> Request,
    patience: Patience,
) -> Result<Answer, JudgeError> {
    let turn = &chosen.turn;
    let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    let frame = judging.window_frame(window)?.encode(Encoding::Png)?;
    let request = request(question, png(&frame));
    let picture = Picture::new(PictureFormat::Png, frame);
    let called = call(models, chosen, judging, request, patience);
    let text = called.as_ref().and_then(|called| called.as_ref().ok());
    let text = text.map(Reply::text);
    for record in chosen.account.take_calls() {
        let answer = text.as_deref().map(shortened);
        judging.keep_call(asked(record, question, answer, &picture))?;
    }
    let failed = |problem: String| JudgeError::Model {
        model: chosen.model.spec().name.clone(),
        problem,
    };
    match called {
        None => Err(JudgeError::Stopped),
        Some(Err(error)) => Err(failed(error.to_string())),
        Some(Ok(reply)) if reply.stop == Stop::MaxTokens => {
            Err(failed("its answer was cut: give it more tokens".to_owned()))
        }
        Some(Ok(_)) => Ok(Answer {
            text: text.unwrap_or_default(),
            picture,
        }),
    }
}

/// `None`: the evaluation was stopped meanwhile, and the call was given up.
fn call(
    models: &Models,
    chosen: &Chosen,
    judging: &Judging,
    request: Request,
    patience: Patience,
) -> Option<Called> {
    // Only while the evaluator is torn down.
    let handle = models.handle()?;
    let signal = judging.stop().signal();
    let done = Arc::new(AtomicBool::new(false));
    let tell = Tell {
        done: Arc::clone(&done),
        signal: Arc::clone(signal),
    };
    let (model, within) = (chosen.model.clone(), chosen.within);
    let asking = handle.spawn(async move {
        let _tell = tell;
        let answer = tokio::time::timeout(within, model.ask(&request)).await;
        answer.unwrap_or_else(|_| Err(late(within)))
    });
    if patience == Patience::UntilStopped {
        let stopped = signal.wait_unless(Duration::MAX, || done.load(Ordering::Acquire));
        if stopped {
            asking.abort();
        }
    }
    // Also when it is given up: the next question comes after it.
    ended(handle, asking)
}

fn ended(handle: &Handle, asking: JoinHandle<Called>) -> Option<Called> {
    match handle.block_on(asking) {
        Ok(called) => Some(called),
        Err(error) if error.is_cancelled() => None,
        Err(error) => Some(Err(LlmError::new(ModelFault::Setup, error))),
    }
}

fn late(within: Duration) -> LlmError {
    let text = format!("no answer within {} s", within.as_secs_f64());
    LlmError::new(ModelFault::Timeout, text)
}

fn asked(record: CallRecord, question: &str, answer: Option<String>, picture: &Picture) -> Asked {
    let error = record.error.as_ref();
    Asked {
        model: record.model,
        question: question.to_owned(),
        answer: answer.filter(|_| error.is_none()),
        seconds: record.seconds,
        tries: record.tries,
        taped: record.taped,
        usage: record.usage,
        fault: error.map(|error| error.fault),
        why: error.map(|error| error.message().to_owned()),
        picture: picture.clone(),
    }
}

pub(super) fn shortened(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}
