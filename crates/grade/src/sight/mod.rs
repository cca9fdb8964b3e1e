//! Questions about a screen and what stands around it, answered. Knows pictures and what was noted
//! beside them: not how they were taken, nor whether the world still moves.

#[cfg(test)]
pub(crate) mod drawn;
mod finding;
mod judge;
mod number;
mod settle;
mod words;

pub use finding::{Refusal, SightError, SightFinding};
pub use judge::{Sight, judge};
pub use settle::{settle, settle_by};
