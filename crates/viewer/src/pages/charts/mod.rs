//! The geometry of the drawings on a run's page; the template only places what is computed here. Units are
//! those of a drawing `WIDTH` wide. Every chart says in words what it shows, for those who can't see it.

mod bars;
mod columns;
mod flow;
mod scale;

pub(crate) use bars::{Bars, Named};
pub(crate) use columns::Columns;
pub(crate) use flow::Flow;
pub(crate) use scale::{Px, Tick, WIDTH};
