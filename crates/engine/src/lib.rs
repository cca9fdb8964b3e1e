//! The engine: one attempt as a typestate machine, the turn loop, the dispatcher that plays a plan in
//! parallel, and resuming. Knows no file format of suites and prints nothing.

mod admission;
mod apps;
mod attempt;
mod budget;
mod desktops;
mod dispatch;
mod error;
mod eyes;
mod gui;
mod models;
mod on_demand;
mod programs;
mod realtime;
mod regrade;
mod removals;
mod seat;
mod seen;
mod select;
mod shell_log;
mod stage;
mod table;
mod trial;
mod turns;
mod watch;
mod workbench;

pub use attempt::{Job, Replaced};
pub use budget::{RunBudget, Spent};
pub use desktops::Desktops;
pub use dispatch::{Dispatch, RunEnd, dispatch};
pub use error::RunError;
pub use on_demand::{local, providers};
pub use programs::{Shelf, digests};
pub use regrade::regrade;
pub use removals::Removals;
pub use select::{Mode, Selected, select};
pub use stage::Gone;
pub use table::{Providers, Table};
pub use trial::{Faulted, Frozen, Graded, Running, Setup, Trial, play};
pub use watch::{Unwatched, Watch};
pub use workbench::{Tools, Workbench};
