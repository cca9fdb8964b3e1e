//! Between OpenHands' events and Agon's: actions and observations both ways, and a whole trial's record
//! as a history.

mod action;
mod foreign;
mod history;
mod names;
mod observation;
mod opening;
mod record;
mod replay;
mod reverse;
mod stamp;
#[cfg(test)]
pub(crate) mod tests;
mod tracked;

pub use action::{NoCoreAction, core_action};
pub use foreign::foreign_action;
pub use history::history;
pub(crate) use history::history_and_metrics;
pub use names::in_names_of_tools;
pub use observation::observation;
pub(crate) use record::LONGEST_KEPT;
pub use record::{Bodies, NoBodies, Record};
pub use replay::{Replay, replay};
pub(crate) use reverse::Writer;
pub use stamp::iso;
pub(crate) use stamp::{epoch, from_iso};
pub(crate) use tracked::arguments;
