//! Mean, median, maximum and percentiles of a list of numbers.

/// How a list of numbers lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub mean: f64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    /// Sorts `values`; `None` if there are none.
    pub fn of(values: &mut [f64]) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        Some(Self {
            mean: values.iter().sum::<f64>() / values.len() as f64,
            median: percentile(values, 50.0)?,
            max: *values.last()?,
        })
    }
}

/// The `percent`-th percentile of sorted values, interpolated between neighbours; `None` if there
/// are none.
pub fn percentile(sorted: &[f64], percent: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = (percent / 100.0).clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    Some(low + (high - low) * position.fract())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equals_numpy() {
        let mut values = [3.5, 1.0, 4.0, 1.0, 5.25, 9.0, 2.5, 6.0];
        let spread = Spread::of(&mut values).unwrap();
        assert_eq!(
            spread,
            Spread {
                mean: 4.03125,
                median: 3.75,
                max: 9.0
            }
        );
        // numpy.percentile with its default, linear interpolation.
        for (percent, value) in [
            (0.0, 1.0),
            (10.0, 1.0),
            (25.0, 2.125),
            (90.0, 6.9),
            (95.0, 7.95),
            (100.0, 9.0),
        ] {
            let ours = percentile(&values, percent).unwrap();
            assert!((ours - value).abs() < 1e-12, "{percent}: {ours}");
        }
    }

    #[test]
    fn nothing_has_no_spread() {
        assert_eq!(Spread::of(&mut []), None);
        assert_eq!(percentile(&[], 50.0), None);
    }

    proptest! {
        #[test]
        fn percentiles_rise_and_stay_inside(mut values in prop::collection::vec(-1e6..1e6f64, 1..50), a in 0.0..=100.0f64, b in 0.0..=100.0f64) {
            let spread = Spread::of(&mut values).unwrap();
            prop_assert!(values[0] <= spread.median && spread.median <= spread.max);
            let (low, high) = (percentile(&values, a.min(b)).unwrap(), percentile(&values, a.max(b)).unwrap());
            prop_assert!(low <= high + 1e-6);
        }
    }
}
