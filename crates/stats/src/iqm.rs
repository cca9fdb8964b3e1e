//! The interquartile mean: the mean of the middle half of the values, which a few lucky or unlucky
//! ones don't move, and which still tells apart what a median can't. Its interval is that of values
//! drawn again within each task.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use crate::bootstrap::{below, resamples_for};
use crate::interval::Interval;
use crate::spread::percentile;

/// As SciPy's `trim_mean(values, 0.25)`, which rliable uses: the lowest and the highest quarter of the
/// values are left out, each rounded down to whole values. `None` without values, or if one is not
/// finite.
pub fn iqm(values: &[f64]) -> Option<f64> {
    if values.is_empty() || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(of_sorted(&sorted))
}

fn of_sorted(sorted: &[f64]) -> f64 {
    let cut = sorted.len() / 4;
    let middle = &sorted[cut..sorted.len() - cut];
    middle.iter().sum::<f64>() / middle.len() as f64
}

/// The 95 % percentile interval of the interquartile mean of all values together, when those of each
/// task are drawn again among themselves: it tells how much the seeds matter, and not the choice of
/// tasks. The same seed gives the same interval. `None` when no task has two values, or one is not
/// finite.
pub fn iqm_interval(tasks: &[Vec<f64>], seed: u64) -> Option<Interval> {
    let count: usize = tasks.iter().map(Vec::len).sum();
    let finite = tasks.iter().flatten().all(|value| value.is_finite());
    if !finite || !tasks.iter().any(|values| values.len() > 1) {
        return None;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut drawn = Vec::with_capacity(count);
    let mut means: Vec<f64> = (0..resamples_for(count))
        .map(|_| {
            drawn.clear();
            for values in tasks {
                let among = u32::try_from(values.len()).unwrap_or(u32::MAX);
                drawn.extend((0..values.len()).map(|_| values[below(among, rng.next_u32())]));
            }
            drawn.sort_unstable_by(f64::total_cmp);
            of_sorted(&drawn)
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    Some(Interval {
        low: percentile(&means, 2.5)?,
        high: percentile(&means, 97.5)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// SciPy 1.17.1, `trim_mean(values, 0.25)`.
    #[test]
    fn equals_scipy() {
        let cases: [(&[f64], f64); 7] = [
            (&[3.0], 3.0),
            (&[1.0, 2.0], 1.5),
            (&[1.0, 2.0, 9.0], 4.0),
            (&[1.0, 2.0, 3.0, 100.0], 2.5),
            (&[5.0, 1.0, 4.0, 2.0, 3.0], 3.0),
            (&[2.26, 3.5, 1.9, 12.34, 7.7, 60.0, 4.4, 5.1], 5.175),
            (
                &[0.5, 1.0, 1.5, 2.0, 8.0, 9.0, 40.0, 41.0, 42.0, 43.0],
                16.916_666_666_666_668,
            ),
        ];
        for (values, expected) in cases {
            let found = iqm(values).unwrap();
            assert!((found - expected).abs() < 1e-12, "{values:?}: {found}");
        }
        assert_eq!(iqm(&[]), None);
        assert_eq!(iqm(&[1.0, f64::NAN]), None);
    }

    /// NumPy 2.4.6, 200,000 resamples; 2,000 come close to it.
    #[test]
    fn the_interval_equals_numpy() {
        let one = vec![
            2.26, 3.5, 1.9, 12.34, 7.7, 60.0, 4.4, 5.1, 6.6, 8.2, 9.9, 3.3,
        ];
        let Interval { low, high } = iqm_interval(&[one], 7).unwrap();
        assert!((low - 3.7).abs() < 0.15, "{low}");
        assert!((high - 9.363).abs() < 0.3, "{high}");
    }

    /// Drawn over both tasks together, it would be 6 to 97.25.
    #[test]
    fn tasks_are_drawn_apart() {
        let near: Vec<f64> = (1..=8).map(f64::from).collect();
        let far = vec![100.0, 110.0, 90.0, 130.0, 105.0, 95.0, 99.0, 101.0];
        let Interval { low, high } = iqm_interval(&[near, far], 7).unwrap();
        assert!((low - 48.625).abs() < 0.3, "{low}");
        assert!((high - 54.125).abs() < 0.3, "{high}");
    }

    #[test]
    fn single_values_give_no_interval() {
        assert_eq!(iqm_interval(&[], 1), None);
        assert_eq!(iqm_interval(&[vec![1.0], vec![2.0]], 1), None);
        assert_eq!(iqm_interval(&[vec![1.0, f64::INFINITY]], 1), None);
        assert!(iqm_interval(&[vec![1.0], vec![2.0, 3.0], vec![]], 1).is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn it_lies_among_the_values(values in prop::collection::vec(-1e6..1e6f64, 2..40), seed: u64) {
            let (least, most) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
            let mean = iqm(&values).unwrap();
            prop_assert!(least - 1e-6 <= mean && mean <= most + 1e-6);
            let tasks = [values];
            let interval = iqm_interval(&tasks, seed).unwrap();
            prop_assert_eq!(iqm_interval(&tasks, seed), Some(interval));
            prop_assert!(least - 1e-6 <= interval.low && interval.low <= interval.high && interval.high <= most + 1e-6);
        }
    }
}
