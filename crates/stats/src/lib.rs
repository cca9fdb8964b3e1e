//! The maths behind scores: intervals, the bootstrap over tasks, pass@k and pass^k, means,
//! interquartile means and percentiles, agreement of two judges, two contenders paired by task. Pure functions over numbers: no I/O, no knowledge of tasks or runs.

mod agreement;
mod bootstrap;
mod interval;
mod iqm;
mod paired;
mod repeats;
mod spread;

pub use agreement::Agreement;
pub use bootstrap::{Cluster, bootstrap, resamples_for};
pub use interval::{Interval, wilson};
pub use iqm::{iqm, iqm_interval};
pub use paired::{bootstrap_difference, mcnemar_exact};
pub use repeats::{pass_all_k, pass_at_k};
pub use spread::{Spread, percentile};
