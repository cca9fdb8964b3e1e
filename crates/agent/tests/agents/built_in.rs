//! `noop`, `oracle`, `replay:` and the stamps that manifests carry.

use std::fs;
use std::path::Path;

use agon_agent::{Agent, AgentError, AgentFactory, AgentSpec, Answer, Contender, TrialContext};
use agon_core::{
    Action, ActionKind, Brief, Digest, Event, EventBody, Observation, Source, TaskId, TrialId,
    Verdict,
};
use agon_store::{AgentStamp, EventsAt, HostStamp, Manifest, RunFolder, TrialLine};
use async_trait::async_trait;
use tempfile::TempDir;

use crate::support::{agent_for, brief, factory, finish, first, services, started, task};

#[tokio::test]
async fn noop_finishes_at_once() {
    let mut agent = started("noop").await;
    assert_eq!(agent.uses(), Some([ActionKind::Finish].as_slice()));
    assert_eq!(first(&mut *agent).await, Ok(finish()));
}

#[tokio::test]
async fn the_oracle_plays_the_solution_and_finishes() {
    let done = Observation::done();
    let factory = factory("oracle");
    let solved = task("", Some(vec![Action::run("echo hello > greeting.txt")]));
    let mut agent = agent_for(&factory, &solved, 1);
    agent.start(&brief()).await.unwrap();
    let answer = first(&mut *agent).await;
    assert_eq!(answer, Ok(Action::run("echo hello > greeting.txt").into()));
    assert_eq!(agent.act(&done).await, Ok(finish()));
    assert_eq!(agent.act(&done).await, Err(AgentError::Left));
    assert!(!format!("{agent:?}").contains("hello"), "{agent:?}");

    let result = Action::Finish {
        result: Some("42".to_owned()),
    };
    let mut agent = agent_for(&factory, &task("", Some(vec![result.clone()])), 1);
    agent.start(&brief()).await.unwrap();
    assert_eq!(first(&mut *agent).await, Ok(result.into()));
    assert_eq!(agent.act(&done).await, Err(AgentError::Left));
}

#[tokio::test]
async fn a_task_without_a_solution_is_no_fault() {
    let mut agent = started("oracle").await;
    let error = first(&mut *agent).await.unwrap_err();
    assert!(matches!(error, AgentError::Crashed(_)), "{error}");
}

#[test]
fn stamps_say_what_ran() {
    assert_eq!(
        factory("noop").stamp(),
        AgentStamp {
            spec: "noop".to_owned(),
            digest: None,
            unconfined: false,
            files: None,
        }
    );
    let host = factory("cmd-host:sh -c true").stamp();
    assert!(host.unconfined);
    let this = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let named = factory(&format!("cmd-host:cat {this}")).stamp();
    assert!(named.digest.is_some() && host.digest != named.digest);
}

#[derive(Debug)]
struct Greeter;

impl Contender for Greeter {
    fn for_trial(&self, _: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(Self))
    }
}

#[async_trait]
impl Agent for Greeter {
    async fn start(&mut self, _: &Brief) -> Result<(), AgentError> {
        Ok(())
    }
    async fn act(&mut self, _: &Observation) -> Result<Answer, AgentError> {
        Ok(Action::run("echo hello").into())
    }
}

#[tokio::test]
async fn an_agent_may_be_part_of_the_program() {
    let factory = AgentFactory::of("greeter", Box::new(Greeter));
    assert_eq!(factory.stamp().spec, "greeter");
    let mut agent = agent_for(&factory, &task("", None), 1);
    agent.start(&brief()).await.unwrap();
    let answer = first(&mut *agent).await;
    assert_eq!(answer, Ok(Action::run("echo hello").into()));
}

#[test]
fn a_host_program_that_is_not_there_is_found_out_before_the_run() {
    for spec in ["cmd-host:no-such-program-here", "cmd-host:./absent"] {
        let error = AgentFactory::new(&AgentSpec::parse(spec).unwrap(), &services()).unwrap_err();
        assert!(error.to_string().contains("no program"), "{error}");
    }
}

fn now() -> jiff::Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

/// A run with two attempts at one trial, of which the second counts.
fn recorded_run(path: &Path) {
    fs::create_dir_all(path).unwrap();
    let folder = RunFolder::at(path);
    folder.write_manifest(&manifest()).unwrap();
    let mut events = Vec::new();
    let mut lines = Vec::new();
    for (attempt, command) in [(1, "false"), (2, "echo again")] {
        let at = events.len() as u64;
        let bodies = [
            (Source::Harness, EventBody::Action(Action::run("setup"))),
            (Source::Agent, EventBody::Thought("hm".to_owned())),
            (Source::Agent, EventBody::Action(Action::run(command))),
            (
                Source::Environment,
                EventBody::Observation(Observation::done()),
            ),
            (Source::Agent, EventBody::Refused("[1]".to_owned())),
            (
                Source::Agent,
                EventBody::Refused(r#"{"action":"screenshot"}"#.to_owned()),
            ),
        ];
        for (seq, (source, body)) in (0..).zip(bodies) {
            let event = Event {
                seq,
                t: 0.5,
                at: now(),
                source,
                cause: None,
                body,
            };
            events.extend(serde_json::to_vec(&event).unwrap());
            events.push(b'\n');
        }
        let line = trial_line(
            attempt,
            EventsAt {
                file: "trials/all.jsonl".to_owned(),
                at,
                bytes: events.len() as u64 - at,
                verdict: None,
            },
        );
        lines.extend(serde_json::to_vec(&line).unwrap());
        lines.push(b'\n');
    }
    fs::create_dir_all(path.join("trials")).unwrap();
    fs::write(path.join("trials/all.jsonl"), events).unwrap();
    fs::write(folder.trials_file(), lines).unwrap();
}

fn manifest() -> Manifest {
    Manifest {
        format: 1,
        run: "recorded".to_owned(),
        created: now(),
        agon: "0.1.0".to_owned(),
        suites: Vec::new(),
        agent: factory("noop").stamp(),
        models: Vec::new(),
        judge: None,
        seed: 1,
        epochs: 1,
        dates_from: now(),
        plan: Digest::of(b"plan"),
        checkers: "1".to_owned(),
        selection: std::collections::BTreeMap::new(),
        tasks: Vec::new(),
        programs: std::collections::BTreeMap::new(),
        host: HostStamp::default(),
    }
}

fn trial_line(attempt: u32, events: EventsAt) -> TrialLine {
    let trial = TrialId {
        task: TaskId::parse("files/greeting").unwrap(),
        epoch: 1,
    };
    let verdict = Verdict {
        passed: false,
        score: 0.0,
        checks: Vec::new(),
    };
    let key = Digest::of(b"key");
    TrialLine {
        is_final: attempt == 2,
        steps: 3,
        ..TrialLine::new(trial, attempt, Ok(&verdict), events, key, now())
    }
}

#[tokio::test]
async fn replay_plays_the_attempt_that_counts() {
    let temp = TempDir::new().unwrap();
    let run = temp.path().join("recorded");
    recorded_run(&run);
    let factory = factory(&format!("replay:{}", run.display()));
    assert!(factory.stamp().digest.is_some());
    let task = task("", None);
    let mut agent = agent_for(&factory, &task, 1);
    agent.start(&brief()).await.unwrap();
    let mut answers = Vec::new();
    while let Ok(answer) = first(&mut *agent).await {
        answers.push(answer);
    }
    assert_eq!(answers[0], Action::run("echo again").into());
    assert!(matches!(&answers[1], Answer::NotAnAction { text, .. } if text == "[1]"));
    assert_eq!(answers[2], Action::Screenshot.into());
    assert_eq!(answers.len(), 3);

    let mut other_epoch = agent_for(&factory, &task, 2);
    let error = other_epoch.start(&brief()).await.unwrap_err();
    assert!(matches!(&error, AgentError::Crashed(why) if why.contains("files/greeting#2")));

    fs::remove_file(run.join("trials/all.jsonl")).unwrap();
    let mut lost = agent_for(&factory, &task, 1);
    let error = lost.start(&brief()).await.unwrap_err();
    assert!(matches!(error, AgentError::Unreachable(_)), "{error}");
}

#[test]
fn replaying_what_is_no_run_is_refused() {
    let temp = TempDir::new().unwrap();
    let spec = AgentSpec::parse(&format!("replay:{}", temp.path().display())).unwrap();
    let error = AgentFactory::new(&spec, &services()).unwrap_err();
    assert!(error.to_string().contains("no run folder"), "{error}");
}
