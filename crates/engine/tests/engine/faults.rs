//! Attempts that end by a fault of a model: what they have cost counts, and what can't change is not
//! tried again.

use std::sync::Arc;

use agon_agent::{Agent, AgentError, AgentFactory, Answer, Contender, TrialContext};
use agon_core::{
    Brief, Digest, FaultClass, ModelFault, Observation, Purpose, Seed, SystemClock, Usage,
};
use agon_engine::{
    Desktops, Dispatch, Job, Providers, Removals, RunBudget, Shelf, Spent, Table, Unwatched,
    dispatch,
};
use agon_llm::{Account, Budget, CallRecord, LlmError};
use agon_sandbox::{Provider, Request, Sandbox, SandboxError};
use agon_store::{RunFolder, RunReader, RunWriter, TrialLine};
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::fixture::task;

#[derive(Debug)]
struct Nowhere;

#[async_trait]
impl Provider for Nowhere {
    async fn prepare(&self, _: &Request) -> Result<Box<dyn Sandbox>, SandboxError> {
        Err(SandboxError::Missing("there are none here".to_owned()))
    }

    async fn describe(&self) -> Result<String, SandboxError> {
        Ok("nowhere".to_owned())
    }
}

/// Makes agents whose model fails in this way, while another call of theirs still waits.
#[derive(Debug)]
struct Failing(ModelFault);

impl Contender for Failing {
    fn for_trial(&self, context: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(Waiting {
            account: Arc::clone(&context.account),
            fault: self.0,
        }))
    }
}

#[derive(Debug)]
struct Waiting {
    account: Arc<Account>,
    fault: ModelFault,
}

impl Waiting {
    fn book(&self, fault: ModelFault) {
        self.account.book(CallRecord {
            model: "m".to_owned(),
            purpose: Purpose::Agent,
            seconds: 0.1,
            tries: 1,
            taped: false,
            usage: Usage {
                input_tokens: 50,
                calls: 1,
                ..Usage::default()
            },
            request: None,
            response: None,
            error: Some(LlmError::new(fault, "so it was")),
        });
    }
}

#[async_trait]
impl Agent for Waiting {
    async fn start(&mut self, _: &Brief) -> Result<(), AgentError> {
        Ok(())
    }

    async fn act(&mut self, _: &Observation) -> Result<Answer, AgentError> {
        self.book(self.fault);
        Err(AgentError::Model(self.fault.to_string()))
    }

    async fn end(&mut self) {
        self.book(ModelFault::Cancelled);
    }

    fn complaints(&self) -> Option<String> {
        Some("nobody answers".to_owned())
    }
}

/// What is on disk of a trial that is retried once: its lines, and the kinds of their events.
async fn played(fault: ModelFault) -> Vec<(TrialLine, Vec<&'static str>)> {
    let root = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(root.path());
    let table = Arc::new(Table {
        run: "test".to_owned(),
        clock: Arc::new(SystemClock::default()),
        writer: RunWriter::open(&folder).unwrap(),
        providers: Providers {
            local: Arc::new(Nowhere),
            container: Arc::new(Nowhere),
            desktops: Desktops::new(0),
            hidden: Vec::new(),
        },
        agents: AgentFactory::of("failing", Box::new(Failing(fault))),
        users: agon_agent::user::Users::default(),
        judge: None,
        watch: Arc::new(Unwatched),
        keep_work: 0,
        removals: Removals::default(),
        programs: Shelf::new(std::collections::BTreeMap::new()),
        account: Arc::new(Account::of_run(Budget::default())),
    });
    let job = Job {
        task: Arc::new(task()),
        epoch: 1,
        attempt: 1,
        seed: Seed(1),
        key: Digest::of(b""),
        rerun: false,
        retried: false,
        replaces: None,
    };
    let options = Dispatch {
        workers: 1,
        memory: u64::MAX,
        retries: 1,
        budget: RunBudget::default(),
    };
    let stop = CancellationToken::new();
    let jobs = [job].into_iter();
    dispatch(&table, jobs, &options, Spent::default(), &stop)
        .await
        .unwrap();
    let golden = include_bytes!("../../../store/tests/golden/format-1/run.json");
    std::fs::write(root.path().join("run.json"), golden).unwrap();
    let reader = RunReader::open(root.path()).unwrap();
    let lines = reader.trials().unwrap().into_iter();
    let with_events = |line: TrialLine| {
        let events = reader.events(&line).unwrap();
        let kinds = events.iter().map(|event| event.body.kind()).collect();
        (line, kinds)
    };
    lines.map(with_events).collect()
}

#[tokio::test]
async fn calls_that_still_waited_when_a_fault_came_are_recorded_and_counted() {
    let lines = played(ModelFault::Network).await;
    assert_eq!(lines.len(), 2, "tried again once");
    for (line, kinds) in lines {
        assert_eq!(line.fault.unwrap().class, FaultClass::Model);
        assert_eq!((line.usage.calls, line.usage.input_tokens), (2, 100));
        let count = |kind| kinds.iter().filter(|found| **found == kind).count();
        assert_eq!((count("model"), count("note")), (2, 1), "{kinds:?}");
    }
}

#[tokio::test]
async fn what_is_not_on_the_tape_is_not_asked_for_again() {
    let lines = played(ModelFault::NotOnTape).await;
    assert_eq!(lines.len(), 1);
    let line = &lines[0].0;
    assert!(line.is_final);
    let class = line.fault.as_ref().map(|fault| fault.class);
    assert_eq!(class, Some(FaultClass::ModelSetup));
}
