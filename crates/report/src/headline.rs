//! The one JSON object that ends the output of a run: small, stable, made for scripts.

use agon_store::Manifest;
use schemars::JsonSchema;
use serde::Serialize;

use crate::summary::Summary;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Headline {
    pub run: String,
    pub tasks: u64,
    /// Planned: tasks times epochs.
    pub trials: u64,
    pub passed: u64,
    pub failed: u64,
    pub faulted: u64,
    /// With faulted and missing trials as 0.
    pub score_floor: f64,
    pub coverage: f64,
    /// Of graded trials alone.
    pub score: Option<f64>,
    pub score_ci: Option<[f64; 2]>,
    pub weighted_score: Option<f64>,
    /// Attempts that were begun and never ended.
    pub never_ended: u64,
    /// By the clock on the wall.
    pub seconds: f64,
}

impl Headline {
    pub fn new(manifest: &Manifest, summary: &Summary, seconds: f64) -> Self {
        let overall = &summary.overall;
        Self {
            run: manifest.run.clone(),
            tasks: overall.tasks,
            trials: overall.trials,
            passed: overall.passed,
            failed: overall.failed,
            faulted: overall.faulted,
            coverage: overall.coverage,
            score: overall.score,
            score_floor: overall.score_floor,
            score_ci: overall
                .score_ci
                .map(|interval| [interval.low, interval.high]),
            weighted_score: summary.weighted.score,
            never_ended: summary.marks.never_ended,
            seconds,
        }
    }
}
