//! How far predicted points are from the expected ones, as shares of the window's diagonal and in pixels.

use agon_core::prediction::ScoredPrediction;
use agon_stats::Spread;
use schemars::JsonSchema;
use serde::Serialize;

/// Where bins end, and begin but for the first: fine near the point, where it matters.
const ENDS: [f64; 8] = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Distances {
    /// Pairs of an expected and a predicted point.
    pub points: u64,
    /// Shares of the window's diagonal.
    pub mean: f64,
    pub median: f64,
    pub max: f64,
    pub mean_pixels: f64,
    pub median_pixels: f64,
    pub histogram: Vec<DistanceBin>,
}

/// How many points were more than `from` and at most `to` away; the first bin holds those that are exact,
/// the last has no end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct DistanceBin {
    pub from: f64,
    pub to: Option<f64>,
    pub points: u64,
}

impl DistanceBin {
    /// `exact`, `1-2 %`, `over 100 %`.
    pub(crate) fn label(&self) -> String {
        let percent = |share: f64| format!("{:.0}", share * 100.0);
        match self.to {
            Some(0.0) => "exact".to_owned(),
            Some(to) => format!("{}-{} %", percent(self.from), percent(to)),
            None => format!("over {} %", percent(self.from)),
        }
    }
}

/// The distances of a run while it is added up.
#[derive(Debug, Default)]
pub(crate) struct Points {
    shares: Vec<f64>,
    pixels: Vec<f64>,
}

impl Points {
    pub(crate) fn add(&mut self, prediction: &ScoredPrediction) {
        let diagonal = prediction.window.diagonal();
        let distances = prediction.scores.iter().filter_map(|score| score.distance);
        for share in distances.filter(|share| share.is_finite() && *share >= 0.0) {
            self.shares.push(share);
            // A share of a finite diagonal may still be too much for a number.
            self.pixels.push((share * diagonal).min(f64::MAX));
        }
    }

    pub(crate) fn total(&mut self) -> Option<Distances> {
        let share = spread(&mut self.shares)?;
        let pixels = spread(&mut self.pixels)?;
        let mut histogram: Vec<DistanceBin> = (0..=ENDS.len())
            .map(|bin| DistanceBin {
                from: ENDS[bin.saturating_sub(1)],
                to: ENDS.get(bin).copied(),
                points: 0,
            })
            .collect();
        for share in &self.shares {
            let bin = ENDS.partition_point(|end| end < share);
            histogram[bin].points += 1;
        }
        Some(Distances {
            points: self.shares.len() as u64,
            mean: share.0,
            median: share.1,
            max: share.2,
            mean_pixels: pixels.0,
            median_pixels: pixels.1,
            histogram,
        })
    }
}

/// Mean, median and maximum. One wild point must not make a sum that is no number.
fn spread(values: &mut [f64]) -> Option<(f64, f64, f64)> {
    let spread = Spread::of(values)?;
    let count = values.len() as f64;
    let mean: f64 = values.iter().map(|value| value / count).sum();
    Some((mean.min(f64::MAX), spread.median, spread.max))
}

#[cfg(test)]
mod tests {
    use agon_core::prediction::{ActionScore, Window};

    use super::*;

    fn scored(distances: &[f64]) -> ScoredPrediction {
        ScoredPrediction {
            metric: "action".to_owned(),
            group: "g".to_owned(),
            parsed: true,
            why: None,
            question: None,
            answer: None,
            window: Window {
                width: 30,
                height: 40,
                ..Window::default()
            },
            reference_window: None,
            reference: Vec::new(),
            expected: Vec::new(),
            target: None,
            predicted: Vec::new(),
            scores: distances
                .iter()
                .map(|distance| ActionScore {
                    kind: "click".to_owned(),
                    score: 0.5,
                    with: Some(0),
                    distance: Some(*distance),
                })
                .collect(),
            image: None,
        }
    }

    #[test]
    fn points_fall_into_bins() {
        let mut points = Points::default();
        assert_eq!(points.total(), None);
        points.add(&scored(&[0.0, 0.0, 0.01, 0.011, 0.3, 1.0, 1.1]));
        points.add(&scored(&[f64::NAN, -1.0, f64::INFINITY]));
        let total = points.total().unwrap();
        let bins: Vec<(String, u64)> = total
            .histogram
            .iter()
            .map(|bin| (bin.label(), bin.points))
            .filter(|(_, points)| *points > 0)
            .collect();
        let named = |name: &str, points| (name.to_owned(), points);
        assert_eq!(
            bins,
            [
                named("exact", 2),
                named("0-1 %", 1),
                named("1-2 %", 1),
                named("20-50 %", 1),
                named("50-100 %", 1),
                named("over 100 %", 1),
            ]
        );
        assert_eq!((total.points, total.max), (7, 1.1));
        assert!((total.median_pixels - 0.55).abs() < 1e-9, "{total:?}");
    }

    #[test]
    fn a_wild_point_leaves_numbers() {
        let mut points = Points::default();
        points.add(&scored(&[1e308, 1e308, 1e308]));
        let total = points.total().unwrap();
        assert!(total.mean.is_finite() && total.mean_pixels.is_finite());
    }
}
