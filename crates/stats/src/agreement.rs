//! How far two who say pass or fail agree: one is judged, the other is taken as right.

use crate::interval::{Interval, wilson};

/// How often they said what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Agreement {
    pub both_pass: u64,
    pub both_fail: u64,
    /// Passed what should have failed.
    pub false_pass: u64,
    /// Failed what should have passed.
    pub false_fail: u64,
}

impl Agreement {
    pub fn add(&mut self, says: bool, is: bool) {
        let count = match (says, is) {
            (true, true) => &mut self.both_pass,
            (false, false) => &mut self.both_fail,
            (true, false) => &mut self.false_pass,
            (false, true) => &mut self.false_fail,
        };
        *count += 1;
    }

    pub const fn count(&self) -> u64 {
        self.agreed() + self.false_pass + self.false_fail
    }

    pub const fn agreed(&self) -> u64 {
        self.both_pass + self.both_fail
    }

    /// The share in which they agree, with its 95 % interval.
    pub fn rate(&self) -> Option<(f64, Interval)> {
        share(self.agreed(), self.count())
    }

    /// Of what should have failed, the share that was passed.
    pub fn false_pass_rate(&self) -> Option<(f64, Interval)> {
        share(self.false_pass, self.false_pass + self.both_fail)
    }

    /// Of what should have passed, the share that was failed.
    pub fn false_fail_rate(&self) -> Option<(f64, Interval)> {
        share(self.false_fail, self.false_fail + self.both_pass)
    }

    /// Cohen's kappa: 1 for full agreement, 0 for what chance alone gives. `None` where one of them always
    /// says the same and so does the other.
    pub fn kappa(&self) -> Option<f64> {
        // In whole numbers as long as it goes, so that no agreement beyond chance is 0 and not nearly so.
        let [count, agreed] = [self.count(), self.agreed()].map(u128::from);
        let says = u128::from(self.both_pass + self.false_pass);
        let is = u128::from(self.both_pass + self.false_fail);
        let chance = says * is + (count - says) * (count - is);
        let (agreed, all) = (agreed * count, count * count);
        let kappa = (agreed as f64 - chance as f64) / (all - chance) as f64;
        kappa.is_finite().then_some(kappa)
    }
}

fn share(of: u64, all: u64) -> Option<(f64, Interval)> {
    let interval = wilson(of, all)?;
    Some((of as f64 / all as f64, interval))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_textbook_case() {
        let found = Agreement {
            both_pass: 20,
            both_fail: 15,
            false_pass: 5,
            false_fail: 10,
        };
        assert_eq!((found.count(), found.agreed()), (50, 35));
        assert!((found.kappa().unwrap() - 0.4).abs() < 1e-12);
        assert_eq!(found.rate().unwrap().0, 0.7);
        assert_eq!(found.false_pass_rate().unwrap().0, 0.25);
        assert!((found.false_fail_rate().unwrap().0 - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn who_never_differs_and_who_has_nothing_to_differ_about() {
        let mut found = Agreement::default();
        assert_eq!((found.rate(), found.kappa()), (None, None));
        found.add(true, true);
        assert_eq!(found.kappa(), None);
        found.add(false, false);
        assert_eq!(found.kappa(), Some(1.0));
        found.add(true, false);
        found.add(false, true);
        assert_eq!(found.kappa(), Some(0.0));
    }

    #[test]
    fn who_always_says_the_same_is_no_better_than_chance() {
        for (both_pass, false_pass) in (1..40).flat_map(|a| (1..40).map(move |b| (a, b))) {
            let found = Agreement {
                both_pass,
                false_pass,
                ..Agreement::default()
            };
            assert_eq!(found.kappa(), Some(0.0), "{found:?}");
        }
    }
}
