//! Confidence intervals, and the one of a share: binomial, for whole and for effective numbers of trials.

use crate::beta::{beta, reaches};

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// How sure an interval is. Reports show 95 %; tests ask for others, too.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    /// The chance that is left outside, on both sides together.
    pub(crate) outside: f64,
    /// The normal quantile that belongs to it, squared.
    pub(crate) z_squared: f64,
}

impl Level {
    pub(crate) const NINETY_FIVE: Self = Self {
        outside: 0.05,
        z_squared: 3.841_458_820_694_124,
    };
}

/// How much of the chance of exactly what was seen counts towards a tail. All of it is the interval of
/// Clopper and Pearson, which covers 98 % of ten tasks; half of it is mid-P, which falls to 91 %. Five
/// sixths never fall below 94 %, whatever the number of trials and the chance (`docs/statistics.md`).
const OWN_SHARE_OF_WHOLE: f64 = 5.0 / 6.0;
/// Numbers that are spread finely enough need no more than half.
const OWN_SHARE_OF_FINE: f64 = 0.5;

/// What a share was seen in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BinomialSample {
    pub(crate) share: f64,
    /// Independent yes/no trials that say as much; need not be whole.
    pub(crate) trials: f64,
    /// How coarse the share is: 1 for yes/no trials, 0 for what may be any number.
    pub(crate) coarse: f64,
}

/// The interval of `successes` in independent `trials`. `None` with fewer than two trials: there, all but
/// everything is possible.
pub fn binomial(successes: f64, trials: u64) -> Option<Interval> {
    let count = trials as f64;
    let seen = BinomialSample {
        share: (successes / count).clamp(0.0, 1.0),
        trials: count,
        coarse: 1.0,
    };
    (trials > 1).then(|| seen.interval(Level::NINETY_FIVE))
}

impl BinomialSample {
    pub(crate) fn interval(self, level: Level) -> Interval {
        Interval {
            low: self.low(level),
            high: 1.0 - self.flipped().low(level),
        }
    }

    const fn flipped(self) -> Self {
        Self {
            share: 1.0 - self.share,
            ..self
        }
    }

    /// The chance with which as many successes as were seen, or more, are just likely enough.
    fn low(self, level: Level) -> f64 {
        let successes = self.share * self.trials;
        let failures = self.trials - successes;
        if successes < 1e-9 {
            return 0.0;
        }
        let own = OWN_SHARE_OF_FINE + (OWN_SHARE_OF_WHOLE - OWN_SHARE_OF_FINE) * self.coarse;
        let bound = reaches(level.outside / 2.0, |chance| {
            let more = beta(successes + 1.0, failures, chance);
            let as_many = beta(successes, failures + 1.0, chance);
            own * as_many + (1.0 - own) * more
        });
        // Rounding must not put the bound beyond what was seen.
        bound.min(self.share)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    impl Level {
        pub(crate) const EIGHTY: Self = Self {
            outside: 0.2,
            z_squared: 1.642_374_415_149_818_2,
        };
        pub(crate) const NINETY_NINE: Self = Self {
            outside: 0.01,
            z_squared: 6.634_896_601_021_215,
        };
    }

    /// The interval of Clopper and Pearson.
    pub(crate) fn exact(successes: f64, trials: f64) -> Interval {
        let low = |seen: f64| {
            if seen <= 0.0 {
                return 0.0;
            }
            reaches(0.025, |chance| beta(seen, trials - seen + 1.0, chance))
        };
        Interval {
            low: low(successes),
            high: 1.0 - low(trials - successes),
        }
    }

    /// SciPy, `binomtest(k, n).proportion_ci(method="exact")`.
    #[test]
    fn the_yardstick_equals_scipy() {
        for (successes, trials, low, high) in [
            (0.0, 2.0, 0.0, 0.841_886_116_992),
            (1.0, 2.0, 0.012_579_117_094, 0.987_420_882_906),
            (0.0, 10.0, 0.0, 0.308_497_107_819),
            (7.0, 10.0, 0.347_547_149_94, 0.933_260_488_822),
            (10.0, 10.0, 0.691_502_892_181, 1.0),
            (109.0, 160.0, 0.603_045_510_799, 0.752_593_459_167),
            (15.0, 1000.0, 0.008_419_049_75, 0.024_619_700_097),
            (40000.0, 100000.0, 0.396_961_573_51, 0.403_044_227_659),
        ] {
            let found = exact(successes, trials);
            assert!(
                (found.low - low).abs() < 1e-9,
                "{successes}/{trials}: {found:?}"
            );
            assert!(
                (found.high - high).abs() < 1e-9,
                "{successes}/{trials}: {found:?}"
            );
        }
    }

    /// SciPy, `brentq` of the same tails.
    #[test]
    fn known_intervals() {
        for (successes, trials, low, high) in [
            (0.0, 2, 0.0, 0.826_794_919_243),
            (1.0, 2, 0.015_091_096_477, 0.984_908_903_523),
            (0.0, 10, 0.0, 0.295_773_885_999),
            (7.0, 10, 0.356_513_440_894, 0.929_149_837_601),
            (10.0, 10, 0.704_226_114_001, 1.0),
            (109.0, 160, 0.603_991_147_738, 0.751_762_975_59),
            (15.0, 1000, 0.008_516_748_331, 0.024_448_980_874),
            (40000.0, 100000, 0.396_963_229_258, 0.403_042_567_705),
        ] {
            let found = binomial(successes, trials).unwrap();
            assert!(
                (found.low - low).abs() < 1e-9,
                "{successes}/{trials}: {found:?}"
            );
            assert!(
                (found.high - high).abs() < 1e-9,
                "{successes}/{trials}: {found:?}"
            );
        }
        assert_eq!((binomial(0.0, 0), binomial(1.0, 1)), (None, None));
    }

    /// Not simulated but worked out: what each number of successes is likely, and whether its interval
    /// holds the chance.
    #[test]
    fn every_chance_is_covered_by_an_interval_no_wider_than_the_exact_one() {
        for trials in [2u32, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50] {
            let count = f64::from(trials);
            let found: Vec<Interval> = (0..=trials)
                .map(|seen| binomial(f64::from(seen), u64::from(trials)).unwrap())
                .collect();
            for (seen, interval) in (0u32..).zip(&found) {
                let exact = exact(f64::from(seen), count);
                assert!(exact.low <= interval.low && interval.high <= exact.high);
            }
            for chance in (1..500).map(|nth| f64::from(nth) / 1_000.0) {
                let at_least = |seen: u32| {
                    let seen = f64::from(seen);
                    beta(seen, count - seen + 1.0, chance)
                };
                let covered: f64 = (0u32..)
                    .zip(&found)
                    .filter(|(_, interval)| interval.low <= chance && chance <= interval.high)
                    .map(|(seen, _)| at_least(seen) - at_least(seen + 1))
                    .sum();
                assert!(covered > 0.94, "{trials} trials, {chance}: {covered}");
            }
        }
    }

    proptest! {
        #[test]
        fn holds_the_share_and_stays_in_range(trials in 2u64..3_000, part in 0.0..=1.0f64) {
            let successes = (part * trials as f64).floor();
            let Interval { low, high } = binomial(successes, trials).unwrap();
            let share = successes / trials as f64;
            prop_assert!(0.0 <= low && low <= share && share <= high && high <= 1.0);
            prop_assert!(low < high);
        }

        #[test]
        fn rises_with_successes_and_narrows_with_trials(trials in 2u64..500, part in 0.0..1.0f64) {
            let successes = (part * trials as f64).floor();
            let one = binomial(successes, trials).unwrap();
            let more = binomial(successes + 1.0, trials).unwrap();
            prop_assert!(more.low > one.low && more.high >= one.high);
            let longer = binomial(successes * 4.0, trials * 4).unwrap();
            prop_assert!(longer.high - longer.low < one.high - one.low);
        }

        #[test]
        fn failures_are_successes_seen_from_the_other_side(trials in 2u64..500, part in 0.0..=1.0f64) {
            let successes = (part * trials as f64).floor();
            let one = binomial(successes, trials).unwrap();
            let other = binomial(trials as f64 - successes, trials).unwrap();
            prop_assert!((one.low - (1.0 - other.high)).abs() < 1e-9 && (one.high - (1.0 - other.low)).abs() < 1e-9);
        }
    }
}
