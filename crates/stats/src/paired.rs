//! Two contenders who tried the same tasks: how likely what tells them apart is chance, and how far
//! apart they are. Each task counts once, whatever was seen of it.

use crate::interval::{Interval, Level};
use crate::tasks::effective;

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

/// The 95 % interval of the mean difference, second minus first: that of a mean over tasks, of the
/// differences, which lie between -1 and 1. One pair per task. `None` with fewer than two tasks.
pub fn over_differences(pairs: &[(f64, f64)]) -> Option<Interval> {
    let level = Level::NINETY_FIVE;
    let halved = pairs
        .iter()
        .map(|(first, second)| (f64::midpoint(second - first, 1.0), 1.0));
    let found = effective(halved, level)?.interval(level);
    Some(Interval {
        low: 2.0 * found.low - 1.0,
        high: 2.0 * found.high - 1.0,
    })
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

    /// Far from the ends and with many tasks it is what a paired bootstrap of 100,000 resamples finds:
    /// -0.0167 to 0.2833, and 0.0083 to 0.3017.
    #[test]
    fn is_close_to_a_long_bootstrap_where_that_is_true() {
        let solved = [[0.0; 40].as_slice(), &[1.0; 14], &[-1.0; 6]].concat();
        let Interval { low, high } = over_differences(&pairs(&solved)).unwrap();
        assert!((low + 0.0167).abs() < 0.03, "{low}");
        assert!((high - 0.2833).abs() < 0.03, "{high}");
        let partial = [0.5, -0.25, 0.0, 1.0, 0.75, -1.0, 0.0, 0.25, 1.0 / 3.0, 0.0].repeat(5);
        let Interval { low, high } = over_differences(&pairs(&partial)).unwrap();
        assert!((low - 0.0083).abs() < 0.03, "{low}");
        assert!((high - 0.3017).abs() < 0.03, "{high}");
    }

    /// What both find hard or easy does not widen the interval: that is what pairing is for. But what is
    /// alike in a few tasks need not be alike in all.
    #[test]
    fn tasks_that_differ_alike_leave_open_what_was_not_seen() {
        let alike = |tasks: u8| -> Interval {
            let first = (0..tasks).map(|nth| f64::from(nth) / 200.0);
            let pairs: Vec<(f64, f64)> = first.map(|first| (first, first + 0.5)).collect();
            over_differences(&pairs).unwrap()
        };
        let (few, many) = (alike(5), alike(100));
        assert!(few.low < 0.1 && few.high > 0.8, "{few:?}");
        assert!(
            (0.45..0.5).contains(&many.low) && (0.5..0.55).contains(&many.high),
            "{many:?}"
        );
        assert_eq!(over_differences(&[(0.0, 1.0)]), None);
        assert_eq!(over_differences(&[]), None);
    }

    proptest! {
        #[test]
        fn who_is_first_only_turns_the_interval_round(scores in prop::collection::vec((0.0..=1.0f64, 0.0..=1.0f64), 2..30)) {
            let turned: Vec<(f64, f64)> = scores.iter().map(|(first, second)| (*second, *first)).collect();
            let (one, other) = (over_differences(&scores).unwrap(), over_differences(&turned).unwrap());
            prop_assert!((one.low + other.high).abs() < 1e-7 && (one.high + other.low).abs() < 1e-7);
            let mean = scores.iter().map(|(first, second)| second - first).sum::<f64>() / scores.len() as f64;
            prop_assert!(-1.0 <= one.low && one.low <= mean + 1e-9 && mean <= one.high + 1e-9 && one.high <= 1.0);
        }

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
