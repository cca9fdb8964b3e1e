//! The filter language of `--filter`: predicates over tasks, combined.
//!
//! ```text
//! category(terminal) and level(>=bronze)
//! (tag(net) or name(~download)) and not id(/^slow_/)
//! ```

mod expression;
mod parse;
mod pattern;

pub use expression::{Expression, Filter};
pub use parse::FilterError;
pub use pattern::{Field, Pattern, Predicate};
