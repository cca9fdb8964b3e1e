//! Many measurements of the same thing. Knows nothing of what is measured.

use std::time::{Duration, Instant};

use crate::figure::Failed;

/// Many durations of the same thing, in milliseconds.
#[derive(Debug, Default)]
pub(crate) struct Times(Vec<f64>);

impl Times {
    /// The durations of `rounds` calls, after a few that warm up and do not count.
    pub(crate) fn of<T>(
        rounds: usize,
        mut work: impl FnMut() -> Result<T, Failed>,
    ) -> Result<Self, Failed> {
        let mut times = Self::default();
        for _ in 0..rounds.min(10) {
            work()?;
        }
        for _ in 0..rounds {
            let started = Instant::now();
            let result = work()?;
            times.add(started.elapsed());
            drop(result);
        }
        Ok(times)
    }

    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64() * 1e3);
    }

    pub(crate) fn p50(&self) -> f64 {
        self.percentile(0.5)
    }

    pub(crate) fn percentile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1) as f64;
        sorted
            .get((last * share).round() as usize)
            .copied()
            .unwrap_or(f64::NAN)
    }

    /// How far they spread, for people.
    pub(crate) fn spread(&self, what: &str) -> String {
        format!(
            "{what}: p10 {:.3} ms, p50 {:.3} ms, p90 {:.3} ms of {}",
            self.percentile(0.1),
            self.p50(),
            self.percentile(0.9),
            self.0.len()
        )
    }
}
