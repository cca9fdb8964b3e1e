//! Says when an agent has done its last step, before its last hook runs: the evaluator need not wait
//! for an agent that cleans up slowly.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agon_agent::play::{Flow, Play, PlayError, Player, Stop, StopEvent, Task};

use super::runner::{End, Outcome, StepsOver, is_same};

/// Told by every agent that it listens to; one of them plays at a time.
#[derive(Clone, Default)]
pub(super) struct Listener {
    awaited: Arc<Mutex<Option<Awaited>>>,
}

struct Awaited {
    stop: Stop,
    steps_over: StepsOver,
}

impl Listener {
    pub(super) fn listen_to(&self, agent: Box<dyn Player>) -> Box<dyn Player> {
        Box::new(Announcing {
            agent,
            listener: self.clone(),
            stop: None,
            last: Last::Unknown,
        })
    }

    pub(super) fn begin(&self, stop: Stop, steps_over: StepsOver) {
        *self.awaited() = Some(Awaited { stop, steps_over });
    }

    pub(super) fn end(&self) {
        self.awaited().take();
    }

    /// Who was left behind may come back while another play is awaited: only its own is heard.
    fn hear(&self, played: &Stop, last: Last) {
        let own = |awaited: &mut Awaited| is_same(&awaited.stop, played);
        let Some(Awaited { stop, steps_over }) = self.awaited().take_if(own) else {
            return;
        };
        let end = match (stop.cause(), last) {
            (Some(cause), _) => End::Stopped(cause),
            (None, Last::Finished) => End::Finished,
            (None, Last::Failed(error)) => End::Failed(error),
            // What a panic said is told when the play is over.
            (None, Last::Unknown) => End::Failed("the agent panicked".to_owned()),
        };
        steps_over(&Outcome::of(end));
    }

    fn awaited(&self) -> MutexGuard<'_, Option<Awaited>> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Announcing {
    agent: Box<dyn Player>,
    listener: Listener,
    /// Of the play that it is in.
    stop: Option<Stop>,
    last: Last,
}

/// What is known of the last step when the last hook is called.
enum Last {
    Unknown,
    Finished,
    Failed(String),
}

impl Player for Announcing {
    fn init_task(&mut self, task: &Task, play: &mut Play) -> Result<(), PlayError> {
        self.stop = Some(play.stop().clone());
        self.last = Last::Unknown;
        let begun = self.agent.init_task(task, play);
        if let Err(error) = &begun {
            self.last = Last::Failed(error.to_string());
        }
        begun
    }

    fn play_env(&mut self, task: &Task, play: &mut Play) -> Flow {
        let flow = self.agent.play_env(task, play);
        match &flow {
            Flow::Continue => {}
            Flow::Finish => self.last = Last::Finished,
            Flow::Fail(error) => self.last = Last::Failed(error.to_string()),
        }
        flow
    }

    fn finish_task(&mut self, task: &Task) {
        let last = std::mem::replace(&mut self.last, Last::Unknown);
        // None: it was stopped before it began.
        if let Some(stop) = self.stop.take() {
            self.listener.hear(&stop, last);
        }
        self.agent.finish_task(task);
    }

    fn stop_event(&self) -> Option<StopEvent> {
        self.agent.stop_event()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use agon_agent::play::Cause;

    use super::*;

    #[test]
    fn the_end_of_one_play_is_not_taken_for_that_of_another() {
        let (listener, first, second) = (Listener::default(), Stop::new(), Stop::new());
        let (tell, told) = channel();
        let steps_over = move |outcome: &Outcome| drop(tell.send(outcome.end.clone()));
        listener.begin(second.clone(), Box::new(steps_over));
        first.ask(Cause::Operator);
        listener.hear(&first, Last::Finished);
        assert!(told.try_recv().is_err());
        listener.hear(&second, Last::Finished);
        assert_eq!(told.try_recv(), Ok(End::Finished));
    }
}
