//! A trial that is told event by event, by the real recorder and a clock that stands still in between.

use std::time::Duration;

use agon_core::event::Phase;
use agon_core::verdict::{CheckResult, TurnEnd, Verdict};
use agon_core::{Action, EventBody, Observation, Picture, ScreenPoint, ScreenView, Source};
use agon_store::Recorder;
use agon_testkit::GeneratedRun;

pub(crate) struct Told<'a> {
    pub(crate) run: &'a GeneratedRun,
    record: Recorder,
    n: usize,
    attempt: u32,
    steps: u32,
}

impl<'a> Told<'a> {
    /// The first attempt at task `n`, up to what the agent is asked to do.
    pub(crate) fn begin(run: &'a GeneratedRun, n: usize) -> Self {
        Self::attempt(run, n, 1)
    }

    pub(crate) fn attempt(run: &'a GeneratedRun, n: usize, attempt: u32) -> Self {
        let record = run.recorder(n, attempt);
        let mut told = Self {
            run,
            record,
            n,
            attempt,
            steps: 0,
        };
        told.tell(Source::Harness, EventBody::Phase(Phase::Setup));
        told.tell(Source::Harness, EventBody::Phase(Phase::Running));
        let words = EventBody::Instruction("Do as you are told.".to_owned());
        told.tell(Source::User, words);
        told
    }

    pub(crate) fn pass(&self, millis: u64) {
        self.run.clock.advance(Duration::from_millis(millis));
    }

    pub(crate) fn tell(&mut self, source: Source, body: EventBody) -> u64 {
        self.record.record(source, None, body).unwrap()
    }

    /// The same of what answers another event.
    pub(crate) fn answer(&mut self, cause: u64, source: Source, body: EventBody) -> u64 {
        self.record.record(source, Some(cause), body).unwrap()
    }

    /// What the agent sees to begin with.
    pub(crate) fn ready(&mut self, screen: ScreenView) {
        let mut seen = Observation::ready("");
        seen.screen = Some(screen);
        self.tell(Source::Environment, EventBody::Observation(seen));
    }

    /// Steps that it took by itself, as its line says in the end.
    pub(crate) fn took(&mut self, steps: u32) {
        self.steps = steps;
    }

    pub(crate) fn act(&mut self, action: Action, seen: Observation) {
        self.steps += 1;
        let cause = self.tell(Source::Agent, EventBody::Action(action));
        self.pass(50);
        let seen = EventBody::Observation(seen);
        let recorded = self.record.record(Source::Environment, Some(cause), seen);
        recorded.unwrap();
    }

    /// An action after which the screen is this one.
    pub(crate) fn act_on_screen(&mut self, action: Action, screen: ScreenView) {
        let mut seen = Observation::done();
        seen.screen = Some(screen);
        self.act(action, seen);
    }

    pub(crate) fn screen(&self, picture: Picture, size: (u32, u32), at: (i32, i32)) -> ScreenView {
        self.run.writer.keep_picture(&picture).unwrap();
        ScreenView {
            width: size.0,
            height: size.1,
            cursor: Some(ScreenPoint { x: at.0, y: at.1 }),
            window: None,
            picture,
        }
    }

    /// The end of the turn and what the checks say; it passed if all of them did.
    pub(crate) fn end(mut self, checks: Vec<CheckResult>) {
        self.tell(Source::Harness, EventBody::End(TurnEnd::Finished));
        let passed = checks.iter().all(|check| check.passed);
        let verdict = Verdict {
            passed,
            score: f64::from(u8::from(passed)),
            checks,
        };
        self.tell(Source::Grader, EventBody::Verdict(verdict.clone()));
        let events = self.record.finish(Some(&verdict)).unwrap();
        self.run
            .graded(self.n, self.attempt, self.steps, verdict, events)
            .unwrap();
        self.run.writer.flush().unwrap();
    }
}

/// Where the page of a trial is.
pub(crate) fn address(run: &GeneratedRun, n: usize) -> String {
    let task = &run.manifest.tasks[n].task;
    format!("/runs/{}/trial/{task}/1/1", run.folder.name())
}

/// Waits until a trial that is being played is listed: its record has a file of its own then.
pub(crate) async fn listed(run: &GeneratedRun) {
    let file = run.folder.running_file();
    let listed = async {
        while std::fs::read_to_string(&file)
            .unwrap_or_default()
            .is_empty()
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let patience = Duration::from_secs(30);
    tokio::time::timeout(patience, listed).await.unwrap();
}
