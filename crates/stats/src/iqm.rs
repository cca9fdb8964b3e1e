//! The interquartile mean: the mean of the middle half of the values, which a few lucky or unlucky
//! ones don't move, and which still tells apart what a median can't. Its interval tells how much the seeds
//! matter, and not the choice of tasks.

use crate::beta::student_squared;
use crate::interval::{Interval, Level};

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

/// Values beyond one per task that an interval needs: with fewer, none holds what it promises for values
/// without bounds (`docs/statistics.md`).
const FEWEST_REPEATS: usize = 10;
/// Values that pile up on one side look narrower than they are; so each repeat is believed by a third.
const BELIEF: f64 = 1.0 / 3.0;

/// The 95 % interval of the interquartile mean of all values together, if the same tasks were played again:
/// Student's, with the variance within tasks of the values that are drawn in to the quartiles (Tukey and
/// McLaughlin). `None` with too few repeats, when they do not differ, or when one is not finite.
pub fn iqm_interval(tasks: &[Vec<f64>]) -> Option<Interval> {
    let mut all = tasks.concat();
    let mean = iqm(&all)?;
    let repeats: usize = tasks.iter().map(|task| task.len().saturating_sub(1)).sum();
    if repeats < FEWEST_REPEATS {
        return None;
    }
    all.sort_unstable_by(f64::total_cmp);
    let cut = all.len() / 4;
    let (low, high) = (all[cut], all[all.len() - 1 - cut]);
    // Of a task: the sum of its squares around its own mean.
    let squares = |task: &Vec<f64>| -> f64 {
        let inner = || task.iter().map(|value| value.clamp(low, high));
        let mean = inner().sum::<f64>() / task.len() as f64;
        inner().map(|value| (value - mean) * (value - mean)).sum()
    };
    let (mut within, mut known, mut single) = (0.0, 0.0, 0.0);
    for task in tasks.iter().filter(|task| !task.is_empty()) {
        let squares = squares(task);
        known += squares;
        match task.len() {
            1 => single += 1.0,
            count => within += squares * count as f64 / (count - 1) as f64,
        }
    }
    // A single value tells nothing of its variance; the others' stands for it.
    let variance = within + single * known / repeats as f64;
    let (middle, count) = ((all.len() - 2 * cut) as f64, all.len() as f64);
    let degrees = repeats as f64 * middle / count * BELIEF;
    let student = student_squared(degrees.max(1.0), Level::NINETY_FIVE);
    let half = (student * variance).sqrt() / middle;
    (half > 0.0 && half.is_finite()).then_some(Interval {
        low: mean - half,
        high: mean + half,
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

    /// By NumPy and SciPy, worked out from the same definition.
    #[test]
    fn known_intervals() {
        let one = vec![
            2.26, 3.5, 1.9, 12.34, 7.7, 60.0, 4.4, 5.1, 6.6, 8.2, 9.9, 3.3,
        ];
        let Interval { low, high } = iqm_interval(std::slice::from_ref(&one)).unwrap();
        assert!(
            (low - 0.084_175_650).abs() < 1e-6 && (high - 11.749_157_683).abs() < 1e-6,
            "{low} {high}"
        );
        let near: Vec<f64> = (1..=8).map(f64::from).collect();
        let far = vec![100.0, 110.0, 90.0, 130.0, 105.0, 95.0, 99.0, 101.0];
        let Interval { low, high } = iqm_interval(&[near, far]).unwrap();
        assert!(
            (low - 46.132_710_628).abs() < 1e-6 && (high - 56.367_289_372).abs() < 1e-6,
            "{low} {high}"
        );
    }

    /// How far tasks are from each other is no matter of seeds.
    #[test]
    fn tasks_stand_apart() {
        let task = |by: f64| -> Vec<f64> { (0..12).map(|nth| by + f64::from(nth % 5)).collect() };
        let width = |tasks: &[Vec<f64>]| {
            let found = iqm_interval(tasks).unwrap();
            found.high - found.low
        };
        let (apart, farther) = (
            [task(0.0), task(100.0), task(200.0)],
            [task(0.0), task(100.0), task(900.0)],
        );
        assert!((width(&apart) - width(&farther)).abs() < 1e-9);
        assert!(width(&apart) < 10.0);
    }

    #[test]
    fn few_values_or_equal_ones_give_no_interval() {
        assert_eq!(iqm_interval(&[]), None);
        assert_eq!(iqm_interval(&[vec![1.0], vec![2.0]]), None);
        assert_eq!(iqm_interval(&[vec![1.0, f64::INFINITY]]), None);
        assert_eq!(iqm_interval(&[vec![4.0; 30]]), None);
        let counted = |count: u8| vec![(0..count).map(f64::from).collect::<Vec<f64>>()];
        assert_eq!(iqm_interval(&counted(10)), None);
        assert!(iqm_interval(&counted(11)).is_some());
        assert!(iqm_interval(&[counted(11)[0].clone(), vec![2.0], vec![]]).is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn it_lies_among_the_values(values in prop::collection::vec(-1e6..1e6f64, 11..40)) {
            let (least, most) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
            let mean = iqm(&values).unwrap();
            prop_assert!(least - 1e-6 <= mean && mean <= most + 1e-6);
            let Interval { low, high } = iqm_interval(&[values]).unwrap();
            prop_assert!(low < mean && mean < high);
        }
    }
}
