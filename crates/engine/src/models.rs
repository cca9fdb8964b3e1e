//! The models that are asked for an attempt: what they cost, what was said, and whose doing it was that
//! they did not answer. Knows no provider.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_core::verdict::TurnEnd;
use agon_core::{
    EventBody, Fault, FaultClass, Limits, ModelCall, ModelFault, Purpose, Said, Source, Usage,
};
use agon_llm::{Account, Budget, CallRecord, LlmError};
use agon_store::{Recorder, RunWriter};
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Models {
    pub(crate) account: Arc<Account>,
    /// Pays for whoever plays the user, out of what the run may cost and not of what the agent may.
    pub(crate) of_user: Arc<Account>,
    /// Pays for the judge in the same way.
    pub(crate) of_judge: Arc<Account>,
    run: Arc<Account>,
    /// Of all calls that went through the accounts.
    asked: Usage,
    /// Of the agent's among them.
    asked_by_agent: Usage,
    /// Of judges.
    asked_by_judge: Usage,
    /// As the agent says of itself.
    reported: Usage,
    /// The agent asked through the account, so that what it reports is the same once more.
    by_agent: bool,
    /// How the last call of the agent's own client failed, if it did and not by the agent's own doing.
    failed: Option<(ModelFault, String)>,
    /// Which limit had no room for that call.
    too_little: Option<TurnEnd>,
    /// What fails from here on is cut off by us.
    turn_over: Option<Instant>,
    /// When a call of the agent was last answered.
    answered: Option<Instant>,
    /// A call that left the agent waiting for so long is a reason not to have answered.
    patience: Duration,
    /// How the last call that we made for the agent failed, if it did.
    own_failure: Option<ModelFault>,
    /// The service that kept the agent waiting when its turn was cut off.
    kept_waiting: Option<(ModelFault, String)>,
}

impl Models {
    pub(crate) fn new(limits: &Limits, run: &Arc<Account>) -> Self {
        let budget = Budget {
            tokens: limits.tokens,
            money: limits.money,
        };
        Self {
            account: Arc::new(Account::of_trial(budget, Some(Arc::clone(run)))),
            of_user: Arc::new(Account::of_trial(Budget::default(), Some(Arc::clone(run)))),
            of_judge: Arc::new(Account::of_trial(Budget::default(), Some(Arc::clone(run)))),
            run: Arc::clone(run),
            asked: Usage::default(),
            asked_by_agent: Usage::default(),
            asked_by_judge: Usage::default(),
            reported: Usage::default(),
            by_agent: false,
            failed: None,
            too_little: None,
            turn_over: None,
            answered: None,
            patience: limits.step.duration().min(limits.seconds.duration()) / 2,
            own_failure: None,
            kept_waiting: None,
        }
    }

    pub(crate) fn report(&mut self, usage: &Usage) {
        self.reported += usage;
    }

    /// What the attempt used, whoever asked.
    pub(crate) fn usage(&self) -> Usage {
        self.with_reported(&self.asked)
    }

    /// What counts towards the agent's limits.
    pub(crate) fn usage_of_agent(&self) -> Usage {
        self.with_reported(&self.asked_by_agent)
    }

    /// What judging came to; a part of [`Self::usage`].
    pub(crate) fn usage_of_judge(&self) -> Usage {
        self.asked_by_judge.clone()
    }

    /// What an agent reports counts only where we did not see it ask.
    fn with_reported(&self, asked: &Usage) -> Usage {
        let mut usage = asked.clone();
        if !self.by_agent {
            usage += &self.reported;
        }
        usage
    }

    /// Records what was asked since the last time.
    pub(crate) fn record(
        &mut self,
        cause: Option<u64>,
        writer: &RunWriter,
        recorder: &mut Recorder,
    ) -> io::Result<()> {
        let others = [&self.of_user, &self.of_judge].map(|account| account.take_calls());
        let own = self.account.take_calls();
        for call in own.into_iter().chain(others.into_iter().flatten()) {
            self.asked += &call.usage;
            if matches!(call.purpose, Purpose::Agent | Purpose::Gateway) {
                self.asked_by_agent += &call.usage;
            }
            if call.purpose == Purpose::Judge {
                self.asked_by_judge += &call.usage;
            }
            if !was_refused(&call) {
                self.note(&call);
            }
            let source = source(call.purpose);
            let body = EventBody::Model(model_call(call, writer)?);
            recorder.record(source, cause, body)?;
        }
        Ok(())
    }

    fn note(&mut self, call: &CallRecord) {
        if matches!(call.purpose, Purpose::Agent | Purpose::Gateway) {
            self.by_agent = true;
            self.note_wait(call.error.as_ref(), call.seconds);
        }
        if call.purpose == Purpose::Agent {
            self.own_failure = call.error.as_ref().map(|error| error.fault);
        }
        if call.purpose == Purpose::Gateway && self.turn_over.is_none() {
            let error = call.error.as_ref();
            self.too_little = error.and_then(|error| error.spent);
            self.failed = error
                .filter(|error| !error.provoked)
                .map(|error| (error.fault, error.message().to_owned()));
        }
    }

    /// Whether the agent was kept waiting by a service that failed, or said nothing at all, for most of
    /// a step. A short wait is no excuse, nor is a service that answered something in the meantime.
    fn note_wait(&mut self, error: Option<&LlmError>, seconds: f64) {
        let Some(error) = error else {
            self.answered = Some(Instant::now());
            self.kept_waiting = None;
            return;
        };
        let over = self.turn_over;
        let of_service = error.fault.of_service() && !error.provoked;
        let ended_late = Some(error.fault).filter(|_| over.is_some() && of_service);
        let quiet = self.answered.map_or(Duration::MAX, |at| at.elapsed());
        let waited = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        // Sending the agent home is no wait of its own.
        let since = over.map_or(Duration::ZERO, |over| over.elapsed());
        if let Some(fault) = error.kept_waiting.or(ended_late)
            && waited.min(quiet).saturating_sub(since) >= self.patience
        {
            self.kept_waiting = Some((fault, error.message().to_owned()));
        }
    }

    /// A call that still waits is cut off with the agent: that is nobody's failure, unless the service
    /// had kept it waiting.
    pub(crate) fn turn_is_over(&mut self) {
        self.turn_over = Some(Instant::now());
    }

    /// What an end comes to when the last thing that the agent's own client saw was a failure: one that
    /// finished did not need the answer, any other may have ended for want of it.
    pub(crate) fn end(&self, end: TurnEnd) -> Result<TurnEnd, Fault> {
        match &self.failed {
            // Whatever failed last is not why a person ended it.
            _ if end == TurnEnd::Operator => Ok(end),
            Some((ModelFault::Budget, _)) => {
                let spent = self.spent()?.or(self.too_little);
                Ok(spent.filter(|_| end != TurnEnd::Finished).unwrap_or(end))
            }
            // Its own client may ask anything, and so what no tape has.
            Some((ModelFault::NotOnTape, _)) => Ok(end),
            Some((fault, why)) if end != TurnEnd::Finished && fault.of_service() => {
                let why = format_args!("the agent's model failed: {fault}: {why}");
                Err(Fault::new(class(*fault), why))
            }
            _ => match &self.kept_waiting {
                Some((fault, why)) if gave_no_answer(end) => {
                    let why = format_args!("the agent's model kept it waiting: {fault}: {why}");
                    Err(Fault::new(FaultClass::Model, why))
                }
                _ => Ok(end),
            },
        }
    }

    /// What a failure is that the agent itself tells of.
    pub(crate) fn fault_class(&self) -> FaultClass {
        self.own_failure.map_or(FaultClass::Model, class)
    }

    /// Which budget of the trial is spent. That of the run is no limit of the task: whoever runs into it
    /// was not beaten by the task, and is played again when there is more.
    pub(crate) fn spent(&self) -> Result<Option<TurnEnd>, Fault> {
        match (self.account.over(), self.run.check()) {
            (None, Err(error)) => Err(Fault::new(FaultClass::Model, error.message())),
            (over, _) => Ok(over),
        }
    }
}

/// What a tape does not have, it will not have the next time either; nor does a wrong key become right.
fn class(fault: ModelFault) -> FaultClass {
    match fault {
        ModelFault::NotOnTape | ModelFault::Authentication | ModelFault::Setup => {
            FaultClass::ModelSetup
        }
        _ => FaultClass::Model,
    }
}

/// Ends of an agent that may have waited for its model.
fn gave_no_answer(end: TurnEnd) -> bool {
    matches!(
        end,
        TurnEnd::Silent | TurnEnd::TimeLimit | TurnEnd::Crashed | TurnEnd::Left
    )
}

/// Nothing was sent, because the request was wrong: that tells nothing about the service, and does not make
/// up for an earlier failure of it.
fn was_refused(call: &CallRecord) -> bool {
    let wrong = |error: &LlmError| error.fault == ModelFault::BadRequest;
    call.tries == 0 && call.error.as_ref().is_some_and(wrong)
}

fn source(purpose: Purpose) -> Source {
    match purpose {
        Purpose::Agent | Purpose::Gateway => Source::Agent,
        Purpose::Judge => Source::Grader,
        Purpose::User => Source::User,
    }
}

fn model_call(call: CallRecord, writer: &RunWriter) -> io::Result<ModelCall> {
    let keep = |body: Option<Arc<Value>>| -> io::Result<Option<Said>> {
        body.map(|body| writer.keep_said(&body)).transpose()
    };
    Ok(ModelCall {
        model: call.model,
        purpose: call.purpose,
        // Tenths of milliseconds, as all times of events.
        seconds: (call.seconds * 1e4).round() / 1e4,
        tries: call.tries,
        taped: call.taped,
        usage: call.usage,
        request: keep(call.request)?,
        response: keep(call.response)?,
        fault: call.error.as_ref().map(|error| error.fault),
        why: call.error.map(|error| error.message().to_owned()),
    })
}

#[cfg(test)]
mod tests;
