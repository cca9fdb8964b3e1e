//! `cargo xtask soak desktop`: the solutions of `suites/desktop` must pass every time, whatever else the
//! machine does.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::console::{say, step};
use crate::failure::{Failure, Trying};
use crate::{rootfs, test, workspace};

/// What the suite's images are called, and those that tests make.
const IMAGES: [(&str, &str); 2] = [
    ("agon-desktop:12", rootfs::DESKTOP_IMAGE),
    ("agon-desktop-office:12", rootfs::OFFICE_IMAGE),
];

const WORKERS: &str = "2";

/// Plays the suite so many times; ends with the first run in which a solution did not pass.
pub(crate) fn run(times: u32) -> Result<(), Failure> {
    test::install_packages()?;
    let agon = step("build Agon", workspace::release_binary)?;
    crate::models::install_ocr(&agon)?;
    let engine = test::engine_with_images()?;
    let folder = workspace::root().join(format!("target/soak/desktop.{}", std::process::id()));
    std::fs::create_dir_all(&folder).trying(format!("make {}", folder.display()))?;
    for round in 1..=times {
        let out = folder.join(round.to_string());
        let played = step(&format!("play suites/desktop, {round} of {times}"), || {
            play(&agon, &out, &engine.api().docker_host())
        })?;
        say(format!("    {played} cases passed"));
        // Only what failed is worth looking at.
        std::fs::remove_dir_all(&out).trying(format!("remove {}", out.display()))?;
    }
    std::fs::remove_dir_all(&folder).trying(format!("remove {}", folder.display()))
}

/// How many cases there are, if all passed.
fn play(agon: &Path, out: &Path, docker_host: &str) -> Result<u64, Failure> {
    let mut command = Command::new(agon);
    command
        .arg("run")
        .arg(workspace::root().join("suites/desktop"))
        .args(["--agent", "oracle", "--workers", WORKERS, "--retries", "0"])
        .arg("--json")
        .arg("--out")
        .arg(out)
        .env("DOCKER_HOST", docker_host);
    for (name, of_tests) in IMAGES {
        command.arg("--image").arg(format!("{name}={of_tests}"));
    }
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .trying("start `agon run`")?;
    let said = String::from_utf8_lossy(&output.stdout);
    all_passed(said.lines().next_back().unwrap_or_default()).map_err(|flaw| {
        Failure::new(format!(
            "{flaw} ({}); look at it with `agon report {}`",
            output.status,
            out.display()
        ))
    })
}

/// The number of trials, from the last line of `agon run --json`.
pub(crate) fn all_passed(summary: &str) -> Result<u64, String> {
    let parsed: Value = serde_json::from_str(summary)
        .map_err(|_| format!("the last line of `agon run --json` is no JSON: `{summary}`"))?;
    match (parsed["trials"].as_u64(), parsed["passed"].as_u64()) {
        (Some(trials @ 1..), Some(passed)) if trials == passed => Ok(trials),
        _ => Err(format!("not all solutions passed: {summary}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_runs_in_which_everything_passed_are_good() {
        assert_eq!(all_passed(r#"{"trials":3,"passed":3}"#), Ok(3));
        for bad in [
            r#"{"trials":3,"passed":2}"#,
            r#"{"trials":0,"passed":0}"#,
            "{}",
            "",
        ] {
            assert!(all_passed(bad).is_err(), "{bad}");
        }
    }
}
