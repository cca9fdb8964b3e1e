//! Confidence intervals, and the closed form for a share of successes.

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// The normal quantile of 0.975.
const Z: f64 = 1.959_963_984_540_054;

/// The Wilson score interval of `successes` in `trials` independent trials; `None` without trials.
///
/// It stays inside 0 to 1 and has a sensible width for few trials and for shares of 0 and 1, where
/// the textbook interval collapses.
pub fn wilson(successes: u64, trials: u64) -> Option<Interval> {
    if trials == 0 {
        return None;
    }
    let n = trials as f64;
    let share = successes.min(trials) as f64 / n;
    let z2 = Z * Z;
    let centre = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    Some(Interval {
        // At the ends the interval touches the share exactly; the subtraction alone would miss it
        // by a rounding error.
        low: if successes == 0 {
            0.0
        } else {
            (centre - half).max(0.0)
        },
        high: if successes >= trials {
            1.0
        } else {
            (centre + half).min(1.0)
        },
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// From SciPy 1.17.1, `binomtest(c, n).proportion_ci(method="wilson")`.
    const SCIPY: [(u64, u64, f64, f64); 6] = [
        (0, 10, 0.0, 0.277_532_799_862_889_26),
        (10, 10, 0.722_467_200_137_110_9, 1.0),
        (7, 10, 0.396_778_147_461_145_26, 0.892_208_732_593_699),
        (109, 160, 0.605_520_562_202_413_8, 0.748_480_192_047_915_6),
        (1, 1, 0.206_549_314_377_237_45, 1.0),
        (
            15,
            1000,
            0.009_110_978_804_081_673,
            0.024_600_976_926_906_798,
        ),
    ];

    #[test]
    fn equals_scipy() {
        for (successes, trials, low, high) in SCIPY {
            let interval = wilson(successes, trials).unwrap();
            assert!(
                (interval.low - low).abs() < 1e-12,
                "{successes}/{trials}: {interval:?}"
            );
            assert!(
                (interval.high - high).abs() < 1e-12,
                "{successes}/{trials}: {interval:?}"
            );
        }
    }

    #[test]
    fn says_nothing_about_nothing() {
        assert_eq!(wilson(0, 0), None);
    }

    proptest! {
        #[test]
        fn holds_the_share_and_stays_in_range(trials in 1u64..5_000, part in 0.0..=1.0f64) {
            let successes = (part * trials as f64) as u64;
            let Interval { low, high } = wilson(successes, trials).unwrap();
            let share = successes as f64 / trials as f64;
            prop_assert!((0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high));
            prop_assert!(low <= share && share <= high);
        }

        #[test]
        fn rises_with_successes_and_narrows_with_trials(trials in 1u64..2_000, part in 0.0..1.0f64) {
            let successes = (part * trials as f64) as u64;
            let one = wilson(successes, trials).unwrap();
            let more = wilson(successes + 1, trials).unwrap();
            prop_assert!(more.low > one.low && more.high >= one.high);
            let longer = wilson(successes * 4, trials * 4).unwrap();
            prop_assert!(longer.high - longer.low < one.high - one.low);
        }
    }
}
