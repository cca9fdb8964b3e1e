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
    run: Arc<Account>,
    /// Of all calls that went through the account.
    asked: Usage,
    /// As the agent says of itself.
    reported: Usage,
    /// The agent asked through the account, so that what it reports is the same once more.
    by_agent: bool,
    /// How the last call of the agent's own client failed, if it did.
    failed: Option<(ModelFault, String)>,
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
            run: Arc::clone(run),
            asked: Usage::default(),
            reported: Usage::default(),
            by_agent: false,
            failed: None,
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

    /// What counts. What an agent reports counts only where we did not see it ask.
    pub(crate) fn usage(&self) -> Usage {
        let mut usage = self.asked.clone();
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
        for call in self.account.take_calls() {
            self.asked += &call.usage;
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
            self.failed = error.map(|error| (error.fault, error.message().to_owned()));
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
        let ended_late = Some(error.fault).filter(|fault| over.is_some() && fault.of_service());
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
            Some((ModelFault::Budget, _)) => {
                let spent = self.spent()?.filter(|_| end != TurnEnd::Finished);
                Ok(spent.unwrap_or(end))
            }
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
mod tests {
    use agon_core::Money;
    use agon_core::clock::SystemClock;
    use agon_core::{Clock, TaskId};
    use agon_llm::LlmError;
    use agon_store::RunFolder;

    use super::*;

    fn call(purpose: Purpose, fault: Option<ModelFault>) -> CallRecord {
        CallRecord {
            model: "m".to_owned(),
            purpose,
            seconds: 0.5,
            tries: 1,
            taped: false,
            usage: Usage {
                input_tokens: 90,
                output_tokens: 10,
                calls: 1,
                money: Some(Money::from_micros(5)),
                ..Usage::default()
            },
            request: None,
            response: None,
            error: fault.map(|fault| LlmError::new(fault, "so it was")),
        }
    }

    struct Bench {
        _folder: tempfile::TempDir,
        writer: RunWriter,
        recorder: Recorder,
        models: Models,
    }

    impl Bench {
        fn new(tokens: Option<u64>, run: Budget) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let writer = RunWriter::open(&RunFolder::at(folder.path())).unwrap();
            let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
            let task = TaskId::parse("test/models").unwrap();
            let limits = Limits {
                tokens,
                ..Limits::default()
            };
            Self {
                recorder: Recorder::new(&writer, clock, &task, 1, 1),
                writer,
                _folder: folder,
                models: Models::new(&limits, &Arc::new(Account::of_run(run))),
            }
        }

        fn ask(&mut self, purpose: Purpose, fault: Option<ModelFault>) {
            self.book(call(purpose, fault));
        }

        fn book(&mut self, record: CallRecord) {
            self.models.account.book(record);
            let (writer, recorder) = (&self.writer, &mut self.recorder);
            self.models.record(None, writer, recorder).unwrap();
        }
    }

    #[test]
    fn what_an_agent_reports_is_not_counted_twice() {
        let reported = Usage {
            input_tokens: 1000,
            ..Usage::default()
        };
        let mut bench = Bench::new(None, Budget::default());
        bench.models.report(&reported);
        assert_eq!(bench.models.usage().tokens(), 1000);
        // What others ask is none of the agent's business.
        bench.ask(Purpose::Judge, None);
        assert_eq!(bench.models.usage().tokens(), 1100);
        bench.ask(Purpose::Gateway, None);
        bench.models.report(&reported);
        let usage = bench.models.usage();
        assert_eq!((usage.tokens(), usage.calls), (200, 2));
    }

    #[test]
    fn whose_failure_it_is_that_a_turn_ended() {
        use ModelFault::{BadRequest, ContextOverflow, Network, Overload, Refusal};
        for (purpose, fault, end, blamed) in [
            (Purpose::Gateway, Some(Overload), TurnEnd::Crashed, true),
            (Purpose::Gateway, Some(Network), TurnEnd::TimeLimit, true),
            (Purpose::Gateway, Some(Overload), TurnEnd::Finished, false),
            (Purpose::Gateway, Some(BadRequest), TurnEnd::Crashed, false),
            (
                Purpose::Gateway,
                Some(ContextOverflow),
                TurnEnd::Left,
                false,
            ),
            (Purpose::Gateway, Some(Refusal), TurnEnd::Left, false),
            (Purpose::Gateway, None, TurnEnd::Crashed, false),
            (Purpose::Judge, Some(Overload), TurnEnd::Crashed, false),
        ] {
            let mut bench = Bench::new(None, Budget::default());
            bench.ask(Purpose::Gateway, None);
            bench.ask(purpose, fault);
            let class = bench.models.end(end).map_err(|fault| fault.class);
            let expected = if blamed {
                Err(FaultClass::Model)
            } else {
                Ok(end)
            };
            assert_eq!(class, expected, "{purpose:?} {fault:?} {end:?}");
        }
    }

    #[test]
    fn a_failure_counts_only_while_it_is_the_last_and_the_turn_lasts() {
        let mut bench = Bench::new(None, Budget::default());
        bench.ask(Purpose::Gateway, Some(ModelFault::Overload));
        bench.ask(Purpose::Gateway, None);
        assert_eq!(bench.models.end(TurnEnd::Crashed), Ok(TurnEnd::Crashed));
        // A request that was refused on our side is neither.
        bench.ask(Purpose::Gateway, Some(ModelFault::Overload));
        let refused = CallRecord {
            tries: 0,
            ..call(Purpose::Gateway, Some(ModelFault::BadRequest))
        };
        bench.models.account.book(refused);
        bench.ask(Purpose::Judge, None);
        let class = bench
            .models
            .end(TurnEnd::Crashed)
            .map_err(|fault| fault.class);
        assert_eq!(class, Err(FaultClass::Model));
        bench.ask(Purpose::Gateway, None);
        // Whoever hangs up can't blame the service.
        bench.ask(Purpose::Gateway, Some(ModelFault::Cancelled));
        assert_eq!(bench.models.end(TurnEnd::Crashed), Ok(TurnEnd::Crashed));
        bench.models.turn_is_over();
        bench.ask(Purpose::Gateway, Some(ModelFault::Timeout));
        assert_eq!(bench.models.end(TurnEnd::TimeLimit), Ok(TurnEnd::TimeLimit));
    }

    /// A call that was cut off after so many seconds.
    fn cut_off(seconds: f64, kept_waiting: Option<ModelFault>) -> CallRecord {
        let mut record = call(Purpose::Gateway, Some(ModelFault::Cancelled));
        record.seconds = seconds;
        if let Some(error) = &mut record.error {
            error.kept_waiting = kept_waiting;
        }
        record
    }

    #[test]
    fn a_service_that_keeps_the_agent_waiting_is_to_blame_and_no_other() {
        use ModelFault::{RateLimit, Timeout};
        let most = Limits::default().step.duration().as_secs_f64() * 0.6;
        for (record, end, blamed) in [
            (cut_off(most, Some(Timeout)), TurnEnd::Silent, true),
            (cut_off(most, Some(RateLimit)), TurnEnd::TimeLimit, true),
            (cut_off(most, Some(Timeout)), TurnEnd::Left, true),
            (cut_off(most, Some(Timeout)), TurnEnd::Finished, false),
            (cut_off(most, Some(Timeout)), TurnEnd::Garbage, false),
            // It answered, only at length.
            (cut_off(most, None), TurnEnd::Silent, false),
            // The agent thought by itself for most of the step.
            (cut_off(most / 3.0, Some(Timeout)), TurnEnd::Silent, false),
        ] {
            for over in [false, true] {
                let mut bench = Bench::new(None, Budget::default());
                if over {
                    bench.models.turn_is_over();
                }
                bench.book(record.clone());
                let class = bench.models.end(end).map_err(|fault| fault.class);
                let expected = if blamed {
                    Err(FaultClass::Model)
                } else {
                    Ok(end)
                };
                assert_eq!(class, expected, "{record:?} {end:?} {over}");
            }
        }
        // One that has answered meanwhile is there.
        let mut bench = Bench::new(None, Budget::default());
        bench.ask(Purpose::Gateway, None);
        bench.book(cut_off(most, Some(Timeout)));
        assert_eq!(bench.models.end(TurnEnd::Silent), Ok(TurnEnd::Silent));
    }

    #[test]
    fn what_is_not_set_up_is_not_tried_again_at_once() {
        let faults = [
            ModelFault::NotOnTape,
            ModelFault::Authentication,
            ModelFault::Setup,
        ];
        let purposes = [Purpose::Gateway, Purpose::Agent];
        for (fault, purpose) in faults
            .into_iter()
            .flat_map(|fault| purposes.map(|purpose| (fault, purpose)))
        {
            let mut bench = Bench::new(None, Budget::default());
            bench.ask(purpose, Some(fault));
            let class = match purpose {
                Purpose::Gateway => bench.models.end(TurnEnd::Crashed).unwrap_err().class,
                _ => bench.models.fault_class(),
            };
            assert_eq!(class, FaultClass::ModelSetup);
            assert!(!class.retryable() && class.mendable());
        }
        let bench = Bench::new(None, Budget::default());
        assert_eq!(bench.models.fault_class(), FaultClass::Model);
    }

    #[test]
    fn the_budget_of_the_task_ends_a_turn_and_that_of_the_run_is_a_fault() {
        let run = |tokens| Budget {
            tokens: Some(tokens),
            ..Budget::default()
        };
        let ended_by = |mut bench: Bench, end| {
            bench.ask(Purpose::Gateway, Some(ModelFault::Budget));
            let end = bench.models.end(end);
            end.map_err(|fault| (fault.class, fault.message))
        };
        let ended = |bench| ended_by(bench, TurnEnd::Crashed);
        assert_eq!(
            ended(Bench::new(Some(50), run(1000))),
            Ok(TurnEnd::TokenLimit)
        );
        assert_eq!(
            ended(Bench::new(Some(50), run(50))),
            Ok(TurnEnd::TokenLimit)
        );
        let told = "the run's budget of tokens is spent".to_owned();
        let fault = Err((FaultClass::Model, told));
        assert_eq!(ended(Bench::new(Some(500), run(50))), fault);
        // The agent made the best of the one, and could not help the other.
        let finished = |bench| ended_by(bench, TurnEnd::Finished);
        assert_eq!(
            finished(Bench::new(Some(50), run(50))),
            Ok(TurnEnd::Finished)
        );
        assert_eq!(finished(Bench::new(None, run(50))), fault);
    }
}
