//! The interval of a mean over tasks. Attempts at one task are not independent, and tasks differ: so the
//! task is what counts, and the interval is the binomial one of as many tasks as say as much. Why so, and
//! how often it holds the truth, is in `docs/statistics.md`; `examples/simulate_intervals` is the proof.

use crate::beta::student_squared;
use crate::interval::{BinomialSample, Interval, Level};

/// What was seen of one task: the sum of its values, each between 0 and 1, and the weight that sum stands
/// for, such as scores and the number of graded attempts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cluster {
    pub sum: f64,
    pub weight: f64,
}

/// So few tasks are easily all of one kind (five of two kinds: once in 16 runs) and look alike; what they
/// have in common says nothing. They count as yes and no, whatever their scores.
const ONE_KIND: f64 = 5.0;
/// Tasks that differ as much as tasks can, which the variance of more tasks is mixed with. Divided by the
/// number of the others, it soon counts for nothing.
const PRIOR_TASKS: f64 = 2.0;
/// Where no two tasks differ there is no variance to trust: what then may still be unlike is about what
/// the rule of three leaves open.
const PRIOR_TASKS_WITHOUT_SPREAD: f64 = 2.5;
/// The part of a task that lies at the far end: close to 0 or 1 the rare task that is not is easily missed.
const FAR_TASK: f64 = 0.25;
const FEWEST_DEGREES: f64 = 0.5;

/// The 95 % interval of `sum of sums / sum of weights`. `None` when fewer than two clusters have a weight:
/// one task says nothing about how tasks differ.
pub fn over_tasks(clusters: &[Cluster]) -> Option<Interval> {
    over_tasks_at(clusters, Level::NINETY_FIVE)
}

pub(crate) fn over_tasks_at(clusters: &[Cluster], level: Level) -> Option<Interval> {
    let values = clusters
        .iter()
        .filter(|task| task.weight > 0.0)
        .map(|task| (task.sum / task.weight, task.weight));
    effective(values, level).map(|seen| seen.interval(level))
}

/// The mean of values with weights, and how many yes/no tasks would say as much about it.
pub(crate) fn effective(
    values: impl Iterator<Item = (f64, f64)> + Clone,
    level: Level,
) -> Option<BinomialSample> {
    let values = values.map(|(value, weight)| (value.clamp(0.0, 1.0), weight));
    let (mut tasks, mut sum, mut weight, mut squares, mut weighted) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (value, by) in values.clone() {
        tasks += 1.0;
        sum += value;
        weight += by;
        squares += by * by;
        weighted += by * value;
    }
    if tasks < 2.0 {
        return None;
    }
    let others = tasks - 1.0;
    let (plain_mean, mean) = (sum / tasks, (weighted / weight).clamp(0.0, 1.0));
    let (mut spread, mut fourth, mut weighted_spread) = (0.0, 0.0, 0.0);
    for (value, by) in values {
        let away = (value - plain_mean) * (value - plain_mean);
        spread += away;
        fourth += away * away;
        weighted_spread += by * by * (value - mean) * (value - mean);
    }
    // As many tasks of the same weight (Kish).
    let even = weight * weight / squares;
    // No values between 0 and 1 vary more than yes and no with the same mean.
    let (plain_most, most) = (plain_mean * (1.0 - plain_mean), mean * (1.0 - mean));
    let share = if tasks <= ONE_KIND || most <= 1e-9 || plain_most <= 1e-9 {
        1.0
    } else {
        let plain = spread / others / plain_most * caution(tasks, spread, fourth, level);
        // Where heavy tasks differ more than light ones.
        let heavy = weighted_spread / squares * tasks / others / most;
        let prior = if spread <= 1e-18 * tasks {
            PRIOR_TASKS_WITHOUT_SPREAD
        } else {
            PRIOR_TASKS / others
        };
        let off_centre = (1.0 - 2.0 * mean) * (1.0 - 2.0 * mean);
        let far = FAR_TASK * off_centre / ((tasks + 2.0) * most);
        ((others * plain.max(heavy) + prior + far) / (others + prior)).min(1.0)
    };
    Some(BinomialSample {
        share: mean,
        trials: even / share,
        coarse: share * even / tasks,
    })
}

/// How much larger a variance may be than it looks. Student's quantile knows that it was found from few
/// values; and where most of it comes from one or two of them, they are as good as fewer (Satterthwaite).
fn caution(tasks: f64, spread: f64, fourth: f64, level: Level) -> f64 {
    let uneven = fourth / (spread * spread) - 1.0 / tasks;
    let degrees = (2.0 / uneven.max(1e-9)).min(tasks - 1.0);
    if !degrees.is_finite() {
        return 1.0;
    }
    student_squared(degrees.max(FEWEST_DEGREES), level) / level.z_squared
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::interval::binomial;

    fn single(values: &[f64]) -> Vec<Cluster> {
        let one = |value: &f64| Cluster {
            sum: *value,
            weight: 1.0,
        };
        values.iter().map(one).collect()
    }

    fn width(interval: Interval) -> f64 {
        interval.high - interval.low
    }

    #[test]
    fn yes_and_no_once_per_task_is_the_binomial_interval() {
        for (passed, tasks) in [(0, 2), (1, 2), (3, 5), (10, 10), (7, 30), (900, 1_000)] {
            let values: Vec<f64> = (0..tasks)
                .map(|nth| f64::from(u8::from(nth < passed)))
                .collect();
            let (found, expected) = (
                over_tasks(&single(&values)).unwrap(),
                binomial(f64::from(passed), tasks as u64).unwrap(),
            );
            assert!(
                (found.low - expected.low).abs() < 1e-9,
                "{passed} of {tasks}"
            );
            assert!(
                (found.high - expected.high).abs() < 1e-9,
                "{passed} of {tasks}"
            );
        }
    }

    /// Worked out in NumPy and SciPy, by the formulas of `docs/statistics.md`.
    #[test]
    fn known_intervals() {
        type BinomialSample = &'static [(f64, f64)];
        let cases: [(BinomialSample, f64, f64); 5] = [
            (&[(0.4, 1.0), (0.6, 1.0)], 0.015_091_096, 0.984_908_904),
            (
                &[(3.0, 4.0), (4.0, 4.0), (2.0, 4.0), (4.0, 4.0), (1.0, 4.0)],
                0.220_484_563,
                0.974_594_976,
            ),
            (
                &[
                    (0.5, 0.5),
                    (0.0, 1.0),
                    (2.0, 2.0),
                    (1.0, 4.0),
                    (8.0, 8.0),
                    (0.25, 0.5),
                ],
                0.148_732_680,
                0.995_244_845,
            ),
            (
                &[
                    (0.5, 1.0),
                    (0.5, 1.0),
                    (0.5, 1.0),
                    (0.5, 1.0),
                    (0.5, 1.0),
                    (0.5, 1.0),
                ],
                0.273_418_304,
                0.726_581_696,
            ),
            (
                &[
                    (0.875, 1.0),
                    (1.0, 1.0),
                    (1.0, 1.0),
                    (0.75, 1.0),
                    (0.875, 1.0),
                    (1.0, 1.0),
                    (1.0, 1.0),
                    (0.625, 1.0),
                    (0.875, 1.0),
                    (1.0, 1.0),
                    (1.0, 1.0),
                    (1.0, 1.0),
                ],
                0.798_049_405,
                0.976_672_378,
            ),
        ];
        for (clusters, low, high) in cases {
            let clusters: Vec<Cluster> = clusters
                .iter()
                .map(|(sum, weight)| Cluster {
                    sum: *sum,
                    weight: *weight,
                })
                .collect();
            let found = over_tasks(&clusters).unwrap();
            assert!((found.low - low).abs() < 1e-6, "{clusters:?}: {found:?}");
            assert!((found.high - high).abs() < 1e-6, "{clusters:?}: {found:?}");
        }
    }

    #[test]
    fn one_task_gives_no_interval() {
        assert_eq!(over_tasks(&[]), None);
        assert_eq!(over_tasks(&single(&[0.5])), None);
        let unseen = Cluster {
            sum: 0.0,
            weight: 0.0,
        };
        assert_eq!(over_tasks(&[single(&[0.5])[0], unseen]), None);
    }

    /// Ten tasks that all pass, each of eight times: still ten tasks.
    #[test]
    fn attempts_at_the_same_tasks_do_not_replace_tasks() {
        let passed = Cluster {
            sum: 8.0,
            weight: 8.0,
        };
        let found = over_tasks(&[passed; 10]).unwrap();
        let expected = binomial(10.0, 10).unwrap();
        assert!((found.low - expected.low).abs() < 1e-9 && found.high == 1.0);
    }

    /// A million tasks of 0.3 and 0.7 have nothing left but the textbook's interval.
    #[test]
    fn many_tasks_come_to_the_textbook_interval() {
        let values: Vec<f64> = (0..1_000_000)
            .map(|nth| if nth % 2 == 0 { 0.3 } else { 0.7 })
            .collect();
        let found = over_tasks(&single(&values)).unwrap();
        let half = 1.96 * 0.2 / 1_000.0;
        assert!((width(found) / 2.0 / half - 1.0).abs() < 0.01, "{found:?}");
    }

    fn tasks() -> impl Strategy<Value = Vec<Cluster>> {
        let value = prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0f64];
        let weight = prop_oneof![Just(0.5), Just(1.0), Just(2.0), Just(4.0), Just(8.0)];
        let task = (value, weight).prop_map(|(value, weight)| Cluster {
            sum: value * weight,
            weight,
        });
        prop::collection::vec(task, 2..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn it_holds_the_mean_and_stays_in_range(tasks in tasks()) {
            let mean = tasks.iter().map(|task| task.sum).sum::<f64>()
                / tasks.iter().map(|task| task.weight).sum::<f64>();
            let Interval { low, high } = over_tasks(&tasks).unwrap();
            prop_assert!(0.0 <= low && low <= mean + 1e-9 && mean <= high + 1e-9 && high <= 1.0);
            prop_assert!(low < high);
        }

        #[test]
        fn it_is_the_same_from_the_other_end(tasks in tasks()) {
            let flipped: Vec<Cluster> = tasks.iter().map(|task| Cluster {
                sum: task.weight - task.sum,
                weight: task.weight,
            }).collect();
            let (one, other) = (over_tasks(&tasks).unwrap(), over_tasks(&flipped).unwrap());
            prop_assert!((one.low - (1.0 - other.high)).abs() < 1e-7, "{one:?} {other:?}");
            prop_assert!((one.high - (1.0 - other.low)).abs() < 1e-7, "{one:?} {other:?}");
        }

        #[test]
        fn it_is_wider_to_be_surer(tasks in tasks()) {
            let at = |level| over_tasks_at(&tasks, level).unwrap();
            let (some, most, all) = (at(Level::EIGHTY), at(Level::NINETY_FIVE), at(Level::NINETY_NINE));
            prop_assert!(most.low <= some.low && some.high <= most.high);
            prop_assert!(all.low <= most.low && most.high <= all.high);
        }

        #[test]
        fn it_is_narrower_with_more_tasks_alike(tasks in tasks()) {
            let (few, many) = (over_tasks(&tasks).unwrap(), over_tasks(&tasks.repeat(3)).unwrap());
            prop_assert!(width(many) < width(few), "{few:?} {many:?}");
        }

        #[test]
        fn neither_the_unit_of_the_weights_nor_the_order_matters(tasks in tasks(), by in 0.01..100.0f64) {
            let scaled: Vec<Cluster> = tasks.iter().rev().map(|task| Cluster {
                sum: task.sum * by,
                weight: task.weight * by,
            }).collect();
            let (one, other) = (over_tasks(&tasks).unwrap(), over_tasks(&scaled).unwrap());
            prop_assert!((one.low - other.low).abs() < 1e-7 && (one.high - other.high).abs() < 1e-7);
        }
    }
}
