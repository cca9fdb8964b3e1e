//! The geometry of the charts. The template only places what is computed here; units are those of
//! a drawing 640 wide.

use std::fmt;

use crate::prediction::Distances;
use crate::summary::{Bin, Group, StepCounts, Summary};
use crate::text::{clip, count, duration, maybe_percent, percent, plain, range};

const WIDTH: f64 = 640.0;
const LABEL: f64 = 150.0;
const LABEL_LETTERS: usize = 20;
/// Where bars begin and how long the longest is.
const BAR_X: f64 = LABEL + 10.0;
const BAR: f64 = 370.0;
const ROW: f64 = 34.0;

/// A length in the drawing, written with one decimal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Px(pub(crate) f64);

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1}", self.0)
    }
}

/// Scores as bars with their intervals: solid up to the floor, pale up to the score.
pub(crate) struct ScoreChart {
    pub(crate) height: Px,
    pub(crate) axis: Px,
    pub(crate) ticks: Vec<Tick>,
    pub(crate) rows: Vec<ScoreRow>,
}

pub(crate) struct Tick {
    pub(crate) x: Px,
    pub(crate) label: String,
}

pub(crate) struct ScoreRow {
    pub(crate) label: String,
    pub(crate) hint: String,
    pub(crate) y: Px,
    pub(crate) middle: Px,
    pub(crate) score: Px,
    pub(crate) floor: Px,
    pub(crate) whisker: Option<(Px, Px)>,
    pub(crate) value: String,
}

impl ScoreChart {
    pub(crate) fn of(groups: &[Group]) -> Self {
        let at = |share: f64| Px(BAR_X + BAR * share);
        let axis = groups.len() as f64 * ROW + 4.0;
        let rows = groups.iter().enumerate().map(|(row, group)| {
            let y = row as f64 * ROW + 6.0;
            let standing = &group.standing;
            ScoreRow {
                label: clip(&plain(&group.name), LABEL_LETTERS),
                hint: format!(
                    "{}: {} passed, {} failed, {} faulted, {} missing; score {}, coverage {}; without faults {}, 95 % interval {}",
                    plain(&group.name),
                    standing.passed,
                    standing.failed,
                    standing.faulted,
                    standing.missing,
                    percent(standing.score_floor),
                    percent(standing.coverage),
                    maybe_percent(standing.score),
                    range(standing.score_ci)
                ),
                y: Px(y),
                middle: Px(y + 11.0),
                score: Px(BAR * standing.score.unwrap_or(0.0)),
                floor: Px(BAR * standing.score_floor),
                whisker: standing.score_ci.map(|ci| (at(ci.low), at(ci.high))),
                value: format!("{}, n {}", percent(standing.score_floor), count(standing.graded())),
            }
        });
        let ticks = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| Tick {
            x: at(share),
            label: format!("{:.0} %", share * 100.0),
        });
        Self {
            height: Px(axis + 20.0),
            axis: Px(axis),
            ticks: ticks.into(),
            rows: rows.collect(),
        }
    }
}

/// Categories by levels; the stronger the colour, the higher the score.
pub(crate) struct HeatMap {
    pub(crate) height: Px,
    pub(crate) cell: Px,
    pub(crate) middle: Px,
    pub(crate) heads: Vec<Tick>,
    pub(crate) rows: Vec<HeatRow>,
}

pub(crate) struct HeatRow {
    pub(crate) label: String,
    pub(crate) name: String,
    pub(crate) y: Px,
    pub(crate) middle: Px,
    pub(crate) cells: Vec<HeatCell>,
}

pub(crate) struct HeatCell {
    pub(crate) x: Px,
    pub(crate) centre: Px,
    pub(crate) strength: String,
    pub(crate) value: String,
    pub(crate) hint: String,
}

impl HeatMap {
    pub(crate) fn of(summary: &Summary) -> Self {
        let pitch = ((WIDTH - BAR_X) / summary.levels.len().max(1) as f64).min(120.0);
        let left = |column: usize| BAR_X + column as f64 * pitch;
        let top = |row: usize| 24.0 + row as f64 * ROW;
        let heads = summary
            .levels
            .iter()
            .enumerate()
            .map(|(column, level)| Tick {
                x: Px(left(column) + pitch / 2.0),
                label: level.name.clone(),
            });
        let rows = summary
            .matrix
            .iter()
            .enumerate()
            .map(|(row, line)| HeatRow {
                label: clip(&plain(&line.category), LABEL_LETTERS),
                name: plain(&line.category),
                y: Px(top(row)),
                middle: Px(top(row) + ROW / 2.0 + 3.0),
                cells: summary
                    .levels
                    .iter()
                    .enumerate()
                    .filter_map(|(column, level)| {
                        let standing = line.at(&level.name)?;
                        let open = standing.faulted + standing.missing;
                        Some(HeatCell {
                            x: Px(left(column)),
                            centre: Px(left(column) + pitch / 2.0 - 1.5),
                            strength: format!("{:.2}", 0.06 + 0.64 * standing.score_floor),
                            value: format!("{:.0} %", standing.score_floor * 100.0),
                            hint: format!(
                                "{}, {}: {} of {} graded trials passed, {open} not graded",
                                plain(&line.category),
                                level.name,
                                standing.passed,
                                standing.graded()
                            ),
                        })
                    })
                    .collect(),
            });
        Self {
            height: Px(top(summary.matrix.len())),
            cell: Px(pitch - 3.0),
            middle: Px(14.0),
            heads: heads.collect(),
            rows: rows.collect(),
        }
    }
}

/// Mean seconds of a trial, split by who spent them.
pub(crate) struct TimeChart {
    pub(crate) height: Px,
    pub(crate) rows: Vec<TimeRow>,
}

pub(crate) struct TimeRow {
    pub(crate) label: String,
    pub(crate) y: Px,
    pub(crate) middle: Px,
    pub(crate) parts: Vec<TimePart>,
    pub(crate) value_x: Px,
    pub(crate) value: String,
}

pub(crate) struct TimePart {
    pub(crate) name: &'static str,
    pub(crate) x: Px,
    pub(crate) width: Px,
    pub(crate) hint: String,
}

impl TimeChart {
    pub(crate) fn of(summary: &Summary) -> Self {
        let all = std::iter::once(("all", &summary.overall));
        // Predictions have no levels.
        let levels = summary
            .levels
            .iter()
            .filter(|_| summary.predictions.is_none());
        let levels = levels.map(|level| (level.name.as_str(), &level.standing));
        let means: Vec<(&str, [(&'static str, f64); 3])> = all
            .chain(levels)
            .filter(|(_, standing)| standing.graded() + standing.faulted > 0)
            .map(|(name, standing)| {
                let trials = (standing.graded() + standing.faulted) as f64;
                let split = standing.seconds;
                let parts = [
                    ("agent", split.agent / trials),
                    ("environment", split.environment / trials),
                    ("harness", split.harness / trials),
                ];
                (name, parts)
            })
            .collect();
        let total =
            |parts: &[(&'static str, f64); 3]| -> f64 { parts.iter().map(|(_, s)| s).sum() };
        let longest = means
            .iter()
            .map(|(_, parts)| total(parts))
            .fold(0.0, f64::max);
        let scale = if longest > 0.0 { BAR / longest } else { 0.0 };
        let rows = means.iter().enumerate().map(|(row, (name, parts))| {
            let y = row as f64 * ROW + 6.0;
            let mut x = BAR_X;
            let parts_drawn = parts.map(|(part, seconds)| {
                let drawn = TimePart {
                    name: part,
                    x: Px(x),
                    width: Px(seconds * scale),
                    hint: format!("{name}, {part}: {}", duration(seconds)),
                };
                x += seconds * scale;
                drawn
            });
            TimeRow {
                label: (*name).to_owned(),
                y: Px(y),
                middle: Px(y + 11.0),
                parts: parts_drawn.into(),
                value_x: Px(x + 8.0),
                value: duration(total(parts)),
            }
        });
        Self {
            height: Px(means.len() as f64 * ROW + 6.0),
            rows: rows.collect(),
        }
    }
}

/// How many there are of each, as columns beside each other.
pub(crate) struct BarChart {
    pub(crate) bars: Vec<Bar>,
    pub(crate) base: Px,
}

pub(crate) struct Bar {
    pub(crate) x: Px,
    pub(crate) y: Px,
    pub(crate) width: Px,
    pub(crate) height: Px,
    pub(crate) centre: Px,
    pub(crate) above: Px,
    pub(crate) label: String,
    pub(crate) count: String,
    pub(crate) hint: String,
}

impl BarChart {
    const HEIGHT: f64 = 150.0;
    const TOP: f64 = 20.0;

    /// How many graded trials took how many steps.
    pub(crate) fn of_steps(steps: &StepCounts) -> Self {
        let label = |bin: &Bin| match bin.from == bin.to {
            true => bin.from.to_string(),
            false => format!("{}-{}", bin.from, bin.to),
        };
        let bins = steps.histogram.iter();
        let named: Vec<_> = bins.map(|bin| (label(bin), bin.trials)).collect();
        Self::of(&named, |label, trials| {
            format!("{label} steps: {trials} trials")
        })
    }

    /// How many points were how far from where they should be.
    pub(crate) fn of_distances(distances: &Distances) -> Self {
        let bins = distances.histogram.iter();
        let named: Vec<_> = bins.map(|bin| (bin.label(), bin.points)).collect();
        Self::of(&named, |label, points| format!("{label}: {points} points"))
    }

    fn of(bins: &[(String, u64)], hint: impl Fn(&str, u64) -> String) -> Self {
        let pitch = (WIDTH / bins.len().max(1) as f64).min(70.0);
        let most = bins.iter().map(|(_, count)| *count).max().unwrap_or(1);
        let most = most.max(1) as f64;
        let bars = bins.iter().enumerate().map(|(at, (label, number))| {
            let height = Self::HEIGHT * *number as f64 / most;
            let y = Self::TOP + Self::HEIGHT - height;
            Bar {
                x: Px(at as f64 * pitch),
                y: Px(y),
                width: Px(pitch - 3.0),
                height: Px(height),
                centre: Px(at as f64 * pitch + pitch / 2.0 - 1.5),
                above: Px(y - 5.0),
                hint: hint(label, *number),
                // In narrow bars only every other label has room.
                label: if pitch < 50.0 && label.len() > 3 && at % 2 == 1 {
                    String::new()
                } else {
                    label.clone()
                },
                count: if *number > 0 {
                    count(*number)
                } else {
                    String::new()
                },
            }
        });
        Self {
            bars: bars.collect(),
            base: Px(Self::TOP + Self::HEIGHT),
        }
    }
}
