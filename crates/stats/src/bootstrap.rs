//! The bootstrap over tasks. Attempts at one task are not independent, so whole tasks are drawn
//! again, with all that was seen of them; the spread of the drawn means is the interval.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use crate::interval::Interval;
use crate::spread::percentile;

/// What was seen of one task: the sum of its values and the weight that sum stands for, such as
/// scores and the number of graded attempts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cluster {
    pub sum: f64,
    pub weight: f64,
}

const RESAMPLES: usize = 2_000;
const FEWEST: usize = 200;
/// How many draws of a task one interval may cost.
const DRAWS: usize = 2_000_000;

/// How often `clusters` things are resampled: 2,000 times, less for more than 1,000 of them, where
/// the interval is narrow anyway, but at least 200 times.
pub fn resamples_for(clusters: usize) -> usize {
    (DRAWS / clusters.max(1)).clamp(FEWEST, RESAMPLES)
}

/// The 95 % percentile interval of `sum of sums / sum of weights` over resampled clusters. The same
/// seed gives the same interval. `None` when fewer than two clusters have a weight: one task says
/// nothing about how tasks differ.
pub fn bootstrap(clusters: &[Cluster], seed: u64) -> Option<Interval> {
    let seen: Vec<Cluster> = clusters
        .iter()
        .copied()
        .filter(|cluster| cluster.weight > 0.0)
        .collect();
    let count = u32::try_from(seen.len()).ok().filter(|count| *count > 1)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut means: Vec<f64> = (0..resamples_for(seen.len()))
        .map(|_| {
            let (mut sum, mut weight) = (0.0, 0.0);
            for _ in 0..count {
                let drawn = seen[below(count, rng.next_u32())];
                sum += drawn.sum;
                weight += drawn.weight;
            }
            sum / weight
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    Some(Interval {
        low: percentile(&means, 2.5)?,
        high: percentile(&means, 97.5)?,
    })
}

/// A place below `count` from 32 random bits. Not exactly uniform, but off by less than one part in
/// 2^32 / `count`, which no interval can show; and much faster than being exact.
pub(crate) fn below(count: u32, bits: u32) -> usize {
    ((u64::from(count) * u64::from(bits)) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn single(values: &[f64]) -> Vec<Cluster> {
        values
            .iter()
            .map(|value| Cluster {
                sum: *value,
                weight: 1.0,
            })
            .collect()
    }

    /// SciPy 1.17.1, `bootstrap(..., method="percentile", n_resamples=100000)`, is the reference;
    /// 2,000 resamples come close to it.
    #[test]
    fn equals_scipy_for_single_values() {
        let values = [[0.0; 20].as_slice(), &[0.5; 10], &[1.0; 30]].concat();
        let Interval { low, high } = bootstrap(&single(&values), 7).unwrap();
        assert!((low - 0.4667).abs() < 0.01, "{low}");
        assert!((high - 0.6917).abs() < 0.01, "{high}");
    }

    /// NumPy, 200,000 resamples of whole clusters.
    #[test]
    fn equals_numpy_for_clusters() {
        let clusters: Vec<Cluster> = [
            (0, 3),
            (1, 3),
            (2, 3),
            (3, 3),
            (3, 3),
            (1, 2),
            (2, 2),
            (0, 1),
            (3, 3),
            (2, 3),
        ]
        .repeat(5)
        .into_iter()
        .map(|(sum, weight)| Cluster {
            sum: f64::from(sum),
            weight: f64::from(weight),
        })
        .collect();
        let Interval { low, high } = bootstrap(&clusters, 7).unwrap();
        assert!((low - 0.55).abs() < 0.01, "{low}");
        assert!((high - 0.7519).abs() < 0.01, "{high}");
    }

    #[test]
    fn one_task_gives_no_interval() {
        assert_eq!(bootstrap(&[], 1), None);
        assert_eq!(bootstrap(&single(&[0.5]), 1), None);
        let unseen = Cluster {
            sum: 0.0,
            weight: 0.0,
        };
        assert_eq!(bootstrap(&[single(&[0.5])[0], unseen], 1), None);
    }

    #[test]
    fn the_work_is_capped() {
        assert_eq!(resamples_for(0), 2_000);
        assert_eq!(resamples_for(1_000), 2_000);
        assert_eq!(resamples_for(4_000), 500);
        assert_eq!(resamples_for(1_000_000), 200);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn same_seed_same_interval_within_the_values(values in prop::collection::vec(0.0..=1.0f64, 2..40), seed: u64) {
            let clusters = single(&values);
            let interval = bootstrap(&clusters, seed).unwrap();
            prop_assert_eq!(bootstrap(&clusters, seed), Some(interval));
            let (least, most) = values.iter().fold((1.0f64, 0.0f64), |(l, h), v| (l.min(*v), h.max(*v)));
            prop_assert!(least - 1e-9 <= interval.low && interval.low <= interval.high && interval.high <= most + 1e-9);
        }
    }
}
