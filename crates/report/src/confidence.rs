//! Which interval a score gets, under which name, and why there is none. One task says nothing of other
//! tasks: a run of one task speaks of attempts at it, or not at all.

use agon_stats::{Cluster, binomial, over_tasks};
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
    /// One graded trial per task, each 0 or 1: binomial, between mid-P and Clopper-Pearson.
    Binomial,
    /// Several trials per task, partial credit, weights or differences: the same, of as many tasks as
    /// would say as much.
    EffectiveTasks,
    /// A run of one task: the same over its attempts. It says nothing of other tasks.
    BinomialOverAttempts,
    /// Measured values of several trials per task: Student's, of the middle half of the values.
    StudentOverSeeds,
}

impl Method {
    pub const ALL: [Self; 4] = [
        Self::Binomial,
        Self::EffectiveTasks,
        Self::BinomialOverAttempts,
        Self::StudentOverSeeds,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Binomial => "binomial",
            Self::EffectiveTasks => "binomial of effective tasks",
            Self::BinomialOverAttempts => "binomial over attempts at one task",
            Self::StudentOverSeeds => "Student over seeds",
        }
    }
}

/// What stands where a score has no interval.
pub const NO_INTERVAL: &str = "no interval: fewer than two tasks graded";
/// The same for measured values.
pub(crate) const NO_MEASURED_INTERVAL: &str = "no interval: fewer than 10 repeats, or all alike";

impl Interval {
    pub(crate) const fn new(found: agon_stats::Interval, method: Method) -> Self {
        Self {
            low: found.low,
            high: found.high,
            method,
        }
    }

    /// The interval of `sum of sums / sum of weights`, one cluster per task; every sum lies between
    /// 0 and its weight. `None` with fewer than two tasks.
    pub(crate) fn over_tasks(clusters: &[Cluster]) -> Option<Self> {
        let mut seen = clusters.iter().filter(|task| task.weight > 0.0);
        let single = seen.all(|task| task.weight == 1.0 && (task.sum == 0.0 || task.sum == 1.0));
        let method = if single {
            Method::Binomial
        } else {
            Method::EffectiveTasks
        };
        over_tasks(clusters).map(|found| Self::new(found, method))
    }

    /// The interval of the mean of attempts at the only task of a run. `None` with a single attempt.
    pub(crate) fn over_attempts(sum: f64, attempts: u64) -> Option<Self> {
        binomial(sum, attempts).map(|found| Self::new(found, Method::BinomialOverAttempts))
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
        Interval::over_tasks(&clusters).map(|interval| interval.method)
    }

    #[test]
    fn the_method_follows_from_what_was_seen() {
        assert_eq!(method(&[]), None);
        assert_eq!(method(&[(0.0, 0.0)]), None);
        assert_eq!(method(&[(1.0, 1.0), (0.0, 1.0)]), Some(Method::Binomial));
        let effective = Some(Method::EffectiveTasks);
        assert_eq!(method(&[(0.5, 1.0), (0.0, 1.0)]), effective);
        assert_eq!(method(&[(1.0, 2.0), (2.0, 2.0)]), effective);
        assert_eq!(method(&[(2.0, 2.0), (3.0, 3.0)]), effective);
    }

    /// One task, one epoch: no interval is true.
    #[test]
    fn one_task_has_an_interval_over_its_attempts_alone() {
        assert_eq!(method(&[(1.0, 1.0)]), None);
        assert_eq!(method(&[(3.0, 4.0)]), None);
        assert_eq!(Interval::over_attempts(1.0, 1), None);
        let found = Interval::over_attempts(3.0, 4).unwrap();
        assert_eq!(found.method, Method::BinomialOverAttempts);
        assert!(found.low < 0.3 && found.high > 0.97);
    }
}
