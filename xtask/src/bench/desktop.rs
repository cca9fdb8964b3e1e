//! The rows of `cargo xtask bench desktop`: what screens, keyboards and desktops cost. Most are
//! measured by a program that holds a desktop (`crates/desktop/examples/measure`), beside Python's
//! mss, scrot, xdotool, a bare X server and a bare container in the same run.

use super::lab::Lab;
use super::program::Figures;
use super::{Better, Figure, Row, desktop_run, stale};
use crate::debian::{self, BUBBLEWRAP, DESKTOP};
use crate::failure::Failure;
use crate::{rootfs, test};

pub(super) const ROWS: &[Row] = &[
    of_program("capture_1080p_raw_p50_ms", "ms", Some(0.6), |lab| {
        program(lab, "capture_1080p_raw_p50_ms")
    }),
    of_program("container_capture_p50_ms", "ms", Some(0.6), |lab| {
        with_containers(lab, "container_capture_p50_ms")
    }),
    of_program("capture_1080p_png_p50_ms", "ms", Some(8.0), |lab| {
        program(lab, "capture_1080p_png_p50_ms")
    }),
    of_program("key_to_event_p50_ms", "ms", Some(0.5), |lab| {
        program(lab, "key_to_event_p50_ms")
    }),
    of_program("key_to_settled_picture_ms", "ms", Some(20.0), |lab| {
        program(lab, "key_to_settled_picture_ms")
    }),
    of_program("cold_start_local_ms", "ms", None, |lab| {
        program(lab, "cold_start_local_ms")
    }),
    of_program("cold_start_local_ratio", "x bare", Some(1.3), |lab| {
        program(lab, "cold_start_local_ratio")
    }),
    of_program("cold_start_container_ms", "ms", None, |lab| {
        with_containers(lab, "cold_start_container_ms")
    }),
    of_program("cold_start_container_ratio", "x bare", Some(1.3), |lab| {
        with_containers(lab, "cold_start_container_ratio")
    }),
    of_program("warm_take_ms", "ms", Some(5.0), |lab| {
        program(lab, "warm_take_ms")
    }),
    of_program("stream_60fps_core_share", "cores", Some(0.25), |lab| {
        program(lab, "stream_60fps_core_share")
    }),
    of_program("desktops_16_mb_each", "MB", Some(60.0), |lab| {
        program(lab, "desktops_16_mb_each")
    }),
    of_program("stale_share", "of steps", Some(0.01), stale::share),
    of_program(
        "stale_share_loaded",
        "of steps",
        Some(0.01),
        stale::share_loaded,
    ),
    of_program("settle_p50_ms", "ms", Some(60.0), stale::p50),
    of_program("settle_p95_ms", "ms", None, stale::p95),
    of_program("settle_plain_p50_ms", "ms", Some(20.0), stale::plain_p50),
    Row {
        name: "recorded_steps_per_s",
        unit: "steps/s",
        better: Better::Higher,
        target: Some(250.0),
        measure: desktop_run::steps_per_s,
    },
    of_program("recorded_mb", "MB", Some(150.0), desktop_run::memory),
    of_program(
        "write_amplification",
        "x stored",
        Some(1.1),
        desktop_run::amplification,
    ),
];

/// Of all of these, less is better.
const fn of_program(
    name: &'static str,
    unit: &'static str,
    target: Option<f64>,
    measure: fn(&mut Lab) -> Result<Figure, Failure>,
) -> Row {
    Row {
        name,
        unit,
        better: Better::Lower,
        target,
        measure,
    }
}

/// What was found out already: some measurements yield several rows.
#[derive(Debug, Default)]
pub(super) struct Findings {
    figures: Figures,
    pub(super) run: Option<desktop_run::Recorded>,
}

/// The rows without a container.
fn program(lab: &mut Lab, row: &str) -> Result<Figure, Failure> {
    debian::install(&[BUBBLEWRAP])?;
    debian::install(&DESKTOP)?;
    found(lab, row, &[], None)
}

/// The rows with one, on an engine that has the image of the tests.
fn with_containers(lab: &mut Lab, row: &str) -> Result<Figure, Failure> {
    if let Some(figure) = lab.desktop.figures.get(row) {
        return Ok(figure);
    }
    test::install_packages()?;
    let engine = test::engine_with_images()?;
    found(
        lab,
        row,
        &[rootfs::DESKTOP_IMAGE],
        Some(engine.api().docker_host()),
    )
}

fn found(
    lab: &mut Lab,
    row: &str,
    words: &[&str],
    docker_host: Option<String>,
) -> Result<Figure, Failure> {
    let figures = &mut lab.desktop.figures;
    figures.find(("agon-desktop", "measure"), row, words, docker_host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_a_program_is_asked_for_by_its_name() {
        let source = include_str!("desktop.rs");
        let program = include_str!("../../../crates/desktop/examples/measure/main.rs");
        let by_runs = ["recorded", "write_amplification", "stale", "settle"];
        let of_runs = |row: &&Row| by_runs.iter().any(|name| row.name.starts_with(name));
        for row in ROWS.iter().filter(|row| !of_runs(row)) {
            let name = format!("\"{}\"", row.name);
            assert_eq!(source.matches(&name).count(), 2, "{name}");
            assert!(program.contains(&name), "{name}");
        }
    }
}
