//! How results came in over time: areas above each other, up to the number of planned trials.

use std::fmt::Write;

use agon_report::{count, duration};

use super::{Px, Tick, WIDTH};
use crate::shape::Timeline;

const LEFT: f64 = 42.0;
/// Room behind the last result, so that what it comes to is seen.
const RIGHT: f64 = 10.0;
const HEIGHT: f64 = 136.0;
const TOP: f64 = 6.0;
/// The share of the time without a result from which on it is told.
const LATE: f64 = 0.25;

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
    /// Why the chart begins empty: of trials that were run again only the last attempts count.
    pub(crate) late: String,
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
        let x = |t: f64| LEFT + (WIDTH - RIGHT - LEFT) * (t / end).clamp(0.0, 1.0);
        let most = planned.max(1) as f64;
        let y = |number: u64| TOP + HEIGHT * (1.0 - (number as f64 / most).clamp(0.0, 1.0));
        let stacked = |at: usize, parts: usize| -> u64 {
            columns.iter().take(parts).map(|column| column[at]).sum()
        };
        let classes = ["f-passed", "f-failed", "f-faulted"];
        // A count stands still until the next result comes: a staircase, also over the time in which nobody
        // played the run.
        let stairs = |parts: usize| -> Vec<(f64, f64)> {
            let mut before = 0;
            let mut corners = vec![(x(0.0), y(before))];
            for at in 0..points {
                let now = stacked(at, parts);
                if now != before {
                    let x = x(timeline.t[at]);
                    corners.extend([(x, y(before)), (x, y(now))]);
                    before = now;
                }
            }
            corners.push((WIDTH, y(before)));
            corners
        };
        let areas = classes.into_iter().enumerate().map(|(part, class)| {
            let mut path = String::new();
            let below = stairs(part).into_iter().rev();
            for (at, (x, y)) in stairs(part + 1).into_iter().chain(below).enumerate() {
                let step = if at == 0 { 'M' } else { 'L' };
                let _ = write!(path, "{step}{x:.1} {y:.1}");
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
        let first = timeline.t[0];
        let late = if first > end * LATE {
            format!("first one after {}", duration(first))
        } else {
            String::new()
        };
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
            late,
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
        assert_eq!(
            flow.areas[0].path,
            format!(
                "M{LEFT:.1} 142.0L104.0 142.0L104.0 108.0L290.0 108.0L290.0 74.0L{WIDTH:.1} 74.0L{WIDTH:.1} 142.0L{LEFT:.1} 142.0Z"
            ),
            "a count that stands still until the next result"
        );
        assert!(flow.areas[1].path.ends_with('Z'));
        assert_eq!(flow.late, "");
        assert!(flow.words.contains("2 passed, 1 failed, 0 faulted of 4"));
        assert!(flow.words.contains("after half of the time 1 had passed"));
        assert!(Flow::of(&Timeline::default(), 4).is_none());
    }

    #[test]
    fn a_chart_that_begins_empty_says_so() {
        let timeline = Timeline {
            t: vec![20.0, 30.0],
            passed: vec![1, 2],
            failed: vec![0, 0],
            faulted: vec![0, 0],
        };
        let flow = Flow::of(&timeline, 2).unwrap();
        assert_eq!(flow.late, "first one after 20.0 s");
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
