//! The desktop's side of a stage: carries out what an agent does with keyboard and mouse, waits until
//! it has taken effect, looks at the screen and keeps what it saw. Knows nothing of turns or limits.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use agon_core::quantity::Seconds;
use agon_core::screen::{Picture, PictureFormat, ScreenPoint, ScreenView, WindowView};
use agon_core::sight::AppView;
use agon_core::{Action, Surroundings, Task};
use agon_desktop::screen::{CaptureOptions, Settle, Watch};
use agon_desktop::{Desktop, DesktopError, HOLD, InputEvent, InputLog, KeyCombination, WindowInfo};
use agon_sandbox::Activity;
use agon_store::RunWriter;

/// How long an action may take to show any effect. Most do within a few milliseconds; one that has
/// none costs this much.
const FIRST_EFFECT: Duration = Duration::from_millis(150);

/// The same for a pointer that is only moved: most things don't care.
const FIRST_HOVER: Duration = Duration::from_millis(30);

/// Where nothing is known of programs, an effect is complete when nothing was drawn for this long: more than three
/// frames of a tool kit.
const QUIET: Duration = Duration::from_millis(60);

/// A program that never rests is waited for this long, unless the task says otherwise.
const MOST: Duration = Duration::from_secs(1);

/// A program that computes for this long without drawing anything is not about to show the effect of an action.
const BUSY: Duration = Duration::from_millis(600);

/// Programs put off some of what an action brings about, mostly their tool bars.
const TIMERS: Duration = Duration::from_millis(350);

/// Tool tips come half a second after the pointer.
const HOVER_TIMERS: Duration = Duration::from_millis(650);

/// How long programs may take to paint the windows that they have opened.
const FIRST_PICTURE: Duration = Duration::from_secs(10);

/// How far the log may be behind the X server.
const CATCH_UP: Duration = Duration::from_secs(5);

/// What pictures of a record are encoded as: every model and every language reads it, and it takes less
/// time than lossless WebP, which would be a little smaller.
const FORMAT: (PictureFormat, agon_desktop::screen::PictureFormat) =
    (PictureFormat::Png, agon_desktop::screen::PictureFormat::Png);

/// Whether an action has to come to rest before it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// For so long at least and at most.
    Settled(Duration, Duration),
    Live,
}

impl Pace {
    pub(crate) fn of(task: &Task) -> Self {
        match task.realtime {
            Some(_) => Self::Live,
            None => {
                let settle = task.environment.settle;
                let least = settle.and_then(|settle| settle.least);
                let least = least.map_or(Duration::ZERO, Seconds::duration);
                let most = settle.and_then(|settle| settle.most);
                Self::Settled(least, most.map_or(MOST.max(least), Seconds::duration))
            }
        }
    }
}

/// Blocks: used by one thread at a time, off the runtime's own.
#[derive(Debug)]
pub(crate) struct Gui {
    desktop: Arc<Desktop>,
    watch: Watch,
    log: InputLog,
    /// What the programs on the desktop do, where that can be known.
    programs: Option<Activity>,
    writer: RunWriter,
    /// Where the world moves on by itself, nothing is waited for.
    most: Option<Duration>,
    /// Waited for after each action in any case.
    least: Duration,
    /// The last picture, and the frame that it shows: equal frames are encoded and stored once.
    last: Option<(u128, Picture)>,
}

/// What can be seen after an action.
#[derive(Debug)]
pub(crate) struct Sight {
    pub(crate) screen: ScreenView,
    /// What the X server saw of keyboard and mouse.
    pub(crate) input: Vec<InputEvent>,
    pub(crate) lost_input: u64,
    /// What the agent did wrong, where it did.
    pub(crate) mistake: Option<String>,
    /// The windows, where they were asked for.
    pub(crate) windows: Option<WindowsAround>,
}

/// Why nothing could be seen.
#[derive(Debug)]
pub(crate) enum Blind {
    Desktop(DesktopError),
    /// What was seen could not be kept.
    Record(io::Error),
}

impl From<DesktopError> for Blind {
    fn from(error: DesktopError) -> Self {
        Self::Desktop(error)
    }
}

impl Gui {
    pub(crate) fn new(
        desktop: Arc<Desktop>,
        programs: Option<Activity>,
        pace: Pace,
        writer: RunWriter,
    ) -> Result<Self, DesktopError> {
        let (least, most) = match pace {
            Pace::Settled(least, most) => (least, Some(most)),
            Pace::Live => (Duration::ZERO, None),
        };
        Ok(Self {
            watch: desktop.screen().watch()?,
            log: desktop.input_log()?,
            most,
            least,
            desktop,
            programs,
            writer,
            last: None,
        })
    }

    /// Carries out an action, waits for its effect and looks.
    pub(crate) fn perform(&mut self, action: &Action, left: Duration) -> Result<Sight, Blind> {
        self.begin()?;
        let mistake = match self.act(action, left) {
            Ok(()) => {
                self.settle(action, left)?;
                None
            }
            Err(error) if is_answer(&error) => Some(error.to_string()),
            Err(error) => return Err(error.into()),
        };
        let mut sight = self.look()?;
        sight.mistake = mistake;
        Ok(sight)
    }

    fn act(&self, action: &Action, left: Duration) -> Result<(), DesktopError> {
        let held = |hold: Option<Seconds>| hold.map_or(HOLD, Seconds::duration).min(left);
        let (keyboard, mouse) = (self.desktop.keyboard(), self.desktop.mouse());
        match action {
            Action::Key { keys, hold } => KeyCombination::sequence(keys)?
                .iter()
                .try_for_each(|combination| keyboard.combination_held(combination, held(*hold))),
            Action::KeyDown { key } => keyboard.press(key.parse()?),
            Action::KeyUp { key } => keyboard.release(key.parse()?),
            Action::Type { text } => keyboard.type_text(text),
            Action::Move { x, y } => mouse.move_to(*x, *y),
            Action::Click {
                x,
                y,
                button,
                count,
                hold,
            } => mouse.click_held_at(*x, *y, *button, *count, held(*hold)),
            Action::Drag {
                path,
                button,
                seconds,
            } => {
                let duration = seconds.map_or(Duration::ZERO, |seconds| seconds.duration());
                let path: Vec<_> = path
                    .iter()
                    .map(|point| agon_desktop::Point {
                        x: point.x,
                        y: point.y,
                    })
                    .collect();
                mouse.drag(&path, *button, duration.min(left))
            }
            Action::Scroll { x, y, dx, dy } => mouse.scroll_at(*x, *y, *dx, *dy),
            _ => Ok(()),
        }
    }

    /// Whatever programs draw or do from here on is the effect of what follows.
    fn begin(&mut self) -> Result<(), DesktopError> {
        self.watch.restart()?;
        if let Some(programs) = &mut self.programs {
            programs.begin();
        }
        Ok(())
    }

    fn settle(&mut self, action: &Action, left: Duration) -> Result<(), DesktopError> {
        let (first, timers) = match action {
            Action::Screenshot | Action::Wait { .. } => return Ok(()),
            Action::Move { .. } => (FIRST_HOVER, HOVER_TIMERS),
            _ => (FIRST_EFFECT, TIMERS),
        };
        let Some(most) = self.most.map(|most| most.min(left)) else {
            return Ok(());
        };
        self.rest(&Settle {
            first: first.min(most),
            quiet: QUIET,
            busy: BUSY,
            timers,
            least: self.least,
            most,
        })
    }

    fn rest(&mut self, settle: &Settle) -> Result<(), DesktopError> {
        self.watch.settle(settle, self.programs.as_mut()).map(drop)
    }

    /// The screen when programs have painted their windows. The programs may be at work without drawing until then;
    /// where nothing is known of them, the set-up has waited.
    pub(crate) fn first_look(&mut self) -> Result<Sight, Blind> {
        if self.most.is_some() && self.programs.is_some() {
            self.begin()?;
            self.rest(&Settle {
                first: Duration::ZERO,
                quiet: QUIET,
                busy: FIRST_PICTURE,
                timers: TIMERS,
                least: Duration::ZERO,
                most: FIRST_PICTURE,
            })?;
        }
        self.look()
    }

    /// The screen when the effect of the last action is there, with all windows if asked for.
    pub(crate) fn last_look(&mut self, around: bool) -> Result<Sight, Blind> {
        if let Some(most) = self.most {
            self.rest(&Settle {
                first: QUIET.min(most),
                quiet: QUIET,
                busy: BUSY,
                timers: TIMERS,
                least: Duration::ZERO,
                most,
            })?;
        }
        let mut sight = self.look()?;
        if around {
            sight.windows = Some(windows(&self.desktop)?);
        }
        Ok(sight)
    }

    /// The screen as it is now, kept.
    pub(crate) fn look(&mut self) -> Result<Sight, Blind> {
        let screen = self.desktop.screen();
        let frame = screen.capture_with(&CaptureOptions {
            cursor: true,
            ..CaptureOptions::default()
        })?;
        let hash = frame.hash();
        let picture = match &self.last {
            Some((same, picture)) if *same == hash => picture.clone(),
            _ => {
                let picture = Picture::new(FORMAT.0, frame.encode(FORMAT.1)?);
                self.writer.keep_picture(&picture).map_err(Blind::Record)?;
                self.last = Some((hash, picture.clone()));
                picture
            }
        };
        let window = self.desktop.windows().active()?.as_ref().map(view);
        self.log.sync(CATCH_UP)?;
        let (input, lost_input) = self.log.take();
        Ok(Sight {
            screen: ScreenView {
                width: frame.size().width,
                height: frame.size().height,
                cursor: frame.cursor().map(|point| ScreenPoint {
                    x: point.x,
                    y: point.y,
                }),
                window,
                picture,
            },
            input,
            lost_input,
            mistake: None,
            windows: None,
        })
    }

    /// Lets go of all keys that are held here.
    pub(crate) fn let_go(&mut self) -> Result<Sight, Blind> {
        self.desktop.keyboard().release_all()?;
        self.look()
    }
}

/// The windows of a desktop, as many as are looked at: any program can open thousands.
#[derive(Debug, Default)]
pub(crate) struct WindowsAround {
    listed: Vec<WindowView>,
    left_out: u64,
}

impl WindowsAround {
    pub(crate) fn with(self, apps: Vec<AppView>) -> Surroundings {
        Surroundings {
            windows: self.listed,
            windows_left_out: self.left_out,
            apps,
        }
    }
}

pub(crate) fn windows(desktop: &Desktop) -> Result<WindowsAround, DesktopError> {
    let (windows, left_out) = desktop.windows().list_with_rest()?;
    let listed = windows.iter().map(view).collect();
    Ok(WindowsAround { listed, left_out })
}

fn view(window: &WindowInfo) -> WindowView {
    let at = ScreenPoint {
        x: window.rect.x,
        y: window.rect.y,
    };
    let size = (window.rect.width, window.rect.height);
    WindowView::new(&window.title, &window.class, window.pid, at, size)
}

/// What the agent asked for can't be done, but the desktop is well: an answer for the agent.
fn is_answer(error: &DesktopError) -> bool {
    error.is_callers()
        || matches!(
            error,
            DesktopError::Timeout { .. } | DesktopError::Unsupported(_)
        )
}
