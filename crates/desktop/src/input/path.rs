//! The steps of a drag along a path: close enough to each other, in space and time, that programs
//! see a hand that moves. Pure.

use std::time::Duration;

use crate::geometry::Point;

/// Longest step: shorter than the distance after which programs take a press for a drag.
const LONGEST_STEP: u32 = 4;

/// A mouse reports about as often.
const TICK: Duration = Duration::from_millis(8);

/// Steps of a whole drag, beside one for every point that is given.
const MOST_STEPS: u64 = 4000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) to: Point,
    /// Time since the start of the drag.
    pub(super) after: Duration,
}

/// From the first point, which is no step, to the last, at an even speed and through all between.
pub(super) fn steps(path: &[Point], duration: Duration) -> Vec<Step> {
    let legs = || path.iter().zip(path.iter().skip(1));
    let whole: u64 = legs()
        .map(|(from, to)| u64::from(distance(*from, *to)))
        .sum();
    let longest = u64::from(LONGEST_STEP).max(whole.div_ceil(MOST_STEPS));
    let ticks = u64::try_from(duration.as_nanos() / TICK.as_nanos()).unwrap_or(u64::MAX);
    let ticks = ticks.min(MOST_STEPS);
    let mut steps = Vec::new();
    let mut gone = 0;
    for (&from, &to) in legs() {
        let long = u64::from(distance(from, to));
        // Slow drags have more steps, but none that does not move.
        let by_time = (ticks * long).checked_div(whole).unwrap_or(0);
        let count = long.div_ceil(longest).max(by_time).min(long).max(1);
        for step in 1..=count {
            let there = gone + long * step / count;
            steps.push(Step {
                to: between(from, to, step, count),
                after: part(duration, there, whole),
            });
        }
        gone += long;
    }
    steps
}

/// How far it is for the longer of both directions.
fn distance(from: Point, to: Point) -> u32 {
    from.x.abs_diff(to.x).max(from.y.abs_diff(to.y))
}

fn between(from: Point, to: Point, step: u64, count: u64) -> Point {
    let along = |from: i32, to: i32| {
        let way = i128::from(i64::from(to) - i64::from(from));
        let there = i128::from(from) + way * i128::from(step) / i128::from(count);
        // It lies between two of these numbers.
        i32::try_from(there).unwrap_or(to)
    };
    Point {
        x: along(from.x, to.x),
        y: along(from.y, to.y),
    }
}

fn part(duration: Duration, gone: u64, whole: u64) -> Duration {
    if whole == 0 {
        return Duration::ZERO;
    }
    let nanos = duration.as_nanos() * u128::from(gone) / u128::from(whole);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn point((x, y): (i32, i32)) -> Point {
        Point { x, y }
    }

    #[test]
    fn a_fast_drag_has_small_steps_and_a_slow_one_smaller_ones() {
        let path = [point((0, 0)), point((100, 10))];
        let fast = steps(&path, Duration::ZERO);
        assert_eq!(fast.len(), 25);
        assert_eq!(fast[0].to, point((4, 0)));
        let slow = steps(&path, Duration::from_secs(10));
        assert_eq!(slow.len(), 100);
        assert_eq!(slow[49].after, Duration::from_secs(5));
    }

    #[test]
    fn a_drag_that_stays_in_place_has_a_step() {
        let path = [point((5, 5)), point((5, 5))];
        let stays = steps(&path, Duration::from_secs(1));
        assert_eq!(
            stays,
            [Step {
                to: path[0],
                after: Duration::ZERO
            }]
        );
    }

    proptest! {
        #[test]
        fn every_point_is_passed_in_order_and_in_time(
            path in prop::collection::vec((any::<i32>(), any::<i32>()), 2..20),
            millis in 0_u64..100_000,
        ) {
            let path: Vec<Point> = path.into_iter().map(point).collect();
            let duration = Duration::from_millis(millis);
            let steps = steps(&path, duration);
            prop_assert!(steps.len() as u64 <= 2 * MOST_STEPS + path.len() as u64);
            let mut wanted = path[1..].iter().peekable();
            for step in &steps {
                wanted.next_if(|point| **point == step.to);
            }
            prop_assert!(wanted.next().is_none());
            prop_assert!(steps.is_sorted_by_key(|step| step.after));
            prop_assert!(steps.iter().all(|step| step.after <= duration));
        }
    }
}
