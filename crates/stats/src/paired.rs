//! Two contenders who tried the same tasks: how likely what tells them apart is chance, and how far
//! apart they are. Each task counts once, whatever was seen of it.

use crate::bootstrap::{Cluster, bootstrap};
use crate::interval::Interval;

/// McNemar's exact test: the two-sided p-value of `gained` against `lost` tasks, if each of them could
/// as well have gone the other way. `None` where there is no task that tells the two apart.
pub fn mcnemar_exact(gained: u64, lost: u64) -> Option<f64> {
    let count = gained.checked_add(lost).filter(|count| *count > 0)?;
    let fewer = gained.min(lost);
    if gained == lost {
        return Some(1.0);
    }
    // The likeliest outcome of the tail, as a logarithm: 2^-count alone is too small for a number.
    let likeliest: f64 = (1..=fewer)
        .map(|nth| ((count - nth + 1) as f64 / nth as f64).ln())
        .sum::<f64>()
        - count as f64 * std::f64::consts::LN_2;
    // The others in parts of it, each smaller than the one before.
    let (mut tail, mut part) = (0.0, 1.0);
    for nth in (0..=fewer).rev() {
        tail += part;
        part *= nth as f64 / (count - nth + 1) as f64;
        if part < tail * f64::EPSILON {
            break;
        }
    }
    Some((2.0 * likeliest.exp() * tail).min(1.0))
}

/// The 95 % percentile interval of the mean difference, second minus first, over resampled tasks: a task
/// is drawn with what both have made of it. One pair per task, as from one to another. `None` with fewer
/// than two tasks. Without any spread the interval has no width, and says less than it seems to.
pub fn bootstrap_difference(pairs: &[(f64, f64)], seed: u64) -> Option<Interval> {
    let differences: Vec<Cluster> = pairs
        .iter()
        .map(|(first, second)| Cluster {
            sum: second - first,
            weight: 1.0,
        })
        .collect();
    bootstrap(&differences, seed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As SciPy's `binomtest(k, n)` says; worked out in whole numbers.
    #[test]
    fn equals_the_binomial_test() {
        for (gained, lost, p) in [
            (1, 0, 1.0),
            (2, 7, 0.1796875),
            (6, 1, 0.125),
            (5, 15, 0.041_389_465_332_031_25),
            (10, 0, 0.001_953_125),
            (1000, 1200, 2.181_702_640_791_471e-5),
            (4800, 5200, 6.593_515_598_672_442e-5),
        ] {
            let found = mcnemar_exact(gained, lost).unwrap();
            assert!((found / p - 1.0).abs() < 1e-9, "{gained} {lost}: {found}");
        }
    }

    /// R, `exact2x2::mcnemar.exact` of the approval ratings in `?mcnemar.test`: 150 against 86 of 1,600.
    #[test]
    fn equals_r_on_its_own_example() {
        let found = mcnemar_exact(150, 86).unwrap();
        assert!((found - 3.716e-5).abs() < 5e-9, "{found}");
    }

    #[test]
    fn nothing_tells_them_apart() {
        assert_eq!(mcnemar_exact(0, 0), None);
        assert_eq!(mcnemar_exact(u64::MAX, 1), None);
        assert_eq!(mcnemar_exact(3, 3), Some(1.0));
    }

    #[test]
    fn what_is_nearly_certain_stays_a_number() {
        let found = mcnemar_exact(0, 1_000_000).unwrap();
        assert!((0.0..1e-300).contains(&found), "{found}");
    }

    fn pairs(differences: &[f64]) -> Vec<(f64, f64)> {
        let first = 0.25;
        differences.iter().map(|by| (first, first + by)).collect()
    }

    /// 100,000 resamples: -0.0167 to 0.2833, and 0.0083 to 0.3017.
    #[test]
    fn equals_a_long_bootstrap_of_differences() {
        let solved = [[0.0; 40].as_slice(), &[1.0; 14], &[-1.0; 6]].concat();
        let Interval { low, high } = bootstrap_difference(&pairs(&solved), 7).unwrap();
        assert!((low + 0.0167).abs() < 0.02, "{low}");
        assert!((high - 0.2833).abs() < 0.02, "{high}");
        let partial = [0.5, -0.25, 0.0, 1.0, 0.75, -1.0, 0.0, 0.25, 1.0 / 3.0, 0.0].repeat(5);
        let Interval { low, high } = bootstrap_difference(&pairs(&partial), 7).unwrap();
        assert!((low - 0.0083).abs() < 0.015, "{low}");
        assert!((high - 0.3017).abs() < 0.015, "{high}");
    }

    /// What both find hard or easy does not widen the interval: that is what pairing is for.
    #[test]
    fn tasks_that_differ_alike_say_the_same() {
        let alike: Vec<(f64, f64)> = (0..50u8)
            .map(|nth| f64::from(nth) / 100.0)
            .map(|first| (first, first + 0.5))
            .collect();
        let Interval { low, high } = bootstrap_difference(&alike, 1).unwrap();
        assert!((low - 0.5).abs() < 1e-9 && (high - 0.5).abs() < 1e-9);
        assert_eq!(bootstrap_difference(&[(0.0, 1.0)], 1), None);
        assert_eq!(bootstrap_difference(&[], 1), None);
    }

    proptest! {
        #[test]
        fn it_is_the_same_from_both_sides(gained in 0u64..400, lost in 0u64..400) {
            let found = mcnemar_exact(gained, lost);
            prop_assert_eq!(found, mcnemar_exact(lost, gained));
            prop_assert!(found.is_none_or(|p| p > 0.0 && p <= 1.0));
        }

        #[test]
        fn more_against_less_is_less_likely_chance(lost in 0u64..200, by in 1u64..200) {
            let (near, far) = (mcnemar_exact(lost + by, lost), mcnemar_exact(lost + by + 1, lost));
            prop_assert!(far <= near);
        }
    }
}
