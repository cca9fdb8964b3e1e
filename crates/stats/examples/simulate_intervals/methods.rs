//! The methods that are compared: ours, and those that it was chosen over.

use std::io::Write as _;
use std::process::ExitCode;

use agon_stats::{Cluster, Interval, over_differences, over_tasks, percentile};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use super::world::SimulatedRun;
use super::{Coverage, all_scenes, mean};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Ours,
    /// Tasks are drawn again; the percentiles of the means. What Agon did before.
    Percentile,
    /// Student's, of the means of tasks.
    Student,
    /// Tasks are drawn again; the percentiles of Student's ratio.
    BootstrapT,
    /// Tasks drawn with random weights, beside one more at the far end (Gaffke).
    Gaffke,
}

/// The values between 0 and 1 and their weights.
type Values = Vec<(f64, f64)>;

impl Method {
    pub(crate) fn holds(self, seen: &SimulatedRun) -> bool {
        let interval = if self == Self::Ours {
            if seen.pairs.is_empty() {
                over_tasks(&seen.clusters)
            } else {
                over_differences(&seen.pairs)
            }
        } else if seen.pairs.is_empty() {
            let values: Values = seen
                .clusters
                .iter()
                .map(|task| (task.sum / task.weight, task.weight))
                .collect();
            self.interval(&values)
        } else {
            let values: Values = seen
                .pairs
                .iter()
                .map(|(first, second)| (f64::midpoint(second - first, 1.0), 1.0))
                .collect();
            self.interval(&values).map(|found| Interval {
                low: 2.0 * found.low - 1.0,
                high: 2.0 * found.high - 1.0,
            })
        };
        // What all tasks have alike is a number that is not always exact.
        interval
            .is_some_and(|found| found.low <= seen.truth + 1e-9 && seen.truth <= found.high + 1e-9)
    }

    fn interval(self, values: &Values) -> Option<Interval> {
        const DRAWS: usize = 400;
        let (mean, error) = student(values);
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut place =
            || -> usize { ((u64::from(rng.next_u32()) * values.len() as u64) >> 32) as usize };
        let ends = |mut drawn: Vec<f64>| -> Option<(f64, f64)> {
            drawn.sort_unstable_by(f64::total_cmp);
            Some((percentile(&drawn, 2.5)?, percentile(&drawn, 97.5)?))
        };
        let mut again = || -> Values {
            (0..values.len())
                .filter_map(|_| values.get(place()).copied())
                .collect()
        };
        let (low, high) = match self {
            Self::Ours => return None,
            Self::Percentile => ends((0..DRAWS).map(|_| student(&again()).0).collect())?,
            Self::Student => {
                let half = student_quantile(values.len() - 1) * error;
                (mean - half, mean + half)
            }
            Self::BootstrapT => {
                let ratios = (0..DRAWS).filter_map(|_| {
                    let (other, error) = student(&again());
                    (error > 0.0).then(|| (other - mean) / error)
                });
                let (low, high) = ends(ratios.collect()).unwrap_or_default();
                (mean - high * error, mean - low * error)
            }
            Self::Gaffke => {
                let (mut lows, mut highs) = (Vec::new(), Vec::new());
                let heaviest = values.iter().map(|(_, by)| *by).fold(0.0, f64::max);
                let mut rng = ChaCha8Rng::seed_from_u64(7);
                for _ in 0..DRAWS {
                    let mut part = || -((f64::from(rng.next_u32()) + 0.5) / 4_294_967_296.0).ln();
                    let extra = heaviest * part();
                    let (mut sum, mut all) = (0.0, extra);
                    for (value, by) in values {
                        let by = by * part();
                        sum += value * by;
                        all += by;
                    }
                    lows.push(sum / all);
                    highs.push((sum + extra) / all);
                }
                (ends(lows)?.0, ends(highs)?.1)
            }
        };
        Some(Interval { low, high })
    }
}

/// The mean, and its standard error over tasks.
fn student(values: &Values) -> (f64, f64) {
    let count = values.len() as f64;
    let weight: f64 = values.iter().map(|(_, by)| by).sum();
    let mean = values.iter().map(|(value, by)| value * by).sum::<f64>() / weight;
    let squares: f64 = values
        .iter()
        .map(|(value, by)| (by * (value - mean)).powi(2))
        .sum();
    (mean, (squares * count / (count - 1.0)).sqrt() / weight)
}

/// Of 0.975, by Cornish and Fisher from 3 degrees of freedom on.
fn student_quantile(degrees: usize) -> f64 {
    let z: f64 = 1.959_963_984_540_054;
    let v = degrees as f64;
    match degrees {
        0 | 1 => 12.706_204_736,
        2 => 4.302_652_73,
        _ => {
            z + (z.powi(3) + z) / (4.0 * v)
                + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * v * v)
                + (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z)
                    / (384.0 * v.powi(3))
        }
    }
}

/// The exact interval of yes/no tasks: where the tail of what was seen is 2.5 %.
pub(crate) fn clopper_pearson(clusters: &[Cluster]) -> Option<Interval> {
    let count = u32::try_from(clusters.len()).ok()?;
    let passed = clusters.iter().filter(|task| task.sum > 0.5).count();
    let low = |seen: u32| -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            if at_least(seen, count, middle) < 0.025 {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    let passed = u32::try_from(passed).ok()?;
    Some(Interval {
        low: if passed == 0 { 0.0 } else { low(passed) },
        high: if passed == count {
            1.0
        } else {
            1.0 - low(count - passed)
        },
    })
}

fn at_least(seen: u32, count: u32, chance: f64) -> f64 {
    let mut ways = 1.0;
    let mut sum = 0.0;
    for nth in 0..=count {
        if nth >= seen {
            let failed = i32::try_from(count - nth).unwrap_or(i32::MAX);
            let passed = i32::try_from(nth).unwrap_or(i32::MAX);
            sum += ways * chance.powi(passed) * (1.0 - chance).powi(failed);
        }
        ways *= f64::from(count - nth) / f64::from(nth + 1);
    }
    sum
}

/// The least and the mean coverage of every method by the number of tasks.
pub(crate) fn table() -> ExitCode {
    let mut out = std::io::stdout().lock();
    for method in [
        Method::Percentile,
        Method::Student,
        Method::BootstrapT,
        Method::Gaffke,
        Method::Ours,
    ] {
        for tasks in [2, 3, 5, 10, 20, 40] {
            let found: Vec<Coverage> = all_scenes(tasks, 1_000, method);
            let least = found.iter().min_by(|a, b| a.share.total_cmp(&b.share));
            let Some(least) = least else { continue };
            let _ = writeln!(
                out,
                "{method:?} {tasks} tasks: least {:.3} ({}), mean {:.3}",
                least.share,
                least.scene,
                mean(&found)
            );
        }
    }
    ExitCode::SUCCESS
}
