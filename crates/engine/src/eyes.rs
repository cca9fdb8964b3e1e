//! A desktop as the turn loop uses it: blocking work is done elsewhere, with a deadline, and what was
//! seen becomes events.

use std::sync::Arc;
use std::time::Duration;

use agon_core::observation::ObservationKind;
use agon_core::screen::{ScreenMoment, ScreenRecord};
use agon_core::sight::AppView;
use agon_core::{Action, EventBody, Fault, FaultClass, Observation, Source};
use agon_desktop::{Desktop, InputEvent};
use agon_sandbox::Sandbox;
use agon_store::Recorder;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use crate::attempt::{Attempt, evidence_lost};
use crate::gui::{Blind, Gui, Pace, Sight};
use crate::seat::fault;
use crate::seen::Seen;
use crate::stage::Gone;
use crate::trial::late;

/// What an X server may take beyond the time of the action itself.
const GRACE: Duration = Duration::from_secs(15);

/// Lines of a record are to be read by people and programs with bounded buffers.
const PER_EVENT: usize = 1_000;

#[derive(Debug)]
pub(crate) struct Eyes {
    /// Elsewhere while something is done with it.
    gui: Option<Gui>,
    /// What is done with it elsewhere. Whoever began that may have left before its end.
    away: Option<Working>,
    desktop: Arc<Desktop>,
    /// When the trial began, on the clock of input events.
    began: Duration,
    seen: Seen,
}

type Worked = (Gui, Result<Sight, Blind>);
type Working = JoinHandle<Worked>;

impl Eyes {
    /// `sandbox` is where the programs on the desktop run.
    pub(crate) async fn open(
        desktop: &Arc<Desktop>,
        sandbox: Option<&dyn Sandbox>,
        attempt: &Attempt,
    ) -> Result<Self, Fault> {
        let pace = Pace::of(attempt.task());
        let writer = attempt.table.writer.clone();
        let programs = match sandbox {
            Some(sandbox) => sandbox.activity().await,
            None => None,
        };
        let gui = spawn_blocking({
            let desktop = Arc::clone(desktop);
            move || Gui::new(desktop, programs, pace, writer)
        });
        let gui = gui
            .await
            .map_err(|error| Fault::new(FaultClass::Internal, error))?
            .map_err(|error| fault(&error))?;
        let began = agon_desktop::monotonic().saturating_sub(attempt.recorder.elapsed());
        Ok(Self {
            gui: Some(gui),
            away: None,
            desktop: Arc::clone(desktop),
            began,
            seen: Seen::default(),
        })
    }

    /// What checks may look at.
    pub(crate) fn seen(self) -> Seen {
        self.seen
    }

    /// Carries out an action of the GUI; the observation shows the screen after it.
    pub(crate) async fn perform(
        &mut self,
        action: &Action,
        left: Duration,
        cause: u64,
        recorder: &mut Recorder,
    ) -> Result<Observation, Gone> {
        let action = action.clone();
        let sight = self
            .use_gui(left + GRACE, move |gui| gui.perform(&action, left))
            .await?;
        self.record_input(&sight, Some(cause), recorder)?;
        let mut seen = match sight.mistake {
            Some(mistake) => Observation::error(mistake),
            None => Observation::new(ObservationKind::Done, ""),
        };
        seen.screen = Some(sight.screen);
        Ok(seen)
    }

    /// The first observation: the desktop is ready.
    pub(crate) async fn first(&mut self, recorder: &mut Recorder) -> Result<Observation, Gone> {
        let sight = self.use_gui(GRACE, Gui::first_look).await?;
        self.record_input(&sight, None, recorder)?;
        self.seen.first = Some(sight.screen.picture.clone());
        let mut seen = Observation::ready("");
        seen.screen = Some(sight.screen);
        Ok(seen)
    }

    /// Nobody holds a key any more.
    pub(crate) async fn let_go(&mut self, recorder: &mut Recorder) -> Result<(), Gone> {
        let sight = self.use_gui(GRACE, Gui::let_go).await?;
        self.record_input(&sight, None, recorder)
    }

    /// The last look, after the agent's turn. With programs, their windows are looked at as well.
    pub(crate) async fn last(
        &mut self,
        apps: Option<Vec<AppView>>,
        recorder: &mut Recorder,
    ) -> Result<(), Gone> {
        let around = apps.is_some();
        let look = move |gui: &mut Gui| gui.last_look(around);
        let sight = self.use_gui(GRACE, look).await?;
        self.record_input(&sight, None, recorder)?;
        let around = apps.map(|apps| sight.windows.unwrap_or_default().with(apps));
        self.seen.last = Some(sight.screen.picture.clone());
        self.seen.around = around.clone().unwrap_or_default();
        let record = ScreenRecord {
            what: ScreenMoment::Final,
            screen: sight.screen,
            around,
        };
        write(recorder, None, EventBody::Screen(record))
    }

    fn record_input(
        &self,
        sight: &Sight,
        cause: Option<u64>,
        recorder: &mut Recorder,
    ) -> Result<(), Gone> {
        if sight.lost_input > 0 {
            let lost = format!("{} input events were not kept", sight.lost_input);
            write(recorder, cause, EventBody::Note(lost))?;
        }
        for some in sight.input.chunks(PER_EVENT) {
            let recorded = |event: &InputEvent| {
                let mut event = event.clone().recorded(self.began);
                // As exact as the times of events.
                event.t = (event.t * 1e4).round() / 1e4;
                event
            };
            let input = some.iter().map(recorded).collect();
            write(recorder, cause, EventBody::Input(input))?;
        }
        Ok(())
    }

    /// Awaits the end of what nobody waited for, and gives its input.
    async fn come_back(&mut self, within: Duration) -> Result<Vec<InputEvent>, Gone> {
        let Some(working) = &mut self.away else {
            return Ok(Vec::new());
        };
        let worked = timeout(within, working).await;
        let sight = self.take_back(worked, within)?;
        Ok(sight.map(|sight| sight.input).unwrap_or_default())
    }

    fn take_back(
        &mut self,
        worked: Result<Result<Worked, JoinError>, Elapsed>,
        within: Duration,
    ) -> Result<Result<Sight, Blind>, Gone> {
        self.away = None;
        let Ok(worked) = worked else {
            self.desktop.hang_up();
            return Err(Gone::ScreenLost(late("an action", within).to_string()));
        };
        let (gui, result) =
            worked.map_err(|error| Gone::Fault(Fault::new(FaultClass::Internal, error)))?;
        self.gui = Some(gui);
        Ok(result)
    }

    async fn use_gui(
        &mut self,
        within: Duration,
        work: impl FnOnce(&mut Gui) -> Result<Sight, Blind> + Send + 'static,
    ) -> Result<Sight, Gone> {
        let earlier = self.come_back(within).await?;
        let Some(mut gui) = self.gui.take() else {
            return Err(Gone::ScreenLost("it was given up before".to_owned()));
        };
        let working = self.away.insert(spawn_blocking(move || {
            let result = work(&mut gui);
            (gui, result)
        }));
        let worked = timeout(within, working).await;
        let mut result = self.take_back(worked, within)?;
        if let Ok(sight) = &mut result {
            sight.input.splice(..0, earlier);
        }
        result.map_err(|blind| match blind {
            Blind::Record(error) => Gone::Fault(evidence_lost(&error)),
            // Whose doing it was is seen when the agent's programs have ended.
            Blind::Desktop(error) => Gone::ScreenLost(error.to_string()),
        })
    }
}

fn write(recorder: &mut Recorder, cause: Option<u64>, body: EventBody) -> Result<(), Gone> {
    recorder
        .record(Source::Environment, cause, body)
        .map(drop)
        .map_err(|error| Gone::Fault(evidence_lost(&error)))
}
