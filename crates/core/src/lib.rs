//! The vocabulary of Agon as types: what a task, an action, an observation, an event, a check, a
//! verdict and a fault *are*. No I/O, no async, no knowledge of any other crate.

pub mod action;
pub mod brief;
pub mod check;
pub mod clock;
pub mod digest;
pub mod environment;
pub mod event;
pub mod fault;
pub mod files;
pub mod id;
pub mod input;
pub mod level;
pub mod limits;
pub mod money;
pub mod observation;
pub mod quantity;
pub mod screen;
pub mod secrecy;
pub mod seed;
pub mod task;
pub mod usage;
pub mod verdict;

pub use action::{Action, ActionKind};
pub use brief::Brief;
pub use clock::{Clock, SystemClock};
pub use digest::Digest;
pub use environment::{Environment, EnvironmentKind};
pub use event::{Event, EventBody, Source};
pub use fault::{Fault, FaultClass};
pub use id::{TaskId, TrialId};
pub use input::{InputEvent, InputKind};
pub use level::Level;
pub use limits::Limits;
pub use money::Money;
pub use observation::Observation;
pub use quantity::{ByteSize, Seconds};
pub use screen::{Picture, PictureFormat, ScreenPoint, ScreenView, WindowView};
pub use secrecy::{CutOff, HostOnly, VerifyOnly, Visible};
pub use seed::Seed;
pub use task::Task;
pub use usage::{TimeSplit, Usage};
pub use verdict::{CheckOutput, CheckResult, Outcome, Verdict};
