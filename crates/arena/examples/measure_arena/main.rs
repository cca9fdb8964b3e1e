//! Measures how fast an agent sees and acts, on a real desktop with a real window. `measure_arena ROW` prints
//! one line of JSON per figure; `cargo xtask bench arena` runs it and judges.

#[path = "../../../desktop/examples/measure/figure.rs"]
mod figure;
mod rates;
mod reaction;
mod stopping;
#[path = "../../../desktop/examples/measure/times.rs"]
mod times;
mod window;

use std::process::ExitCode;

use agon_agent::play::Task;
use agon_desktop::{Desktop, DesktopConfig};
use figure::{Failed, Figure};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    figure::tell(measure(&words))
}

fn measure(words: &[String]) -> Result<Vec<Figure>, Failed> {
    match words.first().map(String::as_str) {
        Some("frame_to_key_p50_ms" | "frame_to_key_p99_ms") => reaction::frame_to_key(),
        Some("loop_rate_hz") => rates::loop_rate(),
        Some("stop_to_last_key_ms") => stopping::stop_to_last_key(),
        _ => Err("say which row to measure".into()),
    }
}

/// 1280x800.
fn desktop() -> Result<Desktop, Failed> {
    Ok(Desktop::start(&DesktopConfig::default())?)
}

fn task() -> Task {
    Task {
        task_id: "measured".to_owned(),
        env_name: "a window".to_owned(),
        window_name: window::TITLE.to_owned(),
        task_description: String::new(),
        timeout: 600,
        check_env_interval_seconds: Task::default_interval(),
        success_criteria: serde_json::Map::new(),
        num_frames: Task::default_frames(),
    }
}
