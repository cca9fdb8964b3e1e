//! Measures what only a program that holds a desktop can measure, and what it is compared with, side
//! by side. `measure ROW` prints one line of JSON per figure: the row's own, and those that come out
//! of the same measurement. `cargo xtask bench desktop` runs it; it judges nothing itself.

mod bare;
mod captures;
mod client;
mod container;
mod docker;
mod figure;
mod keys;
mod memory;
mod scene;
mod starts;
mod stream;
mod times;
mod tools;

use std::process::ExitCode;

use figure::{Failed, Figure};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    figure::tell(measure(&words))
}

fn measure(words: &[String]) -> Result<Vec<Figure>, Failed> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["capture_1080p_raw_p50_ms"] => captures::raw(),
        ["capture_1080p_png_p50_ms"] => captures::png(),
        ["key_to_event_p50_ms"] => keys::to_event(),
        ["key_to_settled_picture_ms"] => keys::to_settled_picture(),
        ["cold_start_local_ms" | "cold_start_local_ratio"] => starts::cold(),
        ["warm_take_ms"] => starts::warm(),
        ["stream_60fps_core_share"] => stream::core_share(),
        ["desktops_16_mb_each"] => memory::of_16_desktops(),
        ["container_capture_p50_ms", image] => container::capture(image),
        [
            "cold_start_container_ms" | "cold_start_container_ratio",
            image,
        ] => container::cold_start(image),
        _ => Err("say which row to measure; rows of containers need an image as well".into()),
    }
}
