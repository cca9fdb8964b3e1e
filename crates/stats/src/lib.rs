//! The maths behind scores: intervals over tasks, pass@k and pass^k, means, interquartile means and
//! percentiles, agreement of two judges, two contenders paired by task. Pure functions over numbers: no I/O,
//! no knowledge of tasks or runs.

mod agreement;
mod beta;
mod interval;
mod iqm;
mod paired;
mod repeats;
mod spread;
mod tasks;

pub use agreement::Agreement;
pub use interval::{Interval, binomial};
pub use iqm::{iqm, iqm_interval};
pub use paired::{mcnemar_exact, over_differences};
pub use repeats::{pass_all_k, pass_at_k};
pub use spread::{Spread, percentile};
pub use tasks::{Cluster, over_tasks};
