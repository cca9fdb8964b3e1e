//! Run folders of any size, written by the real writer: what a viewer has to cope with. What is in them
//! follows from numbers alone, so that two of the same size are the same.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agon_core::event::Phase;
use agon_core::verdict::{CheckResult, Outcome, TurnEnd, Verdict};
use agon_core::{
    Action, Clock, Digest, EventBody, Fault, FaultClass, Level, Money, Observation, Seconds,
    Source, TaskId, TimeSplit, TrialId, Usage,
};
use agon_store::stored::FORMAT;
use agon_store::{
    AgentStamp, EventsAt, HostStamp, Manifest, Recorder, RunFolder, RunLock, RunWriter, StoreError,
    SuiteStamp, TaskStamp, TrialLine,
};
use jiff::Timestamp;

use crate::clock::HandClock;

const CATEGORIES: [&str; 12] = [
    "browser",
    "calculator",
    "code",
    "desktop",
    "editor",
    "files",
    "games",
    "mail",
    "office",
    "search",
    "terminal",
    "web",
];
const CHECKS: [&str; 5] = [
    "file report.txt",
    "command_output ls",
    "screen_text",
    "window Calculator",
    "answer",
];

/// A program that is being started holds whatever is open here until it is itself: for a moment a lock may be
/// held although it was given back.
#[expect(
    clippy::disallowed_methods,
    reason = "nothing tells when a lock is given back"
)]
fn locked(folder: &RunFolder) -> Result<RunLock, StoreError> {
    let mut tries = 0;
    loop {
        match folder.lock() {
            Err(StoreError::Locked(_)) if tries < 100 => tries += 1,
            other => return other,
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A run that is being written.
#[derive(Debug)]
pub struct GeneratedRun {
    pub folder: RunFolder,
    pub writer: RunWriter,
    pub clock: Arc<HandClock>,
    pub manifest: Manifest,
    _lock: RunLock,
}

/// What the trial of a number came to.
#[derive(Debug, Clone, Copy)]
struct Fate {
    n: u64,
}

impl Fate {
    /// Numbers that look like chance and are always the same.
    fn draw(self, what: u64, of: u64) -> u64 {
        let mut x = (self.n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ what.wrapping_mul(0xd6e8_feb8_6659_fd93);
        x ^= x >> 32;
        x = x.wrapping_mul(0xd6e8_feb8_6659_fd93);
        x ^= x >> 32;
        x % of
    }

    fn outcome(self) -> Outcome {
        match self.draw(1, 100) {
            0..55 => Outcome::Passed,
            55..94 => Outcome::Failed,
            _ => Outcome::Faulted,
        }
    }
}

impl GeneratedRun {
    /// A run with `tasks` planned and nothing played.
    pub fn begin(path: &Path, tasks: u64, agent: &str) -> io::Result<Self> {
        let folder = RunFolder::at(path);
        let lock = locked(&folder).map_err(io::Error::other)?;
        let clock = Arc::new(HandClock::at(
            Timestamp::from_second(1_794_000_000).unwrap_or_default(),
        ));
        let mut manifest = Manifest {
            format: FORMAT,
            run: folder.name(),
            created: clock.now(),
            agon: env!("CARGO_PKG_VERSION").to_owned(),
            suites: vec![SuiteStamp {
                name: "generated".to_owned(),
                path: "suites/generated".to_owned(),
                digest: Digest::of(b"generated"),
            }],
            agent: AgentStamp {
                spec: agent.to_owned(),
                digest: None,
                unconfined: false,
                files: None,
            },
            models: Vec::new(),
            judge: None,
            seed: 0,
            epochs: 1,
            dates_from: clock.now(),
            plan: Digest::of(agent.as_bytes()),
            checkers: "1".to_owned(),
            selection: Default::default(),
            tasks: (0..tasks).map(stamp).collect::<io::Result<_>>()?,
            programs: Default::default(),
            host: HostStamp::default(),
        };
        manifest.plan = manifest.plan_digest();
        folder.write_manifest(&manifest).map_err(io::Error::other)?;
        let writer = RunWriter::open(&folder).map_err(io::Error::other)?;
        Ok(Self {
            folder,
            writer,
            clock,
            manifest,
            _lock: lock,
        })
    }

    /// Records the events of an attempt.
    pub fn recorder(&self, n: usize, attempt: u32) -> Recorder {
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        Recorder::new(
            &self.writer,
            clock,
            &self.manifest.tasks[n].task,
            1,
            attempt,
        )
    }

    /// Plays the trial of a task: a few commands, checks, a verdict. `luck` tells agents apart.
    pub fn play(&self, n: usize, luck: u64) -> io::Result<()> {
        let fate = Fate {
            n: n as u64 + luck * 1_000_003,
        };
        if fate.draw(2, 40) == 0 {
            let fault = Fault::new(FaultClass::Start, "the environment did not start in 30 s");
            let events = self.tell(n, 1, fate, Err(&fault))?;
            let line = self.line(n, 1, fate, Err(fault), events);
            self.writer.append_trial(&TrialLine {
                is_final: false,
                ..line
            })?;
            return self.end(n, 2, fate);
        }
        self.end(n, 1, fate)
    }

    fn end(&self, n: usize, attempt: u32, fate: Fate) -> io::Result<()> {
        let result = match fate.outcome() {
            Outcome::Faulted => Err(Fault::new(
                FaultClass::Model,
                "the service answered 503 five times",
            )),
            outcome => Ok(with_marks(fate, verdict(fate, outcome == Outcome::Passed))),
        };
        let events = self.tell(n, attempt, fate, result.as_ref())?;
        let line = self.line(n, attempt, fate, result, events);
        self.writer.append_trial(&line)
    }

    fn tell(
        &self,
        n: usize,
        attempt: u32,
        fate: Fate,
        result: Result<&Verdict, &Fault>,
    ) -> io::Result<EventsAt> {
        let mut record = self.recorder(n, attempt);
        let pass = |by| self.clock.advance(Duration::from_millis(by));
        record.record(Source::Harness, None, EventBody::Phase(Phase::Setup))?;
        pass(40);
        record.record(Source::Harness, None, EventBody::Phase(Phase::Running))?;
        let instruction = format!("Do what task {n} asks for.");
        record.record(Source::User, None, EventBody::Instruction(instruction))?;
        for step in 0..1 + fate.draw(3, 3) {
            let thought = EventBody::Thought(format!("Look at part {step} of {n}."));
            record.record(Source::Agent, None, thought)?;
            let action = EventBody::Action(Action::run(format!("cat part{step}.txt")));
            let cause = record.record(Source::Agent, None, action)?;
            pass(20 + fate.draw(4, 60));
            let seen = Observation::new(
                agon_core::observation::ObservationKind::Output,
                format!("part {step} of task {n}\n"),
            );
            let seen = EventBody::Observation(seen);
            record.record(Source::Environment, Some(cause), seen)?;
        }
        match result {
            Ok(verdict) => {
                record.record(Source::Harness, None, EventBody::End(TurnEnd::Finished))?;
                record.record(Source::Grader, None, EventBody::Verdict(verdict.clone()))?;
            }
            Err(fault) => {
                record.record(Source::Harness, None, EventBody::Fault(fault.clone()))?;
            }
        }
        record.finish(result.ok())
    }

    /// The line of an attempt at task `n`.
    fn line(
        &self,
        n: usize,
        attempt: u32,
        fate: Fate,
        result: Result<Verdict, Fault>,
        events: EventsAt,
    ) -> TrialLine {
        let task = &self.manifest.tasks[n];
        let trial = TrialId {
            task: task.task.clone(),
            epoch: 1,
        };
        let checks = result.iter().flat_map(|verdict| &verdict.checks);
        let failed = checks.into_iter().find(|check| !check.passed);
        let reason = failed.map(|check| format!("{}: {}", check.check, check.reason));
        let now = self.clock.now();
        TrialLine {
            end: result.is_ok().then_some(TurnEnd::Finished),
            steps: 1 + fate.draw(3, 3) as u32,
            seconds: TimeSplit {
                agent: fate.draw(5, 60_000) as f64 / 1e3,
                environment: fate.draw(6, 4_000) as f64 / 1e3,
                harness: fate.draw(7, 300) as f64 / 1e3,
            },
            usage: Usage {
                input_tokens: 1_000 + fate.draw(8, 40_000),
                output_tokens: 50 + fate.draw(9, 2_000),
                calls: 4,
                money: Some(Money::from_micros(500 + fate.draw(10, 90_000))),
                ..Usage::default()
            },
            retried: attempt > 1,
            reason: reason.unwrap_or_default(),
            ..TrialLine::new(trial, attempt, result.as_ref(), events, task.key, now)
        }
    }

    /// The line of a trial that somebody else recorded.
    pub fn passed(&self, n: usize, steps: u32, events: EventsAt) -> io::Result<()> {
        let fate = Fate { n: n as u64 };
        let line = self.line(n, 1, fate, Ok(verdict(fate, true)), events);
        self.writer.append_trial(&TrialLine { steps, ..line })
    }

    /// The same of an attempt with a verdict of its own.
    pub fn graded(
        &self,
        n: usize,
        attempt: u32,
        steps: u32,
        verdict: Verdict,
        events: EventsAt,
    ) -> io::Result<()> {
        let line = self.line(n, attempt, Fate { n: n as u64 }, Ok(verdict), events);
        self.writer.append_trial(&TrialLine { steps, ..line })
    }
}

fn verdict(fate: Fate, passed: bool) -> Verdict {
    let wrong = (!passed).then(|| fate.draw(13, CHECKS.len() as u64) as usize);
    let checks = CHECKS.iter().enumerate().map(|(place, check)| {
        let held = wrong != Some(place);
        CheckResult::plain(
            *check,
            held,
            if held {
                "as expected"
            } else {
                "expected 42, found 41"
            },
        )
    });
    Verdict {
        passed,
        score: f64::from(u8::from(passed)),
        checks: checks.collect(),
    }
}

/// Some verdicts are tainted, a few show signs of tampering.
fn with_marks(fate: Fate, mut verdict: Verdict) -> Verdict {
    if let Some(check) = verdict.checks.first_mut() {
        check.tainted = fate.draw(11, 50) == 0;
        check.integrity =
            (fate.draw(12, 400) == 0).then(|| "a verdict was printed by the agent".to_owned());
    }
    verdict
}

fn stamp(n: u64) -> io::Result<TaskStamp> {
    let category = CATEGORIES[(n % CATEGORIES.len() as u64) as usize];
    let id = format!("{category}/task_{n:05}");
    Ok(TaskStamp {
        task: TaskId::parse(&id).map_err(io::Error::other)?,
        name: format!("Generated task number {n}"),
        level: Level::ALL.get((n / 12 % 6) as usize).copied(),
        weight: 1.0,
        steps: 30,
        seconds: Seconds::millis(300_000),
        environment: "local".to_owned(),
        network: false,
        image: None,
        key: Digest::of(id.as_bytes()),
        played: Digest::of(id.as_bytes()),
    })
}

/// A run of `trials` trials, all of them played.
pub fn many_trials(path: &Path, trials: u64, agent: &str, luck: u64) -> io::Result<()> {
    let run = GeneratedRun::begin(path, trials, agent)?;
    for n in 0..trials as usize {
        run.play(n, luck)?;
    }
    run.writer.flush()
}
