//! How results came in over time: areas above each other, up to the number of planned trials.

use std::fmt::Write;

use agon_report::{count, duration};

use super::{Px, Tick, WIDTH};
use crate::shape::Timeline;

const LEFT: f64 = 42.0;
const HEIGHT: f64 = 136.0;
const TOP: f64 = 6.0;

#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) height: Px,
    pub(crate) base: Px,
    pub(crate) below: Px,
    pub(crate) left: Px,
    /// From the lowest to the highest.
    pub(crate) areas: Vec<Area>,
    pub(crate) times: Vec<Tick>,
    pub(crate) counts: Vec<Tick>,
    pub(crate) words: String,
}

#[derive(Debug)]
pub(crate) struct Area {
    pub(crate) class: &'static str,
    pub(crate) path: String,
}

impl Flow {
    /// Nothing to draw before there are two results.
    pub(crate) fn of(timeline: &Timeline, planned: u64) -> Option<Self> {
        let points = timeline.t.len();
        let end = timeline.t.last().copied().filter(|end| *end > 0.0)?;
        let columns = [&timeline.passed, &timeline.failed, &timeline.faulted];
        if points < 2 || columns.iter().any(|column| column.len() != points) {
            return None;
        }
        let x = |t: f64| LEFT + (WIDTH - LEFT) * (t / end).clamp(0.0, 1.0);
        let most = planned.max(1) as f64;
        let y = |number: u64| TOP + HEIGHT * (1.0 - (number as f64 / most).clamp(0.0, 1.0));
        let stacked = |at: usize, parts: usize| -> u64 {
            columns.iter().take(parts).map(|column| column[at]).sum()
        };
        let classes = ["f-passed", "f-failed", "f-faulted"];
        let areas = classes.into_iter().enumerate().map(|(part, class)| {
            let mut path = String::new();
            for at in 0..points {
                let step = if at == 0 { 'M' } else { 'L' };
                let _ = write!(
                    path,
                    "{step}{:.1} {:.1}",
                    x(timeline.t[at]),
                    y(stacked(at, part + 1))
                );
            }
            for at in (0..points).rev() {
                let _ = write!(
                    path,
                    "L{:.1} {:.1}",
                    x(timeline.t[at]),
                    y(stacked(at, part))
                );
            }
            path.push('Z');
            Area { class, path }
        });
        let times = [0.0, 0.5, 1.0].map(|share| Tick {
            at: Px(x(end * share)),
            label: if share == 0.0 {
                "0".to_owned()
            } else {
                duration(end * share)
            },
        });
        let counts = [0, planned / 2, planned].map(|number| Tick {
            at: Px(y(number)),
            label: count(number),
        });
        let last = points - 1;
        let words = format!(
            "Results over time: after {} {} passed, {} failed, {} faulted of {} planned; after half of the time {} had passed.",
            duration(end),
            count(columns[0][last]),
            count(columns[1][last]),
            count(columns[2][last]),
            count(planned),
            count(half_way(timeline, end)),
        );
        Some(Self {
            height: Px(TOP + HEIGHT + 20.0),
            base: Px(TOP + HEIGHT),
            below: Px(TOP + HEIGHT + 14.0),
            left: Px(LEFT),
            areas: areas.collect(),
            times: times.into(),
            counts: counts.into(),
            words,
        })
    }

    pub(crate) fn width(&self) -> Px {
        Px(WIDTH)
    }
}

fn half_way(timeline: &Timeline, end: f64) -> u64 {
    let until = timeline.t.partition_point(|t| *t <= end / 2.0);
    until
        .checked_sub(1)
        .and_then(|at| timeline.passed.get(at).copied())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_stand_on_each_other() {
        let timeline = Timeline {
            t: vec![1.0, 2.0, 4.0],
            passed: vec![1, 1, 2],
            failed: vec![0, 1, 1],
            faulted: vec![0, 0, 0],
        };
        let flow = Flow::of(&timeline, 4).unwrap();
        assert_eq!(flow.areas.len(), 3);
        assert!(flow.areas[1].path.ends_with('Z'));
        assert!(flow.words.contains("2 passed, 1 failed, 0 faulted of 4"));
        assert!(flow.words.contains("after half of the time 1 had passed"));
        assert!(Flow::of(&Timeline::default(), 4).is_none());
    }

    #[test]
    fn columns_of_different_lengths_are_not_drawn() {
        let timeline = Timeline {
            t: vec![1.0, 2.0],
            passed: vec![1],
            failed: vec![0, 1],
            faulted: vec![0, 0],
        };
        assert!(Flow::of(&timeline, 4).is_none());
    }
}
