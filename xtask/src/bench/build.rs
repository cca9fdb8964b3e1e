//! How long people wait for Agon itself: from a fresh clone to the reports of the demo, to a green test
//! run, and how large what they get is. Everything happens in clones of the last commit, with build
//! folders of their own; packages, images and models come from the caches of this machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::lab::Lab;
use super::{Better, Figure, Row};
use crate::console::{self, step};
use crate::failure::{Failure, Trying};
use crate::workspace;

pub(super) const ROWS: &[Row] = &[
    Row::aiming("demo_cpu_min", "min", Better::Lower, 8.0, demo_cpu),
    Row::aiming("test_cold_cpu_min", "min", Better::Lower, 35.0, test_cold),
    Row::aiming("test_warm_min", "min", Better::Lower, 15.0, test_warm),
    Row::aiming("binary_mb", "MB", Better::Lower, 50.0, binary),
];

/// What one command took.
#[derive(Debug, Clone, Copy)]
struct Spent {
    wall_minutes: f64,
    cpu_minutes: f64,
}

fn demo_cpu(lab: &mut Lab) -> Result<Figure, Failure> {
    let clone = clone(lab, "demo")?;
    let mut demo = Command::new("cargo");
    demo.args(["xtask", "demo"]);
    let spent = in_clone(&clone, &mut demo)?;
    remove(&clone)?;
    Ok(Figure::alone(spent.cpu_minutes))
}

fn test_cold(lab: &mut Lab) -> Result<Figure, Failure> {
    let cache = ci_cache(lab);
    if cache.exists() {
        remove(&cache)?;
    }
    Ok(Figure::alone(test(lab)?.cpu_minutes))
}

fn test_warm(lab: &mut Lab) -> Result<Figure, Failure> {
    if !ci_cache(lab).exists() {
        step("a first run", || test(lab))?;
    }
    let spent = test(lab)?;
    Ok(Figure::alone(spent.wall_minutes))
}

fn binary(lab: &mut Lab) -> Result<Figure, Failure> {
    let agon = lab.agon()?;
    let size = std::fs::metadata(agon)
        .trying(format!("look at {}", agon.display()))?
        .len();
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    Ok(Figure::alone(size as f64 / 1e6))
}

/// One run of `.ci/run` on a fresh clone, as continuous integration does it.
fn test(lab: &Lab) -> Result<Spent, Failure> {
    let clone = clone(lab, "test")?;
    let mut run = Command::new("bash");
    run.arg(".ci/run")
        .env("CI", "true")
        .env("AGON_CI_CACHE", ci_cache(lab));
    let spent = in_clone(&clone, &mut run)?;
    remove(&clone)?;
    Ok(spent)
}

fn ci_cache(lab: &Lab) -> PathBuf {
    lab.folder().join("ci")
}

/// Of the last commit, because that is what others get.
fn clone(lab: &Lab, name: &str) -> Result<PathBuf, Failure> {
    let clone = lab.folder().join(name);
    let mut command = Command::new("git");
    command
        .args(["clone", "--quiet"])
        .arg(workspace::root())
        .arg(&clone);
    console::succeed(&mut command)?;
    Ok(clone)
}

fn remove(folder: &Path) -> Result<(), Failure> {
    std::fs::remove_dir_all(folder).trying(format!("remove {}", folder.display()))
}

/// Cargo tells its children about the workspace; the clone must not hear of ours.
fn in_clone(clone: &Path, command: &mut Command) -> Result<Spent, Failure> {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_") && name != "CARGO_HOME" {
            command.env_remove(name);
        }
    }
    command.env_remove("CARGO").current_dir(clone);
    let before = children_cpu_seconds()?;
    let started = Instant::now();
    console::succeed(command)?;
    Ok(Spent {
        wall_minutes: started.elapsed().as_secs_f64() / 60.0,
        cpu_minutes: (children_cpu_seconds()? - before) / 60.0,
    })
}

/// User and system time of all ended children and theirs, in the kernel's hundredths of a second.
fn children_cpu_seconds() -> Result<f64, Failure> {
    let stat = std::fs::read_to_string("/proc/self/stat").trying("read /proc/self/stat")?;
    children_ticks(&stat)
        .map(|ticks| ticks / 100.0)
        .ok_or_else(|| Failure::new("/proc/self/stat has another form than expected"))
}

/// Fields 16 and 17; the second field is a name in brackets that may hold anything.
fn children_ticks(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ').skip(13);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_children_is_read_behind_any_name() {
        let stat = "12 (a) b) S 1 12 12 0 -1 4194304 100 200 0 0 5 6 70 8 20 0 1 0 99 0 0";
        assert_eq!(children_ticks(stat), Some(78.0));
        assert_eq!(children_ticks("12 (x"), None);
    }

    #[test]
    fn time_of_children_grows_with_them() {
        let before = children_cpu_seconds().unwrap();
        let mut busy = Command::new("sh");
        busy.args(["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"]);
        console::succeed(&mut busy).unwrap();
        assert!(children_cpu_seconds().unwrap() > before);
    }
}
