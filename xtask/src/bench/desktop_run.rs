//! What recording costs: `agon run` over desktop tasks whose every step leaves a screenshot that was
//! never there before. The fixed references are those of Inspect AI 0.3.285 on a 2-core machine.

use std::path::Path;

use super::Figure;
use super::lab::Lab;
use super::process::Measured;
use super::suites;
use crate::console::say;
use crate::debian::{self, BUBBLEWRAP, DESKTOP};
use crate::failure::{Failure, Trying};

const TRIALS: u32 = 50;
/// Actions per trial that each leave a screenshot.
const STEPS: u32 = 20;

/// A finished run and what it took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recorded {
    /// What the steps added to the run.
    step_seconds: f64,
    peak_mb: f64,
    amplification: f64,
}

/// Reference: 50 samples of 20 steps, each with a screenshot.
pub(super) fn steps_per_s(lab: &mut Lab) -> Result<Figure, Failure> {
    let recorded = recorded(lab)?;
    let steps = f64::from(TRIALS * STEPS);
    Ok(Figure::against(steps / recorded.step_seconds, 30.0))
}

pub(super) fn memory(lab: &mut Lab) -> Result<Figure, Failure> {
    Ok(Figure::against(recorded(lab)?.peak_mb, 596.0))
}

pub(super) fn amplification(lab: &mut Lab) -> Result<Figure, Failure> {
    Ok(Figure::against(recorded(lab)?.amplification, 11.0))
}

fn recorded(lab: &mut Lab) -> Result<Recorded, Failure> {
    if let Some(recorded) = lab.desktop.run {
        return Ok(recorded);
    }
    debian::install(&[BUBBLEWRAP])?;
    debian::install(&DESKTOP)?;
    // The same trials without their steps, half of them before and half of them after: what is left
    // are the starts and ends of desktops, sandboxes and terminals.
    let before = empty_run(lab, "before")?;
    let suite = suites::desktop(lab.folder(), "desktop", TRIALS, STEPS)?;
    let run = lab.plan("desktop", suite, TRIALS, 1);
    let measured = lab.run(&run)?;
    let after = empty_run(lab, "after")?;
    let (stored, pictures) = content(&run.out)?;
    let wanted = u64::from(TRIALS * STEPS);
    if pictures < wanted {
        return Err(Failure::new(format!(
            "{wanted} steps left only {pictures} different pictures"
        )));
    }
    let recorded = weigh(&measured, before + after, stored)?;
    lab.desktop.run = Some(recorded);
    Ok(recorded)
}

fn empty_run(lab: &Lab, name: &str) -> Result<f64, Failure> {
    let suite = suites::desktop(lab.folder(), name, TRIALS / 2, 0)?;
    Ok(lab.run(&lab.plan(name, suite, TRIALS / 2, 1))?.seconds)
}

fn weigh(measured: &Measured, without_steps: f64, stored: u64) -> Result<Recorded, Failure> {
    let step_seconds = measured.seconds - without_steps;
    if step_seconds <= 0.0 {
        return Err(Failure::new(
            "the machine is too busy: steps took less than no time",
        ));
    }
    let written = measured.written;
    say(format!(
        "    recorded: the whole run took {:.2} s ({:.0} steps/s), {:.2} s of it without the steps; \
         {:.1} MB stored, {:.1} MB written by calls, {:.1} MB of pages to disks",
        measured.seconds,
        f64::from(TRIALS * STEPS) / measured.seconds,
        without_steps,
        stored as f64 / 1e6,
        written.by_calls as f64 / 1e6,
        written.to_disks as f64 / 1e6,
    ));
    Ok(Recorded {
        step_seconds,
        peak_mb: measured.peak_mb,
        amplification: written.by_calls as f64 / stored as f64,
    })
}

/// Bytes of all files in a run folder, and how many blobs are among them.
fn content(folder: &Path) -> Result<(u64, u64), Failure> {
    let reading = format!("read {}", folder.display());
    let (mut bytes, mut blobs) = (0, 0);
    for entry in std::fs::read_dir(folder).trying(&reading)? {
        let entry = entry.trying(&reading)?;
        let about = entry.metadata().trying(&reading)?;
        if about.is_dir() {
            let (inner, found) = content(&entry.path())?;
            bytes += inner;
            blobs += found;
        } else if about.is_file() {
            bytes += about.len();
            let in_blobs = entry
                .path()
                .components()
                .any(|part| part.as_os_str() == "blobs");
            blobs += u64::from(in_blobs);
        }
    }
    Ok((bytes, blobs))
}

#[cfg(test)]
mod tests {
    use super::super::process::Written;
    use super::*;

    fn measured(seconds: f64) -> Measured {
        Measured {
            seconds,
            peak_mb: 80.0,
            written: Written {
                by_calls: 210,
                to_disks: 4096,
            },
            stdout: String::new(),
            success: true,
        }
    }

    #[test]
    fn what_remains_without_steps_is_not_theirs() {
        let recorded = weigh(&measured(10.0), 6.0, 200).unwrap();
        assert_eq!(recorded.step_seconds, 4.0);
        assert_eq!(recorded.amplification, 1.05);
        assert!(weigh(&measured(5.0), 6.0, 200).is_err());
    }

    #[test]
    fn all_files_of_a_run_are_counted() {
        let folder = std::env::temp_dir().join(format!("agon-content-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("blobs/ab")).unwrap();
        std::fs::write(folder.join("run.json"), "12345").unwrap();
        std::fs::write(folder.join("blobs/ab/cd"), "123").unwrap();
        let counted = content(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(counted.unwrap(), (8, 1));
    }
}
