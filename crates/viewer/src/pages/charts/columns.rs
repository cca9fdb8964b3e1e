//! Columns beside each other: how many trials took how many steps.

use agon_report::{Bin, StepCounts, count, value};

use super::{Px, Tick, WIDTH};

const HEIGHT: f64 = 110.0;
const TOP: f64 = 16.0;

#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) height: Px,
    pub(crate) base: Px,
    pub(crate) below: Px,
    pub(crate) columns: Vec<Column>,
    pub(crate) words: String,
}

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) x: Px,
    pub(crate) y: Px,
    pub(crate) width: Px,
    pub(crate) height: Px,
    pub(crate) above: Px,
    pub(crate) count_at: Px,
    pub(crate) count: String,
    pub(crate) hint: String,
    pub(crate) tick: Tick,
}

impl Columns {
    pub(crate) fn steps(steps: &StepCounts) -> Self {
        let bins = &steps.histogram;
        let pitch = (WIDTH / bins.len().max(1) as f64).min(60.0);
        let most = bins.iter().map(|bin| bin.trials).max().unwrap_or(1).max(1);
        // Labels need room: of many columns only some have one.
        let longest = bins.iter().map(|bin| label(bin).len()).max().unwrap_or(1);
        let every = ((longest as f64 * 7.0 + 6.0) / pitch).ceil().max(1.0) as usize;
        let roomy = count(most).len() as f64 * 7.0 <= pitch;
        let columns = bins.iter().enumerate().map(|(at, bin)| {
            let x = at as f64 * pitch;
            let height = HEIGHT * bin.trials as f64 / most as f64;
            let y = TOP + HEIGHT - height;
            let written = at.is_multiple_of(every);
            let number = count(bin.trials);
            Column {
                x: Px(x),
                y: Px(y),
                width: Px((pitch - 2.0).max(1.0)),
                height: Px(height),
                above: Px(y - 4.0),
                // Wide numbers over the first columns stay within the drawing.
                count_at: Px((x + pitch / 2.0 - 1.0).max(number.len() as f64 * 3.3)),
                hint: format!("{} steps: {number} trials", label(bin)),
                // Where there is no room for all, the highest column gives the measure.
                count: match bin.trials {
                    0 => String::new(),
                    trials if roomy || trials == most => number,
                    _ => String::new(),
                },
                tick: Tick {
                    at: Px(x + pitch / 2.0 - 1.0),
                    label: if written { label(bin) } else { String::new() },
                },
            }
        });
        let columns: Vec<Column> = columns.collect();
        let hints: Vec<&str> = columns.iter().map(|column| column.hint.as_str()).collect();
        Self {
            height: Px(TOP + HEIGHT + 18.0),
            base: Px(TOP + HEIGHT),
            below: Px(TOP + HEIGHT + 14.0),
            words: format!(
                "Steps of graded trials: median {}, most {}. {}.",
                value(steps.median),
                steps.max,
                hints.join(". ")
            ),
            columns,
        }
    }

    pub(crate) fn width(&self) -> Px {
        Px(WIDTH)
    }
}

fn label(bin: &Bin) -> String {
    if bin.from == bin.to {
        bin.from.to_string()
    } else {
        format!("{}-{}", bin.from, bin.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_columns_stay_within_the_drawing() {
        let histogram = (0..200u32)
            .map(|at| Bin {
                from: at * 100,
                to: at * 100 + 99,
                trials: u64::from(at),
            })
            .collect();
        let chart = Columns::steps(&StepCounts {
            mean: 1.0,
            median: 1.0,
            max: 20_000,
            histogram,
        });
        let last = chart.columns.last().unwrap();
        assert!(last.x.0 + last.width.0 <= WIDTH + 1.0);
        let labels = chart
            .columns
            .iter()
            .filter(|one| !one.tick.label.is_empty());
        assert!(labels.count() <= 8);
    }
}
