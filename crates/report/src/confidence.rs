//! Which interval a score gets. Trials of one task are not independent, and a bootstrap over equal
//! values has no width; so the method follows from what was seen.

use agon_stats::{Cluster, bootstrap, wilson};
use schemars::JsonSchema;
use serde::Serialize;

/// A 95 % interval and how it was found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    pub method: Method,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// One graded trial per task, each 0 or 1: Wilson's interval.
    Wilson,
    /// Several trials per task and all of them alike (all 0 or all 1): Wilson's interval with each
    /// task counted once, because a bootstrap would claim to be certain.
    WilsonOverTasks,
    /// Several trials per task, partial credit or weights: bootstrap over tasks, percentiles.
    Bootstrap,
    /// Measured values of several trials per task: bootstrap within each task, percentiles.
    BootstrapOverSeeds,
}

impl Method {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wilson => "Wilson",
            Self::WilsonOverTasks => "Wilson over tasks",
            Self::Bootstrap => "bootstrap over tasks",
            Self::BootstrapOverSeeds => "bootstrap over seeds",
        }
    }
}

impl Interval {
    /// The interval of `sum of sums / sum of weights`, one cluster per task; every sum lies between
    /// 0 and its weight.
    pub(crate) fn over_tasks(clusters: &[Cluster], seed: u64) -> Option<Self> {
        let seen = || clusters.iter().filter(|task| task.weight > 0.0);
        let tasks = seen().count() as u64;
        let full = seen().filter(|task| task.sum >= task.weight).count() as u64;
        let empty = seen().filter(|task| task.sum <= 0.0).count() as u64;
        let single = seen().all(|task| task.weight == 1.0);
        let (found, method) = if single && full + empty == tasks {
            (wilson(full, tasks)?, Method::Wilson)
        } else if full == tasks || empty == tasks {
            (wilson(full, tasks)?, Method::WilsonOverTasks)
        } else {
            (bootstrap(clusters, seed)?, Method::Bootstrap)
        };
        Some(Self {
            low: found.low,
            high: found.high,
            method,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(clusters: &[(f64, f64)]) -> Option<Method> {
        let clusters: Vec<Cluster> = clusters
            .iter()
            .map(|(sum, weight)| Cluster {
                sum: *sum,
                weight: *weight,
            })
            .collect();
        Interval::over_tasks(&clusters, 1).map(|interval| interval.method)
    }

    #[test]
    fn the_method_follows_from_what_was_seen() {
        assert_eq!(method(&[]), None);
        assert_eq!(method(&[(0.0, 0.0)]), None);
        assert_eq!(method(&[(1.0, 1.0), (0.0, 1.0)]), Some(Method::Wilson));
        assert_eq!(method(&[(0.5, 1.0), (0.0, 1.0)]), Some(Method::Bootstrap));
        assert_eq!(method(&[(1.0, 2.0), (2.0, 2.0)]), Some(Method::Bootstrap));
        assert_eq!(
            method(&[(2.0, 2.0), (3.0, 3.0)]),
            Some(Method::WilsonOverTasks)
        );
        assert_eq!(method(&[(0.5, 1.0)]), None);
    }
}
