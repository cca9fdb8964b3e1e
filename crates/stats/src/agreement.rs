//! How far two who say pass or fail agree: one is judged, the other is taken as right.

use crate::interval::Interval;
use crate::tasks::{Cluster, over_tasks};

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

    /// The share in which they agree, of what was found task by task, with its 95 % interval over tasks
    /// where there is one. What is said of one task several times is not independent.
    pub fn rate(tasks: &[Self]) -> Option<(f64, Option<Interval>)> {
        share(tasks, |task| (task.agreed(), task.count()))
    }

    /// Of what should have failed, the share that was passed.
    pub fn false_pass_rate(tasks: &[Self]) -> Option<(f64, Option<Interval>)> {
        share(tasks, |task| {
            (task.false_pass, task.false_pass + task.both_fail)
        })
    }

    /// Of what should have passed, the share that was failed.
    pub fn false_fail_rate(tasks: &[Self]) -> Option<(f64, Option<Interval>)> {
        share(tasks, |task| {
            (task.false_fail, task.false_fail + task.both_pass)
        })
    }

    /// Of all tasks together.
    pub fn sum(tasks: &[Self]) -> Self {
        tasks.iter().fold(Self::default(), |sum, task| Self {
            both_pass: sum.both_pass + task.both_pass,
            both_fail: sum.both_fail + task.both_fail,
            false_pass: sum.false_pass + task.false_pass,
            false_fail: sum.false_fail + task.false_fail,
        })
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

fn share(
    tasks: &[Agreement],
    of: impl Fn(&Agreement) -> (u64, u64),
) -> Option<(f64, Option<Interval>)> {
    let clusters: Vec<Cluster> = tasks
        .iter()
        .map(of)
        .map(|(part, all)| Cluster {
            sum: part as f64,
            weight: all as f64,
        })
        .collect();
    let all: f64 = clusters.iter().map(|task| task.weight).sum();
    let part: f64 = clusters.iter().map(|task| task.sum).sum();
    (all > 0.0).then(|| (part / all, over_tasks(&clusters)))
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
        assert_eq!(Agreement::rate(&[found]).unwrap().0, 0.7);
        assert_eq!(Agreement::false_pass_rate(&[found]).unwrap().0, 0.25);
        assert!((Agreement::false_fail_rate(&[found]).unwrap().0 - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn who_never_differs_and_who_has_nothing_to_differ_about() {
        let mut found = Agreement::default();
        assert_eq!((Agreement::rate(&[found]), found.kappa()), (None, None));
        found.add(true, true);
        assert_eq!(found.kappa(), None);
        found.add(false, false);
        assert_eq!(found.kappa(), Some(1.0));
        found.add(true, false);
        found.add(false, true);
        assert_eq!(found.kappa(), Some(0.0));
    }

    /// Ten words about one task are no ten tasks.
    #[test]
    fn one_task_has_a_share_and_no_interval() {
        let mut one = Agreement::default();
        for _ in 0..10 {
            one.add(true, true);
        }
        assert_eq!(Agreement::rate(&[one]), Some((1.0, None)));
        let (rate, interval) = Agreement::rate(&[one, one]).unwrap();
        assert_eq!((rate, Agreement::sum(&[one, one]).count()), (1.0, 20));
        assert!(interval.unwrap().low < 0.2, "{interval:?}");
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
