//! What checks measured in units of their own, such as the points of a game, added up per task and for
//! the run. Such values have no upper end, and single lucky ones say little: so the interquartile mean.

use agon_stats::{Spread, iqm, iqm_interval};
use agon_store::{Manifest, TrialLine};
use schemars::JsonSchema;
use serde::Serialize;

use crate::confidence::{Interval, Method};

/// Of graded trials with a measured value.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Measured {
    /// Of all tasks together; what they measure need not be alike.
    pub overall: MeasuredSpread,
    /// In the order of the manifest.
    pub tasks: Vec<MeasuredTask>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MeasuredTask {
    pub task: String,
    pub spread: MeasuredSpread,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct MeasuredSpread {
    pub trials: u64,
    /// Interquartile mean: of the middle half of the values.
    pub iqm: f64,
    /// Null with fewer than ten values beyond one per task, or where they do not differ.
    pub iqm_ci: Option<Interval>,
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl Measured {
    pub(crate) fn of_task(&self, task: &str) -> Option<&MeasuredSpread> {
        let found = self.tasks.iter().find(|measured| measured.task == task)?;
        Some(&found.spread)
    }
}

impl MeasuredSpread {
    fn of(tasks: &[Vec<f64>]) -> Option<Self> {
        let mut values = tasks.concat();
        let iqm = iqm(&values)?;
        let spread = Spread::of(&mut values)?;
        Some(Self {
            trials: values.len() as u64,
            iqm,
            iqm_ci: iqm_interval(tasks).map(|found| Interval::new(found, Method::StudentOverSeeds)),
            min: *values.first()?,
            median: spread.median,
            max: spread.max,
        })
    }
}

/// The values of a run while it is added up, by place in the manifest.
#[derive(Debug)]
pub(crate) struct Measurements(Vec<Vec<f64>>);

impl Measurements {
    pub(crate) fn new(tasks: usize) -> Self {
        Self(vec![Vec::new(); tasks])
    }

    pub(crate) fn add(&mut self, place: usize, line: &TrialLine) {
        self.0[place].extend(line.measured.filter(|value| value.is_finite()));
    }

    pub(crate) fn total(&self, manifest: &Manifest) -> Option<Measured> {
        let named = manifest.tasks.iter().zip(&self.0);
        Some(Measured {
            overall: MeasuredSpread::of(&self.0)?,
            tasks: named
                .filter_map(|(stamp, values)| {
                    let values = std::slice::from_ref(values);
                    Some(MeasuredTask {
                        task: stamp.task.to_string(),
                        spread: MeasuredSpread::of(values)?,
                    })
                })
                .collect(),
        })
    }
}
