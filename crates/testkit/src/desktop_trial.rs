//! A trial on a desktop that goes on and on: every step a click, and a screen that is another one.

use std::io;
use std::path::Path;
use std::time::Duration;

use agon_core::event::Phase;
use agon_core::verdict::{TurnEnd, Verdict};
use agon_core::{
    Action, Digest, EventBody, Observation, ScreenPoint, ScreenView, Source, WindowView,
};
use agon_store::Recorder;

use crate::painting::painted;
use crate::runs::GeneratedRun;

/// A desktop on which somebody clicks.
#[derive(Debug)]
pub struct DesktopTrial {
    record: Recorder,
    step: u32,
    size: (u32, u32),
}

impl DesktopTrial {
    pub fn begin(run: &GeneratedRun, n: usize, size: (u32, u32)) -> io::Result<Self> {
        let mut trial = Self {
            record: run.recorder(n, 1),
            step: 0,
            size,
        };
        let record = &mut trial.record;
        record.record(Source::Harness, None, EventBody::Phase(Phase::Setup))?;
        run.clock.advance(Duration::from_millis(300));
        record.record(Source::Harness, None, EventBody::Phase(Phase::Running))?;
        let words = EventBody::Instruction("Press every button of the window.".to_owned());
        record.record(Source::User, None, words)?;
        let mut ready = Observation::ready("");
        ready.screen = Some(trial.screen(run)?);
        let ready = EventBody::Observation(ready);
        trial.record.record(Source::Environment, None, ready)?;
        Ok(trial)
    }

    fn screen(&self, run: &GeneratedRun) -> io::Result<ScreenView> {
        let (width, height) = self.size;
        let picture = painted(self.step, width, height);
        run.writer.keep_picture(&picture)?;
        Ok(ScreenView {
            width,
            height,
            cursor: Some(self.pointer()),
            window: Some(WindowView::new(
                &format!("Number {}", self.step),
                "Numbers",
                None,
                ScreenPoint { x: 10, y: 30 },
                (width / 2, height / 2),
            )),
            picture,
        })
    }

    fn pointer(&self) -> ScreenPoint {
        let (width, height) = self.size;
        ScreenPoint {
            x: (40 + self.step * 61 % (width - 80)) as i32,
            y: (40 + self.step * 47 % (height - 80)) as i32,
        }
    }

    /// The agent clicks; what was clicked is drawn anew. Returns the screen as it is then.
    pub fn step(&mut self, run: &GeneratedRun) -> io::Result<Digest> {
        self.step += 1;
        let at = self.pointer();
        let thought = EventBody::Thought(format!("The button number {} is next.", self.step));
        self.record.record(Source::Agent, None, thought)?;
        let click = EventBody::Action(Action::Click {
            x: at.x,
            y: at.y,
            button: Default::default(),
            count: 1,
            hold: None,
        });
        let cause = self.record.record(Source::Agent, None, click)?;
        run.clock.advance(Duration::from_millis(100));
        let screen = self.screen(run)?;
        let shown = screen.picture.blob;
        let mut seen = Observation::done();
        seen.screen = Some(screen);
        let seen = EventBody::Observation(seen);
        self.record.record(Source::Environment, Some(cause), seen)?;
        Ok(shown)
    }

    /// Ends passed.
    pub fn end(mut self, run: &GeneratedRun, n: usize) -> io::Result<()> {
        let end = EventBody::End(TurnEnd::Finished);
        self.record.record(Source::Harness, None, end)?;
        let verdict = Verdict {
            passed: true,
            score: 1.0,
            checks: Vec::new(),
        };
        let told = EventBody::Verdict(verdict.clone());
        self.record.record(Source::Grader, None, told)?;
        let events = self.record.finish(Some(&verdict))?;
        run.passed(n, self.step, events)
    }
}

/// A run whose only trial has so many steps, each with a screen of its own.
pub fn long_trial(path: &Path, steps: u32, size: (u32, u32)) -> io::Result<()> {
    let run = GeneratedRun::begin(path, 1, "clicker")?;
    let mut trial = DesktopTrial::begin(&run, 0, size)?;
    for _ in 0..steps {
        trial.step(&run)?;
    }
    trial.end(&run, 0)?;
    run.writer.flush()
}
