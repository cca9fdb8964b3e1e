//! What counts, and whose failure it is.

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
    assert_eq!(bench.models.usage_of_agent().tokens(), 1000);
    bench.ask(Purpose::Gateway, None);
    bench.models.report(&reported);
    let usage = bench.models.usage();
    assert_eq!((usage.tokens(), usage.calls), (200, 2));
    assert_eq!(bench.models.usage_of_agent().tokens(), 100);
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
fn who_plays_the_user_is_paid_by_the_run_and_not_by_the_agent() {
    let mut bench = Bench::new(Some(50), Budget::default());
    for purpose in [Purpose::User, Purpose::Judge] {
        bench.models.of_user.book(call(purpose, None));
    }
    let (writer, recorder) = (&bench.writer, &mut bench.recorder);
    bench.models.record(None, writer, recorder).unwrap();
    assert_eq!(bench.models.usage().tokens(), 200);
    assert_eq!(bench.models.usage_of_agent().tokens(), 0);
    assert_eq!(bench.models.spent(), Ok(None));
    assert_eq!(bench.models.run.spent().tokens(), 200);
}

#[test]
fn what_is_not_set_up_is_not_tried_again_at_once() {
    for (fault, purpose) in [
        (ModelFault::Authentication, Purpose::Gateway),
        (ModelFault::Setup, Purpose::Gateway),
        (ModelFault::Authentication, Purpose::Agent),
        (ModelFault::Setup, Purpose::Agent),
        (ModelFault::NotOnTape, Purpose::Agent),
    ] {
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
fn what_an_agent_provokes_is_its_own_matter() {
    for fault in [ModelFault::RateLimit, ModelFault::Overload] {
        for provoked in [true, false] {
            let mut record = call(Purpose::Gateway, Some(fault));
            record.error.as_mut().unwrap().provoked = provoked;
            let mut bench = Bench::new(None, Budget::default());
            bench.book(record);
            let end = bench.models.end(TurnEnd::Crashed);
            assert_eq!(end.is_ok(), provoked, "{fault}");
        }
    }
}

#[test]
fn a_call_that_no_limit_has_room_for_ends_the_turn_by_that_limit() {
    let mut record = call(Purpose::Gateway, Some(ModelFault::Budget));
    record.error.as_mut().unwrap().spent = Some(TurnEnd::MoneyLimit);
    let mut bench = Bench::new(Some(1_000), Budget::default());
    bench.book(record);
    let end = bench.models.end(TurnEnd::Crashed);
    assert_eq!(end, Ok(TurnEnd::MoneyLimit));
    let end = bench.models.end(TurnEnd::Finished);
    assert_eq!(end, Ok(TurnEnd::Finished));
}

#[test]
fn what_an_agent_asks_beyond_the_tape_is_its_own_matter() {
    let mut bench = Bench::new(None, Budget::default());
    bench.ask(Purpose::Gateway, Some(ModelFault::NotOnTape));
    for end in [TurnEnd::Crashed, TurnEnd::Left, TurnEnd::Finished] {
        assert_eq!(bench.models.end(end), Ok(end));
    }
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
