//! Measures `agon view` on generated runs, in a real browser: `measure_viewer ROW AGON FOLDER` prints a line
//! of JSON per figure. Part of `cargo xtask bench viewer`, which knows what each should be.

mod live;
mod pages;
mod server;

use std::error::Error;
use std::io::Write;
use std::path::Path;

use serde_json::json;

pub(crate) type Found<T> = Result<T, Box<dyn Error>>;

/// A name and its figure.
pub(crate) type Figure = (&'static str, f64);

#[tokio::main]
async fn main() -> Found<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [row, agon, folder] = words.as_slice() else {
        return Err("name a row, the program and a folder".into());
    };
    let (agon, folder) = (Path::new(agon), Path::new(folder));
    let figures = match row.as_str() {
        "index_trials_per_s" => pages::index(agon, folder).await?,
        "open_10k_trials_ms" | "filter_10k_ms" | "server_mb" => {
            pages::many_trials(agon, folder).await?
        }
        "open_5k_step_trial_ms" | "next_step_ms" => pages::long_trial(agon, folder).await?,
        "live_event_ms" | "live_core_share" => live::live(agon, folder).await?,
        other => return Err(format!("there is no row {other}").into()),
    };
    let mut out = std::io::stdout().lock();
    for (name, value) in figures {
        writeln!(out, "{}", json!({"name": name, "value": value}))?;
    }
    Ok(())
}

/// The middle one.
pub(crate) fn median(values: Vec<f64>) -> f64 {
    percentile(values, 0.5)
}

/// The one that so many are not above.
pub(crate) fn percentile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (values.len() as f64 * share) as usize;
    values.get(place).copied().unwrap_or(f64::NAN)
}
